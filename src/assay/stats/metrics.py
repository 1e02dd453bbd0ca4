"""The one value that a trial has of each metric: what claims and comparisons are made of."""

from __future__ import annotations

from collections.abc import Iterable

from assay.model.claim import Metric
from assay.model.measurement import Histogram, Measurement
from assay.model.trial import Trial
from assay.stats.estimates import kept_per_s
from assay.stats.quantiles import quantiles

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
