"""What a comparison does next: block after block until its questions are settled, or its budget ends."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

from assay.model.run import Run
from assay.model.trial import Case, Trial
from assay.plan.next.due import Due, bounded, given_up
from assay.plan.next.schedule import Slot
from assay.plan.next.warming import warm_up_for
from assay.verdict.answer import answer
from assay.verdict.see_runs import spent

WATCHED = 1
"""Warm-ups of a candidate that are watched: its budget is short."""


def next_trial(run: Run) -> Due | None:
    """The next of the block that has begun, or the first of another one where that is due."""
    left = left_of_block(run)
    return left[0] if left else None


def left_of_block(run: Run) -> tuple[Due, ...]:
    """What is left of the block that has begun, or all of another one where that is due."""
    block = max((trial.block for trial in run.trials), default=-1)
    before = [trial for trial in run.trials if trial.block < block]
    done = {trial.case for trial in run.trials if trial.block == block}
    order = _order(run, block, before) if block >= 0 else ()
    left = [(place, case) for place, case in enumerate(order) if case not in done]
    if not left:
        entries = _entries(run, run.trials)
        if not _goes_on(run, entries):
            return ()
        block += 1
        left = list(enumerate(_order(run, block, run.trials)))
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


def _order(run: Run, block: int, before: Sequence[Trial]) -> tuple[str, ...]:
    """The order of a block that began after these trials."""
    cases = [case.id for case in _entries(run, before)]
    return order_of_block(cases, block, run.header.design.seed)


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


def _goes_on(run: Run, entries: Sequence[Case]) -> bool:
    """Whether another block is due: something to compare, not settled, and within the budget."""
    if sum(case.role == "candidate" for case in entries) < 2:
        return False
    if not run.trials:
        return True
    # What moves the ends of ratios is asked of the trials so far. What else a judgement adds (a full
    # generator, say) more blocks would not change, and a run that has ended has ended, judged or not.
    return not spent(run) and not answer(msgspec.structs.replace(run, judgement=None)).settled


def _due(run: Run, slot: Slot) -> Due:
    warm_up = warm_up_for(run, slot.case, WATCHED)
    return Due(slot, bounded(run.header.design.plans[slot.case], warm_up), warm_up)
