"""The table of results of a section, and its ratios: the one place where a row becomes words."""

from __future__ import annotations

from assay.core import format as fmt
from assay.report.model.rows import (
    BEST,
    Row,
    Section,
    interval_words,
    relative_words,
    response_words,
    service_words,
    throughput_words,
    times_limited,
)
from assay.report.model.values import Cell, Column, Table, TableLine, Tone, table

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


def results(section: Section) -> Table:
    """The table of results: those that compete, best first, then the others."""
    made = table(
        f"Results: {fmt.safe(section.title)}" if section.title else "Results",
        COLUMNS,
        (_line(row, alone=len(section.rows) == 1) for row in (*section.candidates, *section.shown_apart)),
    )
    return Table(made.title, made.columns, made.lines, _note(made, section))


def _note(made: Table, section: Section) -> str:
    """How to read the columns that are there."""
    names = {column.name for column in made.columns}
    times = [name for name in ("p50", "p99") if name in names]
    closed = all(row.closed_loop for row in section.rows)
    clock = "service time of a closed loop, the queue that the client makes" if closed else "response time"
    far = next((row.case.distance for row in section.rows if row.case.distance), None)
    if far is not None:
        clock = f"{'service' if closed else 'response'} time, the way there and back in it"
    said = (
        [f"asked over a link of {fmt.distance(far.round_trip_ns, far.loss, far.congestion)}"] if far else []
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
    bad = row.throughput is None and (row.withheld or row.failure is not None)
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
    return "bad" if "withheld" in severities else "warn" if "flagged" in severities else "plain"
