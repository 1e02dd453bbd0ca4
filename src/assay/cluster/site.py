"""A server node as a trial sees it: the same as this machine, over an agent."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec

from assay.cluster import calls, shipping
from assay.cluster.calls import Agent
from assay.cluster.costs import FarCounts, FarInspector
from assay.cluster.generators import GeneratorsRun
from assay.cluster.generators_slices import GeneratorsSlices, read_clocks
from assay.core.errors import AssayError, EnvironmentLacks, ServerFailed
from assay.core.settings import Settings
from assay.core.vault import scrubbed
from assay.engine.generator import GoingSlices
from assay.model.account import TimeAccount
from assay.model.block import ServerSlice
from assay.model.costs import CountedCosts
from assay.model.interleaving import ArmMeasurement, SliceTimes
from assay.model.measurement import Measurement
from assay.model.run import Environment
from assay.model.trial import Emulation, HostSeen, ServiceSeen
from assay.servers.build import Prepared
from assay.servers.contract import Contract, Route
from assay.servers.cores import CoreSplit
from assay.servers.manifest import Requirement, ServerSpec
from assay.servers.server import RunningServer
from assay.servers.services import Services
from assay.servers.site import Lives, Running, Sampling, Site

_LOOK_S = 0.5
_SHIP_S = 120.0
_GRACE_S = 20.0
"""How long it is waited for services to end, which they do in any case."""
_END_S = 120.0
"""How long a server may take to end, the killing of what is left included."""


class Program(msgspec.Struct, frozen=True):
    """The server's program there."""

    pid: int


@dataclass
class FarSampler:
    """What the sampler on the node saw."""

    agent: Agent
    number: int
    peak_rss_bytes: int = 0
    threads: int = 0

    def cpu_ns(self) -> int:
        """CPU time that the tree has used so far."""
        return int(calls.ask(self.agent, "cpu_ns", self.number))

    def begin_threads(self) -> None:
        """Have the node count what threads do from now on."""
        calls.ask(self.agent, "begin_threads", self.number)

    def idle_cores(self) -> float | None:
        """How many cores the tree keeps busy at this moment."""
        return cast(float | None, calls.ask(self.agent, "idle_cores", self.number))

    def sample(self) -> None:
        """Take memory and threads into the peaks."""
        self.peak_rss_bytes, self.threads = calls.ask(self.agent, "sample", self.number)


@dataclass
class FarServer:
    """A server on the node that has given its first right answer; the node knows it by its number."""

    agent: Agent
    number: int
    prepared: Prepared
    port: int
    cpus: tuple[int, ...]
    kept: Program
    sampler: FarSampler
    start_ns: int
    host: str
    scheme: str
    unended: set[int]
    """The numbers of servers on the node of which it is not known that they have ended."""

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"{self.scheme}://{self.host}:{self.port}/"

    def died(self) -> ServerFailed | None:
        """The failure, if the program, or a service, has ended by itself."""
        try:
            gone = calls.ask(self.agent, "state", self.number)
        except ServerFailed as failed:
            return failed
        return ServerFailed("service", f"{gone} under load") if gone else None

    def log_tail(self) -> str:
        """The last lines that it wrote."""
        try:
            return str(calls.ask(self.agent, "log_tail", self.number))
        except AssayError:
            return ""

    def stop(self) -> None:
        """End it and all it started, however long it takes.

        ServerFailed (stage "stop") where it does not end. A node that is lost has ended it, or does so once
        it knows: before another starts there it is asked again.
        """
        self.unended.add(self.number)
        if self.agent.silent.is_set():  # its trial has failed already
            calls.ask_to_end(self.agent, "stop_server", self.number, within_s=0)
            return
        with contextlib.suppress(EnvironmentLacks):
            end_server(self.agent, self.number)
            self.unended.discard(self.number)


@dataclass
class FarServices(Services):
    """The services of a run on the node, where its servers find them."""

    agent: Agent | None = None

    def ensure(self, say: Callable[[str, str], None] = lambda name, step: None) -> None:
        """Start what does not run there."""
        if self.specs and self.agent is not None:
            for name, step in patiently(self.agent, "ensure_services"):
                say(name, step)

    @property
    def env(self) -> dict[str, str]:
        """What the node itself tells its servers."""
        return {}

    def died(self) -> str:
        """Nothing: a server's own state tells of its services too."""
        return ""

    def cpu_ns(self) -> dict[str, int]:
        """CPU time used so far, by service."""
        return cast(dict[str, int], calls.ask(self.agent, "services_cpu_ns") if self.agent else {})

    def observed(self) -> tuple[ServiceSeen, ...]:
        """What the services are, and take now."""
        if self.agent is None or not self.specs:
            return ()
        return msgspec.json.decode(calls.ask(self.agent, "services_seen"), type=tuple[ServiceSeen, ...])

    def stop(self) -> None:
        """Stop all; a node that is lost does so itself."""
        if self.agent is not None:
            calls.ask_to_end(self.agent, "stop_services", within_s=_GRACE_S)


