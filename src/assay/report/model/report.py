"""A run as a report: from its record and its judgement to one value, before anybody lays it out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from assay import stats
from assay.core import units as fmt
from assay.model.design import SearchDesign
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.model import followers, search
from assay.report.model.answer import answer, name, question
from assay.report.model.circumstances import circumstances, machine, title
from assay.report.model.findings import groups
from assay.report.model.results import claims, configuration, published, results
from assay.report.model.rows import (
    Section,
    failed_rows,
    failure_words,
    name_of_case,
    ordered_findings,
    sections,
)
from assay.report.model.values import NotMeasured, Report, Table, plain

_LOG_LINES = 20


def report_of(run: Run) -> Report:
    """The report of a run of any design, as far as it has come."""
    found = sections(run)
    alone, following = followers.apart(found)
    if isinstance(run.header.design, SearchDesign):  # its trials are at many rates: no row can hold them
        alone, following = (), (search.steps(run), *following)
    return Report(
        name=fmt.safe(name(run)),
        question=fmt.safe(question(run), 2000),
        which=fmt.safe(title(run)),
        answer=answer(run, found),
        figures=found,
        results=tuple(results(one) for one in alone),
        tables=following,
        failures=tuple(_failures(found)),
        claims=claims(run),
        findings=groups(ordered_findings(run), lambda case: name_of_case(run, case)),
        about=tuple(made for made in (published(run), configuration(run)) if made.lines),
        trials=_trials(run, found),
        circumstances=tuple(circumstances(run)),
        machine=fmt.safe(machine(run), 500),
        command=fmt.safe(shlex.join(run.header.command), 2000),
        version=fmt.safe(run.header.environment.assay_version),
        run_id=fmt.safe(run.header.run_id),
        profile=fmt.safe(run.header.profile),
    )


def _failures(found: Sequence[Section]) -> Iterator[NotMeasured]:
    for row in failed_rows(found):
        assert row.failure is not None  # chosen for it
        yield NotMeasured(
            name=fmt.safe(row.failed_name, 80),
            where=fmt.safe(failure_words(row)),
            reason=fmt.safe(row.failure.reason, 1000),
            log=tuple(fmt.safe(line) for line in row.failure.log_tail.splitlines()[-_LOG_LINES:]),
        )


def _trials(run: Run, found: Sequence[Section]) -> Table | None:
    """Every trial, server by server."""
    heads = ("server", "block:", "throughput:", "mean:", "p50:", "p90:", "p99:", "max:", "failed:")
    order = [row.case.id for section in found for row in (*section.candidates, *section.shown_apart)]
    measured = [trial for trial in run.trials if trial.measurement]
    measured.sort(key=lambda trial: (order.index(trial.case), trial.block))
    return plain("Every trial", heads, (_trial(run, trial) for trial in measured)) if measured else None


def _trial(run: Run, trial: Trial) -> tuple[str, ...]:
    measured = trial.measurement
    assert measured is not None  # chosen for it
    times = measured.response_time or measured.service_time
    return (
        name_of_case(run, trial.case),
        str(trial.block + 1),
        fmt.rate(stats.rate_per_s(measured)),
        fmt.time(times.mean_ns if times.count else None),
        *(fmt.time(found.value_ns if found else None) for found in stats.quantiles(times, (0.5, 0.9, 0.99))),
        fmt.time(times.max_ns if times.count else None),
        fmt.count(measured.failed),
    )
