"""Where servers run: on this machine, or on another that does the same for us. A trial cannot tell which.

Only what has to be known at once is looked at: the CPU clocks of each server and each service, the host,
and whether a server's process lives. Whose clock a slice is looked at by is that of the machine, so that no
message comes in between.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec
import psutil

from assay.core.settings import Settings
from assay.engine.generator import GoingLoad, GoingSlices
from assay.model.account import ThreadTime, TimeAccount
from assay.model.block import ServerSlice
from assay.model.costs import CountedCosts
from assay.model.interleaving import ArmMeasurement, SliceTimes
from assay.model.measurement import Measurement
from assay.model.run import Environment
from assay.model.trial import Emulation, HostSeen
from assay.servers import account, build, host, requires, server
from assay.servers.account import CoreSet
from assay.servers.build import Prepared
from assay.servers.census import Census, CensusPair
from assay.servers.contract import Contract, Route
from assay.servers.cores import CoreSplit
from assay.servers.cost_counting import CostCounter, Inspects, counters_of, processes_of
from assay.servers.counters import Counters
from assay.servers.host import Watch
from assay.servers.inspection import Inspector
from assay.servers.listening import Listener, listener_at
from assay.servers.manifest import Requirement, ServerSpec
from assay.servers.sampler import TreeClock
from assay.servers.server import ExternalServer, RunningServer
from assay.servers.services import Services
from assay.servers.watching import MachineWatch

_LOOK_S = 0.2
_REFRESH_S = 0.5

Running = RunningServer | ExternalServer


class Lives(Protocol):
    """A server that has an arm."""

    @property
    def running(self) -> Running:
        """The server."""

    def died(self) -> bool:
        """Whether its process has ended by itself."""


class Sampling(Protocol):
    """Who looks at servers while they are interleaved."""

    samples: list[ServerSlice]
    """The measured slices that were looked at in time."""

    def begins(self, times: SliceTimes) -> None:
        """A slice begins."""

    def ends(self, times: SliceTimes) -> None:
        """It is over."""

    def dead(self) -> Collection[int]:
        """The arms whose servers have ended by themselves."""

    def refresh(self) -> None:
        """Find the processes that servers and services have now: between two slices."""

    def hosts(self) -> tuple[HostSeen, ...]:
        """The host in each arm's slices, once the slices are over."""

    def accounts(self, measured: Sequence[ArmMeasurement] = ()) -> tuple[TimeAccount | None, ...]:
        """Where the time of each arm's slices went, once they are over: of what this process `measured`,
        or of the servers alone; None for an arm of which nobody knows."""

    def counted_costs(self) -> tuple[CountedCosts | None, ...]:
        """What each arm's server did in its slices, where that was to be counted."""


class ArmLooked(msgspec.Struct, frozen=True):
    """An arm as it is looked at: the host in its slices, its server's CPU clock, whether that lives, what
    is counted of it with `--why`, the processes at its top, and what its threads did."""

    host: Watch
    clock: TreeClock | None = None
    died: Callable[[], bool] = lambda: False
    counters: Counters | None = None
    top: Listener = Listener()
    threads: Callable[[], ThreadTime | None] = lambda: None

    def cpu_ns(self) -> int | None:
        """What the server has used so far; nothing can be seen of a process that may run anywhere."""
        return self.clock.read_ns() if self.clock else None


def looked_at(running: Running, died: Callable[[], bool], host: Watch, *, why: bool = False) -> ArmLooked:
    """An arm of a server on this machine, or of one that stands somewhere."""
    top = top_of(running)
    clock = TreeClock(*top.pids, counted=not isinstance(running, RunningServer)) if top.pids else None
    counters = counters_of(running, clock) if why else None
    return ArmLooked(host, clock, died, counters, top, running.sampler.thread_time)


