"""What screens share: colours and marks, tables that are folded where they are too wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from assay.model.finding import Severity
from assay.report.document import Column, Table, Tone

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
_LEAST_WORDS = 24
"""Columns of words are wrapped, down to this width."""


def plain_table() -> RichTable:
    """A table with a rule below its heads and none around it."""
    return RichTable(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style=FAINT, show_edge=False
    )


_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def bar(part: float, width: int) -> str:
    """Draw a bar of `part` (0 to 1) of `width` columns, in eighths of a column."""
    full, rest = divmod(round(min(max(part, 0.0), 1.0) * width * 8), 8)
    return "█" * full + _EIGHTHS[rest]


class Folded:
    """A table of a report, in as many pieces as the width asks for; each begins with the columns of names."""

    def __init__(self, table: Table) -> None:
        """Of any table."""
        self._table = table
        self._natural = [
            max(cell_len(column.head), *(cell_len(line.cells[place].text) for line in table.lines), 1)
            for place, column in enumerate(table.columns)
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw each piece."""
        for number, places in enumerate(self._pieces(options.max_width)):
            yield Padding(self._piece(places, first=number == 0), (1 if number else 0, 0, 0, 0))
        yield Text("")

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
        drawn = plain_table()
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
        for line in self._table.lines:
            if all(line.cells[place].empty for place in told):
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
                )
            )
        return drawn


MOST_SUBJECTS = 6
"""How many subjects of one finding are named before the rest is counted."""
