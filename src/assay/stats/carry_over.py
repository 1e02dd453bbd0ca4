"""Carry-over: what a slice has of the turn before it (Senn, *Cross-over trials in clinical research*).

The slices of one server in one block, cycle by cycle, follow now a slice of its own, now one of another
server. With x the logarithm of its rate, x = mood + effect of what it followed + noise, and the machine's
mood moves slowly. So each slice is taken against the mean of its two neighbours, where a mood that runs
straight cancels, and the *same* is done with what the slices followed: a slice that follows its own lies
between two that do not, and without that the difference would read 1.6 times too large. The effect is the
least squares fit.

A slice is in three of those differences, with opposite signs. The error of the fit takes that into account.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_DEGREES = 18 / 35
"""Of the variance of independent values, taken from differences with both neighbours, for each of these:
neighbouring differences correlate by -2/3, the next by 1/6."""


class CarryOver(NamedTuple):
    """By how much (a logarithm) slices that follow the other's differ from those that follow their own; its
    standard error by the scatter of the slices, and the degrees of freedom by which that is known."""

    mean: float
    error: float
    degrees: float


Row = Mapping[int, float]
"""Weights of the cycles in a difference of a slice with those around it."""


def carry_over(logs: Mapping[int, float], after: Mapping[int, str], own: str, other: str) -> CarryOver | None:
    """Of the slices of `own` in one block, by cycle, and whose turn was before each. What follows a third
    server has an effect of its own. None where the block does not tell."""
    cycles = [cycle for cycle in sorted(logs) if cycle in after]
    known = set(cycles)
    rows: list[Row] = []
    for cycle in cycles:
        around = [near for near in (cycle - 1, cycle + 1) if near in known]
        if around:
            rows.append({cycle: 1.0, **dict.fromkeys(around, -1 / len(around))})
    shifted = _taken(rows, logs)
    others = _taken(rows, {cycle: float(after[cycle] == other) for cycle in cycles})
    thirds = _taken(rows, {cycle: float(after[cycle] not in (own, other)) for cycle in cycles})
    power = _dot(thirds, thirds)
    shared = _dot(others, thirds) / power if power else 0.0
    apart = [one - shared * third for one, third in zip(others, thirds, strict=True)]
    told = _dot(apart, apart)
    free = len(rows) - 1 - bool(power)
    if told < 1e-9 or free < 1:
        return None
    mean = _dot(apart, shifted) / told
    left = [x - mean * one for x, one in zip(shifted, others, strict=True)]
    of_thirds = _dot(left, thirds) / power if power else 0.0
    left = [x - of_thirds * third for x, third in zip(left, thirds, strict=True)]
    noise = sum(sum(weight**2 for weight in row.values()) for row in rows)
    variance = _dot(left, left) / noise * len(rows) / free
    weights: dict[int, float] = {}
    for row, one in zip(rows, apart, strict=True):
        for cycle, weight in row.items():
            weights[cycle] = weights.get(cycle, 0.0) + weight * one / told
    error = math.sqrt(variance * sum(weight**2 for weight in weights.values()))
    return CarryOver(mean, error, max(1.0, _DEGREES * free))


def _taken(rows: Sequence[Row], values: Mapping[int, float]) -> list[float]:
    """The values as differences."""
    return [math.fsum(weight * values[cycle] for cycle, weight in row.items()) for row in rows]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))