@dataclass
class FarWatch:
    """The node looked at since a moment, and a server of it, unless that `is_elsewhere`."""

    agent: Agent
    is_elsewhere: bool
    _began_ns: int = field(default_factory=time.monotonic_ns)
    _early_ns: int = 0

    def follow(self, load: object) -> None:
        """A measured time that is agreed ahead begins later than the look."""
        if isinstance(load, GeneratorsRun) and load.measured_from_ns is not None:
            self._early_ns = max(0, load.measured_from_ns - self._began_ns)

    def observed(self) -> HostSeen:
        """The node since then."""
        return msgspec.json.decode(calls.ask(self.agent, "watched"), type=HostSeen)

    def account(self, measured: Measurement, emulation: Emulation | None = None) -> TimeAccount | None:
        """Where the time of the server's cores went."""
        if self.is_elsewhere:
            return None
        answer = calls.ask(self.agent, "accounted", measured.measured_ns + self._early_ns)
        return msgspec.json.decode(answer, type=TimeAccount)


@dataclass
class RemoteSampling:
    """The node's own looks at the slices, asked for now and then."""

    agent: Agent
    samples: list[ServerSlice] = field(default_factory=list)
    _dead: Collection[int] = ()
    _asked_s: float = 0.0
    _counted: tuple[CountedCosts | None, ...] = ()
    _accounts: tuple[TimeAccount | None, ...] = ()

    def begins(self, times: SliceTimes) -> None:
        """The node knows."""

    def ends(self, times: SliceTimes) -> None:
        """The node knows; what it saw is asked for about twice a second."""
        if time.monotonic() - self._asked_s >= _LOOK_S:
            self._ask()

    def dead(self) -> Collection[int]:
        """As the node last said."""
        return self._dead

    def refresh(self) -> None:
        """The node does so itself."""

    def hosts(self) -> tuple[HostSeen, ...]:
        """The node in each arm's slices; it looks no more."""
        self._ask()
        counted = calls.ask(self.agent, "slices_counted")
        self._counted = msgspec.json.decode(counted, type=tuple[CountedCosts | None, ...])
        hosts, accounts = calls.ask(self.agent, "followed")
        self._accounts = msgspec.json.decode(accounts, type=tuple[TimeAccount | None, ...])
        return msgspec.json.decode(hosts, type=tuple[HostSeen, ...])

    def accounts(self, measured: Sequence[ArmMeasurement] = ()) -> tuple[TimeAccount | None, ...]:
        """Of the server's cores, as the node knew it when it looked no more."""
        return self._accounts

    def counted_costs(self) -> tuple[CountedCosts | None, ...]:
        """In each arm's slices, as the node knew it when it looked no more."""
        return self._counted

    def _ask(self) -> None:
        self._asked_s = time.monotonic()
        seen, self._dead = calls.ask(self.agent, "slices_seen", len(self.samples))
        self.samples += msgspec.json.decode(seen, type=tuple[ServerSlice, ...])