@dataclass
class LocalSampling:
    """Looks by this process. `zero_ns` is the start of the slices by the monotonic clock, `services` are the
    clocks of what servers use beside them, by name, and `above` the processes at the top of each. `sets` are
    the cores whose time is accounted for."""

    arms: Sequence[ArmLooked]
    zero_ns: int
    sets: Sequence[CoreSet] = ()
    services: Mapping[str, TreeClock] = field(default_factory=dict)
    above: Mapping[str, Collection[int]] = field(default_factory=dict)
    samples: list[ServerSlice] = field(default_factory=list)
    _before: Sequence[int | None] = ()
    _services_before: Mapping[str, int | None] = field(default_factory=dict)
    _began_ns: int = 0
    _early: Census = field(init=False)
    _measures: bool = False
    _counting: Counters | None = None

    def __post_init__(self) -> None:
        """Count, lest there be no warm-up to do it in."""
        self._early = self._census()

    def _census(self) -> Census:
        """With a tree for each arm's server and each service."""
        arms = {account.arm_tree(place): arm.top.pids for place, arm in enumerate(self.arms)}
        return Census.now({**self.above, **arms})

    def begins(self, times: SliceTimes) -> None:
        """CPU clocks at the begin of a slice."""
        counters = self.arms[times.arm].counters
        self._counting = counters if counters and times.phase == "measured" and counters.is_due() else None
        if self._counting:
            self._counting.begins()
        self._before, self._services_before = self._clocks(), self._services_clocks()
        self._began_ns = time.monotonic_ns()
        if times.phase == "measured":
            self._measures = True
            self.arms[times.arm].host.resume()

    def ends(self, times: SliceTimes) -> None:
        """And at its end: what came too late for either is not kept."""
        after, services_after = self._clocks(), self._services_clocks()
        ended_ns = time.monotonic_ns()
        end_ns, washout_ns = self.zero_ns + times.end_ns, times.start_ns - times.begin_ns
        in_time = self._began_ns < end_ns and ended_ns < end_ns + washout_ns
        self.arms[times.arm].host.pause(keep=in_time)
        if times.phase == "measured" and in_time:
            used = tuple(
                None if late is None or early is None else late - early
                for early, late in zip(self._before, after, strict=True)
            )
            services = {
                name: late - early
                for name, late in services_after.items()
                if late is not None and (early := self._services_before.get(name)) is not None
            }
            self.samples.append(
                ServerSlice(
                    number=times.number,
                    arm=times.arm,
                    length_ns=ended_ns - self._began_ns,
                    cpu_ns=used,
                    services_cpu_ns=services,
                )
            )
            if self._counting:
                self._counting.ends(times.number)

    def dead(self) -> Collection[int]:
        """Asked of all of them."""
        return [place for place, arm in enumerate(self.arms) if arm.died()]

    def refresh(self) -> None:
        """Between two slices, as what a new process has used so far would count to one."""
        census = Census.now({}) if self._measures else self._census()
        if not self._measures:
            self._early = census
        for clock in (*(arm.clock for arm in self.arms), *self.services.values()):
            if clock:
                clock.refresh(census.stats)
        for arm in self.arms:
            if arm.counters:
                arm.counters.refresh()

    def hosts(self) -> tuple[HostSeen, ...]:
        """In each arm's measured slices."""
        return tuple(arm.host.observed() for arm in self.arms)

    def accounts(self, measured: Sequence[ArmMeasurement] = ()) -> tuple[TimeAccount, ...]:
        """All processes are counted once more, now."""
        between = CensusPair(self._early, self._census())
        return tuple(
            account.of_arm(
                self.sets,
                between,
                arm.host.clocks(),
                self.samples,
                place,
                measured[place] if measured else None,
                arm.threads(),
                arm.top.hidden,
            )
            for place, arm in enumerate(self.arms)
        )

    def counted_costs(self) -> tuple[CountedCosts | None, ...]:
        """In each arm's measured slices, of arms with counters."""
        return tuple(arm.counters.counted() if arm.counters else None for arm in self.arms)

    def _clocks(self) -> list[int | None]:
        return [arm.cpu_ns() for arm in self.arms]

    def _services_clocks(self) -> dict[str, int | None]:
        return {name: clock.read_ns() for name, clock in self.services.items()}


class Followed(Protocol):
    """Slices that can be waited for."""

    def wait_begin(self, number: int, timeout_s: float) -> SliceTimes | None:
        """The slice, once its slice begins."""

    def wait_end(self, number: int, timeout_s: float) -> SliceTimes | None:
        """The slice, once its slice is over."""

    def wait(self, timeout_s: float) -> bool:
        """Whether there are no more."""


