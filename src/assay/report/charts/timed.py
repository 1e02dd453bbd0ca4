"""Charts of time: throughput over the course of the trials, and percentiles of times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay import verdict
from assay.core import units as fmt
from assay.model.estimate import Estimate
from assay.model.measurement import Histogram
from assay.model.trial import Trial
from assay.report.charts import data
from assay.report.charts.chart import Chart, as_rows
from assay.report.charts.data import Placed, why_bounds
from assay.report.charts.lines import Curve, Frame, ThroughputCurve, courses, plot
from assay.report.charts.scale import Scale, logarithmic
from assay.report.model.rows import Row, time_words

_TELLING = 100.0
"""The ratio of its ends up to which the interval of a tail is drawn."""
_FEWEST_POINTS = 2
"""Fewer are no line; a table says them better."""
_STRETCHED = {2.0: "p50", 10.0: "p90", 100.0: "p99", 1e3: "p99.9", 1e4: "p99.99", 1e5: "p99.999"}


def over_time(place: Placed) -> Chart | None:
    """Throughput over time, the warm-up shaded, each trial faint, changes of level marked."""
    found, rows = [], []
    for row in place.section.candidates:
        trials = place.trials(row)
        steps = data.course(trials, place.steps)
        if row.invalid or len(steps) < _FEWEST_POINTS:
            continue
        mean = tuple((step.at_s, step.mean_per_s) for step in steps)
        alone = tuple(data.alone(trials, place.steps))
        found.append(
            ThroughputCurve(row.name, place.colours[row.name], mean, alone, data.changes(trials, steps))
        )
        rows += [
            (row.name, f"{step.at_s:g}", *map(fmt.rate, (step.mean_per_s, step.low_per_s, step.high_per_s)))
            for step in steps
        ]
    if not found:
        return None
    return Chart(
        name=f"over-time{place.suffix}",
        title=f"Throughput over time{place.where}",
        note=(
            "Each server on its own scale. Bold: mean of the trials; faint: each trial; shaded: warm-up; "
            "triangle: a trial's level changed there."
        ),
        draw=lambda width: courses(found, width),
        heads=("server", "second", "mean", "lowest", "highest"),
        rows=as_rows(rows),
    )


def percentiles(place: Placed) -> Chart | None:
    """Percentile curves, as far as the data reach. The horizontal axis stretches the tail."""
    found = [curve for curve in _curves(place) if len(curve[2]) >= _FEWEST_POINTS]
    if not found:
        return None
    closed = all(row.closed_loop for row in place.section.candidates)
    two = len({clock for _, clock, _ in found}) > 1
    curves = [
        Curve(
            ", ".join([row.name, *([clock] if two else []), *_bound(row)]),
            place.colours[row.name],
            tuple((1 / (1 - p), estimate.value / 1e6) for p, estimate in points),
            tuple((1 / (1 - p), *_ends(estimate)) for p, estimate in points),
            dashed=two and clock == "service time",
        )
        for row, clock, points in found
    ]
    reach = max(x for curve in curves for x, _ in curve.points)
    values = [y for curve in curves for _, *ys in (*curve.points, *curve.ends) for y in ys]
    frame = Frame(
        x=lambda start, end: Scale(2.0, max(reach, 2.5), start, end, log=True),
        y=lambda start, end: logarithmic(values, start, end),
        write_x=lambda value: _STRETCHED.get(value, fmt.UNKNOWN),
        write_y=lambda value: fmt.time(value * 1e6),
        x_title="percentile",
        y_title="time",
        inside=(
            "Closed loop: the time in the queue that the client itself makes, not what a user would wait."
            if closed
            else ""
        ),
        x_ticks=tuple(x for x in _STRETCHED if x <= reach * 1.001),
    )
    return Chart(
        name=f"percentiles{place.suffix}",
        title=f"Percentiles of time{place.where}",
        note=(
            "Service time, from the send to the whole answer; thin bars: 95 % intervals over the trials."
            if closed
            else "Response time runs from the intended start, service time from the send: the gap is "
            "waiting. Thin bars: 95 % intervals over the trials."
        )
        + why_bounds(place.section.candidates),
        draw=lambda width: plot(curves, frame, width),
        heads=("server", "clock", "percentile", "time", "low", "high"),
        rows=as_rows(
            (
                row.name,
                clock,
                f"p{100 * p:.10g}",
                *_cells(row, one, dict(points).get(0.5) if p > 0.5 else None),
            )
            for row, clock, points in found
            for p, one in points
        ),
    )


def _bound(row: Row) -> Iterator[str]:
    """Which way the truth may lie from a curve, where it is a bound."""
    if row.times.slack.up > 1:
        yield "at least"
    if row.times.slack.down < 1:
        yield "at most"


def _cells(row: Row, one: Estimate, median: Estimate | None) -> tuple[str, str, str]:
    known = verdict.known(one, row.times)
    low, high = (known.low, known.high) if known and known.limits else (one.low, one.high)
    return time_words(row, one, median), fmt.time(low), fmt.time(high)


def _curves(place: Placed) -> Iterator[tuple[Row, str, tuple[tuple[float, Estimate], ...]]]:
    for row in place.section.candidates:
        if row.service_p50_ns is None:
            continue
        tails = row.service_p99_ns is not None or row.response_p99_ns is not None
        for clock in ("response time", "service time"):
            points = data.curve(list(_histograms(place.trials(row), clock)))
            yield row, clock, points if tails else tuple(one for one in points if one[0] <= 0.5)


def _ends(estimate: Estimate) -> tuple[float, float]:
    """In milliseconds. Of a few trials that disagree the interval would only flatten the curve."""
    low, high = estimate.low or estimate.value, estimate.high or estimate.value
    if high > _TELLING * low:
        low = high = estimate.value
    return low / 1e6, high / 1e6


def _histograms(trials: Iterable[Trial], clock: str) -> Iterator[Histogram]:
    for trial in trials:
        if trial.measurement is None:
            continue
        times = (
            trial.measurement.response_time if clock == "response time" else trial.measurement.service_time
        )
        if times is not None and times.count:
            yield times
