"""Which orders of several pairs are shown, and the ranks that follow: shared where none is shown faster.

Which servers the next block of a comparison has: those of which an order is open.

A block costs the load of the servers in it, and one whose order is known to all that is asked of it learns
nothing from another. So decided servers leave, and come back where a later block opens their order again.
That is sequential elimination (Even-Dar, Mannor, Mansour 2006) by paired differences, as in the fully
sequential selection of Kim & Nelson (2001). Optimal allocation of samples to single servers (OCBA, Chen et
al. 2000) has no part in it: the servers of a block share what disturbs it, so what is allocated is a place in
the block, and two servers of a pair need the same blocks.

Who is in a block depends on the blocks before it, and still every interval errs as often as it says:

- The intervals of a pair are made of its own sequence: the blocks that both were in. It is looked at when one
  was added, and the level of its n-th look follows from lengths of time alone
  (`RunSeen.budget_shares`).
- What a block adds to the sequence is independent of the blocks before it, and so of the choice to have it.
  A sequence of which the next value is taken or left by what came before has the same distribution as one
  that is taken whole (Doob 1936, optional skipping), as long as it lasts. So all looks together exclude the
  truth as seldom as those of a pair that is in every block; a pair that leaves early has looks to spare.
- All pairs share the error (Bonferroni), not only those that were asked for.

What it gives up: blocks that depend on each other are allowed for, as everywhere, only up to a correlation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from assay.stats.pairing import PairedRatio
from assay.stats.sequential import MINIMUM_EFFECT

SIGNIFICANCE = 0.05


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: adjusted p values, in the order given.

    The chance of any false difference among all pairs stays below the level the adjusted values
    are held to.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for place, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = running
    return adjusted


def shown_faster(
    pairs: Mapping[tuple[str, str], PairedRatio], minimum_effect: float = MINIMUM_EFFECT
) -> set[tuple[str, str]]:
    """The pairs (faster, slower) whose order is shown, of pairs (a, b) of a over b.

    Shown means: of the least difference that is left, Holm-adjusted p below 5 % over all pairs, and a size
    above the minimum effect. (A pair that was looked at after every block brings its correction along; its p
    is 0 or 1.)
    """
    adjusted = holm([min(one.p_above, one.p_below) for one in pairs.values()])
    shown = set()
    for ((a, b), one), p_value in zip(pairs.items(), adjusted, strict=True):
        if p_value >= SIGNIFICANCE:
            continue
        if one.p_above < one.p_below and one.above(minimum_effect):
            shown.add((a, b))
        elif one.p_below < one.p_above and one.below(minimum_effect):
            shown.add((b, a))
    return shown


def implied(shown: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs (faster, slower) that are shown, and those that follow: where a is faster than b, and b
    than c, a is faster than c. It holds where the shown ones do, so it costs no error of its own."""
    found = set(shown)
    for middle in {slower for _, slower in shown}:
        before = [faster for faster, slower in found if slower == middle]
        after = [slower for faster, slower in found if faster == middle]
        found |= {(faster, slower) for faster in before for slower in after}
    return found


def ranks(cases: Collection[str], shown: Collection[tuple[str, str]]) -> dict[str, int]:
    """The rank of each case, counted from 1, by the pairs (faster, slower) that are shown.

    A case's rank is one more than the highest rank of the cases shown faster than it, so nothing
    shown faster shares its rank or stands below it.
    """
    places: dict[str, int] = {}
    # A shown pair orders its geometric means over common blocks; with every block complete that
    # order has no round. Blocks lost by failures could make one: the pending set then still empties.
    pending = set(cases)
    rank = 1
    while pending:
        beaten = {slower for faster, slower in shown if faster in pending and slower in pending}
        leading = (pending - beaten) or pending
        for case in cases:
            if case in leading:
                places[case] = rank
        pending -= leading
        rank += 1
    return places


FEWEST = 2
"""Servers that a block compares."""


def taking_part(
    servers: Collection[str], undecided: Iterable[tuple[str, str]], unseen: Collection[str] = ()
) -> frozenset[str]:
    """Those of `servers` that the next block has: of each pair that is `undecided` both, and those that are
    still `unseen`. All of them, where no pair is left of which both can be had."""
    pairs = [pair for pair in undecided if set(pair) <= set(servers)]
    asked = {server for pair in pairs for server in pair} | (set(unseen) & set(servers))
    return frozenset(asked) if pairs and len(asked) >= FEWEST else frozenset(servers)
