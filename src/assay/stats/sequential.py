"""Intervals of a comparison that is looked at after every block, and of runs that share no blocks.

A t interval that is looked at after every block until it excludes 1 is wrong far more than 5 % of
the time. So a run has an error that it spends as it uses its budget (Lan & DeMets 1983): after a share
u of the budget, u^1.5 of 3 %, of a large budget a smaller power of u. Each look is a t interval at the
level that spends what is then due, given that no look before has spent it; all of them together exclude
the true ratio in 3 % of runs.

The levels are those of a Brownian motion that is looked at after every block (Armitage, McPherson & Rowe
1969), used with Student's t (Jennison & Turnbull 2000, section 3.8). How much of the budget is used depends
on lengths of time alone, not on what the ratios came to.

Of runs made at different times nothing cancels the machine's drift, so their intervals are wider than paired
ones, and still too narrow where the machine itself changed in between.
"""

from __future__ import annotations

import functools
import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

from assay.model.estimate import Estimate
from assay.stats.estimates import (
    CONFIDENCE,
    chi_squared_quantile,
    exponentiated,
    noncentral_t_cdf,
    student_t_quantile,
    t_quantile,
)
from assay.stats.scatter import allowed_correlation, widening

MINIMUM_EFFECT = 0.01
"""Differences below 1 % are never claimed, however sure: code layout alone moves as much
(Mytkowicz et al.)."""

Blocks = Mapping[int, float]
"""One value for each block of a case."""


LEAST_BLOCKS = 3
"""Common blocks that a comparison needs: with two, the noise is guessed from a single difference."""
FEWEST_BLOCKS = LEAST_BLOCKS + 1
"""Blocks that a budget is to have room for: three may decide, but their deviation is mostly luck."""

MOST_BLOCKS = 10_000
"""Where the search for a number of blocks gives up: no one runs as many."""

POWER = 0.8
"""Chance that a forecast comes true, and that a true difference of the stated size is shown (Cohen)."""
_STEPS = 10
"""Deviations by which a forecast stands for all that are possible."""

SPENT_ERROR = 0.03
"""What all looks of a run spend together. Orders of equal servers are to be shown in 3 % of runs at most."""
_SPENDING = 1.5
_FIRST = 0.14
"""A share u of the budget has spent u^1.5 of the error; of a large budget a smaller power, so that the first
look has a seventh: it may decide what three blocks can, however long the run might go on."""


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
    """The error that each pair of so many cases may spend: all together keep 3 % (Bonferroni)."""
    return SPENT_ERROR / max(1, math.comb(cases, 2))


def detectable_by_now(
    logs: Sequence[float], factor: float | None, minimum_effect: float = MINIMUM_EFFECT, bias: float = 0.0
) -> float | None:
    """The ratio above 1 that four of five runs of this length and noise would show.

    `factor` is the half-width of their intervals in deviations, None where that is infinite. A ratio is shown
    when its estimate, less the `bias`, is beyond both that and the minimum effect. The noise may be as large
    as these values leave possible (`most_deviation`). None where the interval is not finite yet.
    """
    n = len(logs)
    if factor is None or n < LEAST_BLOCKS:
        return None
    root, deviation = math.sqrt(n), most_deviation(statistics.stdev(logs), n)
    error = deviation / root
    if 4 * factor * deviation <= math.log1p(minimum_effect):  # the minimum effect alone decides
        return (1 + bias) * math.exp(math.log1p(minimum_effect) + NormalDist().inv_cdf(POWER) * error)
    least = math.log1p(minimum_effect) / error
    low, high = least, least + 1.0

    def missed(shift: float) -> float:
        return noncentral_t_cdf(n - 1, shift, factor * root, least)

    while missed(high) > 1 - POWER:
        low, high = high, 2 * high
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if missed(middle) > 1 - POWER else (low, middle)
    return (1 + bias) * math.exp(high * error)


def most_deviation(deviation: float, n: int) -> float:
    """What the true one of n values with this standard deviation does not exceed in four cases of five."""
    return deviation * math.sqrt((n - 1) / chi_squared_quantile(n - 1, 1 - POWER))


def blocks_to_settle(
    logs: Sequence[float],
    margin: float,
    factor: Callable[[int], float | None],
    bias: float = 0.0,
    minimum_effect: float = MINIMUM_EFFECT,
) -> int | None:
    """With how many blocks a run settles the question in four cases of five; None where none is enough.

    `factor` gives the half-width of the interval of n blocks in deviations, None where it is infinite.
    The true ratio and deviation are what these values leave possible of them: normal and scaled chi-squared
    (a predictive distribution without prior knowledge). Settled: the estimate lies beyond the half-width and
    the minimum effect, or the interval within `margin`; less the `bias`, which no number of blocks narrows.
    """
    n = len(logs)
    if n < LEAST_BLOCKS:
        return None
    centre, deviation = abs(statistics.fmean(logs)), statistics.stdev(logs)
    chances = [(step + 0.5) / _STEPS for step in range(_STEPS)]
    likely = [deviation * math.sqrt((n - 1) / chi_squared_quantile(n - 1, chance)) for chance in chances]
    beyond, within = math.log1p(minimum_effect), math.log1p(margin) - math.log1p(bias)

    def settles(blocks: int) -> float:
        reach = factor(blocks)
        if reach is None:
            return 0.0
        found = 0.0
        for noise in likely:
            estimate = NormalDist(centre, noise * math.sqrt(1 / n + 1 / blocks) or 1e-12)
            far, near = max(reach * noise, beyond) + math.log1p(bias), max(0.0, within - reach * noise)
            far = max(far, near)
            found += 1 - estimate.cdf(far) + estimate.cdf(-far) + estimate.cdf(near) - estimate.cdf(-near)
        return found / _STEPS

    blocks = n + 1
    while settles(blocks) < POWER:
        blocks = max(blocks + 1, math.floor(1.05 * blocks))
        if blocks > MOST_BLOCKS:
            return None
    return blocks


