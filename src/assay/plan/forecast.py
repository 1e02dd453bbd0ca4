"""How long a run takes and what is left of it: by its plan, and by what its steps have taken so far. Pure.

A run is units, one after the other: interleaved blocks and sequential trials. A unit is steps: a server's
start with its API check, the warm-up (with the pilot of a first block), the measured phase, and the end with
the second API check. A step that has been done counts for all to come that are alike. Where none was, the
plan counts, shifted by how steps of that kind compared with theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from assay.model.block import Interleaving, Lengths
from assay.model.design import AnyDesign, WarmUp
from assay.model.plan import Closed, StopAfter
from assay.model.trial import Case
from assay.plan.next.lengths import PILOT_ROUNDS, rounds_of
from assay.plan.next.schedule import closed_loop_of, is_interleavable
from assay.stats.interleaved import FEWEST_ROUNDS

StepKind = Literal["start", "warm-up", "measure", "end"]
LOADS: frozenset[StepKind] = frozenset({"warm-up", "measure"})
"""The steps in which load is offered: a budget is of these."""

START_S = 0.5
"""Of a server whose manifest says nothing: 0.1 s for a compiled one, 1 s for a small JVM."""
REQUESTS_GUESS_PER_S = 1000.0
"""For the estimate of a counted load of which nothing was published."""
_LEAST_START = 0.3
"""Of the usual time from a server's start to its first right answer, which is that on one core."""
_MOST_START = 1.25
_CHECK_S = (0.05, 0.3)
"""An API check, before and after the load; the latter with the end of the process."""
_SLOWER = 1.5
"""Times as long may a counted load take as its published rate says."""
_UNTIL_MEASURED = 2
"""Rounds: a change holds from the next one on, and all have rejoined by then."""


class RunStep(NamedTuple):
    """A part of a unit: `least_s` to `most_s` by its plan. Those of one `kind` and `of` are alike."""

    kind: StepKind
    of: str
    least_s: float
    most_s: float


class Took(NamedTuple):
    """A step that was done, and how long it took, in seconds."""

    step: RunStep
    took_s: float


class Unit(NamedTuple):
    """An interleaved block of these cases, or a trial of the one, in that block of the run."""

    block: int
    cases: tuple[str, ...]
    steps: tuple[RunStep, ...]


class Left(NamedTuple):
    """What is left, in seconds: at least and at most."""

    low_s: float
    high_s: float


class Cost(NamedTuple):
    """What a case's trials cost beyond their plan: the usual time to its `server`'s first right answer, and a
    guess of its rate, for counted loads. `server` names it with its variant."""

    start_s: float = START_S
    guess_per_s: float = REQUESTS_GUESS_PER_S
    server: str = ""


def remaining(
    sure: Sequence[RunStep],
    maybe: Sequence[RunStep],
    done: Sequence[Took],
    elapsed_s: float = 0.0,
    load_bound_s: float = math.inf,
) -> Left:
    """What is left of a run whose steps `sure` are still to come and whose steps `maybe` may come behind.

    `elapsed_s` is how long the first of them has been under way. No more than `load_bound_s` of warm-ups and
    measured phases is left, whatever is planned.
    """
    learned = _Learned(done)
    low_s, load_s, beside_s = 0.0, 0.0, 0.0
    for place, step in enumerate((*sure, *maybe)):
        bounds = learned.of(step)
        gone_s = elapsed_s if place == 0 else 0.0
        least_s, most_s = max(0.0, bounds.low_s - gone_s), max(0.0, bounds.high_s - gone_s)
        low_s += least_s if place < len(sure) else 0.0
        if step.kind in LOADS:
            load_s += most_s
        else:
            beside_s += most_s
    high_s = min(load_s, max(0.0, load_bound_s)) + beside_s
    return Left(min(low_s, high_s), high_s)


