"""Quantiles of times, from the engine's histograms.

Inside a trial a quantile has an order-statistic interval; between trials it is one value a
trial, and the case's figure is an estimate over those. Histograms of different trials are never
merged: the requests of one trial are not independent samples of the case.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.stats.estimates import positive_mean
from assay.values.estimate import Estimate
from assay.values.measurement import Histogram

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

SURE = 0.99
"""A percentile is printed once the chance that some request exceeded it is at least this
(MLPerf's early stopping, one-sided binomial)."""

Z_95 = 1.959963984540054


class Quantile(NamedTuple):
    """The p-quantile of one trial's times with its 95 % order-statistic interval."""

    p: float
    value_ns: float
    low_ns: float
    high_ns: float
    requests: int


def requests_needed(p: float) -> int:
    """Requests below which the p-quantile is not printed: 44 for p90, 459 for p99, 4,603 for p99.9.

    The smallest n with p^n <= 1 %: with fewer, even the slowest request may well lie below the
    quantile. Quantiles below the median count from the other side.
    """
    p = max(p, 1 - p)
    if not 0 < p < 1:
        return 1
    return math.ceil(math.log(1 - SURE) / math.log(p))


def quantiles(histogram: Histogram, ps: Sequence[float]) -> tuple[Quantile | None, ...]:
    """For each p in [0, 1] its quantile, or None where too few requests stand behind it."""
    if not any(histogram.count >= requests_needed(p) for p in ps):
        return tuple(None for _ in ps)
    decoded = decode(histogram)
    return tuple(_quantile(histogram, decoded, p) for p in ps)


def case_quantile(histograms: Sequence[Histogram], p: float) -> Estimate | None:
    """A case's p-quantile in ns: the estimate over one quantile a trial.

    None where any trial has too few requests for it, or there is no trial.
    """
    values = [quantiles(histogram, (p,))[0] for histogram in histograms]
    seen = [value.value_ns for value in values if value is not None]
    return positive_mean(seen, "ns") if seen and len(seen) == len(values) else None


def decode(histogram: Histogram) -> HdrHistogram:
    """The HdrHistogram behind `data`; recorded values are in `unit_ns`.

    Raises ValueError where the data is damaged.
    """
    from hdrh.histogram import HdrHistogram

    try:
        return HdrHistogram.decode(histogram.data)
    except Exception as error:  # noqa: BLE001 - the library has no base of its own: zlib, base64 and its own types
        raise ValueError(f"damaged histogram: {error}") from error


def _quantile(histogram: Histogram, decoded: HdrHistogram, p: float) -> Quantile | None:
    n = histogram.count
    if n < requests_needed(p):
        return None
    half = Z_95 * math.sqrt(n * p * (1 - p))

    def at(rank: float) -> float:
        value: int = decoded.get_value_at_percentile(100 * min(max(rank, 1), n) / n)
        return float(value * histogram.unit_ns)

    return Quantile(p, at(n * p), at(math.floor(n * p - half)), at(math.ceil(n * p + half)), n)
