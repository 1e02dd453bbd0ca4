"""Estimates from trials: the trial is the unit of replication, and n counts trials. Also windows as one.

Requests, seconds and windows inside one trial depend on each other; taken as independent
samples they would give intervals that are far too narrow (pseudo-replication, Kalibera & Jones).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from assay.model.estimate import Estimate
from assay.model.measurement import Measurement, Window
from assay.model.plan import LoadPlan, Open, StopAtCount
from assay.model.trial import Trial
from assay.stats.special import student_t_quantile

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
    """Mean of one value a trial with its Student t interval; None for no value, no interval for one."""
    if not values:
        return None
    n = len(values)
    centre = statistics.fmean(values)
    if n < 2:
        return Estimate(value=centre, low=None, high=None, n=n, unit=unit, method="one trial")
    half = t_quantile(n - 1) * statistics.stdev(values) / math.sqrt(n)
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


def t_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
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
