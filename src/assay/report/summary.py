"""A summary on the terminal: it fits in 24 lines of 80 columns, and nothing of it is told by colour alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from assay.report.model.values import Summary, Table, Tone
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE, TONES

_GAP, _INDENT = 2, 2
_LEAST_NAME = 12
"""A name is cut down to this where figures need the room."""
_BEFORE_NAMES = 5
"""Columns that can be spared so well give way before a name is cut."""
_HEADLINE_LINES = 3
_MOST_ROWS = 12


def rendered(told: Summary) -> RenderableType:
    """Lay it out: the answer, the table, warnings, how it was measured and where the rest is."""
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
    return Group(*parts, _Footer(told.footer))


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
    """A table that is as wide as the screen at most: columns that can be spared give way, then names."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width - _INDENT
        places = list(range(len(self._table.columns)))
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
        for place in places:
            column, natural = self._table.columns[place], self._width(place)
            cut = min(excess, natural - self._least_of(place))
            excess -= cut
            drawn.add_column(
                column.head,
                justify="right" if column.right else "left",
                no_wrap=True,
                overflow="ellipsis",
                width=natural - cut,
            )
        lines = self._table.lines
        for line in lines[:_MOST_ROWS]:
            drawn.add_row(
                *(Text(line.cells[at].text, _style(line.cells[at].tone, apart=line.apart)) for at in places)
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
        return max(self._widths(place))

    def _widths(self, place: int) -> Iterator[int]:
        yield cell_len(self._table.columns[place].head)
        yield from (cell_len(line.cells[place].text) for line in self._table.lines)


def _style(tone: Tone, *, apart: bool) -> str:
    return FAINT if apart else TONES[tone]
