"""Services that servers use: a private PostgreSQL, a private Redis, or a server of another contract.

Never the machine's own: unless the study names an existing one, each is started on a port of its own in a
temporary folder, on the servers' cores (see `cores`), and gone when the run ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path

from assay.core.errors import InputError, ServerFailed
from assay.core.settings import Settings
from assay.model.trial import ServiceSeen
from assay.servers.build import prepare
from assay.servers.contract import read_contract
from assay.servers.cores import CoreSplit
from assay.servers.manifest import find_server
from assay.servers.sampler import TreeClock
from assay.servers.server import start as start_server
from assay.servers.services.own import (
    UPSTREAM,
    RunningService,
    ServiceSpec,
    check_listening,
    existing_env,
    names,
    read_service,
    requirements,
    requirements_of_all,
    start_own,
    upstreams_of_all,
)

__all__ = ["ServiceSpec", "Services", "names", "requirements", "requirements_of_all", "upstreams_of_all"]

Say = Callable[[str, str], None]


@dataclass
class Services:
    """The services of a run. `env` is what its servers are given."""

    specs: Sequence[ServiceSpec]
    settings: Settings
    split: CoreSplit
    logs: Path
    running: dict[str, RunningService] = field(default_factory=dict)
    existing: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> Services:
        """Nothing runs yet: `ensure` starts."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all that runs."""
        self.stop()

    def ensure(self, say: Say = lambda name, step: None) -> None:
        """Start what does not run: all at first, later what has died. `say` is told what goes on.

        ServerFailed (stage "service") where one cannot be had.
        """
        for spec in self.specs:
            if spec.url is not None:
                self.existing |= existing_env(spec)
                check_listening(spec)
                continue
            running = self.running.get(spec.name)
            if running is not None and not running.died():
                continue
            if running is not None:
                running.stop()
                del self.running[spec.name]
            say(spec.name, "starting")
            self.running[spec.name] = self._start(spec)
            say(spec.name, f"ready ({self.running[spec.name].version})")

    @property
    def env(self) -> dict[str, str]:
        """Where the services are found."""
        environment = dict(self.existing)
        for service in self.running.values():
            environment |= service.env
        return environment

    def died(self) -> str:
        """Which service is no longer there, and why; empty while all are."""
        return next(filter(None, (service.died() for service in self.running.values())), "")

    def cpu_ns(self) -> dict[str, int]:
        """CPU time used so far, by service."""
        return {name: service.sampler.cpu_ns() for name, service in self.running.items()}

    def clocks(self) -> dict[str, TreeClock]:
        """The CPU clocks of those that run on this machine, for moments within a load."""
        return {name: TreeClock(service.kept.supervisor_pid) for name, service in self.running.items()}

    def observed(self) -> tuple[ServiceSeen, ...]:
        """What the services are, and the memory that they take now.

        That is looked up after a load, once for all that was measured in it, because to look costs time on
        their cores.
        """
        return tuple(starmap(_service_seen, self.running.items()))

    def used(
        self, seen: Iterable[ServiceSeen], cpu_ns: Mapping[str, int], measured_ns: int
    ) -> tuple[ServiceSeen, ...]:
        """The same with the CPU time that each used meanwhile, as far as it is known."""
        wall_ns = measured_ns * self.split.server_cores
        return tuple(one.using(cpu_ns.get(one.name), wall_ns) for one in seen)

    def stop(self) -> None:
        """Stop all, the last started first."""
        for name in reversed(list(self.running)):
            self.running.pop(name).stop()

    def _start(self, spec: ServiceSpec) -> RunningService:
        log = self.logs / f"service-{spec.name}.log"
        if spec.name == UPSTREAM:
            return _start_upstream(spec, self.settings, self.split, log)
        return start_own(spec, read_service(spec.name), self.split.server, log)


def _service_seen(name: str, service: RunningService) -> ServiceSeen:
    memory_bytes, shared_out = service.sampler.memory()
    return ServiceSeen(
        name=name,
        version=service.version,
        cpus=service.cpus,
        memory_bytes=memory_bytes,
        pages_shared_out=shared_out,
    )


def _start_upstream(spec: ServiceSpec, settings: Settings, split: CoreSplit, log: Path) -> RunningService:
    if spec.table.server is None:
        where = f"{spec.contract.folder}: service {spec.name!r} names no server"
        raise InputError(where, 'add `server = "<contract>/<stack>"`')
    server = find_server(spec.table.server, settings)
    try:
        prepared = prepare(server.variant(""), settings, split.server_cores)
        contract = read_contract(server.contract_folder)
        running = start_server(prepared, contract, contract.file.routes[0], cpus=split.server, log=log)
    except ServerFailed as failed:
        raise ServerFailed("service", f"{server.id}: {failed.message}", failed.log_tail) from failed
    env = {"UPSTREAM_URL": running.url.rstrip("/")}
    return RunningService(spec.name, prepared.version, running.cpus, env, running.kept, running.sampler)
