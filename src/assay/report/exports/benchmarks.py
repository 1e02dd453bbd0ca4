"""Formats of benchmark tools: Go's (benchstat), Bencher's, and HdrHistogram's percentiles.

Invalid figures are no results: Go's and Bencher's are without them. So are bounds: neither has a place for
"at least", and their tools would plot them, and hold them to limits, as if they were what a server does.
`left_out` says which.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from assay import stats, verdict
from assay.core import units as fmt
from assay.model.estimate import Estimate, Limit
from assay.model.measurement import Histogram, Measurement
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.model.rows import Row, sections

_UNITS = (
    "Unit req/s better=higher",
    "Unit p50-ns better=lower",
    "Unit p99-ns better=lower",
    "Unit rss-bytes better=lower",
    "Unit start-ns better=lower",
)


def benchstat(run: Run) -> str:
    """One line a trial, in the Go benchmark format: benchstat makes its own statistics of them."""
    header = run.header
    lines = [f"study: {_value(header.study_name)}", f"profile: {_value(header.profile)}"]
    lines += [f"cpu: {_value(header.environment.cpu_model)}", f"run: {_value(header.run_id)}", *_UNITS, ""]
    shown = {row.case.id: row for section in sections(run) for row in section.rows if not row.invalid}
    for trial in run.trials:
        row = shown.get(trial.case)
        if row is not None and trial.measurement is not None:
            lines += _line(row, trial)
    return "\n".join(lines) + "\n"


def bmf(run: Run) -> str:
    """Bencher Metric Format: a benchmark a case, a measure with its interval a metric."""
    document: dict[str, dict[str, dict[str, float]]] = {}
    for section in sections(run):
        for row in section.rows:
            measures = dict(_measures(row))
            if measures and not row.invalid:
                document[row.case.id] = measures
    return fmt.as_json(document)


def left_out(run: Run) -> str:
    """Which figures are in neither format because they are bounds, and why; empty where there is none."""
    said = [
        f"{what} of {fmt.safe(row.case.name, 80)} ({verdict.words_of(limits) or 'known from one side'})"
        for section in sections(run)
        for row in section.rows
        if not row.invalid
        for what, limits in (("throughput", _throughput_limits(row)), ("times", _time_limits(row)))
        if limits is not None
    ]
    return f"left out, for they are bounds and the format holds none: {'; '.join(said)}" if said else ""


def _throughput_limits(row: Row) -> tuple[Limit, ...] | None:
    """What makes the throughput a bound, also of a capacity beyond the range; None where it is none."""
    found = row.throughput
    if found is None:
        return None
    limits = row.known.limits if row.known else ()
    return limits if limits or (found.low is None) != (found.high is None) else None


def _time_limits(row: Row) -> tuple[Limit, ...] | None:
    """What makes the times bounds; None where they are none, or not shown at all."""
    if row.service_p50_ns is None and row.response_p50_ns is None:
        return None
    return row.times.limits or None


def _line(row: Row, trial: Trial) -> Iterator[str]:
    """The trial's line; none where nothing is left of it, which the format does not allow."""
    measured = trial.measurement
    assert measured is not None  # the caller asked
    name = fmt.visible(re.sub(r"\s+", "_", trial.case))
    figures = list(_figures(row, trial, measured))
    if figures:
        yield "\t".join((f"BenchmarkServe/{name}", str(max(1, measured.completed)), *figures))


def _figures(row: Row, trial: Trial, measured: Measurement) -> Iterator[str]:
    if _throughput_limits(row) is None:
        yield f"{stats.rate_per_s(measured):.2f} req/s"
    bounds = _time_limits(row) is not None
    times = measured.response_time or measured.service_time
    medians = None if bounds else row.response_p50_ns or row.service_p50_ns
    tails = None if bounds else row.response_p99_ns or row.service_p99_ns
    for known, p, unit in ((medians, 0.5, "p50-ns"), (tails, 0.99, "p99-ns")):
        quantile = stats.quantiles(times, (p,))[0] if known else None
        if quantile is not None:
            yield f"{quantile.value_ns:.0f} {unit}"
    if trial.server is not None:
        yield f"{trial.server.peak_rss_bytes} rss-bytes"
        yield f"{trial.server.start_ns} start-ns"


def _measures(row: Row) -> Iterator[tuple[str, dict[str, float]]]:
    named = {"peak-memory": row.peak_memory_bytes, "start-time": row.start_ns}
    if _throughput_limits(row) is None:
        named["throughput"] = row.throughput
    if _time_limits(row) is None:
        named |= {
            "service-time-p50": row.service_p50_ns,
            "service-time-p99": row.service_p99_ns,
            "response-time-p50": row.response_p50_ns,
            "response-time-p99": row.response_p99_ns,
        }
    for name, estimate in named.items():
        if estimate is not None:
            yield name, _metric(estimate)


def _metric(estimate: Estimate) -> dict[str, float]:
    metric = {"value": estimate.value}
    if estimate.low is not None and estimate.high is not None:
        metric |= {"lower_value": estimate.low, "upper_value": estimate.high}
    return metric


def _value(text: str) -> str:
    """A configuration value ends with its line."""
    return fmt.visible(re.sub(r"\s+", " ", text).strip())


TICKS_PER_HALF_DISTANCE = 5
_NS_PER_MS = 1_000_000


def hgrm_files(run: Run) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file; values are milliseconds."""
    for trial in run.trials:
        if trial.measurement is None:
            continue
        stem = f"{re.sub(r'[^A-Za-z0-9._+-]+', '-', trial.case)}-block{trial.block + 1}"
        for clock, times in (
            ("service", trial.measurement.service_time),
            ("response", trial.measurement.response_time),
        ):
            if times is not None and times.count:
                yield f"{stem}-{clock}.hgrm", hgrm_text(times)


def hgrm_text(times: Histogram) -> bytes:
    """One histogram as percentile text."""
    out = io.BytesIO()
    ratio = _NS_PER_MS / times.unit_ns
    stats.decode(times).output_percentile_distribution(out, ratio, TICKS_PER_HALF_DISTANCE)
    # The library scales every figure of the footer but this one.
    deviation = f"StdDeviation   = {times.stdev_ns / _NS_PER_MS:12.3f}]".encode()
    return re.sub(rb"StdDeviation\s*=\s*[^\]]*\]", deviation, out.getvalue())
