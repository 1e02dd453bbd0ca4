"""The history of runs on the terminal: a list, the course of one case's throughput, and a series."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from assay.core import units as fmt
from assay.model.run import Run, Series, SeriesPart
from assay.report.model import answer
from assay.report.style import FAINT, GOOD, HEADING, SEVERITY_STYLE, bar, plain_table
from assay.stats.steady import level_changes
from assay.store.index import ListedRun, Point

_BAR_WIDTH = 24
_INDENT = 2
_ROW = "row"
"""What a row's style carries, unseen: its number, by which its lines are known once it is drawn."""


def listing(entries: Sequence[ListedRun], most: int) -> RenderableType:
    """The runs in a table, newest first: the fastest, its figure, and that over the run before; below each
    its answer in a line."""
    readable = [entry for entry in entries if entry.problem is None]
    if not entries:
        return Text("no run fits")
    table = plain_table()
    table.add_column("run", no_wrap=True)
    table.add_column("fastest")
    table.add_column("served", justify="right", no_wrap=True)
    table.add_column("vs last", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for number, entry in enumerate(readable[:most]):
        # The name of a run is what one asks for it by, and is folded; names of servers give way before.
        table.add_row(
            Text(fmt.safe(entry.run_id, 80), overflow="fold", no_wrap=False),
            Text(fmt.safe(entry.server, 40), overflow="ellipsis", no_wrap=True),
            served_words(entry),
            over_previous_words(entry),
            _verdict(entry),
            style=Style(meta={_ROW: number}),
        )
    answers = [fmt.safe(entry.answer) for entry in readable[:most]]
    parts: list[RenderableType] = [_WithAnswers(table, answers)]
    if len(readable) > most:
        parts.append(Text(f"and {len(readable) - most} older; --limit shows more", FAINT))
    for entry in readable[:most]:
        if entry.damaged:
            said = f"! {fmt.safe(entry.run_id, 80)}: {damage(entry.damaged)}"
            parts.append(Text(said, SEVERITY_STYLE["warning"]))
    parts += [
        Text(f"! {fmt.safe(entry.problem or '', 500)}", SEVERITY_STYLE["warning"])
        for entry in entries
        if entry.problem
    ]
    return Group(*parts)


def served_words(entry: ListedRun) -> str:
    """The figure of a run's fastest, as the bound that it may be; empty where none stands."""
    return "" if entry.throughput_per_s is None else fmt.known_rate(entry.known, entry.throughput_per_s)


def over_previous_words(entry: ListedRun) -> str:
    """How many times the figure of the run before it is; empty where none compares."""
    return "" if entry.over_previous is None else f"{fmt.times(entry.over_previous)}×"


class _WithAnswers:
    """A table in which each row is followed by a line that is as wide as all of it."""

    def __init__(self, table: Table, answers: Sequence[str]) -> None:
        """Of a table whose rows carry their numbers, and the line of each."""
        self._table = table
        self._answers = answers

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table, and after the last line of a row its answer, cut after a word."""
        lines = console.render_lines(self._table, options, pad=False)
        for line, following in zip(lines, [*lines[1:], []], strict=True):
            yield from line
            yield Segment.line()
            number = _row_of(line)
            if number is not None and number != _row_of(following):
                shown = _cut(Text(self._answers[number], FAINT), console, options.max_width - _INDENT)
                yield Padding(shown, (0, 0, 0, _INDENT))


def _row_of(line: Sequence[Segment]) -> int | None:
    """The number of the row that a drawn line belongs to."""
    return next((part.style.meta[_ROW] for part in line if part.style and _ROW in part.style.meta), None)


def _cut(text: Text, console: Console, width: int) -> Text:
    """The text in a line of that width; what is cut off is shown to be."""
    if text.cell_len <= width:
        return text
    first = text.wrap(console, width - 2)[0]
    first.rstrip()
    return first.append(" …")


def damage(lines: int) -> str:
    """Say how much of a record cannot be used."""
    return f"{fmt.counted(lines, 'line')} of its record cannot be used; its report says which"


def trend(case: str, points: Sequence[Point]) -> RenderableType:
    """The course of a case, oldest first, with every change of level and of machine."""
    if not points:
        return Text("no run has a figure of this case")
    changes = _changes(points)
    top = max(point.value for point in points)
    lines: list[RenderableType] = [Text(f"{fmt.safe(case)}  throughput, oldest first", HEADING)]
    machine = points[0].machine_id
    for index, point in enumerate(points):
        if point.machine_id != machine:
            machine = point.machine_id
            said = f"! another machine, {fmt.safe(point.hostname, 40)}: not comparable with those above"
            lines.append(Text(said, SEVERITY_STYLE["warning"]))
        if index in changes:
            lines.append(Text(f"  {changes[index]}", HEADING))
        half = (
            ""
            if point.low is None or (point.known and point.known.limits)
            else f"± {fmt.significant((point.value - point.low) / point.value * 100, 2)} %"
        )
        commit = fmt.safe((point.git_commit or "")[:9])
        served = fmt.known_rate(point.known, point.value)
        about = f"{_when(point.created_unix_ns)}  {commit:<9}  {served:>14} {half:>8}  "
        lines.append(Text(about + bar(point.value / top if top else 0, _BAR_WIDTH)))
    return Group(*lines)


def as_json(entries: Sequence[ListedRun] | Sequence[Point]) -> str:
    """The list or the trend as data."""
    return fmt.as_json(entries)


def _changes(points: Sequence[Point]) -> dict[int, str]:
    """Each index at which a level begins, in words; every machine has a history of its own."""
    said: dict[int, str] = {}
    for machine in dict.fromkeys(point.machine_id for point in points):
        places = [index for index, point in enumerate(points) if point.machine_id == machine]
        values = [points[index].value for index in places]
        starts = level_changes(values)
        for begin, previous, end in zip(starts, [0, *starts], [*starts[1:], len(values)], strict=False):
            was, now = statistics.median(values[previous:begin]), statistics.median(values[begin:end])
            said[places[begin]] = f"change: {fmt.rate(was)} → {fmt.rate(now)}, {fmt.times(now / was)} times"
    return said


def _verdict(entry: ListedRun) -> Text:
    if entry.clean:
        return Text("clean", GOOD)
    if entry.errors:
        return Text(fmt.counted(entry.errors, "error"), SEVERITY_STYLE["error"])
    if entry.damaged:
        return Text("damaged", SEVERITY_STYLE["warning"])
    if not entry.complete:
        return Text("not ended", SEVERITY_STYLE["warning"])
    return Text(fmt.counted(entry.warnings, "warning"), SEVERITY_STYLE["warning"])


def _when(unix_ns: int) -> str:
    return f"{datetime.fromtimestamp(unix_ns / 1e9, UTC):%Y-%m-%d %H:%M}"


@dataclass(frozen=True)
class Expected:
    """How long a run is likely to take, in seconds; `lacking` names the servers that cannot run here."""

    part: SeriesPart
    cases: int
    blocks: int
    least_s: float
    most_s: float
    lacking: tuple[str, ...]


def estimate(expected: Sequence[Expected], refused: Sequence[tuple[SeriesPart, str]]) -> RenderableType:
    """Say before it starts what is to be done and for how long."""
    least, most = sum(one.least_s for one in expected), sum(one.most_s for one in expected)
    number = fmt.counted(len(expected), "run")
    parts: list[RenderableType] = [Text(f"{number}, {_span(least, most)} of measuring", HEADING)]
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "left", "right", "left"):
        table.add_column(justify=justify, no_wrap=justify == "right")
    for one in expected:
        size = f"{fmt.counted(one.cases, 'case')} x {one.blocks}"
        table.add_row(_name(one.part), one.part.profile, size, _span(one.least_s, one.most_s))
    parts.append(table)
    for lacking in dict.fromkeys(name for one in expected for name in one.lacking):
        parts.append(
            Text(f"{fmt.safe(lacking)} lacks something here: it will be a row with the reason", FAINT)
        )
    for part, problem in refused:
        parts.append(
            Text(f"{_name(part)}, {part.profile}: {fmt.safe(problem, 500)}", SEVERITY_STYLE["error"])
        )
    parts.append(Text("Builds come on top where something is new. Ctrl-C keeps what is measured.", FAINT))
    return Group(*parts)


def series_summary(series: Series, runs: Mapping[str, Run]) -> RenderableType:
    """Say what came of each run of the series."""
    table = plain_table()
    for head in ("study", "profile", "what stands against it", "run"):
        table.add_column(head, overflow="fold")
    for part in series.parts:
        run = runs.get(part.run)
        if part.state == "failed" or run is None:
            said = Text(fmt.safe(part.problem or _UNSHOWN[bool(part.run)], 300), SEVERITY_STYLE["error"])
        else:
            clean = run.judgement is not None and run.judgement.clean
            said = Text(answer.state(run), GOOD if clean else "")
        table.add_row(_name(part), part.profile, said, fmt.safe(part.run or fmt.UNKNOWN))
    return Group(Text(f"\nSeries {fmt.safe(series.series_id)}", HEADING), table)


_UNSHOWN = {False: "not run", True: "its record cannot be read"}


def _name(part: SeriesPart) -> str:
    return fmt.safe(part.study, 40)


def _span(least_s: float, most_s: float) -> str:
    least, most = fmt.span(least_s), fmt.span(most_s)
    return f"about {least}" if least == most else f"about {least} to {most}"