class _Learned:
    """What steps are likely to take after those that were done."""

    def __init__(self, done: Sequence[Took]) -> None:
        alike: dict[tuple[str, str], list[float]] = {}
        kinds: dict[str, list[float]] = {}
        for step, took_s in done:
            alike.setdefault(step[:2], []).append(took_s)
            sums = kinds.setdefault(step.kind, [0.0, 0.0, 0.0])
            for place, seconds in enumerate((step.least_s, step.most_s, took_s)):
                sums[place] += seconds
        self._alike = {key: sum(each) / len(each) for key, each in alike.items()}
        self._kinds = kinds

    def of(self, step: RunStep) -> Left:
        """The bounds of a step: both its mean where alike ones were done."""
        mean_s = self._alike.get(step[:2])
        if mean_s is not None:
            return Left(mean_s, mean_s)
        least_s, most_s, took_s = self._kinds.get(step.kind, (0.0, 0.0, 0.0))
        if not most_s:
            return Left(step.least_s, step.most_s)
        if took_s >= most_s:
            return Left(step.least_s * took_s / most_s, step.most_s * took_s / most_s)
        wide_s = step.most_s - step.least_s
        if took_s < least_s:
            return Left(step.least_s * took_s / least_s, step.least_s + wide_s / 2)
        place = (took_s - least_s) / (most_s - least_s)
        return Left(step.least_s + place / 2 * wide_s, step.least_s + (1 + place) / 2 * wide_s)


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """What the units of a run follow from: its `design` and `cases`, what each case costs, the warm-up of its
    next trial, for how many trials yet it is watched, and the workloads and loads whose slices are known."""

    design: AnyDesign
    cases: Sequence[Case]
    costs: Mapping[str, Cost]
    warm_ups: Mapping[str, WarmUp]
    watched: Mapping[str, int]
    piloted: frozenset[tuple[str, str]] = frozenset()

    def units(self, left: Iterable[tuple[str, int]]) -> tuple[Unit, ...]:
        """The units of these trials, each a case and a block, in the order of blocks."""
        by_block: dict[int, list[str]] = {}
        for case, block in left:
            by_block.setdefault(block, []).append(case)
        walk = _UnitWalk(self)
        return tuple(unit for block in sorted(by_block) for unit in walk.block(block, by_block[block]))


