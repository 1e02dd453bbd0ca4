"""Whether the requests that were started arrived as the plan said, from the counts per window.

In a window of known intended arrivals m, Poisson arrivals give a Poisson count. A count k is
mapped to F(k-1) + v (F(k) - F(k-1)) with v drawn uniformly (a fixed seed: the same record gives the
same answer), which is uniform if the claim is true, and the Anderson-Darling statistic of those
tells how well it is. Constant arrivals are steadier than any Poisson process: their counts must
scatter less.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from assay.stats.special import poisson_cdf

FEWEST_WINDOWS = 20
CRITICAL_1_PERCENT = 3.857
"""Anderson-Darling, fully specified distribution, 1 % level (Stephens 1974, table 1)."""


class ArrivalsFit(NamedTuple):
    """`statistic` against its `limit`: Anderson-Darling for Poisson, variance/mean for constant."""

    fits: bool
    statistic: float
    limit: float
    windows: int


def poisson_fit(counts: Sequence[int], intended: Sequence[float], seed: int = 1) -> ArrivalsFit | None:
    """Whether `counts` are Poisson around `intended` arrivals a window; None with too few windows.

    The intended arrivals are scaled to the total that was started: a shortfall is another rule's.
    """
    scaled = _scaled(counts, intended)
    if scaled is None:
        return None
    draw, uniform = random.Random(seed), []
    for count, mean in zip(counts, scaled, strict=True):
        below = poisson_cdf(count - 1, mean)
        place = below + draw.random() * (poisson_cdf(count, mean) - below)
        uniform.append(min(max(place, 1e-12), 1 - 1e-12))
    uniform.sort()
    n = len(uniform)
    terms = (math.log(a) + math.log1p(-b) for a, b in zip(uniform, reversed(uniform), strict=True))
    statistic = -n - sum(odd * term for odd, term in zip(range(1, 2 * n, 2), terms, strict=True)) / n
    return ArrivalsFit(statistic <= CRITICAL_1_PERCENT, statistic, CRITICAL_1_PERCENT, n)


def constant_fit(counts: Sequence[int], intended: Sequence[float]) -> ArrivalsFit | None:
    """Whether `counts` scatter less around `intended` than Poisson arrivals would (index below 1)."""
    scaled = _scaled(counts, intended)
    if scaled is None:
        return None
    # Rounding to whole requests alone moves a count by up to one.
    excess = [max(0.0, abs(count - mean) - 1) ** 2 / mean for count, mean in zip(counts, scaled, strict=True)]
    index = float(sum(excess)) / len(excess)
    return ArrivalsFit(index < 1, index, 1.0, len(excess))


def _scaled(counts: Sequence[int], intended: Sequence[float]) -> list[float] | None:
    """Intended arrivals that sum to what was started; None where there is too little to judge."""
    total = sum(intended)
    if len(counts) < FEWEST_WINDOWS or min(intended, default=0) <= 0 or not sum(counts):
        return None
    return [mean * sum(counts) / total for mean in intended]
