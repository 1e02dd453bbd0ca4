"""Estimates from trials: the trial is the unit of replication, and n counts trials. Also windows as one.

Requests, seconds and windows inside one trial depend on each other; taken as independent
samples they would give intervals that are far too narrow (pseudo-replication, Kalibera & Jones).

The few distributions that judging needs are here in plain Python: an installation need not carry scipy. Each
agrees with scipy to nine digits over the range in which it is used (tests), and costs microseconds.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal

from assay.model.estimate import Estimate
from assay.model.measurement import Measurement, Window
from assay.model.plan import LoadPlan, Open, StopAtCount
from assay.model.trial import Trial
from assay.stats.scatter import allowed_correlation, widening

CONFIDENCE = 0.95
"""Coverage of every interval of the product, unless its method says otherwise."""


def rate_per_s(measurement: Measurement) -> float:
    """Right answers a second over the measured phase; 0 where nothing was measured."""
    if measurement.measured_ns <= 0:
        return 0.0
    return measurement.completed / (measurement.measured_ns / 1e9)


def kept_per_s(plan: LoadPlan, measurement: Measurement) -> float | None:
    """Right answers a second over the time that the load was to take; None where nothing was measured.

    Of so many requests at a constant rate the last has its interval, too: five at 5/s are a second of load,
    although the last of them is answered after 0.8 s.
    """
    if measurement.measured_ns <= 0:
        return None
    load, stop, asked_ns = plan.load, plan.stop, 0.0
    if isinstance(load, Open) and isinstance(stop, StopAtCount) and load.arrivals == "constant":
        [*before, last] = load.stages
        ended = measurement.completed + measurement.failed
        if not before and last.from_per_s == last.to_per_s > 0 and ended == stop.count:
            asked_ns = stop.count / last.to_per_s * 1e9
    return measurement.completed / (max(measurement.measured_ns, asked_ns) / 1e9)


def throughput(trials: Sequence[Trial]) -> Estimate | None:
    """Mean throughput of a case over its measured trials; None where none was measured."""
    rates = (kept_per_s(trial.plan, trial.measurement) for trial in trials if trial.measurement)
    return mean([rate for rate in rates if rate is not None], "req/s")


def mean(values: Sequence[float], unit: str) -> Estimate | None:
    """Mean of one value a trial with its Student t interval, wider by what neighbours may correlate; None for
    no value, no interval for one."""
    if not values:
        return None
    n = len(values)
    centre = statistics.fmean(values)
    if n < 2:
        return Estimate(value=centre, low=None, high=None, n=n, unit=unit, method="one trial")
    deviation = statistics.stdev(values) * widening(allowed_correlation([values]))
    half = t_quantile(n - 1) * deviation / math.sqrt(n)
    return Estimate(
        value=centre,
        low=centre - half,
        high=centre + half,
        n=n,
        unit=unit,
        method="t interval on trial values",
    )


def positive_mean(values: Sequence[float], unit: str) -> Estimate | None:
    """Geometric mean of positive trial values with a t interval on their logarithms.

    For times, which are skewed and cannot be negative. A value of zero or less has no logarithm:
    such trials fall back to the plain mean.
    """
    if not values or min(values) <= 0:
        return mean(values, unit)
    logs = mean([math.log(value) for value in values], unit)
    assert logs is not None  # there is a value
    return exponentiated(logs, unit, "t interval on logarithms of trial values")


def exponentiated(logs: Estimate, unit: str, method: str) -> Estimate:
    """An estimate made on logarithms, back on the scale of the values."""
    return Estimate(
        value=math.exp(logs.value),
        low=None if logs.low is None else math.exp(logs.low),
        high=None if logs.high is None else math.exp(logs.high),
        n=logs.n,
        unit=unit,
        method=method if logs.n > 1 else "one trial",
    )


def t_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """Two-sided Student t quantile: |t| stays below it with probability `confidence`."""
    return student_t_quantile(degrees, 0.5 + confidence / 2)


def as_one(windows: Sequence[Window], length_ns: int) -> Window:
    """One window of that length with what all of these had, from the first one's begin on; of their phase."""
    return Window(
        start_ns=min(one.start_ns for one in windows),
        length_ns=length_ns,
        phase=windows[0].phase,
        started=sum(one.started for one in windows),
        completed=sum(one.completed for one in windows),
        failed=sum(one.failed for one in windows),
        bytes_read=sum(one.bytes_read for one in windows),
    )


PUBLISHED_DEVIATION = 0.03
"""Of one run from the next, where a published figure has no deviation of its own."""


def could_be_published(published: float, ratio: float, low: float | None, high: float | None) -> bool:
    """Whether a ratio of one run each, as others published it, may have come from what was measured.

    It does where it lies in the 95 % prediction interval: each end is as far off as both errors are.
    None is no end.
    """
    error = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2) * math.sqrt(2) * PUBLISHED_DEVIATION

    def beyond(end: float, own: float) -> float:
        return end * math.exp(own - math.hypot(own, error))

    least = 0.0 if low is None else beyond(low, max(0.0, math.log(ratio / low)))
    most = math.inf if high is None else 1 / beyond(1 / high, max(0.0, math.log(high / ratio)))
    return least <= published <= most


_EPSILON = 1e-15
_TINY = 1e-300
"""Stands in for 0 in a denominator (Lentz's method)."""

_MOST_TERMS = 100_000
"""Where a sum gives up; those here need about the square root of their largest argument."""

