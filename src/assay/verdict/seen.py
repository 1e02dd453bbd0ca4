"""What the rules look at: stored values, put side by side. None means "not known".

A `Load` comes from our own engine or from another tool's output; a rule that lacks a figure it
needs stays silent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from assay.stats import by_block, quantiles, rate_per_s
from assay.values.measurement import Books, Histogram, Measurement, Outcome, Window
from assay.values.plan import Closed, LoadPlan
from assay.values.run import Environment, Header, Run
from assay.values.trial import Case, ContractSeen, HostSeen, ServerSeen, Trial

QUANTILES = (0.5, 0.9, 0.99)


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
    threads: int | None = None
    duration_ns: int | None = None
    rate_per_s: float | None = None
    completed: int | None = None
    failed: int | None = None
    outcomes: tuple[Outcome, ...] = ()
    checked: int | None = None
    service_time: Times | None = None
    books: Books | None = None
    windows: tuple[Window, ...] = ()
    worker_completed: int | None = None
    worker_busy_shares: tuple[float, ...] = ()
    worker_stalls_ns: tuple[int, ...] = ()
    paced_by_spinning: bool = False
    connections_opened: int | None = None
    connections_answered: int | None = None
    client_cpus: tuple[int, ...] = ()
    server_cpus: tuple[int, ...] = ()
    machine_cores: int | None = None
    smt_siblings: tuple[tuple[int, ...], ...] = ()
    same_machine: bool | None = None
    contract: ContractSeen | None = None
    server: ServerSeen | None = None
    host: HostSeen | None = None

    @property
    def cores_shared(self) -> tuple[int, ...]:
        """Client CPUs that the server runs on too, or whose SMT sibling it runs on."""
        server = set(self.server_cpus)
        for group in self.smt_siblings:
            if server & set(group):
                server |= set(group)
        return tuple(sorted(server & set(self.client_cpus)))


@dataclass(frozen=True)
class CaseSeen:
    """A case with its trials that were measured (`loads`, in the same order) and all that were tried."""

    case: Case
    trials: tuple[Trial, ...]
    loads: tuple[Load, ...]

    @property
    def measured(self) -> tuple[Trial, ...]:
        """The trials that have a measurement."""
        return tuple(trial for trial in self.trials if trial.measurement is not None)

    @cached_property
    def throughput_by_block(self) -> dict[int, float]:
        """One throughput a block."""
        return by_block(self.trials)

    @property
    def candidate(self) -> bool:
        """Whether the case takes part in rankings and comparisons."""
        return self.case.role == "candidate"

    @property
    def group(self) -> tuple[str, str]:
        """Cases are compared within one workload and load."""
        return (self.case.workload, self.case.load)


@dataclass(frozen=True)
class RunSeen:
    """A run, its trials sorted by case in the header's order."""

    header: Header
    cases: tuple[CaseSeen, ...]

    @property
    def groups(self) -> dict[tuple[str, str], tuple[CaseSeen, ...]]:
        """The cases by workload and load, in the header's order."""
        groups: dict[tuple[str, str], tuple[CaseSeen, ...]] = {}
        for case in self.cases:
            groups[case.group] = (*groups.get(case.group, ()), case)
        return groups

    def ceiling_for(self, case: CaseSeen) -> CaseSeen | None:
        """The null server's case that stands for `case`: same load, and same workload if there is one."""
        ceilings = [other for other in self.cases if other.case.role == "ceiling" and other.measured]
        same_load = [other for other in ceilings if other.case.load == case.case.load]
        same_both = [other for other in same_load if other.group == case.group]
        return next(iter(same_both or same_load), None)

    def find(self, case_id: str) -> CaseSeen | None:
        """The case of that id."""
        return next((case for case in self.cases if case.case.id == case_id), None)


def see_run(run: Run) -> RunSeen:
    """A run as the rules look at it."""
    cases = []
    for case in run.header.cases:
        trials = tuple(trial for trial in run.trials if trial.case == case.id)
        loads = tuple(
            _see_trial(case, trial, run.header.environment) for trial in trials if trial.measurement
        )
        cases.append(CaseSeen(case, trials, loads))
    return RunSeen(run.header, tuple(cases))


def _see_trial(case: Case, trial: Trial, environment: Environment) -> Load:
    assert trial.measurement is not None  # the caller's filter
    return see_load(
        trial.plan,
        trial.measurement,
        role=case.role,
        cores=environment.cores,
        same_machine=True,
        client_cpus=trial.plan.cpus or environment.client_cpus,
        server_cpus=trial.server.cpus if trial.server else environment.server_cpus,
        smt_siblings=environment.smt_siblings,
        contract=trial.contract,
        server=trial.server,
        host=trial.host,
    )


def see_load(
    plan: LoadPlan,
    measurement: Measurement,
    *,
    cores: int | None,
    same_machine: bool | None,
    client_cpus: tuple[int, ...] = (),
    server_cpus: tuple[int, ...] = (),
    smt_siblings: tuple[tuple[int, ...], ...] = (),
    role: str = "candidate",
    contract: ContractSeen | None = None,
    server: ServerSeen | None = None,
    host: HostSeen | None = None,
) -> Load:
    """One load of our own engine."""
    closed = isinstance(plan.load, Closed)
    workers = measurement.workers
    return Load(
        role=role,
        closed=closed,
        connections=plan.load.connections if isinstance(plan.load, Closed) else plan.load.max_connections,
        think_time_ns=plan.load.think_time_ns if isinstance(plan.load, Closed) else 0,
        threads=plan.threads,
        duration_ns=measurement.measured_ns,
        rate_per_s=rate_per_s(measurement),
        completed=measurement.completed,
        failed=measurement.failed,
        outcomes=measurement.outcomes,
        checked=measurement.checked,
        service_time=see_times(measurement.service_time),
        books=measurement.books,
        windows=tuple(window for window in measurement.windows if window.phase == "measured"),
        worker_completed=sum(worker.completed for worker in workers) if workers else None,
        worker_busy_shares=tuple(worker.cpu_ns / worker.wall_ns for worker in workers if worker.wall_ns > 0),
        worker_stalls_ns=tuple(worker.largest_stall_ns for worker in workers),
        paced_by_spinning=not isinstance(plan.load, Closed) and plan.load.pacer == "spin",
        connections_opened=measurement.connections.opened,
        connections_answered=measurement.connections.answered,
        client_cpus=client_cpus,
        server_cpus=server_cpus,
        machine_cores=cores,
        smt_siblings=smt_siblings,
        same_machine=same_machine,
        contract=contract,
        server=server,
        host=host,
    )


def see_times(histogram: Histogram) -> Times | None:
    """A histogram's figures; None where it is empty."""
    if not histogram.count:
        return None
    found = {q.p: q.value_ns for q in quantiles(histogram, QUANTILES) if q is not None}
    return Times(histogram.count, histogram.min_ns, histogram.mean_ns, histogram.max_ns, found)
