"""A machine looked at while a load goes on: its cores, its processes, and whoever serves there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from assay.engine.generator import GoingLoad
from assay.model.account import ThreadTime, TimeAccount
from assay.model.measurement import Measurement
from assay.model.plan import LoadPlan
from assay.model.trial import Emulation, HostSeen
from assay.servers import account
from assay.servers.account import SERVER, CoreSet
from assay.servers.census import Census, CensusPair
from assay.servers.cores import CoreSplit
from assay.servers.host import Watch
from assay.servers.listening import Listener, listener_of
from assay.servers.sampler import ThreadRuns

_EVERY_S = 0.5
_IDLE_S = 0.05


@dataclass
class MachineWatch:
    """Looks from the moment at which it is made.

    `tops` are the processes above the server (`SERVER`) and above each service, by name, `threads`
    says what the server's threads did. `top` says why a server that runs here cannot be seen.
    """

    split: CoreSplit
    sets: Sequence[CoreSet]
    tops: Mapping[str, Collection[int]] = field(default_factory=dict)
    threads: Callable[[], ThreadTime | None] = lambda: None
    top: Listener = Listener()
    early: Census = field(init=False)
    late: Census | None = None
    _watch: Watch = field(init=False)
    _host: HostSeen | None = None
    _threads: ThreadTime | None = None

    def __post_init__(self) -> None:
        """Count before the clocks are read: what that takes is no part of what is looked at."""
        self.early = Census.now(self.tops)
        self._watch = Watch(self.split)

    @property
    def early_ns(self) -> int:
        """When it began, by the monotonic clock."""
        return self.early.at_ns

    def follow(self, load: object) -> None:
        """The load that is looked at; on one machine nothing has to be agreed with it."""

    def observed(self) -> HostSeen:
        """The machine since then. The first call is the last look at it."""
        if self._host is None:
            self._host, self._threads = self._watch.observed(), self.threads()
            self.late = Census.now(self.tops)
        return self._host

    def account(
        self, measured: Measurement | None, emulation: Emulation | None = None, looked_ns: int = 0
    ) -> TimeAccount:
        """Where the time went until that look, by what this process `measured`. The load went on for
        `looked_ns` of it, or for as long as it was measured."""
        self.observed()
        assert self.late is not None  # since it was observed
        return account.of_load(
            self.sets,
            self._watch.clocks(),
            CensusPair(self.early, self.late),
            measured,
            looked_ns=looked_ns,
            threads=self._threads,
            emulation=emulation,
            hidden=self.top.hidden,
            hidden_user=self.top.user,
        )


class LoadWatch:
    """Watches this machine while a load goes on, and whoever answers it, if that is here."""

    def __init__(self, plan: LoadPlan) -> None:
        """Begin."""
        self._plan = plan
        self._warms = bool(plan.warmup_max_ns)
        self._found = listener_of(plan)
        self._tops = {SERVER: self._found.pids} if self._found and self._found.pids else {}
        self._split = CoreSplit(plan.cpus, (), os.cpu_count() or 1)
        self._begin()

    def _begin(self) -> None:
        self._runs, self._sampled_s = ThreadRuns(), 0.0
        found = self._found or Listener()
        self._watch = MachineWatch(self._split, self._sets(), self._tops, self._threads, found)
        self.sample()

    def sample(self, going: GoingLoad | None = None) -> None:
        """Look at the server's threads, twice a second at most; once a load that goes on measures, begin
        anew."""
        if self._warms and going is not None and going.snapshot().phase == "measured":
            self._warms = False
            self._begin()
        elif time.monotonic() - self._sampled_s >= _EVERY_S:
            self._sampled_s = time.monotonic()
            self._runs.sample(self._watch.early.trees.get(SERVER, ()))

    def _threads(self) -> ThreadTime | None:
        self._runs.sample(self._watch.early.trees.get(SERVER, ()), last=True)
        return self._runs.total()

    def observed(self) -> HostSeen:
        """The machine since the measured time began."""
        return self._watch.observed()

    def account(self, measured: Measurement) -> TimeAccount | None:
        """Where the time since then went. It takes a moment, to see what the server does without a load; None
        where this system has no clocks of processes."""
        if not self._watch.early.stats:
            return None
        found = self._watch.account(measured)
        if self._found is None:
            found = msgspec.structs.replace(found, unseen=("the server is on another machine", *found.unseen))
        return msgspec.structs.replace(found, idle_cpu_share=self._idle_share())

    def _idle_share(self) -> float | None:
        late = self._watch.late
        if not self._tops or late is None:
            return None
        time.sleep(max(0.0, _IDLE_S - (time.monotonic_ns() - late.at_ns) / 1e9))
        idle = CensusPair(late, Census.now(self._tops))
        used = idle.tree(SERVER)
        cores = len(self._found.cpus if self._found else ()) or self._split.cores
        return None if used is None else used.total_ns / idle.length_ns / cores

    def _sets(self) -> Sequence[CoreSet]:
        client = self._plan.cpus or tuple(sorted(os.sched_getaffinity(0)))
        if self._found is None:
            return (CoreSet(client, "generator"),)
        server = tuple(sorted(self._found.cpus))
        return account.core_sets(CoreSplit(client if server else (), server, self._split.cores))
