"""What a comparison and a search for a capacity do next: until the question is decided. Pure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from assay.model.block import LONGEST_NS, Interleaving, Lengths
from assay.model.design import ComparisonDesign, SearchDesign
from assay.model.plan import StopAfter
from assay.model.run import Run
from assay.model.trial import Case, Trial
from assay.plan.next.lengths import PILOT_ROUNDS, rounds_of
from assay.plan.next.schedule import Due, Slot, bounded, given_up
from assay.plan.next.warming import warm_up_for
from assay.stats.ranking import FEWEST
from assay.verdict.answer import answer
from assay.verdict.objective import parse
from assay.verdict.search import answer_of, plan_at
from assay.verdict.see_runs import spent

_PILOT = 3 * PILOT_ROUNDS
"""Slices of the shorter length that a pilot of two lengths is as long as, for each server."""
_FOR_A_PILOT = 4
"""A pilot of slices of a quarter of the longest ones is a tenth of the budget."""


class Room(NamedTuple):
    """The load of a block, and how many of them there is room for: where servers take long to warm up, and
    where they are warm at once."""

    least_ns: int
    most_ns: int
    fewest: int
    most: int


def room_of(design: ComparisonDesign) -> Room:
    """The room that the design's budget has for blocks of all its cases, the first with a pilot."""
    interleave, cases = design.interleave, len(design.warm_ups)
    warm_ups = design.warm_ups.values()
    measured_ns = cases * measured_for_ns(interleave, design.measure_ns)
    least_ns = measured_ns + sum(one.min_ns for one in warm_ups)
    most_ns = measured_ns + sum(one.max_ns for one in warm_ups)
    left_ns = design.budget_ns - cases * pilot_ns(interleave)
    fewest, most = (max(1, left_ns // each) if each else 1 for each in (most_ns, least_ns))
    return Room(least_ns, most_ns, fewest, most)


def measured_for_ns(interleave: Interleaving | None, measure_ns: int) -> int:
    """For how long a server is measured in a block: in whole slices of the usual length, or the given one."""
    if interleave is None:
        return measure_ns
    slice_ns = interleave.given_slice_ns or interleave.usual_slice_ns
    return slice_ns * rounds_of(measure_ns, Lengths(slice_ns=slice_ns, washout_ns=0))


def pilot_ns(interleave: Interleaving | None) -> int:
    """What a pilot costs of the load of each server, where there is one: its slices are at least so long."""
    by_hand = interleave is None or interleave.alike or interleave.given_slice_ns is not None
    return 0 if interleave is None or by_hand else _PILOT * interleave.least_slice_ns


def has_room_for_pilot(interleave: Interleaving, slice_ns: int) -> bool:
    """Whether there is time for a pilot of slices of that length: it needs twice as long ones, and where a
    budget bounds their length, it may not take more of that than was set aside for it, or than a tenth."""
    if 2 * slice_ns > interleave.most_slice_ns:
        return False
    bounded = interleave.most_slice_ns < LONGEST_NS
    return not bounded or slice_ns <= max(interleave.least_slice_ns, interleave.most_slice_ns // _FOR_A_PILOT)


WATCHED = 1
"""Warm-ups of a candidate that are watched: its budget is short."""


def next_trial(run: Run) -> Due | None:
    """The next of the block that has begun, or the first of another one where that is due."""
    left = left_of_block(run)
    return left[0] if left else None


def left_of_block(run: Run) -> tuple[Due, ...]:
    """What is left of the block that has begun, or all of another one where that is due."""
    block = max((trial.block for trial in run.trials), default=-1)
    left: list[tuple[int, str]] = []
    if block >= 0 and all(one.block != block for one in run.blocks):  # an interleaved one is stored whole
        before = [trial for trial in run.trials if trial.block < block]
        done = {trial.case for trial in run.trials if trial.block == block}
        left = [one for one in _order(run, block, _entries(run, before)) if one[1] not in done]
    if not left:
        block += 1
        left = _order(run, block, _entries_of_next(run))
    first = len(run.trials)
    return tuple(
        _due(run, Slot(first + number, block, place, case)) for number, (place, case) in enumerate(left)
    )


def order_of_block(cases: Sequence[str], block: int, seed: int) -> tuple[str, ...]:
    """Every case once. Blocks come in twos: the second runs the first's random order backwards, so that over
    two blocks every case has the same mean place, and a steady drift favours none."""
    shuffled = list(cases)
    random.Random(f"{seed}/{block // 2}").shuffle(shuffled)
    return tuple(reversed(shuffled)) if block % 2 else tuple(shuffled)


def _order(run: Run, block: int, entries: Sequence[Case]) -> list[tuple[int, str]]:
    """The entries of a block with their places, in an order that does not depend on who has left."""
    taking_part = {case.id for case in entries}
    every = order_of_block([case.id for case in run.header.cases], block, run.header.design.seed)
    return list(enumerate(case for case in every if case in taking_part))


def _entries(run: Run, trials: Sequence[Trial]) -> tuple[Case, ...]:
    """The candidates, and the control, that are not given up and have answered something right."""
    return tuple(
        case
        for case in run.header.cases
        if given_up(trials, case.id) is None and not _never_right(trials, case.id)
    )


def _never_right(trials: Sequence[Trial], case: str) -> bool:
    """Whether a case was measured and has not answered one request as expected: its contract was kept, so it
    is the load that it cannot answer, and another block would show the same."""
    measured = [trial.measurement for trial in trials if trial.case == case and trial.measurement]
    return bool(measured) and not any(one.completed for one in measured)


def _entries_of_next(run: Run) -> tuple[Case, ...]:
    """Those of another block; none where the run has ended: nothing to compare, settled, or spent."""
    entries = _entries(run, run.trials)
    if sum(case.role == "candidate" for case in entries) < FEWEST:
        return ()
    if not run.trials:
        return entries
    # What moves the ends of ratios is asked of the trials so far. What else a judgement adds (a full
    # generator, say) more blocks would not change, and a run that has ended has ended, judged or not.
    found = answer(msgspec.structs.replace(run, judgement=None))
    undecided = tuple(case for case in entries if case.id in found.undecided)
    if sum(case.role == "candidate" for case in undecided) >= FEWEST:
        entries = undecided
    return () if found.settled or spent(run, len(entries)) else entries


def _due(run: Run, slot: Slot) -> Due:
    warm_up = warm_up_for(run, slot.case, WATCHED)
    return Due(slot, bounded(run.header.design.plans[slot.case], warm_up), warm_up)


def next_rate(run: Run) -> Due | None:
    """A trial at the rate that the search asks for, while there is budget and the server can be had."""
    design = run.header.design
    assert isinstance(design, SearchDesign)  # it is what is asked of here
    [case] = run.header.cases
    rate = answer_of(run).search.ask()
    spent = sum(map(offered_ns, run.trials)) >= design.budget_ns
    if rate is None or spent or given_up(run.trials, case.id, death_is_answer=True):
        return None
    objective = parse(design.bounds.objective)
    plan = plan_at(design.plans[case.id], objective, rate, design.measure_ns, design.max_connections)
    number = len(run.trials)
    return Due(Slot(number, number, 0, case.id), plan, design.warm_ups[case.id])


def offered_ns(trial: Trial) -> int:
    """For how long load was offered; of a trial that failed, at most so long."""
    measured, stop = trial.measurement, trial.plan.stop
    if measured is not None:
        return measured.warmup_ns + measured.measured_ns
    return stop.ns if isinstance(stop, StopAfter) else 0
