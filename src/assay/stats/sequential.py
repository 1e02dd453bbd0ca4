"""Intervals of a comparison that is looked at after every block, and of runs that share no blocks.

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

Of runs made at different times nothing cancels the machine's drift, so their intervals are wider than paired
ones, and still too narrow where the machine itself changed in between.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from assay.model.estimate import Estimate
from assay.stats.estimates import CONFIDENCE, exponentiated, noncentral_t_cdf, student_t_quantile, t_quantile

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
    half = _welch_half_width(statistics.variance(a) / len(a), statistics.variance(b) / len(b), len(a), len(b))
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
    while _welch_half_width(spread_a / n, spread_b / n, n, n) >= away:
        n = math.ceil(n * 1.1)
        if n > MOST_TRIALS:
            return None
    return n


def _welch_half_width(error_a: float, error_b: float, n_a: int, n_b: int) -> float:
    """Welch's: t with the Welch-Satterthwaite degrees of freedom, times the standard error."""
    total = error_a + error_b
    if total == 0:
        return 0.0
    degrees = total**2 / (error_a**2 / (n_a - 1) + error_b**2 / (n_b - 1))
    return student_t_quantile(degrees, 0.5 + CONFIDENCE / 2) * math.sqrt(total)
