"""A run as a report: one value with its tables of results, claims and configurations, before any layout."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from assay import stats
from assay.core import units as fmt
from assay.model.design import PublishedFigures, SearchDesign
from assay.model.estimate import ClaimVerdict, Verdict
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.document import Cell, Column, Table, TableLine, Tone, plain, table
from assay.report.model import followers
from assay.report.model.answer import answer, name, question
from assay.report.model.circumstances import circumstances, machine, title
from assay.report.model.costs import cost_sections, with_costs
from assay.report.model.rows import (
    BEST,
    LoadRows,
    Row,
    failed_rows,
    failure_words,
    interval_words,
    name_of_case,
    ordered_findings,
    relative_words,
    response_words,
    sections,
    service_words,
    short_name,
    throughput_words,
    times_limited,
)
from assay.report.model.values import NotMeasured, Report, groups

_PLACE, _BEHAVIOUR = 0, 1

COLUMNS = (
    Column("rank", "rank", right=True, part=_PLACE),
    Column("server", "server", key=True, part=_PLACE),
    Column("throughput", "throughput", right=True, part=_PLACE),
    Column("interval", "95 %", right=True, part=_PLACE),
    Column("relative", "of the best", part=_PLACE),
    Column("findings", "findings", part=_PLACE),
    Column("p50", "p50", right=True, part=_BEHAVIOUR),
    Column("p99", "p99", right=True, part=_BEHAVIOUR),
    Column("errors", "errors", right=True, part=_BEHAVIOUR),
    Column("cpu", "server CPU", right=True, part=_BEHAVIOUR),
    Column("memory", "memory", right=True, part=_BEHAVIOUR),
    Column("start", "start", right=True, part=_BEHAVIOUR),
)
"""What is told of a case, in the order of the page."""

NAME_LENGTH = 80


def results(section: LoadRows) -> Table:
    """The table of results: those that compete, best first, then the others."""
    made = table(
        f"Results: {fmt.safe(section.title)}" if section.title else "Results",
        COLUMNS,
        (_line(row, alone=len(section.rows) == 1) for row in (*section.candidates, *section.shown_apart)),
    )
    return Table(made.title, made.columns, made.lines, _note(made, section))


def _note(made: Table, section: LoadRows) -> str:
    """How to read the columns that are there."""
    names = {column.name for column in made.columns}
    times = [name for name in ("p50", "p99") if name in names]
    closed = all(row.closed_loop for row in section.rows)
    clock = "service time of a closed loop, the queue that the client makes" if closed else "response time"
    far = next((row.case.emulation for row in section.rows if row.case.emulation), None)
    if far is not None:
        clock = f"{'service' if closed else 'response'} time, the way there and back in it"
    said = (
        [f"asked over a link of {fmt.emulation(far.round_trip_ns, far.loss, far.congestion)}"] if far else []
    )
    said += [f"{' and '.join(times)} {'are' if times[1:] else 'is'} {clock}"] if times else []
    limited = times_limited(section.rows) if times else ""
    said += [limited] if limited else []
    said += ["CPU is the share of the server's cores"] if "cpu" in names else []
    said += ["what stands apart does not compete"] if section.candidates and section.shown_apart else []
    return "; ".join(said)


def _line(row: Row, *, alone: bool) -> TableLine:
    """What is told of a case; one that is `alone` has no place and is no share of a best."""
    candidate = row.case.role == "candidate" and not alone
    p50, p99 = service_words(row) if row.closed_loop else response_words(row)
    bad = row.throughput is None and (row.invalid or row.failure is not None)
    relative = "" if alone else fmt.safe(relative_words(row), 60)
    cells = {
        "rank": Cell(str(row.rank or fmt.UNKNOWN) if candidate else ""),
        "server": Cell(fmt.safe(row.name, NAME_LENGTH)),
        "throughput": Cell(throughput_words(row), "bad" if bad else "strong" if row.throughput else "plain"),
        "interval": Cell(interval_words(row)),
        "relative": Cell(relative, "good" if relative == BEST else "plain"),
        "findings": Cell(" ".join(row.codes), _gravest(row)),
        "p50": Cell(p50),
        "p99": Cell(p99),
        "errors": Cell(fmt.share(row.error_share)),
        "cpu": Cell(fmt.share(row.cpu_share)),
        "memory": Cell(fmt.size(fmt.value_of(row.peak_memory_bytes))),
        "start": Cell(fmt.time(fmt.value_of(row.start_ns))),
    }
    return TableLine(tuple(cells[column.name] for column in COLUMNS), apart=row.case.role != "candidate")


def _gravest(row: Row) -> Tone:
    severities = {finding.severity for finding in row.findings}
    return "bad" if "error" in severities else "warn" if "warning" in severities else "plain"


_COLUMNS = (
    Column("claim", "claim", key=True),
    Column("published", "published", right=True),
    Column("measured", "measured"),
    Column("verdict", "verdict"),
    Column("why", "why"),
)
_TONES: dict[Verdict, Tone] = {"supported": "good", "contradicted": "bad", "inconclusive": "faint"}
_DIRECTION = "direction holds, size does not"


def claims(run: Run) -> Table | None:
    """The claims of a judged run, in the study's order; None where it has none."""
    verdicts = run.judgement.claims if run.judgement else ()
    if not verdicts:
        return None
    lines = []
    for claim in verdicts:
        lines.append(_claim_line(claim, f"({claim.claim}) {claim.statement}", inner=False))
        lines += [_claim_line(part, part.statement, inner=True) for part in claim.parts]
    return table("Published claims", _COLUMNS, lines)


