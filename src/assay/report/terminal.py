"""A document on the terminal: its first part within 24 lines of 80 columns, or all of it (`--verbose`).

Nothing is told by colour alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.style import Style
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
    Quotation,
    Section,
    ShellCommands,
    Subheading,
    Table,
    TableLine,
    Tone,
    table,
)
from assay.report.style import (
    FAINT,
    HEADING,
    ROW,
    SEVERITY_MARK,
    SEVERITY_STYLE,
    TONES,
    Folded,
    WithSentences,
    sentences_below,
)

_GAP, _INDENT = 2, 2
_NAME, _LEAST_NAME = 28, 12
"""A name is cut to this, and down to that where figures need the room."""
_BEFORE_NAMES, _NEVER = 5, 8
"""Columns that can be spared so well give way before a name is cut, and are in no summary."""
_HEADLINE_LINES = 3
_MOST_ROWS = 12
_LOG_LINES = 4
_MOST_CAUSES = 5
MOST_SUBJECTS = 6
"""How many subjects of one finding are named before the rest is counted."""


def on_screen(told: Document, where: str = "more: --verbose") -> RenderableType:
    """The first part: the answer, the table, warnings, how it was measured and where the rest is."""
    parts: list[RenderableType] = [_Lines(told.headline, _HEADLINE_LINES, HEADING)]
    if told.table is not None and any(not line.detail for line in told.table.lines):
        parts += [Text(""), _Fitted(told.table)]
    parts += [Padding(_one_line(said, ""), (0, 0, 0, _INDENT)) for said in told.below]
    remarks: list[RenderableType] = []
    remarks += [_one_line(f"! {said}", SEVERITY_STYLE["warning"]) for said in told.warnings]
    remarks += [_Lines((f"→ {told.advice}",), 2, "")] if told.advice else []
    remarks += _causes(told)
    footer = (*told.footer, *filter(None, (where,)))
    parts += [Text("")] if remarks or footer else []
    return Group(*parts, *remarks, *([_Footer(footer)] if footer else []))


def _causes(told: Document) -> Iterator[RenderableType]:
    """What was found where that is the answer: each rule with its places, and what to do."""
    parts = (
        part for one in told.sections for part in one.parts if isinstance(part, Findings) and part.answer
    )
    groups = [group for part in parts for group in part.groups]
    for group in groups[:_MOST_CAUSES]:
        mark = (f"{SEVERITY_MARK[group.severity]} {group.code}", SEVERITY_STYLE[group.severity])
        said = f" {group.title}: {group.about(MOST_SUBJECTS)}"
        yield Text.assemble(mark, said, no_wrap=True, overflow="ellipsis")
        yield from (_one_line(f"  → {remedy}", FAINT) for remedy in group.remedies[:1])
    if len(groups) > _MOST_CAUSES:
        codes = " ".join(group.code for group in groups[_MOST_CAUSES:])
        yield Text(f"{len(groups) - _MOST_CAUSES} more: {codes}", FAINT)


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
    footer = (*told.footer, *([f"kept in {where}"] if where else []))
    parts += [sections(shown)] if shown else []
    parts += [Text(""), _Footer(footer)] if footer else []
    return Group(*parts)


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
        case ShellCommands():
            for line in part.lines:
                yield Text(f"  {line}", no_wrap=True, overflow="ignore")
        case Findings():
            yield in_words(part.groups, answer=part.answer)
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
    names and sentences."""

    def __init__(self, whole: Table) -> None:
        lines = [line for line in whole.lines if not line.detail]
        self._table = sentences_below(table("", whole.columns, lines))

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
        for number, line in enumerate(lines[:_MOST_ROWS]):
            cells = (
                Text(self._text(line, at, widths[at]), _style(line.cells[at].tone, apart=line.apart))
                for at in places
            )
            drawn.add_row(*cells, style=Style(meta={ROW: number}))
        shown = WithSentences(drawn, lines) if any(line.below for line in lines) else drawn
        yield Padding(shown, (0, 0, 0, _INDENT))
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
        natural, column = self._width(place), self._table.columns[place]
        return min(natural, _LEAST_NAME) if column.key or column.sentence else natural

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


def in_words(groups: Iterable[FindingGroup], *, answer: bool = False) -> RenderableType:
    """Render the findings; a note, which stands in no figure's way, in one line. Where they are the `answer`
    all of them in full."""
    parts: list[RenderableType] = []
    for group in groups:
        mark = f"{SEVERITY_MARK[group.severity]} {group.code} {group.severity}"
        head = Text.assemble((mark, SEVERITY_STYLE[group.severity]), "  ", (group.title, HEADING))
        if group.severity == "note" and not answer:
            parts.append(Text.assemble(head, (f": {group.about(MOST_SUBJECTS)}", FAINT)))
            continue
        body = RichTable.grid(padding=(0, 2, 0, 0), expand=True)
        body.add_column(style=FAINT, no_wrap=True)
        body.add_column(overflow="fold", ratio=1)
        for label, text in _lines(group, answer=answer):
            body.add_row(label, text)
        parts += [head, Padding(body, (0, 0, 1, 2))]
    return Group(*parts)


def _lines(group: FindingGroup, *, answer: bool) -> Iterable[tuple[str, Text]]:
    most = len(group.subjects) if answer else MOST_SUBJECTS
    for number, seen in enumerate(group.subjects[:most]):
        text = f"{seen.subject}: {seen.evidence}" if seen.subject else seen.evidence
        yield ("seen" if number == 0 else "", Text(text))
        if seen.quotation is not None:
            yield "", _marked(seen.quotation, SEVERITY_STYLE[group.severity])
    if len(group.subjects) > most:
        yield "", Text(f"and {len(group.subjects) - most} more")
    yield "effect", Text(group.effect)
    for label, texts in (("means", group.meanings), ("do", group.remedies)):
        yield from ((label if number == 0 else "", Text(text)) for number, text in enumerate(texts))
    if answer and group.source:
        yield "source", Text(group.source)


def _marked(quotation: Quotation, style: str) -> Text:
    """A quoted line behind its number, with a mark under the words that are meant."""
    number = f"{quotation.line:>5} | "
    said = Text(f"{number}{quotation.text}", no_wrap=True, overflow="ellipsis")
    if quotation.length:
        mark = " " * cell_len(quotation.text[: quotation.start])
        said.append("\n" + " " * (len(number) - 2) + "| " + mark, FAINT)
        said.append("^" * cell_len(quotation.text[quotation.start :][: quotation.length]), style)
    return said