class Looking:
    """Looks on a thread of its own, from now until the slices are over."""

    def __init__(self, slices: Followed, looks: LocalSampling) -> None:
        """Begin."""
        self.looks = looks
        self._slices = slices
        self._enough = threading.Event()
        self._dead: set[int] = set()
        self._thread = threading.Thread(target=self._sample, name="looks", daemon=True)
        self._thread.start()

    @property
    def dead(self) -> tuple[int, ...]:
        """The arms whose servers have ended by themselves."""
        return tuple(self._dead)

    def end(self) -> None:
        """Look no more."""
        self._enough.set()
        self._thread.join()

    def _sample(self) -> None:
        number, refreshed_s = 0, time.monotonic()
        while (times := self._wait(self._slices.wait_begin, number)) is not None:
            self.looks.begins(times)
            if self._wait(self._slices.wait_end, number) is None:
                return
            self.looks.ends(times)
            self._dead.update(self.looks.dead())
            if time.monotonic() - refreshed_s >= _REFRESH_S:
                refreshed_s = time.monotonic()
                self.looks.refresh()
            number += 1

    def _wait(self, wait: Callable[[int, float], SliceTimes | None], number: int) -> SliceTimes | None:
        while (times := wait(number, _LOOK_S)) is None:
            if self._enough.is_set() or self._slices.wait(0.0):
                return None
        return None if self._enough.is_set() else times


def top_of(running: Running) -> Listener:
    """The processes above a server, or why one that runs here cannot be seen; neither where it runs
    elsewhere."""
    if isinstance(running, RunningServer):
        return Listener((running.kept.supervisor_pid,))
    return listener_at(running.host, running.port) or Listener()


def tops_of_services(services: Services) -> dict[str, Collection[int]]:
    """The process above each service, by its name."""
    return {name: (one.kept.supervisor_pid,) for name, one in services.running.items()}


def watched(
    running: Running | None, services: Services | None, split: CoreSplit, sets: Sequence[CoreSet]
) -> MachineWatch:
    """Look at this machine, and at a server and services of it, from now on."""
    tops = tops_of_services(services) if services is not None else {}
    if running is None:
        return MachineWatch(split, sets, tops)
    running.sampler.begin_threads()
    top = top_of(running)
    return MachineWatch(split, sets, {**tops, account.SERVER: top.pids}, running.sampler.thread_time, top)


class Watched(Protocol):
    """A host that is looked at since a moment."""

    def follow(self, load: GoingLoad) -> None:
        """The load that is looked at, once it is known when it is measured."""

    def observed(self) -> HostSeen:
        """The host since then. The first call is the last look."""

    def account(self, measured: Measurement, emulation: Emulation | None = None) -> TimeAccount | None:
        """Where the time of its cores went; None where nobody knows."""


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

    def watch(self, running: Running, services: Services, split: CoreSplit) -> Watched:
        """Look at a server, its services and the machine from now on."""
        return watched(running, services, split, account.core_sets(split))

    def counts(self, running: Running) -> CostCounter:
        """Count what a server does that is loaded alone."""
        return counters_of(running)

    def inspector(self, running: Running) -> Inspects:
        """Inspect a server in loads of their own."""
        return Inspector(processes_of(running))

    def sample_slices(
        self,
        slices: GoingSlices,
        arms: Sequence[Lives],
        services: Services,
        split: CoreSplit,
        *,
        why: bool = False,
    ) -> Sampling:
        """Look at servers, their services and the machine at both ends of each slice. `why`: also count what
        each server does in its own."""
        seen = tuple(
            looked_at(arm.running, arm.died, host.Watch(split, begins=False), why=why) for arm in arms
        )
        zero_ns, sets = slices.started_at_monotonic_ns(), account.core_sets(split)
        return LocalSampling(seen, zero_ns, sets, services.clocks(), tops_of_services(services))

    def free_bytes(self) -> int:
        """How much memory is free."""
        return psutil.virtual_memory().available
