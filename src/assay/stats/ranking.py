"""Ranks as tiers: cases that cannot be told apart share one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

from assay.stats.ratios import Blocks, paired_test

SIGNIFICANCE = 0.05
NOISE_FLOOR = 0.01
"""Differences below 1 % are never claimed, however sure: code layout alone moves as much
(Mytkowicz et al.)."""


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


def shown_faster(cases: Mapping[str, Blocks], noise_floor: float = NOISE_FLOOR) -> set[tuple[str, str]]:
    """The pairs (faster, slower) whose difference is shown.

    Shown means: Holm-adjusted p below 5 % over all pairs, and an effect above the noise floor.
    """
    pairs = []
    for a, b in itertools.combinations(cases, 2):
        test = paired_test(cases[a], cases[b])
        if test is not None:
            pairs.append((a, b, test))
    adjusted = holm([test.p_value for _, _, test in pairs])
    shown = set()
    for (a, b, test), p_value in zip(pairs, adjusted, strict=True):
        if p_value < SIGNIFICANCE and abs(math.log(test.ratio)) > math.log1p(noise_floor):
            shown.add((a, b) if test.ratio > 1 else (b, a))
    return shown


Shown = Callable[[Mapping[str, Blocks], float], set[tuple[str, str]]]
"""The pairs (faster, slower) whose difference is shown, given a noise floor."""


def tiers(
    cases: Mapping[str, Blocks], noise_floor: float = NOISE_FLOOR, shown_by: Shown = shown_faster
) -> dict[str, int]:
    """The tier of each case, counted from 1.

    A case's tier is one more than the highest tier of the cases shown faster than it, so nothing
    shown faster shares its tier or stands below it.
    """
    shown = shown_by(cases, noise_floor)
    places: dict[str, int] = {}
    # A shown pair orders its geometric means over common blocks; with every block complete that
    # order has no cycle. Blocks lost by failures could make one: the pending set then still empties.
    pending = set(cases)
    tier = 1
    while pending:
        beaten = {slower for faster, slower in shown if faster in pending and slower in pending}
        leading = (pending - beaten) or pending
        for case in cases:
            if case in leading:
                places[case] = tier
        pending -= leading
        tier += 1
    return places
