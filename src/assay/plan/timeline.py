"""Where a run stands in time: the units that are still to come, and how long the steps so far have taken."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from assay.model.design import AnyDesign, ComparisonDesign, SearchDesign, StudyDesign
from assay.model.plan import StopAfter
from assay.model.run import Run
from assay.model.trial import Phase
from assay.plan.forecast import LOADS, Cost, Left, Outlook, RunStep, StepKind, Took, Unit, remaining
from assay.plan.next import comparison
from assay.plan.next.study import WATCHED, slots_of, to_come
from assay.plan.next.warming import warm_up_for
from assay.verdict.objective import parse
from assay.verdict.search import answer_of, plan_at
from assay.verdict.see_runs import blocks_of, load_ns, next_ns, tried_in

KINDS: dict[Phase, StepKind] = {
    "start": "start",
    "contract": "start",
    "warm-up": "warm-up",
    "measure": "measure",
    "contract again": "end",
    "stop": "end",
}
_ORDER: tuple[StepKind, ...] = ("start", "warm-up", "measure", "end")
_MOST_UNITS = 1000
"""Of a budget that has room for more nobody waits for the end."""


class Ahead(NamedTuple):
    """The units that are `sure` to come, those that `maybe` follow, and the most load that they may offer."""

    sure: tuple[Unit, ...]
    maybe: tuple[Unit, ...] = ()
    load_bound_s: float = math.inf


def ahead(run: Run, costs: Mapping[str, Cost]) -> Ahead:
    """The units that come after the trials of the run, of any kind of design; none of one that has ended."""
    match run.header.design:
        case StudyDesign() as design:
            return _of_study(run, design, costs)
        case ComparisonDesign() as design:
            return _of_comparison(run, design, costs)
        case SearchDesign() as design:
            return _of_search(run, design, costs)
    return Ahead(())


def _outlook(run: Run, costs: Mapping[str, Cost], watched: int) -> Outlook:
    """By the trials so far. A case whose warm-up is settled is watched no more."""
    design: AnyDesign = run.header.design
    tried: dict[str, int] = {}
    for trial in run.trials:
        tried[trial.case] = tried.get(trial.case, 0) + (trial.warm_up is not None)
    warm_ups, left = dict(design.warm_ups), {}
    for case in run.header.cases:
        if tried.get(case.id, 0) < watched:
            left[case.id] = watched - tried.get(case.id, 0)
        elif not case.dependent:
            warm_ups[case.id] = warm_up_for(run, case.id, watched)
    cases = {case.id: case for case in run.header.cases}
    measured = [block for block in run.blocks if any(one.measurement for one in block.trials)]
    first = [cases[block.trials[0].case] for block in measured]
    piloted = frozenset((case.workload, case.load) for case in first)
    return Outlook(
        design=design, cases=run.header.cases, costs=costs, warm_ups=warm_ups, watched=left, piloted=piloted
    )


def _of_study(run: Run, design: StudyDesign, costs: Mapping[str, Cost]) -> Ahead:
    left = [(slot.case, slot.block) for slot in to_come(run)]
    more: list[tuple[str, int]] = []
    if design.more_blocks and not tried_in(run, design.blocks):
        known = blocks_of(run) or 0
        every = slots_of(run.header, known + design.more_blocks)
        more = [(slot.case, slot.block) for slot in every if slot.block >= known]
    units = _outlook(run, costs, WATCHED).units((*left, *more))
    sure = frozenset(block for _, block in left)
    return Ahead(
        tuple(unit for unit in units if unit.block in sure),
        tuple(unit for unit in units if unit.block not in sure),
    )


def _of_comparison(run: Run, design: ComparisonDesign, costs: Mapping[str, Cost]) -> Ahead:
    """The block that has begun, or the first, and as many more as the budget may have room for."""
    due = comparison.left_of_block(run)
    if not due:
        return Ahead(())
    bound_s = max(0.0, (design.budget_ns - load_ns(run)) / 1e9) if design.budget_ns else math.inf
    begun = {trial.case for trial in run.trials if trial.block == due[0].slot.block}
    now = [(one.slot.case, one.slot.block) for one in due]
    whole = [case for case, _ in now] + sorted(begun)
    each_ns = next_ns(run) if run.trials else comparison.room_of(design).least_ns
    room = min(_MOST_UNITS, math.ceil(bound_s * 1e9 / max(each_ns, 1))) if design.budget_ns else 0
    block = due[0].slot.block
    more = [(case, block + number) for number in range(1, room) for case in whole]
    units = _outlook(run, costs, comparison.WATCHED).units((*now, *more))
    sure = tuple(unit for unit in units if unit.block == block)
    return Ahead(sure, units[len(sure) :], bound_s)


def _of_search(run: Run, design: SearchDesign, costs: Mapping[str, Cost]) -> Ahead:
    """The trials that the search is likely to need, and more up to its budget."""
    [case] = run.header.cases
    course = answer_of(run).search.course() if design.bounds.lowest_per_s else ()
    objective, plan = parse(design.bounds.objective), design.plans[case.id]
    spent_s = sum(map(comparison.offered_ns, run.trials)) / 1e9
    bound_s = max(0.0, design.budget_ns / 1e9 - spent_s)
    if not course or not bound_s:
        return Ahead(())
    [unit] = _outlook(run, costs, 0).units([(case.id, len(run.trials))])
    units, load_s = [], 0.0
    for number, rate in enumerate((*course, *(course[-1] for _ in range(_MOST_UNITS)))):
        if load_s >= bound_s:
            break
        stop = plan_at(plan, objective, rate, design.measure_ns, design.max_connections).stop
        assert isinstance(stop, StopAfter)  # as all at a rate
        steps = tuple(_at(step, stop.ns / 1e9) if step.kind == "measure" else step for step in unit.steps)
        units.append(Unit(len(run.trials) + number, unit.cases, steps))
        load_s += sum(step.least_s for step in steps if _is_load(step))
    return Ahead(tuple(units[: len(course)]), tuple(units[len(course) :]), bound_s)


def _at(step: RunStep, measured_s: float) -> RunStep:
    """The step as long as it is at that rate; those that are as long are alike."""
    return RunStep(step.kind, f"{step.of} {measured_s:.0f} s", measured_s, measured_s)


class Timeline:
    """Is told the steps of a run as they come, with a clock's seconds, and says what is left."""

    def __init__(self, run: Run, costs: Mapping[str, Cost]) -> None:
        """The run begins, or goes on behind the trials that it has."""
        self._costs = costs
        self._lacking: set[str] = set()
        self._done: list[Took] = []
        self._unit: list[RunStep] = []
        self._step: tuple[RunStep, float] | None = None
        self._offered_s = 0.0  # in the steps of this unit that have ended
        self._began_s: float | None = None
        self._plan(run)

    def _plan(self, run: Run) -> None:
        self._ahead = ahead(run, self._costs)
        self.course = len(run.trials) + len(self._ahead.sure)
        """How many trials the run is likely to have, where each is a unit of its own."""
        self.next_block = next((unit.block for unit in self._ahead.sure), None)
        """The block that comes behind those of the run; None where it has ended."""

    def lacks(self, server: str) -> None:
        """That server cannot be had: its trials are rows that take no time."""
        self._lacking.add(server)

    def begins(self, cases: Collection[str], block: int, now_s: float) -> None:
        """A unit begins: a trial of the case, or an interleaved block of the cases."""
        self._leave(now_s)
        self._offered_s = 0.0
        self._began_s = now_s if self._began_s is None else self._began_s
        sure, maybe, bound_s = self._ahead
        units = (*sure, *maybe)
        own = next((one for one in units if one.block == block and set(cases) & set(one.cases)), None)
        self._unit = list(own.steps) if own else []
        others = (tuple(one for one in each if one is not own) for each in (sure, maybe))
        self._ahead = Ahead(next(others), next(others), bound_s)

    def phase(self, case: str, phase: Phase, now_s: float) -> None:
        """The trial of that case enters a phase; arms of one block share all but their starts."""
        kind = KINDS[phase]
        of = self._costs.get(case, Cost()).server or case
        if self._step is not None and self._step[0].kind == kind and (kind != "start" or phase == "contract"):
            return
        self._leave(now_s)
        place = next((n for n, one in enumerate(self._unit) if _is(one, kind, of)), None)
        if place is not None:
            self._step = (self._unit.pop(place), now_s)
        # What did not come about, as a server failed, will not any more.
        self._unit = [one for one in self._unit if _ORDER.index(one.kind) >= _ORDER.index(kind)]

    def stored(self, run: Run, now_s: float) -> None:
        """The unit has ended, and its trials are part of the run."""
        self._leave(now_s)
        self._unit, self._offered_s = [], 0.0
        self._plan(run)

    def left(self, now_s: float) -> Left:
        """What is left now."""
        begun = [self._step[0]] if self._step else []
        elapsed_s = now_s - self._step[1] if self._step else 0.0
        sure = (*begun, *self._unit, *self._steps(self._ahead.sure))
        bound_s = self._ahead.load_bound_s - self._offered_s - elapsed_s * any(map(_is_load, begun))
        return remaining(sure, tuple(self._steps(self._ahead.maybe)), self._done, elapsed_s, bound_s)

    def share(self, now_s: float) -> float:
        """How much of the run's time has passed since its first unit began, from 0 to 1."""
        left, passed_s = self.left(now_s), 0.0 if self._began_s is None else now_s - self._began_s
        middle_s = (left.low_s + left.high_s) / 2
        return passed_s / (passed_s + middle_s) if passed_s + middle_s > 0 else 1.0

    def _steps(self, units: Iterable[Unit]) -> Iterable[RunStep]:
        for unit in units:
            cases = [case for case in unit.cases if self._costs.get(case, Cost()).server not in self._lacking]
            if cases:
                share = len(cases) / len(unit.cases)
                starts = {self._costs.get(case, Cost()).server or case for case in cases}
                for step in unit.steps:
                    if step.kind != "start":
                        yield step._replace(least_s=share * step.least_s, most_s=share * step.most_s)
                    elif step.of in starts:
                        yield step

    def _leave(self, now_s: float) -> None:
        if self._step is not None:
            step, began_s = self._step
            self._done.append(Took(step, max(0.0, now_s - began_s)))
            self._offered_s += self._done[-1].took_s if _is_load(step) else 0.0
            self._step = None


def _is(step: RunStep, kind: StepKind, of: str) -> bool:
    return step.kind == kind and (kind != "start" or step.of == of)


def _is_load(step: RunStep) -> bool:
    return step.kind in LOADS
