"""Every figure of a text with its place: the row, column, headings and words that say whose it is.

Results (`Reported`) are figures that a reader has tied together. A conclusion may speak of others as well: a
requirement, a column "before", the rate of one route. These are looked for here, in tables, "name: value"
lines and sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from assay.audit.context import Sections
from assay.audit.document import Figure, TextBlock, TextDocument, TextLine, TextTable
from assay.audit.headings import FIELD, KIND, Heading, Kind, bare, heading, put
from assay.audit.interval import Interval, is_european
from assay.audit.lexicon import compiled
from assay.audit.quantities import quantities

MOST = 2000
"""Figures of one text that are compared with what it says: a text for people has some hundreds."""
_MOST_COLUMNS = 30


@dataclass(frozen=True, slots=True)
class PlacedFigure:
    """A figure, and the evidence of whose it is.

    `name` is what it is of its kind: a mean, a percentile, or "" where only its unit says what it is. `row`
    and `column` are labels; in running text `row` is what stands before it. `stems` are beginnings of all
    words that may name it. `needed`: it is a requirement and no measurement.
    """

    kind: Kind
    name: str
    value: Interval
    line: int
    quote: str
    row: str
    column: str = ""
    table: int = 0
    path: tuple[str, ...] = ()
    needed: bool = False
    stems: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def lower_is_better(self) -> bool:
        """Its polarity: times and failures are better where they are lower."""
        return self.kind in ("time", "size") or self.name == "error_share"

    @property
    def label(self) -> str:
        """What it is called."""
        return (self.row or self.column or (self.path[-1] if self.path else "")).strip(" *-:•")[:60]


_WORD = re.compile(r"[^\W_]{2,40}|[^\W\d_]")
_ENDING = re.compile(r"(?<=\w{3})(?:e[rsnm]?|s)$")
_COMMON_WORDS = """
the and with for from that this than its our bei und der die das con que los las del por para der den
"""
_COMMON = frozenset(_COMMON_WORDS.split())


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text: "durchschnittliche" and "Durchschn." are one."""
    words = (word.lower() for word in _WORD.findall(text[:600]))
    return frozenset(
        _ENDING.sub("", word)[:5]
        for word in words
        if word not in _COMMON and (len(word) > 2 or word.isdigit())
    )


NEEDED = compiled("figures.needed")
_BOUND = re.compile(r"[<≤≥>]\s?$")
_UNSAID = ("cpu", "transfer", "bytes", "duration")
"""Figures of which no conclusion speaks."""
_KINDS = {figure: kind for figure, kind in KIND.items() if kind != "count" and figure not in _UNSAID}


def figures(document: TextDocument, sections: Sections) -> tuple[PlacedFigure, ...]:
    """The figures of a document, in order."""
    found: list[PlacedFigure] = []
    titles: tuple[str, ...] = ()
    before = title = ""
    for part in document.parts:
        if isinstance(part, TextTable):
            found += _in_table(part, titles)
        elif part.kind == "heading" and part.lines:
            section = sections.at(part.lines[0].number)
            titles = section.path if section else ()
            before = title = ""
        else:
            title = part.text if part.text.endswith(":") else title
            found += _in_lines(part, titles, before, NEEDED.search(title) is not None)
            before = part.text[-300:] if part.kind == "prose" else before
        if len(found) > MOST:
            break
    return tuple(found[:MOST])


def _in_table(table: TextTable, path: tuple[str, ...]) -> Iterator[PlacedFigure]:
    european = any(is_european(cell) for row in table.rows[:100] for cell in row.cells)
    heads = [heading(text) or bare(text) for text in table.head[:_MOST_COLUMNS]]
    last: list[str] = []
    for row in table.rows[:300]:
        cells = row.cells[:_MOST_COLUMNS]
        # What a blank cell would repeat stands above it.
        names = [cell or (last[at] if at < len(last) else "") for at, cell in enumerate(cells)]
        last = names
        own = next((head for text in cells[:3] if (head := heading(text) or bare(text)) is not None), None)
        label = " ".join(name for name in names if not re.match(r"[~≈<>]?\s?[\d+-]", name.strip()))
        for at, cell in enumerate(cells):
            column = table.head[at] if at < len(table.head) else ""
            head = heads[at] if at < len(heads) else None
            if head is not None and head.figure == "ratio":
                continue
            told = _cell(
                head if head is not None and head.figure in _KINDS else own, cell, row.number, european
            )
            if told is not None:
                where = stems(" ".join((label, column, *path)))
                needed = NEEDED.search(f"{column} {label}" if own is None else column) is not None
                needed = needed or cell.lstrip()[:1] in tuple("<≤≥>")
                line, own_table = row.number, table.number
                yield PlacedFigure(*told, line, cell, label, column, own_table, path, needed, where)


def _cell(head: Heading | None, cell: str, line: int, european: bool) -> tuple[Kind, str, Interval] | None:
    """What a cell holds: by its heading, or else by the unit in it."""
    if head is not None and head.figure in _KINDS:
        told: dict[str, Figure] = {}
        put(told, head, cell, line, european)
        for name, figure in told.items():
            return _KINDS[head.figure], name, figure.value
    only = next(quantities(cell), None)
    return (only.kind, only.name, only.value) if only is not None and only.start < 3 else None


_TITLE = re.compile(r"^[^\w]{0,6}(?P<title>[^\d\W].{0,60}|\d{1,5}\s.{0,60}):\s*$")


def _in_lines(block: TextBlock, path: tuple[str, ...], before: str, needed: bool) -> Iterator[PlacedFigure]:
    """Figures of running text and of "name: value" lines; `needed`: the words above say they are required."""
    above = before
    for line in block.lines[:2000]:
        text = line.text if len(line.text) <= 400 else ""
        titled = _TITLE.match(text)
        if titled:
            above = titled["title"]
        elif any(letter.isdigit() for letter in text):
            end = 0
            field = FIELD.match(text)
            head = heading(field["key"]) or bare(field["key"]) if field else None
            told = _cell(head, field["value"], line.number, False) if field and head else None
            if told is not None and field is not None:
                wanted = needed or NEEDED.search(field["key"]) is not None
                where = stems(" ".join((field["key"], above, *path)))
                key, cell = field["key"], field["value"]
                yield PlacedFigure(*told, line.number, cell, above, key, 0, path, wanted, where)
                end = field.start("value") + 1
            if block.kind == "prose":
                yield from _in_words(line, end, path, above, needed)
                above = f"{above} {text}"[-300:]
        else:
            above = f"{above} {text}"[-300:]


def _in_words(
    line: TextLine, end: int, path: tuple[str, ...], above: str, needed: bool
) -> Iterator[PlacedFigure]:
    """Quantities of running text; what stands before one on its line says what it is of."""
    where = stems(" ".join((line.text, above, *path)))
    for each in quantities(line.text):
        if each.start >= end:
            lead = line.text[end : each.start]
            wanted = needed or _BOUND.search(lead) is not None or NEEDED.search(lead) is not None
            told = (each.kind, each.name, each.value)
            yield PlacedFigure(*told, line.number, each.quote, lead.strip(), "", 0, path, wanted, where)
            end = each.end