def _claim_line(claim: ClaimVerdict, words: str, *, inner: bool) -> TableLine:
    published = fmt.UNKNOWN if claim.published_ratio is None else fmt.times(claim.published_ratio)
    said = verdict_words(claim)
    cells = (
        Cell(fmt.safe(words)),
        Cell(published),
        Cell(fmt.ratio(claim.measured)),
        Cell(said, "warn" if said == _DIRECTION else _TONES[claim.verdict]),
        Cell(fmt.safe(claim.reason, 500)),
    )
    return TableLine(cells, inner=inner)


def verdict_words(claim: ClaimVerdict) -> str:
    """The verdict in words that tell a claim's direction from its size: 9.4 measured supports that one is
    faster, and does not support that it is 28 times as fast."""
    measured, published = claim.measured, claim.published_ratio
    if claim.verdict != "supported" or measured is None or published is None:
        return claim.verdict
    low, high = measured.low, measured.high
    if (low is None or low <= published) and (high is None or published <= high):
        return "supported: direction and size" if low is not None and high is not None else "direction holds"
    return _DIRECTION


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
            *(fact_words(case.facts.get(fact)) for fact in facts),
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


def fact_words(value: str | int | float | bool | None) -> str:
    """A fact of a server as text: yes, no, its value, or "–" where it is not known."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return fmt.UNKNOWN if value is None else str(value)


_LOG_LINES = 20


def report_of(run: Run) -> Report:
    """The report of a run of any design, as far as it has come."""
    found = sections(run)
    costs = cost_sections(run, found)
    alone, following = followers.apart(found)
    if isinstance(run.header.design, SearchDesign):  # its trials are at many rates: no row can hold them
        alone, following = (), (followers.search_steps(run), *following)
    return Report(
        name=fmt.safe(name(run)),
        question=fmt.safe(question(run), 2000),
        which=fmt.safe(title(run)),
        answer=with_costs(answer(run, found), costs),
        figures=found,
        results=tuple(results(one) for one in alone),
        tables=(*following, *(table for section in costs for table in section.tables)),
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


def _failures(found: Sequence[LoadRows]) -> Iterator[NotMeasured]:
    for row in failed_rows(found):
        assert row.failure is not None  # chosen for it
        yield NotMeasured(
            name=fmt.safe(row.failed_name, 80),
            where=fmt.safe(failure_words(row)),
            reason=fmt.safe(row.failure.reason, 1000),
            log=tuple(fmt.safe(line) for line in row.failure.log_tail.splitlines()[-_LOG_LINES:]),
        )


def _trials(run: Run, found: Sequence[LoadRows]) -> Table | None:
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