@dataclass(frozen=True)
class FarSite(Site):
    """A server node of a cluster."""

    agent: Agent
    unended: set[int] = field(default_factory=set)
    """Servers of which it is not known that they have ended: no other is started beside them."""

    def environment(self, split: CoreSplit, tools: Sequence[Requirement]) -> Environment:
        """The node's, with the tools that are there: each is asked for its version, which takes a while."""
        answer = patiently(self.agent, "environment", split, tuple(tools))
        return msgspec.json.decode(answer, type=Environment)

    def send(self, settings: Settings) -> None:
        """Give the node the sources of all servers."""
        parcel = shipping.packed(settings.server_folders)
        calls.ask(self.agent, "receive", parcel.folders, parcel.content, parcel.digest, within_s=_SHIP_S)

    def prepare(
        self,
        spec: ServerSpec,
        settings: Settings,
        cores: int,
        say: Callable[[str], None],
        cancel: threading.Event,
    ) -> Prepared:
        """Build a server there. ServerFailed names the node where it lacks something."""
        say(f"on {self.agent.node.address}")

        def ask_node() -> None:
            if cancel.is_set():
                raise ServerFailed("build", "the build was cancelled")

        try:
            with self._named():
                return cast(Prepared, patiently(self.agent, "prepare", spec, cores, look=ask_node))
        except EnvironmentLacks as lost:
            raise ServerFailed("build", str(lost)) from lost

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """What fails there says where."""
        try:
            yield
        except ServerFailed as failed:
            where = f"node {self.agent.node.address}: {scrubbed(failed.message)}"
            raise ServerFailed(failed.stage, where, failed.log_tail) from failed

    @contextlib.contextmanager
    def services(self, run: Services) -> Iterator[Services]:
        """The services of a run, on the node."""
        calls.ask(self.agent, "open_services", tuple(run.specs), run.split)
        far = FarServices(run.specs, run.settings, run.split, run.logs, agent=self.agent)
        try:
            yield far
        finally:
            far.stop()

    def start(
        self,
        prepared: Prepared,
        contract: Contract,
        route: Route,
        *,
        cpus: tuple[int, ...],
        log: Path,
        env: Mapping[str, str],
        host: str = "",
    ) -> RunningServer:
        """Start a server there, on the node's address whatever `host` says. ServerFailed where one that
        should have ended still runs."""
        with self._named():
            for before in sorted(self.unended):
                end_server(self.agent, before)
                self.unended.discard(before)
            number, port, pid, start_ns = patiently(
                self.agent, "start", prepared, contract, route, cpus, log.name
            )
        far = FarServer(
            self.agent, number, prepared, port, cpus, Program(pid), FarSampler(self.agent, number), start_ns,
            self.agent.node.address, contract.spoken.scheme, self.unended,
        )  # fmt: skip
        return cast(RunningServer, far)  # it is one to whoever does not look at its process

    def watch(self, running: Running, services: Services, split: CoreSplit) -> FarWatch:
        """Look at a server and its node from now on."""
        number = getattr(running, "number", None)
        calls.ask(self.agent, "watch", split, number)
        return FarWatch(self.agent, number is None)

    def counts(self, running: Running) -> FarCounts:
        """Have the node count what a server does that is loaded alone."""
        return FarCounts(self.agent, getattr(running, "number", None))

    def inspector(self, running: Running) -> FarInspector:
        """Have the node inspect a server."""
        return FarInspector(self.agent, getattr(running, "number", None))

    def sample_slices(
        self,
        slices: GoingSlices,
        arms: Sequence[Lives],
        services: Services,
        split: CoreSplit,
        *,
        why: bool = False,
    ) -> Sampling:
        """Have the node look at servers, its services and itself at both ends of each slice, by its own
        clock."""
        if not isinstance(slices, GeneratorsSlices):
            raise EnvironmentLacks("generators of this machine are interleaved with no other's servers")
        [clock] = read_clocks([self.agent])
        numbers = tuple(getattr(arm.running, "number", None) for arm in arms)
        starts_ns = slices.starts_ns + clock.offset_ns
        calls.ask(self.agent, "follow", slices.plan, starts_ns, numbers, split, why)
        slices.followed_by(self.agent)
        return RemoteSampling(self.agent)

    def free_bytes(self) -> int:
        """How much memory is free there."""
        return int(calls.ask(self.agent, "free_bytes"))


def end_server(agent: Agent, number: int) -> None:
    """End a server on a node. ServerFailed (stage "stop") where it still runs after a long time."""
    until_s = time.monotonic() + _END_S

    def ask_node() -> None:
        if time.monotonic() > until_s:
            said = f"node {agent.node.address}: the server has not ended within {_END_S:g} s"
            raise ServerFailed("stop", said)

    patiently(agent, "stop_server", number, look=ask_node)


def patiently(agent: Agent, what: str, *given: object, look: Callable[[], None] = lambda: None) -> Any:  # noqa: ANN401 - whatever the agent gives
    """The answer to what may take minutes. The agent is asked meanwhile whether it is still there, and `look`
    is called, which may give it up."""
    reference = calls.begin(agent, what, *given)
    while not calls.ended([reference], _LOOK_S):
        calls.ask(agent, "hello")
        look()
    return calls.collect(agent, reference)
