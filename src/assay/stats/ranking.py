"""Which orders of several pairs are shown, and the ranks that follow: shared where none is shown faster."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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
