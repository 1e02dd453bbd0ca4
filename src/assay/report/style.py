"""What screens share: colours and marks, tables that are folded where they are too wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text

from assay.model.finding import Severity
from assay.report.document import Column, Paragraph, Table, TableLine, Tone

# From the 256-colour table where the 16 basic colours depend on the theme: basic yellow is
# invisible on a light background.
SEVERITY_STYLE: dict[Severity, str] = {"error": "bold red", "warning": "color(166)", "note": "cyan"}
SEVERITY_MARK: dict[Severity, str] = {"error": "✗", "warning": "!", "note": "·"}

GOOD = "green"
HEADING = "bold"
FAINT = "dim"


TONES: dict[Tone, str] = {
    "plain": "",
    "strong": HEADING,
    "faint": FAINT,
    "good": GOOD,
    "warn": SEVERITY_STYLE["warning"],
    "bad": SEVERITY_STYLE["error"],
}
_GAP = 2
ROW = "row"
"""What a row's style carries, unseen: its number, by which its lines are known once it is drawn."""
_LEAST_WORDS = 24
"""Columns of words are wrapped, down to this width."""


class Folded:
    """A table of a report, in as many pieces as the width asks for; each begins with the columns of names."""

    def __init__(self, table: Table) -> None:
        """Of any table."""
        self._whole = any(column.below for column in table.columns)
        self._table = table = sentences_below(table)
        self._natural = [
            max(cell_len(column.head), *(cell_len(line.cells[place].text) for line in table.lines), 1)
            for place, column in enumerate(table.columns)
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw each piece."""
        pieces = list(self._pieces(options.max_width))
        for number, places in enumerate(pieces):
            piece = self._piece(places, first=number == 0)
            said = number == len(pieces) - 1 and any(line.below for line in self._table.lines)
            shown = WithSentences(piece, self._table.lines, whole=self._whole) if said else piece
            yield Padding(shown, (1 if number else 0, 0, 0, 0))

    def _pieces(self, width: int) -> Iterator[Sequence[int]]:
        """The columns of each piece: all in one where they fit, else part by part."""
        every = range(len(self._table.columns))
        if self._least(every) <= width:
            yield every
            return
        keys = [place for place in every if self._column(place).key]
        for part in sorted({self._column(place).part for place in every}):
            piece: list[int] = []
            for place in (place for place in every if self._column(place).part == part):
                wider = [*piece, place]
                if piece and self._least(sorted({*keys, *wider})) > width:
                    yield sorted({*keys, *piece})
                    wider = [place]
                piece = wider
            if piece and (set(piece) - set(keys) or len(keys) == len(every)):
                yield sorted({*keys, *piece})

    def _least(self, places: Sequence[int]) -> int:
        return sum(self._narrowest(place) + _GAP for place in places) - _GAP

    def _narrowest(self, place: int) -> int:
        """How narrow a column may become: figures are never wrapped."""
        natural = self._natural[place]
        return natural if self._column(place).right else min(natural, _LEAST_WORDS)

    def _column(self, place: int) -> Column:
        return self._table.columns[place]

    def _piece(self, places: Sequence[int], *, first: bool) -> RichTable:
        """One piece; but for the first only with the lines that have something to say in it."""
        drawn = RichTable(
            box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style=FAINT, show_edge=False
        )
        for place in places:
            column = self._column(place)
            drawn.add_column(
                column.head,
                justify="right" if column.right else "left",
                no_wrap=column.right,
                overflow="fold",
                min_width=self._narrowest(place),
            )
        before = False
        told = [place for place in places if first or not self._column(place).key]
        for row, line in enumerate(self._table.lines):
            if all(line.cells[place].empty for place in told) and not line.below:
                continue
            if line.apart and not before:
                drawn.add_section()
            before = line.apart
            cells = (line.cells[place] for place in places)
            indent = "  " if line.inner else ""
            drawn.add_row(
                *(
                    Text((indent if number == 0 else "") + cell.text, TONES[cell.tone])
                    for number, cell in enumerate(cells)
                ),
                style=Style(meta={ROW: row}),
            )
        return drawn


def sentences_below(whole: Table) -> Table:
    """The table whose columns of sentences stand below their lines."""
    places = [place for place, column in enumerate(whole.columns) if column.below]
    if not places:
        return whole
    kept = [place for place in range(len(whole.columns)) if place not in places]
    lines = [
        replace(
            line,
            cells=tuple(line.cells[place] for place in kept),
            below=(*(Paragraph(line.cells[place].text, "faint") for place in places), *line.below),
        )
        for line in whole.lines
    ]
    return replace(whole, columns=tuple(whole.columns[place] for place in kept), lines=tuple(lines))


class WithSentences:
    """A drawn table in which sentences stand below their line, as wide as all of it: `whole`, or cut."""

    def __init__(self, drawn: RichTable, lines: Sequence[TableLine], *, whole: bool = False) -> None:
        """Of a table whose rows carry their number."""
        self._drawn, self._lines, self._whole = drawn, lines, whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it line by line."""
        drawn = console.render_lines(self._drawn, options, pad=False)
        for line, following in zip(drawn, [*drawn[1:], []], strict=True):
            yield from line
            yield Segment.line()
            row = _row_of(line)
            if row is not None and row != _row_of(following):
                for said in self._lines[row].below:
                    shown = Text(said.text, TONES[said.tone])
                    told = shown if self._whole else _cut(shown, console, options.max_width - _GAP)
                    yield Padding(told, (0, 0, 0, _GAP))


def _row_of(line: Sequence[Segment]) -> int | None:
    """The number of the row that a drawn line belongs to."""
    return next((part.style.meta[ROW] for part in line if part.style and ROW in part.style.meta), None)


def _cut(text: Text, console: Console, width: int) -> Text:
    """The text in a line of that width; what is cut off is shown to be."""
    if text.cell_len <= width:
        return text
    first = text.wrap(console, width - 2)[0]
    first.rstrip()
    return first.append(" …")
