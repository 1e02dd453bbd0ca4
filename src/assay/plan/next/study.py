"""What a study does next: every case in every block, in an order drawn from its seed."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.errors import ServerFailed
from assay.model.run import Header, Run
from assay.model.trial import Case, Failure
from assay.plan.next.schedule import Due, Slot, bounded, closed_loop_of, given_up, order, remaining, settled
from assay.plan.next.warming import warm_up_for
from assay.verdict.search import answers_of
from assay.verdict.see_runs import blocks_of

WATCHED = 2
"""Warm-ups of a case that are watched: a change that a restless machine made is seldom in both."""


def next_trial(run: Run) -> Due | None:
    """The first trial that is left."""
    left = to_come(run)
    return _due(run, left[0]) if left else None


def left_of_block(run: Run) -> tuple[Due, ...]:
    """What is left of the block that has begun, or else of the next one, in order.

    Loads that follow from others' are settled for the first of them alone: the others are not due yet. What
    follows from the block before comes first, while its servers stand.
    """
    left = to_come(run)
    cases = {case.id: case for case in run.header.cases}
    of_block = [slot for slot in left if slot.block == left[0].block]
    now = (
        _following(run, of_block)[:1]
        or [slot for slot in of_block if not cases[slot.case].dependent]
        or of_block[:1]
    )
    return tuple(_due(run, slot) for slot in now)


def to_stand(run: Run) -> frozenset[str]:
    """The cases of the latest block whose servers loads that are left of its block follow from: they are
    wanted standing."""
    cases = {case.id: case for case in run.header.cases}
    left = _following(run, to_come(run))
    return frozenset(closed_loop_of(cases[slot.case], run.header.cases) for slot in left)


def _following(run: Run, slots: Sequence[Slot]) -> list[Slot]:
    """The slots of the latest interleaved block whose loads follow from closed loops that were arms of it,
    and from none that is still to come."""
    if not run.blocks:
        return []
    latest = run.blocks[-1]
    arms = {trial.case for trial in latest.trials}
    tried = {trial.case for trial in run.trials if trial.block <= latest.block}
    cases = {case.id: case for case in run.header.cases}

    def follows(case: Case) -> bool:
        needed = case.rate.cases if case.rate else ()
        return closed_loop_of(case, run.header.cases) in arms and tried.issuperset(needed)

    return [slot for slot in slots if slot.block == latest.block and follows(cases[slot.case])]


def to_come(run: Run) -> tuple[Slot, ...]:
    """The trials that are left, in order; of a search that has ended there are none."""
    ended = {case for case, found in answers_of(run).items() if found and found.search.ask() is None}
    left = remaining(
        slots_of(run.header, blocks_of(run)), ((trial.case, trial.block) for trial in run.trials)
    )
    return tuple(slot for slot in left if slot.case not in ended)


def slots_of(header: Header, blocks: int | None = None) -> tuple[Slot, ...]:
    """Every trial of the study in its order, in so many blocks, or as many as it has at least."""
    blocks = blocks or header.blocks
    assert blocks is not None  # a study has a number of blocks
    only = {case.id: case.blocks for case in header.cases if case.blocks}
    later = {case.id: case.trials_a_block for case in header.cases if case.dependent}
    return order([case.id for case in header.cases], blocks, header.design.seed, only, later)


def _due(run: Run, slot: Slot) -> Due:
    """The trial of that slot; with why it cannot be where its case is given up, or has no rate to offer."""
    design = run.header.design
    warm_up = warm_up_for(run, slot.case, WATCHED)
    due = Due(slot, bounded(design.plans[slot.case], warm_up), warm_up)
    case = next(case for case in run.header.cases if case.id == slot.case)
    hopeless = given_up(run.trials, slot.case, death_is_answer=case.search is not None)
    if hopeless is not None:
        return Due(slot, due.plan, due.warm_up, hopeless)
    try:
        return settled(due, case, run)
    except ServerFailed as failed:
        return Due(slot, due.plan, due.warm_up, Failure(stage=failed.stage, reason=failed.message))
