"""How values that come one after another scatter: how far neighbours depend on each other.

The mean of n values of which each correlates with the one before it by r scatters by sqrt((1 + r) / (1 - r))
more than that of independent ones (an autoregression of first order), and their own deviation does not show
it. Of three to twelve blocks the correlation cannot be estimated: at a true one of 0 half of all estimates
from six blocks lie outside -0.4 to 0.1. So what they leave possible is allowed for, up to a third.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

ASSUMED = 1 / 3
"""The correlation that is allowed for where values are too few to exclude it: it doubles the variance of
their mean."""
_SURE = 1.645
"""Standard errors to the upper bound of a correlation: one-sided, 1 in 20."""


def lag_one(values: Sequence[float]) -> float:
    """Correlation of neighbours; 0 where there is no spread."""
    if len(values) < 2:
        return 0.0
    mean = statistics.fmean(values)
    about = [value - mean for value in values]
    power = math.fsum(one * one for one in about)
    return math.fsum(x * y for x, y in pairwise(about)) / power if power > 0 else 0.0


def allowed_correlation(rows: Sequence[Sequence[float]], degrees: float | None = None) -> float:
    """The correlation of neighbours to allow for in these rows, which tell it with so many `degrees` of
    freedom where they depend on each other: what they leave possible, up to a third of 1, and what they show
    where that is more.

    An estimate from n values about their own mean is too small by 1 / n (Marriott, Pope 1954).
    """
    rows = [row for row in rows if len(row) > 1]
    if not rows:
        return ASSUMED
    shown = statistics.fmean(map(lag_one, rows), [len(row) - 1 for row in rows])
    known = degrees or sum(len(row) - 1 for row in rows)
    bound = shown + statistics.fmean(1 / len(row) for row in rows) + _SURE / math.sqrt(known)
    return max(shown, min(ASSUMED, bound))


def widening(correlation: float) -> float:
    """By how much more the mean of values scatters of which each correlates so with the one before it; 1 of
    negative ones."""
    r = min(0.9, max(0.0, correlation))
    return math.sqrt((1 + r) / (1 - r))


class Pool(NamedTuple):
    """What the values of several servers in the same blocks say of how each scatters.

    `variance` is that of one server's logarithms, None where too few tell. With so many `degrees` of freedom
    it stands for that of all where they scatter `alike`; else it is joined with a pair's own (Smyth 2004).
    """

    correlation: float
    variance: float | None
    degrees: float
    alike: bool

    def joined(self, own: float, n: int, arms: float) -> tuple[float, float]:
        """The variance of a pair whose `own` is that, of n values, and its degrees of freedom; `arms` is 2 of
        a pair of servers, and 1.5 where one of the two was measured twice. The larger of own and joined."""
        if self.variance is None:
            return own, n - 1
        prior = self.variance * arms
        if self.alike:
            return max(own, prior), self.degrees
        degrees = self.degrees + n - 1
        return max(own, (self.degrees * prior + (n - 1) * own) / degrees), degrees


FEWEST_UNLIKE = 4
"""Servers that tell how much the scatter of unlike ones differs: six pairs."""

Row = Mapping[int, float]
"""The logarithms of one server, by block; of a block that it was not in there is none."""


class Fit(NamedTuple):
    """Rows taken apart: the `levels` of their servers, and the `residuals`: each value without that and what
    its block has in common, with so many `degrees` of freedom."""

    levels: tuple[float, ...]
    residuals: tuple[Row, ...]
    degrees: int


_RIDGE = 1e-9
"""By so little levels of servers that share no block are drawn to each other."""


def fitted(rows: Sequence[Row]) -> Fit:
    """The least squares fit of a level for each server and a mood for each block.

    Not every server need be in every block. Of servers that are, a level is their mean; of others it is what
    the blocks say that they would have had in all of them. Levels are about their own mean.
    """
    by_block: dict[int, dict[int, float]] = {}
    for server, row in enumerate(rows):
        for block, value in row.items():
            by_block.setdefault(block, {})[server] = value
    # The normal equations of the levels, of which no block knows more than differences.
    equations = [
        [1 / len(rows) + _RIDGE * (one == other) for other in range(len(rows))] for one in range(len(rows))
    ]
    right = [0.0] * len(rows)
    for values in by_block.values():
        mean = statistics.fmean(values.values())
        for one, value in values.items():
            right[one] += value - mean
            equations[one][one] += 1
            for other in values:
                equations[one][other] -= 1 / len(values)
    levels = _solved(equations, right)
    moods = {
        block: statistics.fmean(value - levels[server] for server, value in values.items())
        for block, values in by_block.items()
    }
    left = tuple(
        {block: value - moods[block] - level for block, value in row.items()}
        for row, level in zip(rows, levels, strict=True)
    )
    return Fit(tuple(levels), left, sum(map(len, rows)) - len(rows) - len(moods) + 1)


def _solved(equations: list[list[float]], right: list[float]) -> list[float]:
    """Gauss's elimination, in place; of a positive definite matrix, which needs no pivots."""
    size = len(right)
    for step in range(size):
        for below in range(step + 1, size):
            share = equations[below][step] / equations[step][step]
            for column in range(step, size):
                equations[below][column] -= share * equations[step][column]
            right[below] -= share * right[step]
    found = [0.0] * size
    for step in reversed(range(size)):
        known = math.fsum(equations[step][at] * found[at] for at in range(step + 1, size))
        found[step] = (right[step] - known) / equations[step][step]
    return found


