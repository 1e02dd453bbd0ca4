"""Comparing two sets of trials that share no blocks: runs made at different times.

Nothing cancels the machine's drift between two runs, so these intervals are wider than paired
ones, and still too narrow where the machine itself changed in between.

What a run of this size can and cannot show.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

from assay.model.estimate import Estimate
from assay.stats.estimates import CONFIDENCE, exponentiated, t_quantile
from assay.stats.special import noncentral_t_cdf, student_t_quantile

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


_METHOD = "Welch t interval on logarithms, unpaired"


def unpaired_ratio(a: Sequence[float], b: Sequence[float]) -> Estimate | None:
    """Geometric mean of a over that of b with Welch's t interval (unequal variances).

    None where a value is missing or not positive; no interval below two trials on each side.
    """
    if not a or not b or min(*a, *b) <= 0:
        return None
    logs = unpaired_difference([math.log(value) for value in a], [math.log(value) for value in b], "ratio")
    assert logs is not None  # both have values
    ratio = exponentiated(logs, "ratio", _METHOD)
    return ratio if logs.low is not None else exponentiated(logs, "ratio", logs.method)


def unpaired_difference(a: Sequence[float], b: Sequence[float], unit: str) -> Estimate | None:
    """Mean of a minus mean of b with Welch's t interval; None where either is empty."""
    if not a or not b:
        return None
    value = statistics.fmean(a) - statistics.fmean(b)
    n = min(len(a), len(b))
    if n < 2:
        return Estimate(
            value=value, low=None, high=None, n=n, unit=unit, method="too few trials for an interval"
        )
    half = _half_width(statistics.variance(a) / len(a), statistics.variance(b) / len(b), len(a), len(b))
    method = "Welch t interval, unpaired"
    return Estimate(value=value, low=value - half, high=value + half, n=n, unit=unit, method=method)


def trials_to_tell(
    a: Sequence[float], b: Sequence[float], ratio_limit: float, bias: float = 0.0
) -> int | None:
    """Trials on each side after which the interval of a/b, wider by `bias`, would probably not hold
    `ratio_limit`.

    Assumes that the ratio and the deviations stay as they were seen. None where that would
    take more trials than anyone runs, or it cannot be said.
    """
    if min(len(a), len(b)) < 2 or min(*a, *b) <= 0:
        return None
    logs_a, logs_b = [math.log(value) for value in a], [math.log(value) for value in b]
    away = abs(statistics.fmean(logs_a) - statistics.fmean(logs_b) - math.log(ratio_limit)) - math.log1p(bias)
    spread_a, spread_b = statistics.variance(logs_a), statistics.variance(logs_b)
    n = max(len(a), len(b)) + 1
    while _half_width(spread_a / n, spread_b / n, n, n) >= away:
        n = math.ceil(n * 1.1)
        if n > MOST_TRIALS:
            return None
    return n


def _half_width(error_a: float, error_b: float, n_a: int, n_b: int) -> float:
    """Welch's: t with the Welch-Satterthwaite degrees of freedom, times the standard error."""
    total = error_a + error_b
    if total == 0:
        return 0.0
    degrees = total**2 / (error_a**2 / (n_a - 1) + error_b**2 / (n_b - 1))
    return student_t_quantile(degrees, 0.5 + CONFIDENCE / 2) * math.sqrt(total)
