"""The history of runs: a list, the course of one case's throughput, and a series."""

from __future__ import annotations

import statistics
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from assay.core import units as fmt
from assay.model.run import Run, Series, SeriesPart
from assay.report.document import (
    Cell,
    Choice,
    Column,
    Document,
    Form,
    Paragraph,
    Part,
    Section,
    Table,
    TableLine,
    plain,
    table,
)
from assay.report.model import answer
from assay.stats.changepoints import level_changes
from assay.store.index import Filter, ListedRun, Point

_BAR_WIDTH = 24

_LISTED = (
    Column("run", "run", key=True),
    Column("fastest", "fastest", key=True),
    Column("served", "served", right=True, key=True),
    Column("vs last", "vs last", right=True, key=True),
    Column("verdict", "verdict", key=True),
)


def listing(entries: Sequence[ListedRun], most: int) -> Section:
    """The runs in a table, newest first: the fastest, its figure, and that over the run before; below each
    its answer."""
    readable = [entry for entry in entries if entry.problem is None]
    if not entries:
        return Section("history", "", (Paragraph("no run fits"),))
    parts: list[Part] = [table("", _LISTED, map(_line, readable[:most]))]
    if len(readable) > most:
        parts.append(Paragraph(f"and {len(readable) - most} older; --limit shows more", "faint"))
    return Section("history", "", (*parts, *_problems(readable[:most]), *_problems(entries, unread=True)))


def _line(entry: ListedRun) -> TableLine:
    words = (
        fmt.safe(entry.run_id, 80),
        fmt.safe(entry.server, 40),
        "" if entry.throughput_per_s is None else fmt.known_rate(entry.known, entry.throughput_per_s),
        "" if entry.over_previous is None else f"{fmt.times(entry.over_previous)}×",
    )
    answer_line = Paragraph(fmt.safe(entry.answer), "faint")
    return TableLine((*map(Cell, words), _verdict(entry)), below=(answer_line,))


def _problems(entries: Sequence[ListedRun], *, unread: bool = False) -> Iterator[Paragraph]:
    """How much of each record cannot be used, or why one cannot be read."""
    for entry in entries:
        if entry.damaged and not unread:
            lines = fmt.counted(entry.damaged, "line")
            said = (
                f"{fmt.safe(entry.run_id, 80)}: {lines} of its record cannot be used; its report says which"
            )
            yield Paragraph(f"! {said}", "warn")
        if entry.problem and unread:
            yield Paragraph(f"! {fmt.safe(entry.problem, 500)}", "warn")


_BESIDE = (
    *(Column(name, head) for name, head in (("when", "when (UTC)"), ("profile", "profile"))),
    *(Column(name, name) for name in ("machine", "commit", "base", "new")),
)
_TO_THE_LAST = (
    "vs last: what was served over that of the run before, of the same study, profile, load, server and "
    "machine"
)


def document(entries: Sequence[ListedRun], chosen: Filter, going_on: Container[str]) -> Document:
    """The list for a page: with a filter, and two runs to choose. `going_on` are folders of runs that have
    neither ended nor been judged."""
    parts: list[Part] = [
        Form("", "Show", (("Study", "study", chosen.study), ("Server", "server", chosen.server)))
    ]
    readable = [entry for entry in entries if entry.problem is None]
    if readable:
        columns = (_LISTED[0], *(replace(column, key=False) for column in _LISTED[1:]), *_BESIDE)
        picked = _picked(readable)
        lines = tuple(_page_line(entry, picked, entry.folder in going_on) for entry in readable)
        listed = Table("", columns, lines, _TO_THE_LAST)
        parts.append(Form("compare", "Compare base with new", table=listed))
    else:
        parts.append(Paragraph("No run fits."))
    parts += [*_problems(entries), *_problems(entries, unread=True)]
    return Document("Runs", headline=(), sections=(Section("", "", tuple(parts)),))


def _picked(readable: Sequence[ListedRun]) -> dict[str, ListedRun]:
    """The newest run against the one before it of the same study and profile: those two compare."""
    new, *earlier = readable
    alike = [entry for entry in earlier if (entry.study, _profile(entry)) == (new.study, _profile(new))]
    return {"base": [*alike, *earlier, new][0], "new": new}


def _page_line(entry: ListedRun, picked: Mapping[str, ListedRun], going_on: bool) -> TableLine:
    line = _line(entry)
    folder = quote(entry.folder, safe="")
    run, *figures, verdict = line.cells
    if going_on:
        verdict = Cell("going on, or cut off", link=f"live/{folder}")
    beside = (
        _when(entry.created_unix_ns),
        fmt.safe(_profile(entry)),
        fmt.safe(entry.hostname, 40),
        fmt.safe((entry.git_commit or "")[:9]),
    )
    choices = (
        Cell(choice=Choice(field, entry.folder, f"{run.text} as {field}", entry is one))
        for field, one in picked.items()
    )
    cells = (replace(run, link=f"run/{folder}"), *figures, verdict, *map(Cell, beside), *choices)
    return replace(line, cells=cells)


