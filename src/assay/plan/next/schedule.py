"""The order of a study, the trial that is due, and when a case is tried no more. Pure.

The order is that of randomised complete blocks, from a recorded seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from assay.model.design import WarmUp
from assay.model.plan import LoadPlan
from assay.model.trial import Failure, Trial


@dataclass(frozen=True)
class Slot:
    """A trial to be: its number in the run, its block, its place in the block, its case."""

    number: int
    block: int
    position: int
    case: str


def order(
    cases: Sequence[str],
    blocks: int,
    seed: int,
    only: Mapping[str, Collection[int]] | None = None,
    later: Mapping[str, int] | None = None,
) -> tuple[Slot, ...]:
    """Every case once in each block, in an order drawn anew for each block.

    `only` names the blocks of cases that are not in all of them. Those `later` need what the others of
    the block have shown, and follow them in an order of their own, each as often as is said there.
    The same seed gives the same order: a run that was cut off goes on where it was.
    """
    slots: list[Slot] = []
    later = later or {}
    for block in range(blocks):
        # A generator a block: the order of a block does not depend on how many come before it.
        shuffled = [case for case in cases if only is None or block in only.get(case, (block,))]
        drawn = random.Random(f"{seed}/{block}")
        first = [case for case in shuffled if case not in later]
        second = [case for case in shuffled for _ in range(later.get(case, 0))]
        drawn.shuffle(first)
        drawn.shuffle(second)
        slots += [Slot(len(slots) + place, block, place, case) for place, case in enumerate(first + second)]
    return tuple(slots)


def remaining(slots: Sequence[Slot], done: Iterable[tuple[str, int]]) -> tuple[Slot, ...]:
    """The slots that are left after the trials `done`, each a (case, block): the first are taken first."""
    taken = Counter(done)
    left = []
    for slot in slots:
        place = (slot.case, slot.block)
        if taken[place]:
            taken[place] -= 1
        else:
            left.append(slot)
    return tuple(left)


FAILURES_UNMEASURED = 2
"""A case that failed so often without one measured trial is not tried again."""
FAILURES_IN_A_ROW = 3
"""One that was measured before may have had bad luck: it is not tried again after so many in a row."""


@dataclass(frozen=True)
class Warming:
    """The closed loop that warms a server up for an open one, whose throughput does not tell when it is."""

    plan: LoadPlan
    rule: WarmUp


@dataclass(frozen=True)
class Due:
    """The trial to run now, with nothing left to settle: its load and its warm-up, `warming` before that.

    Where there is a `failure` it need not be tried: why it cannot be measured is known beforehand. Behind
    an interleaved block a load that `follows` from a closed loop, the case named, is offered to that case's
    server where it stands, which is warm already.
    """

    slot: Slot
    plan: LoadPlan
    warm_up: WarmUp
    failure: Failure | None = None
    warming: Warming | None = None
    follows: str = ""


def given_up(trials: Sequence[Trial], case: str, *, death_is_answer: bool = False) -> Failure | None:
    """Why a case is not tried again, if it is not: the one rule for every kind of run.

    To a search the death of the server under load is an answer (`death_is_answer`), not a failure.
    """
    tried = [trial.failure for trial in trials if trial.case == case]
    failed = [one for one in tried if one is not None and not (death_is_answer and one.stage == "load")]
    if not failed:
        return None
    most = FAILURES_UNMEASURED if len(failed) == len(tried) else FAILURES_IN_A_ROW
    last = tried[-most:]
    return failed[-1] if len(last) == most and all(one in failed for one in last) else None


def bounded(plan: LoadPlan, warm_up: WarmUp) -> LoadPlan:
    """The plan with the engine's own bound on that warm-up."""
    return msgspec.structs.replace(plan, warmup_max_ns=warm_up.engine_bound_ns)