def pool(rows: Sequence[Row], *, alike: bool) -> Pool | None:
    """Of the logarithms of several servers; None where no two have a few blocks. What is common to a block,
    and each server's own level, are taken out."""
    rows = [row for row in rows if len(row) > 1]
    if len(rows) < 2:
        return None
    fit = fitted(rows)
    if fit.degrees < 1:
        return None
    correlation = allowed_correlation([[row[at] for at in sorted(row)] for row in fit.residuals], fit.degrees)
    if alike:
        squares = math.fsum(value * value for row in fit.residuals for value in row.values())
        return Pool(correlation, squares / fit.degrees, float(fit.degrees), alike)
    of_pairs = [[a[at] - b[at] for at in a.keys() & b.keys()] for a, b in combinations(fit.residuals, 2)]
    told = [(statistics.variance(logs), len(logs) - 1) for logs in of_pairs if len(logs) > 1]
    if len(rows) < FEWEST_UNLIKE or not told or min(told)[0] <= 0:
        return Pool(correlation, None, 0.0, alike)
    variance, degrees = _prior(told, len(rows))
    return Pool(correlation, variance / 2, degrees, alike)


def _prior(variances: Sequence[tuple[float, int]], servers: int) -> tuple[float, float]:
    """The variance about which those of pairs lie, each with its degrees of freedom, and with how many, by
    the mean and the scatter of their logarithms (Smyth 2004). Two pairs with a server in common correlate by
    a quarter."""
    logs = [math.log(one) - _digamma(own / 2) + math.log(own / 2) for one, own in variances]
    shared = (servers - 2) / (len(variances) - 1) / 2
    by_chance = statistics.fmean(_trigamma(own / 2) for _, own in variances)
    beyond = statistics.variance(logs) / (1 - shared) - by_chance
    low, high = 0.05, (servers - 2) * statistics.fmean(own for _, own in variances) / 2
    if beyond > _trigamma(high):
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if _trigamma(middle) > beyond else (low, middle)
    return math.exp(statistics.fmean(logs) + _digamma(high) - math.log(high)), 2 * high


def _digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function (DLMF 5.5.2, 5.11.2)."""
    if x < 6:
        return _digamma(x + 1) - 1 / x
    return math.log(x) - 1 / (2 * x) - x**-2 / 12 + x**-4 / 120 - x**-6 / 252


def _trigamma(x: float) -> float:
    """The derivative of the digamma function (DLMF 5.15.5, 5.15.8)."""
    if x < 6:
        return _trigamma(x + 1) + x**-2
    return 1 / x + x**-2 / 2 + x**-3 / 6 - x**-5 / 30 + x**-7 / 42
