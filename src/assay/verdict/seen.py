"""What the rules look at: stored values, put side by side. None means "not known".

A `Load` comes from our own engine or from another tool's output; a rule that lacks a figure it
needs stays silent. `assay.verdict.see` makes these from stored values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from assay.stats import by_block
from assay.stats.pairing import ALPHA, LEAST_BLOCKS, Manner, Side, pair
from assay.stats.sequential import per_pair
from assay.values.estimate import Estimate
from assay.values.measurement import Books, Outcome, Stray, Window
from assay.values.plan import Open
from assay.values.run import Environment, Header
from assay.values.trial import Case, ContractSeen, HostSeen, ServerSeen, ServiceSeen, Trial, WarmUpSeen

_LEFT_OVER_SHARE = 0.01
"""Missed starts, of all, from which an open loop's pool was too small."""


@dataclass(frozen=True)
class Times:
    """A distribution of times in ns; `quantiles` by p, only those with enough requests."""

    count: int
    min_ns: float
    mean_ns: float
    max_ns: float
    quantiles: Mapping[float, float]


@dataclass(frozen=True, kw_only=True)
class Load:
    """One load as it was offered and answered."""

    role: str = "candidate"
    closed: bool | None = None
    connections: int | None = None
    think_time_ns: int = 0
    opening_ns: float = 0.0
    """What all connections together spent being opened: connects and handshakes."""
    open_load: Open | None = None
    threads: int | None = None
    duration_ns: int | None = None
    warm_up: WarmUpSeen | None = None
    rate_per_s: float | None = None
    started: int | None = None
    completed: int | None = None
    failed: int | None = None
    missed_starts: int | None = None
    bytes_read: int | None = None
    outcomes: tuple[Outcome, ...] = ()
    encodings: Mapping[str, int] | None = None
    encodings_asked: frozenset[str] = frozenset()
    http_asked: str | None = None
    http_versions: Mapping[str, int] | None = None
    checked: int | None = None
    stray: Stray | None = None
    service_time: Times | None = None
    response_time: Times | None = None
    send_lag: Times | None = None
    books: Books | None = None
    windows: tuple[Window, ...] = ()
    worker_completed: int | None = None
    worker_busy_shares: tuple[float, ...] = ()
    worker_stalls_ns: tuple[int, ...] = ()
    paced_by_spinning: bool = False
    connections_opened: int | None = None
    connections_answered: int | None = None
    connections_busy_peak: int | None = None
    connections_reopened: int | None = None
    kept_alive: bool | None = None
    client_cpus: tuple[int, ...] = ()
    server_cpus: tuple[int, ...] = ()
    machine_cores: int | None = None
    smt_siblings: tuple[tuple[int, ...], ...] = ()
    same_machine: bool | None = None
    link_bytes_per_s: float | None = None
    environment: Environment | None = None
    contract: ContractSeen | None = None
    server: ServerSeen | None = None
    services: tuple[ServiceSeen, ...] = ()
    host: HostSeen | None = None
    fastest_mhz: float | None = None
    tail_quoted: bool = False
    of_a_search: bool = False
    case_busy_share: float | None = None
    """The busy share of the server's cores over all trials of the case."""
    averaged: tuple[str, ...] = ()

    @property
    def cores_shared(self) -> tuple[int, ...]:
        """Client CPUs that the server runs on too, or whose SMT sibling it runs on."""
        server = set(self.server_cpus)
        for group in self.smt_siblings:
            if server & set(group):
                server |= set(group)
        return tuple(sorted(server & set(self.client_cpus)))

    @property
    def cores_apart(self) -> bool:
        """Whether client and server have cores of their own."""
        return bool(self.client_cpus and self.server_cpus) and not self.cores_shared

    @property
    def client_idle_share(self) -> float | None:
        """The idle share of the generator: of its busiest thread, or of its cores if those are its own.

        Threads that share cores are never busy for all of their time: the cores are what they exhaust.
        """
        if not self.worker_busy_shares:
            return None
        idle = max(0.0, 1 - max(*self.worker_busy_shares, self.crowded_share))
        alone = bool(self.client_cpus) and not self.cores_shared
        return min(idle, self.host.client_cpus_idle_share) if alone and self.host is not None else idle

    @property
    def crowded_share(self) -> float:
        """What all generator threads together used of the generator's cores."""
        cores = len(self.client_cpus) or self.machine_cores
        return sum(self.worker_busy_shares) / cores if cores else 0.0

    @property
    def server_busy_share(self) -> float | None:
        """The busy share of the server's cores, or of its process where its cores are not its own.

        The cores' holds the kernel's work for the server and the server's services, too. The process's is
        exact where a kernel that counts by ticks reads too little from the cores. The larger is nearer.
        """
        process = self.server.cpu_share if self.server is not None else None
        cores = self.host.server_cpus_idle_share if self.host is not None else None
        if cores is not None and self.server_cpus and not self.cores_shared:
            return max(1 - cores, process or 0.0)
        return process

    @property
    def pace_share(self) -> float | None:
        """The busy share of the server's cores that says who set the pace: over the case's trials, if there
        are several, so that one odd reading decides nothing."""
        return self.server_busy_share if self.case_busy_share is None else self.case_busy_share

    @property
    def pool_exhausted(self) -> bool:
        """Whether an open loop had to wait for connections of its own pool.

        A few starts that are left over at the end of a run do not say so.
        """
        if self.missed_starts and self.missed_starts > _LEFT_OVER_SHARE * (self.started or 0):
            return True
        return bool(self.connections and (self.connections_busy_peak or 0) >= self.connections)


