"""The end screen of a run: reads well in 80 columns and without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.report import capacity
from assay.report import format as fmt
from assay.report.findings import in_words
from assay.report.model import answer, claims, followers
from assay.report.model.followers import Follower
from assay.report.model.remarks import remarks
from assay.report.model.rows import (
    Row,
    Section,
    failed_rows,
    failure_words,
    interval_words,
    name_of_case,
    ordered_findings,
    relative_words,
    sections,
    throughput_words,
)
from assay.report.style import FAINT, GOOD, HEADING, SEVERITY_STYLE
from assay.values.design import SearchDesign
from assay.values.estimate import Estimate
from assay.values.finding import Severity
from assay.values.run import Run

_VERDICT_STYLE = {"supported": GOOD, "contradicted": "bold red", "inconclusive": FAINT}
_LOG_LINES = 4


def summary(run: Run, paths: Sequence[tuple[str, str]] = ()) -> RenderableType:
    """Render the run. `paths` are (what, where) of the files it left."""
    parts: list[RenderableType] = [
        Text(fmt.safe(answer.name(run)), HEADING),
        Text(fmt.safe(answer.title(run))),
    ]
    if answer.question(run):
        parts.append(Text(fmt.safe(answer.question(run), 1000)))
    parts.append(Text(fmt.safe(answer.machine(run)), FAINT))
    found = sections(run)
    parts += _answer(run, found)
    alone, following = followers.apart(found)
    if isinstance(run.header.design, SearchDesign):
        parts += capacity.tables(run)
    else:
        for section in alone:
            parts += _section(section)
        for one in following:
            parts += _following(one)
    parts += _failures(found)
    parts += _claims(run)
    if ordered_findings(run):
        parts += [Text("Findings", HEADING), Text("")]
        parts.append(in_words(ordered_findings(run), lambda case: name_of_case(run, case)))
    if paths:
        parts += [Text(""), _paths(paths)]
    return Group(*parts)


def _answer(run: Run, found: Sequence[Section]) -> Iterable[RenderableType]:
    """The answer first, then how sure and what limits it, then whether anything stands against it."""
    first, *more = answer.answers(run, found) or ("",)
    yield Text(f"\n{fmt.safe(first, 1000)}", HEADING)
    for said in more:
        yield Text(fmt.safe(said, 1000), HEADING if not said.startswith(answer.ASIDES) else "")
    yield from (Text(fmt.safe(said, 1000)) for said in remarks(run, found))
    hallmark = run.judgement is not None and run.judgement.hallmark
    yield Text(answer.standing(run), GOOD if hallmark else "")


def _section(section: Section) -> Iterable[RenderableType]:
    if section.title:
        yield Text(f"\n{fmt.safe(section.title)}", HEADING)
    yield _throughputs(section)
    yield _behaviour(section)


def _following(one: Follower) -> Iterable[RenderableType]:
    yield Text(fmt.safe(one.title), HEADING)
    yield Text(one.note, FAINT)
    table = plain_table()
    for place, head in enumerate(one.heads):
        named = place in (0, len(one.heads) - 1)
        table.add_column(
            head.removesuffix(":"),
            justify="right" if head.endswith(":") else "left",
            no_wrap=not named,
            overflow="fold",
            min_width=11 if named else None,
        )
    for line in one.lines:
        table.add_row(*(fmt.safe(cell, 60) for cell in line))
    yield Padding(table, (0, 0, 1, 0))


def plain_table() -> Table:
    """A table with a rule below its heads and none around it."""
    return Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style=FAINT, show_edge=False)


def _throughputs(section: Section) -> RenderableType:
    table = plain_table()
    table.add_column("tier", justify="right", no_wrap=True)
    table.add_column("server", overflow="fold")
    table.add_column("throughput", justify="right", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("of the best", no_wrap=True)
    table.add_column("findings", overflow="fold")
    for rows in (section.candidates, section.others):
        for row in rows:
            tier = "" if row in section.others else str(row.tier or fmt.UNKNOWN)
            table.add_row(tier, _name(row), *_throughput(row), relative_words(row), _codes(row))
        table.add_section()
    return Padding(table, (1, 0))


def _behaviour(section: Section) -> RenderableType:
    open_loop = any(not row.closed_loop for row in section.rows)
    clock = "response time" if open_loop else "service time (closed loop)"
    table = plain_table()
    table.add_column("server", overflow="fold", max_width=26)
    table.add_column("p50", justify="right", no_wrap=True)
    table.add_column("p99", justify="right", no_wrap=True)
    table.add_column("errors", justify="right", no_wrap=True)
    table.add_column("CPU", justify="right", no_wrap=True)
    table.add_column("memory", justify="right", no_wrap=True)
    table.add_column("start", justify="right", no_wrap=True)
    for rows in (section.candidates, section.others):
        for row in rows:
            p50, p99 = (
                (row.response_p50_ns, row.response_p99_ns)
                if open_loop
                else (row.service_p50_ns, row.service_p99_ns)
            )
            table.add_row(
                _name(row),
                fmt.time(_value(p50)),
                fmt.time(_value(p99)),
                fmt.share(row.error_share),
                fmt.share(row.cpu_share),
                fmt.size(_value(row.peak_memory_bytes)),
                fmt.time(_value(row.start_ns)),
            )
        table.add_section()
    return Group(
        Text(f"p50 and p99 are {clock}; CPU is the share of the server's cores", FAINT),
        Padding(table, (0, 0, 1, 0)),
    )


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _name(row: Row) -> Text:
    return Text(fmt.safe(row.name, 60))


def _throughput(row: Row) -> tuple[Text, str]:
    if row.throughput is None:
        bad = row.withheld or row.failure is not None
        return Text(throughput_words(row), SEVERITY_STYLE["withheld"] if bad else ""), ""
    return Text(throughput_words(row), HEADING), interval_words(row)


def _codes(row: Row) -> Text:
    severity: dict[str, Severity] = {}
    for finding in row.findings:
        if severity.get(finding.code) != "withheld":
            severity[finding.code] = finding.severity
    return Text(" ").join(Text(code, SEVERITY_STYLE[severity[code]]) for code in row.codes)


def _failures(found: Iterable[Section]) -> Iterable[RenderableType]:
    """The rows that were not measured in every block: the reason and the end of the log."""
    for row in failed_rows(found):
        assert row.failure is not None  # chosen for it
        yield Text(fmt.safe(f"{row.failed_name}: {failure_words(row)}"), SEVERITY_STYLE["withheld"])
        yield Padding(Text(fmt.safe(row.failure.reason, 500)), (0, 0, 0, 2))
        for line in row.failure.log_tail.splitlines()[-_LOG_LINES:]:
            yield Padding(Text(fmt.safe(line, 200), FAINT), (0, 0, 0, 4))
        yield Text("")


def _claims(run: Run) -> Iterable[RenderableType]:
    found = claims.rows(run)
    if not found:
        return
    table = plain_table()
    table.add_column("published claim", overflow="fold", ratio=1)
    table.add_column("published", justify="right", no_wrap=True)
    table.add_column("measured", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.expand = True
    for row in found:
        words = Padding(Text(fmt.safe(row.words)), (0, 0, 0, 2 if row.is_part else 0))
        table.add_row(words, row.published, row.measured, Text(row.verdict, _VERDICT_STYLE[row.verdict]))
    yield table
    for row in found:
        if row.reason:
            said = f"({row.claim}) {row.words + ': ' if row.is_part else ''}{row.reason}"
            yield Padding(Text(fmt.safe(said, 500), FAINT), (0, 0, 0, 2))
    yield Text("")


def _paths(paths: Sequence[tuple[str, str]]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=FAINT)
    table.add_column(overflow="fold")
    for what, where in paths:
        table.add_row(what, Text(where))
    return table
