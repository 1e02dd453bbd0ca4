"""The order of a study: randomised complete blocks from a recorded seed. Pure."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass


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
