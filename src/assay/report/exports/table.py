"""The trials as a table: CSV, one row a trial, units in the names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from assay import stats
from assay.core import units as fmt
from assay.model.measurement import Histogram
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.model.rows import sections

_PS = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}


def rows(run: Run) -> Iterator[dict[str, Any]]:
    """One row a trial, in the order of the run; unknown figures are None.

    These are the raw figures of every trial; `invalid_by` names the rules of the error that stands against
    figures of its case, `limited_by` those that made its throughput a bound, `times_limited_by` its times.
    """
    cases = {case.id: case for case in run.header.cases}
    found = sections(run)
    invalid = {
        row.case.id: " ".join(dict.fromkeys(one.code for one in row.findings if one.severity == "error"))
        for section in found
        for row in section.rows
    }
    limited = {
        row.case.id: " ".join(limit.code for limit in (row.known.limits if row.known else ()))
        for section in found
        for row in section.rows
    }
    timed = {
        row.case.id: " ".join(limit.code for limit in row.times.limits)
        for section in found
        for row in section.rows
    }
    for trial in run.trials:
        case = cases[trial.case]
        yield {
            "run_id": run.header.run_id,
            "study": run.header.study_name,
            "profile": run.header.profile,
            "case": trial.case,
            "server": case.server,
            "variant": case.variant,
            "workload": case.workload,
            "load": case.load,
            "role": case.role,
            "trial": trial.number,
            "block": trial.block,
            "position": trial.position,
            "started_at_unix_ns": trial.started_at_unix_ns,
            **_measured(trial),
            **_observed(trial),
            "failure": f"{trial.failure.stage}: {trial.failure.reason}" if trial.failure else None,
            "invalid_by": invalid[trial.case],
            "limited_by": limited[trial.case],
            "times_limited_by": timed[trial.case],
        }


def as_csv(run: Run) -> str:
    """The rows as CSV (RFC 4180) with a header line."""
    out = io.StringIO(newline="")
    found = list(rows(run))
    writer = csv.DictWriter(out, fieldnames=_names(run), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in row.items()} for row in found)
    return out.getvalue()


def _plain(value: object) -> object:
    """A cell that no spreadsheet takes for a formula: text that came from a server or a file may begin so."""
    if not isinstance(value, str):
        return value
    return f"'{fmt.visible(value)}" if value[:1] in ("=", "+", "-", "@", "\t", "\r") else fmt.visible(value)


def _names(run: Run) -> list[str]:
    return list(next(rows(run), {"run_id": None}))


def _measured(trial: Trial) -> dict[str, Any]:
    measured = trial.measurement
    if measured is None:
        totals = dict.fromkeys(
            ("throughput_per_s", "measured_ns", "completed", "failed", "bytes_read", "client_cpu_ns")
        )
        return {**totals, **_times("service_time", None), **_times("response_time", None)}
    return {
        "throughput_per_s": stats.rate_per_s(measured),
        "measured_ns": measured.measured_ns,
        "completed": measured.completed,
        "failed": measured.failed,
        "bytes_read": measured.bytes_read,
        "client_cpu_ns": sum(worker.cpu_ns for worker in measured.workers),
        **_times("service_time", measured.service_time),
        **_times("response_time", measured.response_time),
    }


def _times(clock: str, times: Histogram | None) -> dict[str, Any]:
    found = stats.quantiles(times, tuple(_PS.values())) if times is not None else (None,) * len(_PS)
    named = {
        f"{clock}_{name}_ns": None if quantile is None else quantile.value_ns
        for name, quantile in zip(_PS, found, strict=True)
    }
    counted = times if times is not None and times.count else None
    named[f"{clock}_mean_ns"] = counted.mean_ns if counted else None
    named[f"{clock}_max_ns"] = float(counted.max_ns) if counted else None
    return named


def _observed(trial: Trial) -> dict[str, Any]:
    server, host = trial.server, trial.host
    return {
        "server_version": server.version if server else None,
        "start_ns": server.start_ns if server else None,
        "server_cpu_ns": server.cpu_ns if server else None,
        "server_cpu_share": server.cpu_share if server else None,
        "peak_rss_bytes": server.peak_rss_bytes if server else None,
        "threads": server.threads if server else None,
        "load_average_1m": host.load_average_1m if host else None,
        "steal_share": host.steal_share if host else None,
    }
