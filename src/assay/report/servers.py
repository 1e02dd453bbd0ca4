"""Two tables about the servers of a run: how each was configured, and what was published of it."""

from __future__ import annotations

from typing import Any

from assay.report import format as fmt
from assay.report.rows import short_name
from assay.values.run import Run

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Heads (those that end in a colon are aligned right) and rows, as plain text."""


def configuration(run: Run) -> Table:
    """Version, variant and facts of each server; a column for each fact that any of them has."""
    servers = {(case.server, case.variant, case.label): case for case in run.header.cases}.values()
    facts = list(dict.fromkeys(fact for case in servers for fact in case.facts))
    said = {trial.case: trial.server.version for trial in run.trials if trial.server}
    versions = {(case.server, case.variant): said[case.id] for case in run.header.cases if case.id in said}
    rows = [
        (
            short_name(case),
            case.variant or fmt.UNKNOWN,
            versions.get((case.server, case.variant), fmt.UNKNOWN),
            *(_fact(case.facts.get(fact)) for fact in facts),
        )
        for case in servers
    ]
    return ("server", "variant", "version", *(fact.replace("_", " ") for fact in facts)), rows


def published(run: Run) -> Table:
    """What the published study printed, from the record's copy of the study; no rows where nothing was."""
    heads = ("server", "load", "requests/s:", "mean:", "bytes an answer:", "failed:", "start:", "note")
    names = {case.id.partition("@")[0]: short_name(case) for case in run.header.cases}
    figures = run.header.study.get("figures")
    rows = [
        _published(names.get(str(server)) or str(server), figure)
        for server, given in (figures.items() if isinstance(figures, dict) else ())
        for figure in (given if isinstance(given, list | tuple) else ())
        if isinstance(figure, dict)
    ]
    return heads, rows


def _published(name: str, figure: dict[str, Any]) -> tuple[str, ...]:
    mean_ms, start_s = _number(figure, "mean_ms"), _number(figure, "start_s")
    failed = _number(figure, "failed")
    load = " ".join(str(figure.get(key, "")) for key in ("workload", "load")).strip()
    return (
        name,
        load,
        fmt.rate(_number(figure, "throughput_per_s")),
        fmt.time(None if mean_ms is None else mean_ms * 1e6),
        fmt.size(_number(figure, "bytes_per_response")),
        fmt.count(None if failed is None else int(failed)),
        fmt.time(None if start_s is None else start_s * 1e9),
        str(figure.get("note", "")),
    )


def _number(figure: dict[str, Any], key: str) -> float | None:
    value = figure.get(key)
    return float(value) if isinstance(value, int | float) else None


def _fact(value: str | int | float | bool | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return fmt.UNKNOWN if value is None else str(value)