@dataclass(frozen=True)
class CaseSeen:
    """A case with its trials that were measured (`loads`, in the same order) and all that were tried.

    Of a search they are the trials in which its objective held, and `capacity` is what it found.
    """

    case: Case
    trials: tuple[Trial, ...]
    loads: tuple[Load, ...]
    capacity: Estimate | None = None

    @property
    def name(self) -> str:
        """What a reader knows it by; with its workload and load where the study has several."""
        return self.case.name

    @property
    def measured(self) -> tuple[Trial, ...]:
        """The trials that have a measurement."""
        return tuple(trial for trial in self.trials if trial.measurement is not None)

    @cached_property
    def throughput_by_block(self) -> dict[int, float]:
        """One throughput a block; none of a search, whose rates are asked, not found."""
        return {} if self.case.search else by_block(self.trials)

    @property
    def candidate(self) -> bool:
        """Whether the case takes part in rankings and comparisons."""
        return self.case.role == "candidate"

    @property
    def closed(self) -> bool:
        """Whether its loads are closed loops: throughput is found, not offered."""
        return bool(self.loads) and all(load.closed for load in self.loads)

    @property
    def server_busy_share(self) -> float | None:
        """Mean busy share of the server's cores over the loads that know it."""
        shares = [share for load in self.loads if (share := load.server_busy_share) is not None]
        return sum(shares) / len(shares) if shares else None

    @property
    def group(self) -> tuple[str, str]:
        """Cases are compared within one workload and load."""
        return (self.case.workload, self.case.load)


@dataclass(frozen=True)
class RunSeen:
    """A run, its trials sorted by case in the header's order. `damage` says what its record has lost."""

    header: Header
    cases: tuple[CaseSeen, ...]
    damage: tuple[str, ...] = ()

    @property
    def groups(self) -> dict[tuple[str, str], tuple[CaseSeen, ...]]:
        """The cases by workload and load, in the header's order."""
        groups: dict[tuple[str, str], tuple[CaseSeen, ...]] = {}
        for case in self.cases:
            groups[case.group] = (*groups.get(case.group, ()), case)
        return groups

    @property
    def manner(self) -> Manner:
        """How its cases are paired: with the interval that allows for looking, if the run ended by it."""
        return "looked at" if self.header.blocks is None else "paired"

    def alpha(self, cases: int) -> float:
        """The error that an interval is allowed where so many cases are compared pair by pair."""
        return per_pair(cases) if self.header.blocks is None else ALPHA

    def ratio(self, a: CaseSeen, b: CaseSeen) -> Estimate | None:
        """Throughput of a over that of b as measured, whatever was found about them."""
        made = pair(Side(a.throughput_by_block), Side(b.throughput_by_block), manner=self.manner)
        return made.ratio if made else None

    @cached_property
    def controls(self) -> dict[str, Estimate]:
        """The ratio of each A/A control to the case it repeats, by the control's id."""
        ratios = {}
        for seen in self.cases:
            original = self.find(seen.case.control_of) if seen.case.control_of else None
            ratio = original and self.ratio(seen, original)
            if ratio and ratio.n >= LEAST_BLOCKS:
                ratios[seen.case.id] = ratio
        return ratios

    def ceiling_for(self, case: CaseSeen) -> CaseSeen | None:
        """The null server's case that stands for `case`: same load, and same workload if there is one."""
        ceilings = [other for other in self.cases if other.case.role == "ceiling" and other.measured]
        same_load = [other for other in ceilings if other.case.load == case.case.load]
        same_both = [other for other in same_load if other.group == case.group]
        return next(iter(same_both or same_load), None)

    def find(self, case_id: str) -> CaseSeen | None:
        """The case of that id."""
        return next((case for case in self.cases if case.case.id == case_id), None)


def intended_between(load: Open, from_ns: int, to_ns: int) -> float:
    """Requests that the stages of an open loop ask for between two times after its begin.

    The rate moves linearly within a stage, so the requests are the trapezoid under it. After the last
    stage its last rate holds.
    """
    total, begin = 0.0, 0
    for stage in load.stages:
        low, high = max(from_ns, begin), min(to_ns, begin + stage.duration_ns)
        if low < high:
            slope = (stage.to_per_s - stage.from_per_s) / stage.duration_ns
            middle = stage.from_per_s + slope * ((low + high) / 2 - begin)
            total += middle * (high - low) / 1e9
        begin += stage.duration_ns
    beyond = max(0, to_ns - max(from_ns, begin))
    return total + (load.stages[-1].to_per_s * beyond / 1e9 if load.stages else 0.0)
