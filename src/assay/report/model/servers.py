"""Two tables about the servers of a run: how each was configured, and what was published of it."""

from __future__ import annotations

from assay.core import format as fmt
from assay.model.design import PublishedFigures
from assay.model.run import Run
from assay.report.model.rows import short_name
from assay.report.model.values import Table, plain


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
    return plain(
        "Servers", ("server", "variant", "version", *(fact.replace("_", " ") for fact in facts)), rows
    )


def published(run: Run) -> Table:
    """What the published study printed, from the record's copy of the study; no rows where nothing was."""
    heads = ("server", "load", "throughput:", "mean:", "bytes an answer:", "failed:", "start:", "note")
    names = {case.server_name: short_name(case) for case in run.header.cases}
    study = run.header.study
    rows = [
        _published(names.get(server) or server, figure)
        for server, given in (study.figures.items() if study else ())
        for figure in given
    ]
    return plain("As published", heads, rows)


def _published(name: str, figure: PublishedFigures) -> tuple[str, ...]:
    return (
        name,
        f"{figure.workload} {figure.load}".strip(),
        fmt.rate(figure.throughput_per_s),
        fmt.time(None if figure.mean_ms is None else figure.mean_ms * 1e6),
        fmt.size(figure.bytes_per_response),
        fmt.count(figure.failed),
        fmt.time(None if figure.start_s is None else figure.start_s * 1e9),
        figure.note,
    )


def _fact(value: str | int | float | bool | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return fmt.UNKNOWN if value is None else str(value)
