"""A document on the terminal: its first part within 24 lines of 80 columns, or all of it (`--verbose`).

Nothing is told by colour alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from assay.core.units import safe
from assay.report.document import (
    Document,
    FindingGroup,
    Findings,
    Items,
    Labelled,
    Log,
    Paragraph,
    Part,
    Section,
    Subheading,
    Table,
    TableLine,
    Tone,
    table,
)
from assay.report.style import FAINT, HEADING, SEVERITY_MARK, SEVERITY_STYLE, TONES, Folded

_GAP, _INDENT = 2, 2
_NAME, _LEAST_NAME = 28, 12
"""A name is cut to this, and down to that where figures need the room."""
_BEFORE_NAMES, _NEVER = 5, 8
"""Columns that can be spared so well give way before a name is cut, and are in no summary."""
_HEADLINE_LINES = 3
_MOST_ROWS = 12
_LOG_LINES = 4
MOST_SUBJECTS = 6
"""How many subjects of one finding are named before the rest is counted."""


def on_screen(told: Document, where: str = "more: --verbose") -> RenderableType:
    """The first part: the answer, the table, warnings, how it was measured and where the rest is."""
    parts: list[RenderableType] = [_Lines(told.headline, _HEADLINE_LINES, HEADING)]
    if told.table is not None and told.table.lines:
        parts += [Text(""), _Fitted(told.table)]
    parts += [Padding(_one_line(said, ""), (0, 0, 0, _INDENT)) for said in told.below]
    if told.warnings or told.advice:
        parts.append(Text(""))
    parts += [_one_line(f"! {said}", SEVERITY_STYLE["warning"]) for said in told.warnings]
    if told.advice:
        parts.append(_Lines((f"→ {told.advice}",), 2, ""))
    if not told.warnings and not told.advice:
        parts.append(Text(""))
    return Group(*parts, _Footer((*told.footer, *filter(None, (where,)))))


def in_full(told: Document, where: str = "") -> RenderableType:
    """All of it: the same first part with nothing left out, then each section; last `where` it is kept."""
    parts: list[RenderableType] = [Text(told.title, HEADING)]
    parts += [Text(said, FAINT) for said in (told.subtitle, told.question) if said]
    parts += [Text(""), *(Text(said, HEADING) for said in told.headline)]
    parts += [Text(told.state, TONES[told.tone])] if told.state else []
    parts.append(Text(""))
    if told.table is not None and told.table.lines:
        parts += [*_drawn(told.table), Text("")]
    parts += [Text(said) for said in told.below]
    parts += [Text(f"! {said}", SEVERITY_STYLE["warning"]) for said in told.warnings]
    parts += [Text(f"→ {told.advice}")] if told.advice else []
    parts += [Text("")] if told.below or told.warnings or told.advice else []
    shown = tuple(one for one in told.sections if not one.long)
    parts += [sections(shown), Text("")] if shown else []
    return Group(*parts, _Footer((*told.footer, *([f"kept in {where}"] if where else []))))


def sections(told: Iterable[Section]) -> RenderableType:
    """Sections, one below the other: the title of each, if it has one, then its parts."""
    parts: list[RenderableType] = []
    for one in told:
        parts += [Text("")] if parts else []
        parts += [Text(one.title, HEADING)] if one.title else []
        for before, part in zip((None, *one.parts), one.parts, strict=False):
            alike = type(before) is type(part) and not isinstance(part, Table)
            if before is not None and not alike and not isinstance(before, Subheading):
                parts.append(Text(""))
            parts += _part(part)
    return Group(*parts)


def _part(part: Part) -> Iterator[RenderableType]:
    match part:
        case Subheading():
            yield Text(f"\n{part.text}", HEADING)
        case Paragraph():
            yield Text(part.text, TONES[part.tone])
        case Items():
            yield from (Padding(Text(f"- {line}"), (0, 0, 0, _INDENT)) for line in part.lines)
        case Labelled():
            yield Padding(_grid(part.lines), (0, 0, 0, _INDENT))
        case Log():
            yield Text(part.title, SEVERITY_STYLE["error"])
            yield Padding(Text(part.reason), (0, 0, 0, _INDENT))
            yield from (Padding(Text(line, FAINT), (0, 0, 0, 4)) for line in part.lines[-_LOG_LINES:])
        case Findings():
            yield in_words(part.groups)
        case Table():
            yield from _drawn(part)


def _grid(lines: Iterable[tuple[str, str]]) -> RichTable:
    made = RichTable.grid(padding=(0, 2, 0, 0), expand=True)
    made.add_column(style=FAINT, no_wrap=True)
    made.add_column(ratio=1, overflow="fold")
    for what, how in lines:
        made.add_row(Text(what), Text(how))
    return made


def _drawn(made: Table) -> Iterator[RenderableType]:
    """A table with its title and how to read it."""
    if made.title:
        yield Text(made.title, HEADING)
    yield Folded(made)
    if made.note:
        yield Text(f"\n{made.note}", FAINT)


def _one_line(said: str, style: str) -> Text:
    return Text(said, style, no_wrap=True, overflow="ellipsis")


class _Lines:
    """Sentences that take no more than so many lines; the last line is cut after a word."""

    def __init__(self, sentences: Sequence[str], most: int, style: str) -> None:
        self._sentences, self._most, self._style = sentences, most, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = [
            line
            for said in self._sentences
            for line in Text(said, self._style).wrap(console, options.max_width)
        ]
        for line in lines:
            line.rstrip()
        if len(lines) > self._most:
            lines = lines[: self._most]
            lines[-1] = Text(lines[-1].plain[: options.max_width - 2].rstrip() + " …", self._style)
        yield from lines


class _Footer:
    """What stands last: on one line where that is wide enough."""

    def __init__(self, said: Sequence[str]) -> None:
        self._said = said

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole = "; ".join(self._said)
        lines = [whole] if cell_len(whole) <= options.max_width else self._said
        yield from (Text(line, FAINT, overflow="fold") for line in lines)  # a path is never cut


class _Fitted:
    """A table without its details, as wide as the screen at most: columns that can be spared give way, then
    names."""

    def __init__(self, whole: Table) -> None:
        self._table = table("", whole.columns, [line for line in whole.lines if not line.detail])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width - _INDENT
        places = [place for place in range(len(self._table.columns)) if self._spare(place) < _NEVER]
        while any(self._spare(place) for place in places):
            rarest = max(places, key=self._spare)
            needed = self._whole(places) if self._spare(rarest) >= _BEFORE_NAMES else self._least(places)
            if needed <= width:
                break
            places.remove(rarest)
        drawn = RichTable(
            box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style=FAINT, show_edge=False
        )
        excess = max(0, self._whole(places) - width)
        widths: dict[int, int] = {}
        for place in places:
            column, natural = self._table.columns[place], self._width(place)
            cut = min(excess, natural - self._least_of(place))
            excess -= cut
            widths[place] = natural - cut
            drawn.add_column(
                column.head,
                justify="right" if column.right else "left",
                no_wrap=True,
                overflow="ellipsis",
                width=widths[place],
            )
        lines = self._table.lines
        for line in lines[:_MOST_ROWS]:
            drawn.add_row(
                *(
                    Text(self._text(line, at, widths[at]), _style(line.cells[at].tone, apart=line.apart))
                    for at in places
                )
            )
        yield Padding(drawn, (0, 0, 0, _INDENT))
        if len(lines) > _MOST_ROWS:
            yield Padding(Text(f"… {len(lines) - _MOST_ROWS} more", FAINT), (0, 0, 0, _INDENT))

    def _spare(self, place: int) -> int:
        return self._table.columns[place].spare

    def _whole(self, places: Sequence[int]) -> int:
        """The width that the columns would take with nothing cut."""
        return sum(self._width(place) + _GAP for place in places) - _GAP

    def _least(self, places: Sequence[int]) -> int:
        """The width that the columns take; a name may be cut."""
        return sum(self._least_of(place) + _GAP for place in places) - _GAP

    def _least_of(self, place: int) -> int:
        natural = self._width(place)
        return min(natural, _LEAST_NAME) if self._table.columns[place].key else natural

    def _width(self, place: int) -> int:
        heads = cell_len(self._table.columns[place].head)
        return max(heads, *(cell_len(self._text(line, place)) for line in self._table.lines), 1)

    def _text(self, line: TableLine, place: int, width: int = _NAME) -> str:
        """A cell: a name cut in its middle, a figure without what stands behind it in brackets."""
        text, column = line.cells[place].text, self._table.columns[place]
        if column.key:
            return safe(text, max(width, _LEAST_NAME)) if cell_len(text) > width else text
        return text.partition(" (")[0] if column.right else text


def _style(tone: Tone, *, apart: bool) -> str:
    return FAINT if apart else TONES[tone]


def in_words(groups: Iterable[FindingGroup]) -> RenderableType:
    """Render the findings; a note, which stands in no figure's way, in one line."""
    parts: list[RenderableType] = []
    for group in groups:
        mark = f"{SEVERITY_MARK[group.severity]} {group.code} {group.severity}"
        head = Text.assemble((mark, SEVERITY_STYLE[group.severity]), "  ", (group.title, HEADING))
        if group.severity == "note":
            parts.append(Text.assemble(head, (f": {group.about(MOST_SUBJECTS)}", FAINT)))
            continue
        body = RichTable.grid(padding=(0, 2, 0, 0), expand=True)
        body.add_column(style=FAINT, no_wrap=True)
        body.add_column(overflow="fold", ratio=1)
        for label, text in _lines(group):
            body.add_row(label, Text(text))
        parts += [head, Padding(body, (0, 0, 1, 2))]
    return Group(*parts)


def _lines(group: FindingGroup) -> Iterable[tuple[str, str]]:
    shown = group.subjects[:MOST_SUBJECTS]
    for number, seen in enumerate(shown):
        text = f"{seen.subject}: {seen.evidence}" if seen.subject else seen.evidence
        yield ("seen" if number == 0 else "", text)
    if len(group.subjects) > len(shown):
        yield "", f"and {len(group.subjects) - len(shown)} more"
    yield "effect", group.effect
    for label, texts in (("means", group.meanings), ("do", group.remedies)):
        yield from ((label if number == 0 else "", text) for number, text in enumerate(texts))