def _profile(entry: ListedRun) -> str:
    return entry.profile + (", quick" if entry.quick else "")


_COURSE = (
    Column("when", "when (UTC)", right=True, key=True),
    Column("commit", "commit"),
    Column("served", "served", right=True),
    Column("±", "±", right=True),
    Column("course", ""),
)


def trend(case: str, points: Sequence[Point]) -> Section:
    """The course of a case, oldest first, with every change of level and of machine."""
    if not points:
        return Section("trend", "", (Paragraph("no run has a figure of this case"),))
    changes, top = _changes(points), max(point.value for point in points)
    lines = []
    for index, point in enumerate(points):
        said = []
        following = points[index + 1] if index + 1 < len(points) else point
        if following.machine_id != point.machine_id:
            name = fmt.safe(following.hostname, 40)
            said.append(Paragraph(f"! another machine, {name}: not comparable with those above", "warn"))
        if index + 1 in changes:
            said.append(Paragraph(changes[index + 1], "strong"))
        cells = (
            _when(point.created_unix_ns),
            fmt.safe((point.git_commit or "")[:9]),
            fmt.known_rate(point.known, point.value),
            _half_words(point),
            fmt.bar(point.value / top if top else 0, _BAR_WIDTH),
        )
        lines.append(TableLine(tuple(map(Cell, cells)), below=tuple(said)))
    title = f"{fmt.safe(case)}  throughput, oldest first"
    return Section("trend", title, (table("", _COURSE, lines),))


def _half_words(point: Point) -> str:
    if point.low is None or (point.known and point.known.limits):
        return ""
    return f"± {fmt.significant((point.value - point.low) / point.value * 100, 2)} %"


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


def _verdict(entry: ListedRun) -> Cell:
    if entry.damaged:
        return Cell("damaged", "warn")
    if entry.clean:
        return Cell("clean", "good")
    if entry.errors:
        return Cell(fmt.counted(entry.errors, "error"), "bad")
    return Cell("not ended" if not entry.complete else fmt.counted(entry.warnings, "warning"), "warn")


def _when(unix_ns: int) -> str:
    return f"{datetime.fromtimestamp(unix_ns / 1e9, UTC):%Y-%m-%d %H:%M}"


class Expected(msgspec.Struct, frozen=True):
    """How long a run is likely to take, in seconds; `lacking` names the servers that cannot run here."""

    part: SeriesPart
    cases: int
    blocks: int
    least_s: float
    most_s: float
    lacking: tuple[str, ...]


def estimate(expected: Sequence[Expected], refused: Sequence[tuple[SeriesPart, str]]) -> Section:
    """Say before it starts what is to be done and for how long."""
    least, most = sum(one.least_s for one in expected), sum(one.most_s for one in expected)
    rows = (
        (
            _name(one.part),
            one.part.profile,
            f"{fmt.counted(one.cases, 'case')} x {one.blocks}",
            _span(one.least_s, one.most_s),
        )
        for one in expected
    )
    lacking = dict.fromkeys(name for one in expected for name in one.lacking)
    return Section(
        "estimate",
        f"{fmt.counted(len(expected), 'run')}, {_span(least, most)} of measuring",
        (
            plain("", ("study", "profile", "cases x blocks:", "measuring"), rows, keys=4),
            *(
                Paragraph(f"{fmt.safe(name)} lacks something here: it will be a row with the reason", "faint")
                for name in lacking
            ),
            *(
                Paragraph(f"{_name(part)}, {part.profile}: {fmt.safe(problem, 500)}", "bad")
                for part, problem in refused
            ),
            Paragraph("Builds come on top where something is new. Ctrl-C keeps what is measured.", "faint"),
        ),
    )


_PARTS = tuple(Column(name, name, key=True) for name in ("study", "profile", "what stands against it", "run"))


def series_summary(series: Series, runs: Mapping[str, Run]) -> Section:
    """Say what came of each run of the series."""
    lines = []
    for part in series.parts:
        run = runs.get(part.run)
        if part.state == "failed" or run is None:
            said = Cell(fmt.safe(part.problem or _UNSHOWN[bool(part.run)], 300), "bad")
        else:
            clean = run.judgement is not None and run.judgement.clean
            said = Cell(answer.state(run), "good" if clean else "plain")
        about = (Cell(_name(part)), Cell(part.profile), said, Cell(fmt.safe(part.run or fmt.UNKNOWN)))
        lines.append(TableLine(about))
    return Section("series", f"Series {fmt.safe(series.series_id)}", (table("", _PARTS, lines),))


_UNSHOWN = {False: "not run", True: "its record cannot be read"}


def _name(part: SeriesPart) -> str:
    return fmt.safe(part.study, 40)


def _span(least_s: float, most_s: float) -> str:
    least, most = fmt.span(least_s), fmt.span(most_s)
    return f"about {least}" if least == most else f"about {least} to {most}"
