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
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Literal

from assay.stats.estimates import CONFIDENCE
from assay.stats.ranking import NOISE_FLOOR
from assay.values.estimate import Estimate

PRIOR_VARIANCE = 2.0
"""g: the interval is narrowest, for its number of blocks, where effects are about 1.4 deviations."""

FEWEST_BLOCKS = 4
"""Nothing is settled earlier: a deviation of three values or fewer is mostly luck."""


def always_valid_ratio(log_ratios: Sequence[float], alpha: float = 1 - CONFIDENCE) -> Estimate | None:
    """The ratio with an interval that may be looked at after every block; None without a block.

    Where there are too few blocks for a finite interval, `low` and `high` are None.
    """
    n = len(log_ratios)
    if n == 0:
        return None
    centre = statistics.fmean(log_ratios)
    half = _half_width(log_ratios, alpha)
    return Estimate(
        value=math.exp(centre),
        low=None if half is None else math.exp(centre - half),
        high=None if half is None else math.exp(centre + half),
        n=n,
        unit="ratio",
        method="always-valid interval on log ratios, paired by block",
    )


def settled(
    log_ratios: Sequence[float], sought: float, noise_floor: float = NOISE_FLOOR
) -> Literal["different", "alike"] | None:
    """Whether the question is settled: different, alike to within `sought`, or not yet (None).

    Different: the interval excludes 1, and the effect exceeds the noise floor. Alike: the interval
    lies within a factor of 1 + `sought` of 1, so a difference that large is excluded.
    """
    ratio = always_valid_ratio(log_ratios)
    if ratio is None or ratio.low is None or ratio.high is None or ratio.n < FEWEST_BLOCKS:
        return None
    apart = ratio.low > 1 or ratio.high < 1
    if apart and abs(math.log(ratio.value)) > math.log1p(noise_floor):
        return "different"
    within = 1 / (1 + sought) < ratio.low and ratio.high < 1 + sought
    return "alike" if within else None


def _half_width(log_ratios: Sequence[float], alpha: float) -> float | None:
    """Solve B_n = 1/alpha for t; None while even an infinite t would not reach it."""
    n = len(log_ratios)
    if n < 2:
        return None
    k = 1 + n * PRIOR_VARIANCE
    reach = (math.sqrt(k) / alpha) ** (2 / n)
    if reach >= k:
        return None
    t = math.sqrt((n - 1) * (reach - 1) / (1 - reach / k))
    return t * statistics.stdev(log_ratios) / math.sqrt(n)
