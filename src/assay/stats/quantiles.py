"""Quantiles of times, from the engine's histograms, and the one value that a trial has of each metric.

A quantile is one value a trial, and the case's figure is an estimate over those: the requests of one trial
depend on each other, so that no interval of a single trial's would hold what it promises, and histograms of
different trials are never merged.

Whether the requests that were started arrived as the plan said, from the counts per window.

In a window of known intended arrivals m, Poisson arrivals give a Poisson count. A count k is
mapped to F(k-1) + v (F(k) - F(k-1)) with v drawn uniformly (a fixed seed: the same record gives the
same answer), which is uniform if the claim is true, and the Anderson-Darling statistic of those
tells how well it is. Constant arrivals are steadier than any Poisson process: their counts must
scatter less.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.model.estimate import Estimate
from assay.model.finding import Metric
from assay.model.measurement import Histogram, Measurement, WindowTimes
from assay.model.trial import Trial
from assay.stats.estimates import kept_per_s, poisson_cdf, positive_mean

if TYPE_CHECKING:
    from assay._engine import StoredHistogram

SURE = 0.99
"""A percentile is printed once the chance that some request exceeded it is at least this
(MLPerf's early stopping, one-sided binomial)."""


class Quantile(NamedTuple):
    """The p-quantile of one trial's times."""

    p: float
    value_ns: float


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
    shown = [p for p in ps if histogram.count >= requests_needed(p)]
    if not shown:
        return tuple(None for _ in ps)
    values = dict(zip(shown, _read(histogram).quantiles(shown), strict=True))
    return tuple(Quantile(p, float(values[p] * histogram.unit_ns)) if p in values else None for p in ps)


def case_quantile(histograms: Sequence[Histogram], p: float) -> Estimate | None:
    """A case's p-quantile in ns: the estimate over one quantile a trial.

    None where any trial has too few requests for it, or there is no trial.
    """
    values = [quantiles(histogram, (p,))[0] for histogram in histograms]
    seen = [value.value_ns for value in values if value is not None]
    return positive_mean(seen, "ns") if seen and len(seen) == len(values) else None


@functools.lru_cache(maxsize=8192)
def _read(histogram: Histogram) -> StoredHistogram:
    """The histogram, read by the engine: whoever shows a quantile, live or stored, asks the same function.

    Kept, because a report asks for the same quantiles in a table, in a chart and in what the rules see.
    As is usual for HdrHistogram, a slot stands for its highest value. Raises ValueError where the data is
    damaged.
    """
    from assay._engine import StoredHistogram  # it loads where a histogram is read

    return StoredHistogram(histogram.data)


def recorded(histogram: Histogram) -> tuple[tuple[int, int], ...]:
    """The times in ns that a histogram holds, and how many of each."""
    if not histogram.count:
        return ()
    return tuple((value * histogram.unit_ns, count) for value, count in _read(histogram).counts())


def of_windows(windows: Iterable[WindowTimes]) -> Histogram:
    """The histogram of the times of some windows; nothing is known of its mean and deviation."""
    from assay._engine import StoredHistogram, histogram_of

    filled = [one for one in windows if one.count]
    data = filled[0].data if len(filled) == 1 else ""
    if len(filled) > 1:
        counts: Counter[int] = Counter()
        for one in filled:
            for value, count in StoredHistogram(one.data).counts():
                counts[value] += count
        data = histogram_of(sorted(counts.items()))
    return Histogram(
        count=sum(one.count for one in filled),
        min_ns=0,
        max_ns=max((one.max_ns for one in filled), default=0),
        mean_ns=0.0,
        stdev_ns=0.0,
        unit_ns=1,
        data=data,
    )


def by_rank(histogram: Histogram) -> Callable[[int], float]:
    """The time in ns of the request at a 1-based rank, counted from the fastest."""
    read = _read(histogram)
    return lambda rank: float(read.at_rank(max(rank, 1)) * histogram.unit_ns)


_TICKS = 5
"""Lines of a spectrum for each halving of what is left to 100 %, as HdrHistogram's own tables have."""


def spectrum(histogram: Histogram) -> Iterator[tuple[int, float, int]]:
    """HdrHistogram's table of percentiles: a time in ns, its percentile, and how many requests up to it.

    Lines come in equal steps, five for each halving of what is left to 100 %, each at the first time that
    reaches it; the last one is the longest time.
    """
    slots = recorded(histogram)
    up_to = itertools.accumulate(count for _, count in slots)
    return percentile_rows([(time_ns, below) for (time_ns, _), below in zip(slots, up_to, strict=True)])


def percentile_rows(slots: Sequence[tuple[int, int]]) -> Iterator[tuple[int, float, int]]:
    """The lines of `spectrum`; `slots` are the distinct values, each with the number of values up to it."""
    percent = 0.0
    for value, below in slots:
        total = slots[-1][1]
        while percent <= 100 * below / total:
            yield value, percent, below
            halvings = int(math.log2(100 / (100 - percent))) + 1
            percent += 100 / (_TICKS * 2**halvings)
            if below == total:
                break
    if slots:
        yield slots[-1][0], 100.0, slots[-1][1]


UNITS = {"throughput": "req/s", "peak_memory": "bytes"}
"""Units of the metrics that are no times; all others are in ns."""


def value_of(trial: Trial, metric: Metric) -> float | None:
    """The trial's value of `metric`; None where it was not measured or has too few requests, and of a
    capacity, which no trial has by itself."""
    if metric == "capacity":
        return None
    if metric in ("start_time", "peak_memory"):
        if trial.server is None:
            return None
        return float(trial.server.start_ns if metric == "start_time" else trial.server.peak_rss_bytes)
    if trial.measurement is None:
        return None
    if metric == "throughput":
        return kept_per_s(trial.plan, trial.measurement)
    if metric in ("server_cpu", "client_cpu"):
        return _cpu_ns_an_answer(trial, trial.measurement, metric)
    clock, _, figure = metric.rpartition("_")
    times = trial.measurement.service_time if clock == "service_time" else trial.measurement.response_time
    return None if times is None or not times.count else _figure_of(times, figure)


def by_block(trials: Iterable[Trial], metric: Metric = "throughput") -> dict[int, float]:
    """One value a block, for pairing; blocks without a value are left out."""
    values = {trial.block: value_of(trial, metric) for trial in trials}
    return {block: value for block, value in values.items() if value is not None}


def _cpu_ns_an_answer(trial: Trial, measured: Measurement, metric: Metric) -> float | None:
    cpu_ns: int | None
    if metric == "client_cpu":
        cpu_ns = sum(worker.cpu_ns for worker in measured.workers)
    else:
        cpu_ns = trial.server.cpu_ns if trial.server is not None else None
    return cpu_ns / measured.completed if cpu_ns and measured.completed else None


def _figure_of(times: Histogram, figure: str) -> float | None:
    if figure == "mean":
        return times.mean_ns
    quantile = quantiles(times, (int(figure.removeprefix("p")) / 100,))[0]
    return None if quantile is None else quantile.value_ns


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
