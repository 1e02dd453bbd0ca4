"""A run over time for other tools: tidy rows, CSV and Influx's line protocol.

Each value has the time of its window's start, the case, the request where it is of one of a mix (whose
time is the trial's start), a metric whose name ends in its unit, and the value. The warm-up is left out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from assay.core import units as fmt
from assay.model.measurement import Histogram, Measurement
from assay.model.run import Run
from assay.report.exports import cell
from assay.stats import quantiles
from assay.stats.quantiles import of_windows

PERCENTILES = (0.5, 0.9, 0.99)


class TidyRow(NamedTuple):
    """A value at a time (ns since 1970); `request` is empty for all together."""

    time_ns: int
    case: str
    request: str
    metric: str
    value: int | float


def tidy_rows(run: Run) -> Iterator[TidyRow]:
    """Every value of the run, a trial after the other, those of one moment and request together."""
    for trial in run.trials:
        if trial.measurement is not None:
            yield from _of_trial(trial.case, trial.measurement)


def _of_trial(case: str, measured: Measurement) -> Iterator[TidyRow]:
    begun_ns = measured.started_at_unix_ns
    for window in measured.windows:
        if window.phase == "measured":
            at = (begun_ns + window.start_ns, case, "")
            for metric in ("started", "completed", "failed", "bytes_read"):
                yield TidyRow(*at, metric, getattr(window, metric))
            if window.length_ns:
                yield TidyRow(*at, "throughput_per_s", window.completed / window.length_ns * 1e9)
    for one in measured.window_times:
        at = (begun_ns + one.start_ns, case, "")
        yield from (TidyRow(*at, metric, value) for metric, value in _times(of_windows([one])))
    for figures in measured.by_request:
        at = (begun_ns + measured.warmup_ns, case, figures.name)
        yield TidyRow(*at, "completed", figures.completed)
        yield TidyRow(*at, "failed", figures.failed)
        known = figures.response_time or figures.service_time
        yield from (TidyRow(*at, metric, value) for metric, value in _times(known))


def _times(times: Histogram) -> Iterator[tuple[str, float]]:
    for p, found in zip(PERCENTILES, quantiles(times, PERCENTILES), strict=True):
        if found is not None:
            yield f"p{100 * p:g}_ns", found.value_ns
    if times.count:
        yield "max_ns", float(times.max_ns)


def windows_csv(run: Run) -> str:
    """The values as CSV (RFC 4180); times are seconds since 1970."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(("time", "case", "request", "metric", "value"))
    for one in tidy_rows(run):
        time = f"{one.time_ns // 10**9}.{one.time_ns % 10**9:09d}"
        writer.writerow((time, cell(one.case), cell(one.request), one.metric, one.value))
    return out.getvalue()


def line_protocol(run: Run) -> str:
    """The values as Influx's line protocol, to the nanosecond: a measurement `assay`, a field a metric."""
    lines = []
    for at, same in groupby(tidy_rows(run), key=lambda one: (one.time_ns, one.case, one.request)):
        time_ns, case, request = at
        named = (("run", run.header.run_id), ("case", case), ("request", request))
        tags = "".join(f",{name}={escaped(text)}" for name, text in named if text)
        fields = ",".join(
            f"{one.metric}={one.value}{'i' if isinstance(one.value, int) else ''}" for one in same
        )
        lines.append(f"assay{tags} {fields} {time_ns}\n")
    return "".join(lines)


def escaped(text: str) -> str:
    """A tag's value. Readers differ in what a backslash before another one means: it becomes U+FF3C."""
    shown = fmt.visible(text).replace("\\", "\uff3c")
    return "".join(f"\\{one}" if one in ",= " else one for one in shown)
