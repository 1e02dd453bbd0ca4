"""Formats of benchmark tools: the Go benchmark format (benchstat) and Bencher Metric Format.

Withheld figures are no results: they are left out of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay import stats
from assay.report import format as fmt
from assay.report.model.rows import Row, sections
from assay.values.estimate import Estimate
from assay.values.run import Run
from assay.values.trial import Trial

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
    shown = {row.case.id: row for section in sections(run) for row in section.rows if not row.withheld}
    for trial in run.trials:
        row = shown.get(trial.case)
        if row is not None and trial.measurement is not None:
            lines.append(_line(row, trial))
    return "\n".join(lines) + "\n"


def bmf(run: Run) -> str:
    """Bencher Metric Format: a benchmark a case, a measure with its interval a metric."""
    document: dict[str, dict[str, dict[str, float]]] = {}
    for section in sections(run):
        for row in section.rows:
            measures = dict(_measures(row))
            if measures and not row.withheld:
                document[row.case.id] = measures
    return fmt.as_json(document)


def _line(row: Row, trial: Trial) -> str:
    measured = trial.measurement
    assert measured is not None  # the caller asked
    name = fmt.visible(re.sub(r"\s+", "_", trial.case))
    parts = [f"BenchmarkServe/{name}", str(max(1, measured.completed))]
    parts.append(f"{stats.rate_per_s(measured):.2f} req/s")
    times = measured.response_time or measured.service_time
    medians = row.response_p50_ns or row.service_p50_ns
    tails = row.response_p99_ns or row.service_p99_ns
    for known, p, unit in ((medians, 0.5, "p50-ns"), (tails, 0.99, "p99-ns")):
        quantile = stats.quantiles(times, (p,))[0] if known else None
        if quantile is not None:
            parts.append(f"{quantile.value_ns:.0f} {unit}")
    if trial.server is not None:
        parts += [f"{trial.server.peak_rss_bytes} rss-bytes", f"{trial.server.start_ns} start-ns"]
    return "\t".join(parts)


def _measures(row: Row) -> Iterator[tuple[str, dict[str, float]]]:
    named = {
        "throughput": row.throughput,
        "service-time-p50": row.service_p50_ns,
        "service-time-p99": row.service_p99_ns,
        "response-time-p50": row.response_p50_ns,
        "response-time-p99": row.response_p99_ns,
        "peak-memory": row.peak_memory_bytes,
        "start-time": row.start_ns,
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
