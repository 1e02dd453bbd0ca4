"""How values that come one after another scatter: how far neighbours depend on each other.

The mean of n values of which each correlates with the one before it by r scatters by sqrt((1 + r) / (1 - r))
more than that of independent ones (an autoregression of first order), and their own deviation does not show
it. Of three to twelve blocks the correlation cannot be estimated: at a true one of 0 half of all estimates
from six blocks lie outside -0.4 to 0.1. So what they leave possible is allowed for, up to a third.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
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


def allowed_correlation(rows: Sequence[Sequence[float]], independent: int | None = None) -> float:
    """The correlation of neighbours to allow for in these rows, of which so many are `independent`: what they
    leave possible, up to a third of 1, and what they show where that is more.

    An estimate from n values about their own mean is too small by 1 / n (Marriott, Pope 1954).
    """
    n = min(map(len, rows), default=0)
    if n < 2:
        return ASSUMED
    shown = statistics.fmean(lag_one(row) for row in rows)
    bound = shown + 1 / n + _SURE / math.sqrt((independent or len(rows)) * (n - 1))
    return max(shown, min(ASSUMED, bound))


def widening(correlation: float) -> float:
    """By how much more the mean of values scatters of which each correlates so with the one before it; 1 of
    negative ones."""
    r = min(0.9, max(0.0, correlation))
    return math.sqrt((1 + r) / (1 - r))


class Pool(NamedTuple):
    """What the values of several servers in the same `n` blocks say of how each scatters.

    `variance` is that of one server's logarithms, None where too few tell. With so many `degrees` of freedom
    it stands for that of all where they scatter `alike`; else it is joined with a pair's own (Smyth 2004).
    """

    n: int
    correlation: float
    variance: float | None
    degrees: float
    alike: bool

    def joined(self, own: float, arms: float) -> tuple[float, float]:
        """The variance of a pair whose `own` is that, and its degrees of freedom; `arms` is 2 of a pair of
        servers, and 1.5 where one of the two was measured twice. The larger of own and joined."""
        if self.variance is None:
            return own, self.n - 1
        prior = self.variance * arms
        if self.alike:
            return max(own, prior), self.degrees
        degrees = self.degrees + self.n - 1
        return max(own, (self.degrees * prior + (self.n - 1) * own) / degrees), degrees


FEWEST_UNLIKE = 4
"""Servers that tell how much the scatter of unlike ones differs: six pairs."""


def pool(rows: Sequence[Sequence[float]], *, alike: bool) -> Pool | None:
    """Of logarithms, a row for each server and in it a value for each block; None of less than two servers or
    blocks. What is common to a block, and each server's own level, are taken out."""
    servers, n = len(rows), min(map(len, rows), default=0)
    if servers < 2 or n < 2 or max(map(len, rows)) != n:
        return None
    moods = [statistics.fmean(at) for at in zip(*rows, strict=True)]
    levels = [statistics.fmean(row) - statistics.fmean(moods) for row in rows]
    left = [
        [value - mood - level for value, mood in zip(row, moods, strict=True)]
        for row, level in zip(rows, levels, strict=True)
    ]
    correlation, degrees = allowed_correlation(left, servers - 1), float((servers - 1) * (n - 1))
    if alike:
        variance = math.fsum(value * value for row in left for value in row) / degrees
        return Pool(n, correlation, variance, degrees, alike)
    of_pairs = [
        statistics.variance([x - y for x, y in zip(a, b, strict=True)]) for a, b in combinations(left, 2)
    ]
    if servers < FEWEST_UNLIKE or min(of_pairs) <= 0:
        return Pool(n, correlation, None, 0.0, alike)
    variance, degrees = _prior(of_pairs, n - 1, servers)
    return Pool(n, correlation, variance / 2, degrees, alike)


def _prior(variances: Sequence[float], degrees: int, servers: int) -> tuple[float, float]:
    """The variance about which those of pairs lie, and with how many degrees of freedom, by the mean and the
    scatter of their logarithms (Smyth 2004). Two pairs with a server in common correlate by a quarter."""
    own = degrees / 2
    logs = [math.log(variance) - _digamma(own) + math.log(own) for variance in variances]
    shared = (servers - 2) / (len(variances) - 1) / 2
    beyond = statistics.variance(logs) / (1 - shared) - _trigamma(own)
    low, high = 0.05, (servers - 2) * own
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