def _half_width(logs: Sequence[float], factor: float | None) -> float | None:
    return None if factor is None else factor * statistics.stdev(logs)


def last_level(blocks: int, alpha: float) -> float:
    """About the level of the last look of a budget of so many blocks: rather too small than too large."""
    return alpha * min(0.4, 1.3 / math.sqrt(max(1, blocks)))


_GRID = 0.35
"""Standard deviations of a block between places at which a density is kept (Simpson's rule)."""
_FAR = 6.5
"""Standard deviations beyond which a block moves nothing."""
_MOST_Z = 8.0
_NOTHING = 1e-14
_FEW = 5
"""Looks up to here have all of what is due (Bonferroni)."""


class _Path(NamedTuple):
    """Runs that no look has ended: where the sum of their blocks stands, in deviations of one, and the
    density there; after so many blocks, of which the last look had this two-sided `level`."""

    blocks: int
    spent: float
    level: float | None
    places: tuple[float, ...] = (0.0,)
    weights: tuple[float, ...] = (1.0,)


def level(shares: Sequence[float], alpha: float, *, nested: bool = True) -> float | None:
    """The two-sided level of the look after the last of these blocks; None where none of it is due yet.

    `shares` are those of the budget that were used after each block. Where looks are not `nested`, as their
    values are cut anew for each, every look has what is due alone (Bonferroni), from the first block on.
    """
    if not shares:
        return None
    if not nested:
        due = _spent(shares[-1], shares[0]) - (_spent(shares[-2], shares[0]) if len(shares) > 1 else 0.0)
        return alpha * due if due > _NOTHING else None
    path = None
    for blocks in range(LEAST_BLOCKS, len(shares) + 1):
        path = _path(tuple(shares[:blocks]), alpha)
    return path.level if path else None


def _spent(used: float, first: float) -> float:
    """The share of the error that is spent with so much of the budget; the first look had used `first`."""
    power = min(_SPENDING, math.log(_FIRST) / math.log(first)) if 0 < first < 1 else _SPENDING
    return math.pow(min(1.0, used), power)


@functools.lru_cache(maxsize=2048)
def _path(shares: tuple[float, ...], alpha: float) -> _Path:
    blocks = len(shares)
    before = _path(shares[:-1], alpha) if blocks > LEAST_BLOCKS else _Path(0, 0.0, None)
    spent = alpha * _spent(shares[-1], shares[LEAST_BLOCKS - 1])
    deviation, due = math.sqrt(blocks - before.blocks), spent - before.spent
    if due <= _NOTHING:
        return before._replace(level=None)

    def beyond(z: float) -> float:
        edge = z * math.sqrt(blocks)
        pairs = zip(before.places, before.weights, strict=True)
        return math.fsum(weight * math.erfc((edge - at) / deviation / math.sqrt(2)) for at, weight in pairs)

    # Of few blocks the t statistics of successive looks depend on each other less than their sums do.
    low, high = (0.0, _MOST_Z) if blocks > _FEW else 2 * (-NormalDist().inv_cdf(due / 2),)
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > due else (low, middle)
    edge = high * math.sqrt(blocks)
    steps = 2 * math.ceil(max(10.0, edge / _GRID))
    width = 2 * edge / steps
    places = tuple(step * width - edge for step in range(steps + 1))
    simpson = (width / 3 * (1 if step in (0, steps) else 4 if step % 2 else 2) for step in range(steps + 1))
    weights = tuple(
        part * _density(before, place, deviation) for part, place in zip(simpson, places, strict=True)
    )
    return _Path(blocks, spent, math.erfc(high / math.sqrt(2)), places, weights)


def _density(before: _Path, place: float, deviation: float) -> float:
    """That of being there after blocks that move the sum by so much."""
    first = bisect_left(before.places, place - _FAR * deviation)
    last = bisect_right(before.places, place + _FAR * deviation)
    total = math.fsum(
        before.weights[at] * math.exp(-(((place - before.places[at]) / deviation) ** 2) / 2)
        for at in range(first, last)
    )
    return total / deviation / math.sqrt(2 * math.pi)


MOST_TRIALS = 100_000
"""Where the search for a number of trials gives up: no one runs as many."""


def trials_for_half_width(relative_deviation: float, relative_half_width: float) -> int | None:
    """Trials after which the t interval of a mean is about `relative_half_width` on each side."""
    if relative_half_width <= 0:
        return None
    ratio = relative_deviation / relative_half_width
    return smallest(lambda n: t_quantile(n - 1, CONFIDENCE) * ratio / math.sqrt(n) <= 1)


def more_for_precision(logs: Sequence[float], precision: float, most: int) -> int:
    """How many more log ratios than these, at most `most`, let the interval of the ratio be about as narrow
    as `precision`, a share, on each side, if they go on deviating as these do."""
    deviation = statistics.stdev(logs) * widening(allowed_correlation([logs]))
    needed = trials_for_half_width(deviation, math.log1p(precision))
    return most if needed is None else min(max(0, needed - len(logs)), most)


def smallest(enough: Callable[[int], bool]) -> int | None:
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


def _welch_half_width(error_a: float, error_b: float, n_a: int, n_b: int) -> float:
    """Welch's: t with the Welch-Satterthwaite degrees of freedom, times the standard error."""
    total = error_a + error_b
    if total == 0:
        return 0.0
    degrees = total**2 / (error_a**2 / (n_a - 1) + error_b**2 / (n_b - 1))
    return student_t_quantile(degrees, 0.5 + CONFIDENCE / 2) * math.sqrt(total)
