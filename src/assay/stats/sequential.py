"""Looking at a comparison after every block, without fooling oneself.

A t interval that is looked at after every block until it excludes 1 is wrong far more than 5 % of
the time. This interval holds at all numbers of blocks at once: the chance that it *ever* excludes
the true ratio is at most 5 %, so a run may stop whenever it likes.

It inverts the mixture t test: with n log ratios, t their t statistic against a supposed log ratio,
and a normal prior of variance g on the effect in deviations, the mixture likelihood ratio

    B_n = k^(-1/2) * ((1 + t^2/v) / (1 + t^2/(k v)))^(n/2),    v = n - 1,  k = 1 + n g

is a martingale when the supposed value is true, whatever the deviation is; by Ville's inequality it
reaches 1/alpha with probability at most alpha. The interval is all values with B_n < 1/alpha.
(Lai 1976; Rouder et al. 2009 for the form of B_n; Wang & Ramdas, Anytime-valid t-tests.)

A run that settles nothing ends with its budget, at a number of blocks that its ratios did not choose. There
an ordinary t interval is as good as ever, and much narrower; so half of the error is kept for that one
*last look*, and all looks on the way share the other half (Bonferroni).

What every ratio of two cases rests on: their values block by block, and the least that counts.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from assay.model.estimate import Estimate
from assay.stats.estimates import CONFIDENCE, t_quantile

MINIMUM_EFFECT = 0.01
"""Differences below 1 % are never claimed, however sure: code layout alone moves as much
(Mytkowicz et al.)."""

Blocks = Mapping[int, float]
"""One value for each block of a case."""


PRIOR_VARIANCE = 2.0
"""g: the interval is narrowest, for its number of blocks, where effects are about 1.4 deviations."""

FEWEST_BLOCKS = 4
"""Nothing is settled earlier: a deviation of three values or fewer is mostly luck."""

MOST_BLOCKS = 10_000
"""Where the search for a number of blocks gives up: no one runs as many."""

_UPPER_FIFTH = 0.8416
"""Standard normal quantile of 0.8: what must be added to be seen in four of five runs."""

ALPHA = 1 - CONFIDENCE
OF_EACH = 0.5
"""The share of the error that the looks on the way have all together, and the last look has alone."""


def ratio_within(logs: Sequence[float], factor: float | None, method: str) -> Estimate | None:
    """The ratio with an interval of so many deviations to each side; None without a block.

    Where the interval is infinite (`factor` is None), `low` and `high` are None.
    """
    if not logs:
        return None
    centre = statistics.fmean(logs)
    half = _half_width(logs, factor)
    return Estimate(
        value=math.exp(centre),
        low=None if half is None else math.exp(centre - half),
        high=None if half is None else math.exp(centre + half),
        n=len(logs),
        unit="ratio",
        method=method,
    )


def per_pair(cases: int) -> float:
    """The error that each pair of so many cases is allowed: all together keep 5 % (Bonferroni)."""
    return ALPHA / max(1, math.comb(cases, 2))


def detectable_by_now(
    logs: Sequence[float], factor: float | None, minimum_effect: float = MINIMUM_EFFECT, bias: float = 0.0
) -> float | None:
    """The ratio above 1 that a run of this length and noise would have shown four times of five.

    `factor` is the half-width of its interval in deviations, None where that is infinite. A true ratio r is
    shown when its estimate, less the `bias`, is beyond both the interval's half-width and the minimum effect;
    the estimate scatters by the deviation over the root of n. None where the interval is not finite yet.
    """
    half = _half_width(logs, factor)
    if half is None:
        return None
    scatter = _UPPER_FIFTH * statistics.stdev(logs) / math.sqrt(len(logs))
    return (1 + bias) * math.exp(max(half, math.log1p(minimum_effect)) + scatter)


def blocks_to_settle(
    logs: Sequence[float], margin: float, factor: Callable[[int], float | None], bias: float = 0.0
) -> int | None:
    """How many blocks of this noise would probably settle the question; None where it cannot be told.

    `factor` gives the half-width of the interval of n blocks in deviations, None where it is infinite.
    Settled when the half-width is below the effect as seen, or small enough to exclude a difference of
    `margin`: whichever comes first. No number of blocks narrows the `bias` that stands between.
    """
    if len(logs) < 2:
        return None
    deviation, effect = statistics.stdev(logs), abs(statistics.fmean(logs))
    wanted = max(effect, math.log1p(margin) - effect) - math.log1p(bias)
    if wanted < 0:
        return None
    for n in range(FEWEST_BLOCKS, MOST_BLOCKS):
        half = factor(n)
        if half is not None and half * deviation <= wanted:
            return n
    return None


def _half_width(logs: Sequence[float], factor: float | None) -> float | None:
    return None if factor is None else factor * statistics.stdev(logs)


def reach_last(n: int, alpha: float) -> float | None:
    """The half-width of n blocks in deviations where they are looked at once: of the t interval. None of so
    few that nothing is settled."""
    return t_quantile(n - 1, 1 - alpha) / math.sqrt(n) if n >= FEWEST_BLOCKS else None


def half_width(n: int, alpha: float) -> float | None:
    """The half-width of n blocks in deviations: B_n = 1/alpha solved for t, over the root of n.

    None while even an infinite t would not reach it.
    """
    if n < 2:
        return None
    k = 1 + n * PRIOR_VARIANCE
    reach = (math.sqrt(k) / alpha) ** (2 / n)
    if reach >= k:
        return None
    return math.sqrt((n - 1) * (reach - 1) / (1 - reach / k)) / math.sqrt(n)
