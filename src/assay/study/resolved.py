"""What a study comes to: cases and plans, with nothing left to decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from assay.sut.contract import Contract, Route
from assay.sut.cores import CoreSplit
from assay.sut.manifest import ServerSpec
from assay.sut.services.manifest import ServiceSpec
from assay.values.plan import Closed, LoadPlan, StopAfter, Value
from assay.values.trial import Case

_TRIAL_OVERHEAD_S = 0.5
"""Starting, testing and stopping a server: 0.1 s for a compiled one, 1 s for a small JVM."""

REQUESTS_GUESS_PER_S = 1000.0
"""For the estimate of a counted load of which nothing was published."""


class WarmUp(Value, frozen=True, kw_only=True):
    """The bounds of a warm-up that ends when throughput is steady: not before `min_ns`, at the latest after
    `max_ns`; 0 means no warm-up."""

    min_ns: int
    max_ns: int


@dataclass(frozen=True, kw_only=True)
class ResolvedCase:
    """A case with all that a trial of it needs. `plan.url` and `plan.cpus` are filled in by the trial;
    the first of `routes` is the readiness probe."""

    case: Case
    server: ServerSpec
    contract: Contract
    routes: tuple[Route, ...]
    plan: LoadPlan
    warm_up: WarmUp
    guess_per_s: float = REQUESTS_GUESS_PER_S
    """Answers a second, for the estimate of a counted load: as published, where that was."""

    def expected_s(self) -> tuple[float, float]:
        """The least and the most that a trial is likely to take."""
        if isinstance(self.plan.stop, StopAfter):
            measured_s = self.plan.stop.ns / 1e9
        elif isinstance(self.plan.load, Closed):
            measured_s = self.plan.stop.count / self.guess_per_s
        else:
            measured_s = sum(stage.duration_ns for stage in self.plan.load.stages) / 1e9
        fixed = measured_s + _TRIAL_OVERHEAD_S
        return fixed + self.warm_up.min_ns / 1e9, fixed + self.warm_up.max_ns / 1e9


@dataclass(frozen=True, kw_only=True)
class ResolvedStudy:
    """A study under one profile, complete. `record` is what the run's header keeps of the study."""

    name: str
    title: str
    question: str
    profile: str
    quick: bool
    seed: int
    blocks: int
    cases: tuple[ResolvedCase, ...]
    services: tuple[ServiceSpec, ...]
    split: CoreSplit
    record: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What a reader should know before it starts, in a line each: what `--quick` costs, say."""

    @property
    def servers(self) -> tuple[ServerSpec, ...]:
        """Each server (and variant) once."""
        found = {(case.server.id, case.server.variant): case.server for case in self.cases}
        return tuple(found.values())

    def expected_s(self) -> tuple[float, float]:
        """The least and the most that the measuring is likely to take; builds are not part of it."""
        each = [(case.case.trials(self.blocks), *case.expected_s()) for case in self.cases]
        return sum(n * low for n, low, _ in each), sum(n * high for n, _, high in each)

    @property
    def trials(self) -> int:
        """How many trials it has."""
        return sum(case.case.trials(self.blocks) for case in self.cases)
