"""A run as tidy tables: columns of plain values, one row an observation, for pandas, polars and the like.

Every table has `run_id` and `case`. Names end in the unit: `_ns` nanoseconds, `_s` seconds, `_per_s`,
`_bytes`; a share is between 0 and 1. What is not known is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from assay import stats
from assay.core.units import value_of
from assay.model.interleaving import Slice
from assay.model.measurement import Window
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report import exports
from assay.report.model.rows import Row, sections

Frames: TypeAlias = "dict[str, dict[str, list[Any]]]"
"""By the name of a table its columns, by the name of a column its values."""
_PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99)


TABLES: Mapping[str, tuple[str, ...]] = {
    "cases": (
        "case", "server", "variant", "workload", "load", "role", "rank", "throughput_per_s", "low_per_s",
        "high_per_s", "invalid", "error_share", "trials", "failed_trials", "server_cpu_share",
        "peak_memory_bytes", "start_ns",
    ),
    "trials": (),
    "latency": ("case", "trial", "block", "clock", "percentile", "latency_ns"),
    "windows": (
        "case", "trial", "block", "phase", "start_ns", "length_ns", "started", "completed", "failed",
        "bytes_read", "throughput_per_s",
    ),
    "slices": ("case", "trial", "block", "round", "phase", "length_ns", "completed", "throughput_per_s"),
    "findings": (
        "case", "other_case", "code", "severity", "title", "evidence", "remedy", "on_throughput", "on_times",
        "on_comparison",
    ),
}  # fmt: skip
"""The columns of each table beside `run_id`. Those of `trials` are the columns of `--csv`."""


def frames_of(run: Run) -> Frames:
    """The tables of `TABLES`, with a row for each case, trial, percentile, window, slice and finding."""
    rows = {
        "cases": map(_case, (row for section in sections(run) for row in section.rows)),
        "trials": exports.rows(run),
        "latency": _each(run, _latency),
        "windows": _each(
            run, lambda one: _served("windows", one.measurement.windows if one.measurement else ())
        ),
        "slices": _each(run, lambda one: _served("slices", one.arm.slices if one.arm else ())),
        "findings": _findings(run),
    }
    return {name: _columns(columns, rows[name], run.header.run_id) for name, columns in TABLES.items()}


def _columns(names: Iterable[str], rows: Iterable[Mapping[str, Any]], run_id: str) -> dict[str, list[Any]]:
    """The rows as columns; `names` are there also where no row is."""
    found = [{"run_id": run_id, **row} for row in rows]
    known = dict.fromkeys(["run_id", *names, *(found[0] if found else ())])
    return {name: [row[name] for row in found] for name in known}


def _case(row: Row) -> dict[str, Any]:
    case, known, found = row.case, row.known, row.throughput
    alike = ("server", "variant", "workload", "load", "role")
    shown = ("rank", "invalid", "error_share", "trials", "failed_trials")
    return {
        "case": case.id,
        **{name: getattr(case, name) for name in alike},
        **{name: getattr(row, name) for name in shown},
        "throughput_per_s": value_of(found),
        "low_per_s": known.low if known else found.low if found else None,
        "high_per_s": known.high if known else found.high if found else None,
        "server_cpu_share": row.cpu_share,
        "peak_memory_bytes": value_of(row.peak_memory_bytes),
        "start_ns": value_of(row.start_ns),
    }


def _each(run: Run, rows: Callable[[Trial], Iterable[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """The rows of each trial, with what says whose they are."""
    for trial in run.trials:
        own = {"case": trial.case, "trial": trial.number, "block": trial.block}
        yield from (own | row for row in rows(trial))


def _latency(trial: Trial) -> Iterator[dict[str, Any]]:
    """Percentiles that enough requests stand behind, of each clock; `clock` is "service" or "response"."""
    measured = trial.measurement
    clocks = {"service": measured.service_time, "response": measured.response_time} if measured else {}
    for clock, times in clocks.items():
        if times is None:
            continue
        found = stats.quantiles(times, tuple(p / 100 for p in _PERCENTILES))
        for percentile, quantile in zip(_PERCENTILES, found, strict=True):
            if quantile is not None:
                yield {"clock": clock, "percentile": float(percentile), "latency_ns": quantile.value_ns}


def _served(table: str, each: Iterable[Window | Slice]) -> Iterator[dict[str, Any]]:
    """The columns behind the trial's own, of which the last is the rate."""
    for one in each:
        own = {name: getattr(one, name) for name in TABLES[table][3:-1]}
        rate = one.completed / one.length_ns * 1e9 if one.length_ns else None
        yield own | {"throughput_per_s": rate}


def _findings(run: Run) -> Iterator[dict[str, Any]]:
    for finding in run.judgement.findings if run.judgement else ():
        own = {"case": finding.subject.case, "other_case": finding.subject.other_case}
        yield own | {name: getattr(finding, name) for name in TABLES["findings"][2:]}