class _UnitWalk:
    """Goes through a run block by block: later trials of a case are warmed up for less, and only a first
    interleaved block has a pilot."""

    def __init__(self, outlook: Outlook) -> None:
        self._at = outlook
        self._cases = {case.id: case for case in outlook.cases}
        self._watched = dict(outlook.watched)
        self._piloted = set(outlook.piloted)

    def block(self, block: int, ids: Sequence[str]) -> list[Unit]:
        groups: dict[object, list[str]] = {}
        for place, case in enumerate(ids):
            groups.setdefault(self._group(case) or place, []).append(case)
        units = []
        for group in groups.values():
            interleave = self._at.design.interleave
            together = interleave is not None and len(group) > 1
            steps = self._interleaved(group, interleave) if together and interleave else self._alone(group[0])
            units.append(Unit(block, tuple(group), steps))
        return units

    def _group(self, case_id: str) -> tuple[object, ...] | None:
        """What cases of one interleaved block have in common."""
        case, plan = self._cases[case_id], self._at.design.plans[case_id]
        if self._at.design.interleave is None or case.dependent or not is_interleavable(case, plan):
            return None
        return (case.workload, case.load, plan.stop, plan.threads)

    def _interleaved(self, group: Sequence[str], interleave: Interleaving) -> tuple[RunStep, ...]:
        first = self._cases[group[0]]
        name, key = f"{first.workload} {first.load} x {len(group)}", (first.workload, first.load)
        slices_ns = _slices_ns(interleave)
        warm = [self._warm_up(case) for case in group]
        rejoin_s = [_UNTIL_MEASURED * len(group) * each / 1e9 for each in slices_ns]
        pilot_s = [0.0, 0.0]
        if key not in self._piloted and not interleave.alike and interleave.given_slice_ns is None:
            pilot_s = [3 * PILOT_ROUNDS * len(group) * each / 1e9 for each in _pilots_ns(interleave)]
        self._piloted.add(key)
        watched = any(one.watched for one in warm)
        warm_up = RunStep(
            "warm-up",
            f"{name}{' watched' if watched else ''}{' pilot' if pilot_s[1] else ''}",
            sum(one.least_s for one in warm) + rejoin_s[0],
            sum(one.most_s for one in warm) + rejoin_s[1] + pilot_s[1],
        )
        least_s, most_s = _measured_s(self._stop_ns(first.id), slices_ns, interleave.washout_ns)
        measure = RunStep("measure", name, len(group) * least_s, len(group) * most_s)
        starts = tuple(self._start(case) for case in group)
        return (*starts, warm_up, measure, RunStep("end", name, *(len(group) * each for each in _CHECK_S)))

    def _stop_ns(self, case: str) -> int:
        stop = self._at.design.plans[case].stop
        assert isinstance(stop, StopAfter)  # it is interleaved
        return stop.ns

    def _alone(self, case_id: str) -> tuple[RunStep, ...]:
        case, warm_up = self._cases[case_id], self._warm_up(case_id)
        least_s, most_s = self._measured_alone_s(case)
        measure = RunStep("measure", case_id, least_s, most_s)
        end = RunStep("end", case_id, *_CHECK_S)
        if not case.dependent:
            return (self._start(case_id), _warm(case_id, warm_up), measure, end)
        closed = closed_loop_of(case, self._at.cases)
        own_s = self._at.design.warm_ups[case_id].min_ns / 1e9
        if self._at.design.interleave is not None and self._group(closed) is not None:
            return (RunStep("warm-up", case_id, own_s, own_s), measure, end)  # its server is warm
        whole = self._at.design.warm_ups[closed]
        warmed = RunStep("warm-up", case_id, own_s + whole.min_ns / 1e9, own_s + whole.max_ns / 1e9)
        return (self._start(case_id), warmed, measure, end)

    def _measured_alone_s(self, case: Case) -> tuple[float, float]:
        plan = self._at.design.plans[case.id]
        if case.search is not None:
            return case.search.measure_ns / 1e9, _SLOWER * case.search.measure_ns / 1e9
        if isinstance(plan.stop, StopAfter):
            return plan.stop.ns / 1e9, plan.stop.ns / 1e9
        if isinstance(plan.load, Closed):
            counted_s = plan.stop.count / self._at.costs.get(case.id, Cost()).guess_per_s
            return counted_s, _SLOWER * counted_s
        open_s = sum(stage.duration_ns for stage in plan.load.stages) / 1e9
        return open_s, open_s

    def _start(self, case: str) -> RunStep:
        cost = self._at.costs.get(case, Cost())
        least_s, most_s = (cost.start_s * each for each in (_LEAST_START, _MOST_START))
        return RunStep("start", cost.server or case, least_s + _CHECK_S[0], most_s + _CHECK_S[1])

    def _warm_up(self, case: str) -> _WarmUpSpan:
        """That of the next trial. Behind watched ones it takes no more than half of the longest: these are
        steady only where their last change lay within the first third (`assay.plan.next.warming`)."""
        whole, left = self._at.warm_ups[case], self._watched.get(case, 0)
        self._watched[case] = left - 1
        least_s, most_s = whole.min_ns / 1e9, whole.max_ns / 1e9
        if left > 0 or case not in self._at.watched:
            return _WarmUpSpan(least_s, most_s, watched=left > 0)
        return _WarmUpSpan(least_s, max(least_s, most_s / 2), watched=False)


class _WarmUpSpan(NamedTuple):
    least_s: float
    most_s: float
    watched: bool


def _warm(case: str, warm_up: _WarmUpSpan) -> RunStep:
    return RunStep(
        "warm-up", f"{case}{' watched' if warm_up.watched else ''}", warm_up.least_s, warm_up.most_s
    )


def _slices_ns(interleave: Interleaving) -> tuple[int, int]:
    """The shortest and the longest slice that may be found."""
    if interleave.given_slice_ns is not None:
        return interleave.given_slice_ns, interleave.given_slice_ns
    least_ns = interleave.least_slice_ns
    return least_ns, max(least_ns, interleave.most_slice_ns)


def _pilots_ns(interleave: Interleaving) -> tuple[int, int]:
    """The shorter slice of a pilot, at least and at most: there is none of longer ones."""
    least_ns, most_ns = _slices_ns(interleave)
    return least_ns, min(most_ns // 2, max(least_ns, most_ns // FEWEST_ROUNDS))


def _measured_s(stop_ns: int, slices_ns: tuple[int, int], washout_ns: int) -> tuple[float, float]:
    """What measuring one server takes: whole rounds, with the washout before each slice."""
    both = [
        (slice_ns + washout_ns) * rounds_of(stop_ns, Lengths(slice_ns=slice_ns, washout_ns=0)) / 1e9
        for slice_ns in slices_ns
    ]
    return min(both), max(both)
