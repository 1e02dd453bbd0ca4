"""What a run of this size can and cannot show."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

from assay.stats.estimates import CONFIDENCE, t_quantile
from assay.stats.special import noncentral_t_cdf

POWER = 0.8
"""Chance of seeing a true difference of the stated size (Cohen's convention)."""

MOST_TRIALS = 100_000
"""Where the search for a number of trials gives up: no one runs as many."""


def power_of_paired_test(effect_over_deviation: float, n: int) -> float:
    """Chance that a two-sided paired t test at 5 % with n pairs finds an effect of that size.

    The effect is in units of the deviation of the paired differences. Noncentral t distribution.
    """
    if n < 2:
        return 0.0
    shift = abs(effect_over_deviation) * math.sqrt(n)
    return 1.0 - noncentral_t_cdf(n - 1, shift, t_quantile(n - 1))


def trials_for_effect(ratio: float, log_ratio_deviation: float, power: float = POWER) -> int | None:
    """Blocks needed to find a true `ratio` given the deviation of paired log ratios.

    None where it cannot be told: no effect, or more trials than anyone runs.
    """
    effect = abs(math.log(ratio))
    if effect == 0:
        return None
    if log_ratio_deviation <= 0:
        return 2
    return _smallest(lambda n: power_of_paired_test(effect / log_ratio_deviation, n) >= power)


def trials_for_half_width(relative_deviation: float, relative_half_width: float) -> int | None:
    """Trials after which the t interval of a mean is about `relative_half_width` on each side."""
    if relative_half_width <= 0:
        return None
    ratio = relative_deviation / relative_half_width
    return _smallest(lambda n: t_quantile(n - 1, CONFIDENCE) * ratio / math.sqrt(n) <= 1)


def more_for_precision(logs: Sequence[float], precision: float, most: int) -> int:
    """How many more log ratios than these, at most `most`, let the interval of the ratio be about as narrow
    as `precision`, a share, on each side, if they go on deviating as these do."""
    needed = trials_for_half_width(statistics.stdev(logs), math.log1p(precision))
    return most if needed is None else min(max(0, needed - len(logs)), most)


def _smallest(enough: Callable[[int], bool]) -> int | None:
    """Smallest n from 2 on for which the monotone predicate `enough` holds."""
    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_TRIALS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high if high > 2 or enough(2) else None