_MOST_STEPS = 200
"""Of Newton's method: far quantiles of one degree of freedom take dozens, the usual ones six."""

_NEGLIGIBLE = 40.0
"""e^-40: what a density so far below its top adds to an integral is below rounding."""


def student_t_cdf(degrees: float, t: float) -> float:
    """P(T <= t) of Student's t distribution, by the incomplete beta function (DLMF 8.17)."""
    whole = degrees + t * t
    tail = incomplete_beta(degrees / 2, 0.5, degrees / whole, t * t / whole) / 2
    return tail if t < 0 else 1 - tail


@functools.lru_cache(maxsize=1024)
def student_t_quantile(degrees: float, p: float) -> float:
    """The t below which Student's distribution lies with probability `p`, 0 < p < 1.

    Newton's method on the tail's probability, from 0: the density falls from there on, so no step leads
    beyond the quantile and each comes nearer.
    """
    if p < 0.5:
        return -student_t_quantile(degrees, 1 - p)
    log_scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    t = 0.0
    for _ in range(_MOST_STEPS):
        density = math.exp(log_scale - (degrees + 1) / 2 * math.log1p(t * t / degrees))
        step = (student_t_cdf(degrees, -t) - (1 - p)) / density
        t += step
        if abs(step) <= 1e-13 * t:
            break
    return t


def noncentral_t_cdf(degrees: float, shift: float, t: float, least: float = -math.inf) -> float:
    """P((Z + shift) / sqrt(V / degrees) <= t or Z + shift <= least), Z normal and V chi-squared with so many
    degrees.

    The definition, integrated over u = log sqrt(V / degrees): normal_cdf(t e^u - shift) times the density
    of u. The integrand is smooth and dies out on both sides, where the trapezoidal rule converges
    exponentially (Trefethen and Weideman 2014); its step follows the narrower of the two factors.
    """
    log_scale = math.log(2) + degrees / 2 * math.log(degrees / 2) - math.lgamma(degrees / 2)
    step = min(0.15 / math.sqrt(degrees), 0.3 / max(1.0, abs(shift)))
    low, high = -_NEGLIGIBLE / degrees - 0.5, 0.0
    while degrees * (high - math.expm1(2 * high) / 2) > -_NEGLIGIBLE:
        high += step
    low = max(low, -math.sqrt(2 * _NEGLIGIBLE / degrees) - _NEGLIGIBLE / degrees)
    total = 0.0
    for place in range(math.floor((high - low) / step) + 1):
        u = high - place * step
        density = math.exp(log_scale + degrees * (u - math.exp(2 * u) / 2))
        total += density * math.erfc((shift - max(least, t * math.exp(u))) / math.sqrt(2)) / 2
    return min(1.0, total * step)


def chi_squared_quantile(degrees: float, p: float) -> float:
    """The value below which a chi-squared variable lies with probability `p`, to 2 % from two degrees and
    p = 0.05 on (Wilson & Hilferty 1931)."""
    spread = 2 / (9 * degrees)
    return max(1e-9, degrees * (1 - spread + NormalDist().inv_cdf(p) * math.sqrt(spread)) ** 3)


def poisson_cdf(k: int, mean: float) -> float:
    """P(at most `k` events) where `mean` > 0 are expected.

    The upper incomplete gamma function Q(k + 1, mean): a series below the bulk of the distribution, a
    continued fraction above it (DLMF 8.11.4, 8.9.2).
    """
    if k < 0:
        return 0.0
    a = k + 1
    front = math.exp(a * math.log(mean) - mean - math.lgamma(a))
    if mean < a + 1:
        term = total = 1 / a
        for n in range(1, _MOST_TERMS):
            term *= mean / (a + n)
            total += term
            if term < total * _EPSILON:
                break
        return max(0.0, 1 - front * total)
    b = mean + 1 - a
    c, d = 1 / _TINY, 1 / b
    fraction = d
    for n in range(1, _MOST_TERMS):
        numerator = -n * (n - a)
        b += 2
        d = 1 / _away_from_zero(numerator * d + b)
        c = _away_from_zero(b + numerator / c)
        fraction *= d * c
        if abs(d * c - 1) < _EPSILON:
            break
    return min(1.0, front * fraction)


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function I_x(a, b), 0 <= x <= 1.

    `rest` is 1 - x, which the caller knows to all digits where x is close to 1. The continued fraction of
    DLMF 8.17.22 by Lentz's method, on the side of the mean where it converges fast.
    """
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, rest, x)
    log_front = a * math.log(x) + b * math.log(rest) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _MOST_TERMS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + numerator * d)
            c = _away_from_zero(1 + numerator / c)
            fraction *= d * c
        if abs(d * c - 1) < _EPSILON:
            break
    return math.exp(log_front) * fraction / a


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


Held = Literal["kept", "broken", "could not tell"]


def check_limit(change: Estimate | None, edge: float, *, more_is_better: bool) -> Held:
    """Broken where the whole interval lies beyond the edge, kept where all of it lies within.

    A change that is known from one side only can still decide a limit.
    """
    if change is None or change.n < 2:
        return "could not tell"
    low = -math.inf if change.low is None else change.low
    high = math.inf if change.high is None else change.high
    if more_is_better:
        return "broken" if high < edge else "kept" if low >= edge else "could not tell"
    return "broken" if low > edge else "kept" if high <= edge else "could not tell"
