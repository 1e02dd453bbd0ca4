"""Where servers run: on this machine, or on another that does the same for us. A trial cannot tell which."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import psutil

from assay.core.settings import Settings
from assay.engine.generator import GoingSlices
from assay.model.run import Environment
from assay.model.trial import HostSeen
from assay.servers import build, host, requires, server
from assay.servers.build import Prepared
from assay.servers.contract import Contract, Route
from assay.servers.cores import CoreSplit
from assay.servers.manifest import Requirement, ServerSpec
from assay.servers.sampling import Lives, LocalSampling, Sampling, looked_at
from assay.servers.server import RunningServer
from assay.servers.services import Services


class Watched(Protocol):
    """A host that is looked at since a moment."""

    def observed(self) -> HostSeen:
        """The host since then."""


class Site:
    """A machine that servers are built, started and looked at on: this one; a kind of it may be another."""

    def environment(self, split: CoreSplit, tools: Sequence[Requirement]) -> Environment:
        """What the figures of its servers belong to, with the versions that these tools have there."""
        return host.environment(split, requires.versions(tools))

    def prepare(
        self,
        spec: ServerSpec,
        settings: Settings,
        cores: int,
        say: Callable[[str], None],
        cancel: threading.Event,
    ) -> Prepared:
        """Build a server. ServerFailed as `build.prepare`."""
        return build.prepare(spec, settings, cores, say, cancel)

    def services(self, run: Services) -> AbstractContextManager[Services]:
        """The services of a run."""
        return run

    def start(
        self,
        prepared: Prepared,
        contract: Contract,
        route: Route,
        *,
        cpus: tuple[int, ...],
        log: Path,
        env: Mapping[str, str],
        host: str = server.HOST,
    ) -> RunningServer:
        """Start a server on this address. ServerFailed as `server.start`."""
        return server.start(prepared, contract, route, cpus=cpus, log=log, env=env, host=host)

    def watch(self, split: CoreSplit) -> Watched:
        """Look at the machine from now on."""
        return host.Watch(split)

    def sample_slices(
        self, slices: GoingSlices, arms: Sequence[Lives], services: Services, split: CoreSplit
    ) -> Sampling:
        """Look at servers, their services and the machine at both ends of each slice."""
        seen = tuple(looked_at(arm, host.Watch(split, begins=False)) for arm in arms)
        return LocalSampling(seen, slices.started_at_monotonic_ns(), services.clocks())

    def free_bytes(self) -> int:
        """How much memory is free."""
        return psutil.virtual_memory().available
