"""`TextDocument`: a text as the audit sees it, whatever its format; and `Reported`: a result that it tells.

A reader (`audit/reading`) makes the document once; everything after it looks at these immutable values and
never at the file again. Line numbers are those of the file, from 1, so that a finding can be shown
where a person would look for it. Each figure has the line and the words that it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Literal

import msgspec

from assay.audit.interval import Interval

BlockKind = Literal["prose", "code", "heading"]


class TextLine(msgspec.Struct, frozen=True):
    """One line of text as it is read, and where it stands in the file."""

    number: int
    text: str


class TextBlock(msgspec.Struct, frozen=True):
    """Lines that belong together: a paragraph or list item, a listing, or a heading with its level."""

    kind: BlockKind
    lines: tuple[TextLine, ...]
    level: int = 0

    @property
    def text(self) -> str:
        """The block as one run of words."""
        return " ".join(line.text.strip() for line in self.lines)


class TextRow(msgspec.Struct, frozen=True):
    """A row of a table, and the line that it stands on."""

    number: int
    cells: tuple[str, ...]


class TextTable(msgspec.Struct, frozen=True):
    """A table: its headings and its rows. Short rows are as short as they were written."""

    number: int
    head: tuple[str, ...]
    rows: tuple[TextRow, ...]
    caption: str = ""


def texts_of(part: TextBlock | TextTable) -> list[tuple[int, str, bool]]:
    """The lines or rows of a part with their numbers, and whether they are of a listing."""
    if isinstance(part, TextBlock):
        return [(line.number, line.text, part.kind == "code") for line in part.lines]
    rows = (TextRow(part.number, part.head), *part.rows)
    return [(row.number, " | ".join(row.cells), False) for row in rows]


class TextDocument(msgspec.Struct, frozen=True, dict=True):
    """A text with its parts in the order in which they stand; `cut` says that only its beginning was read."""

    name: str
    parts: tuple[TextBlock | TextTable, ...]
    cut: bool = False

    @cached_property
    def blocks(self) -> tuple[TextBlock, ...]:
        """Everything but the tables."""
        return tuple(part for part in self.parts if isinstance(part, TextBlock))

    @cached_property
    def tables(self) -> tuple[TextTable, ...]:
        """The tables."""
        return tuple(part for part in self.parts if isinstance(part, TextTable))

    @cached_property
    def lines(self) -> tuple[TextLine, ...]:
        """The lines of all blocks, in order: where outputs of tools and commands are looked for."""
        return tuple(line for block in self.blocks for line in block.lines)

    @cached_property
    def texts(self) -> tuple[tuple[int, str, bool], ...]:
        """Every line and row with its number, and whether it is of a listing."""
        return tuple(chain.from_iterable(map(texts_of, self.parts)))

    @cached_property
    def text_at(self) -> dict[int, str]:
        """The text by the number of its line; of a table's row, its cells."""
        return {number: text for number, text, _ in reversed(self.texts)}


_SENTENCE = re.compile(r"[^.!?\n]{1,600}(?:[.](?=\w)[^.!?\n]{0,300}){0,20}[.!?]?")
_SHORT = re.compile(r"(?<=\bvs)[.](?=\s)|(?<=\bapprox)[.](?=\s)|(?<=\b[eEiI][.][ge])[.](?=\s)")
"""Full stops that end no sentence; a space for each, so that places stay."""


def sentences(block: TextBlock) -> Iterator[tuple[int, str]]:
    """The sentences of a block, and the line that each begins on."""
    for lines, sentence in placed_sentences(block):
        yield lines[0][1], sentence


def placed_sentences(block: TextBlock) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """The sentences of a block, each with its lines: from which of its characters on, and the number."""
    text = ""
    starts: list[tuple[int, int]] = []
    for line in block.lines[:400]:
        starts.append((len(text), line.number))
        text += _SHORT.sub(" ", line.text.strip()) + " "
    for found in _SENTENCE.finditer(text):
        if found[0].strip():
            begin = found.start() + len(found[0]) - len(found[0].lstrip())
            first = max(number for at, number in starts if at <= begin)
            later = [(at - begin, number) for at, number in starts if begin < at < found.end()]
            yield [(0, first), *later], found[0].strip()


class Figure(msgspec.Struct, frozen=True):
    """A figure of a text: what it may be, and where and how it is written."""

    value: Interval
    line: int
    quote: str


class ReportedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A load test's command line, as far as a text shows it."""

    tool: str
    line: int
    quote: str
    url: str = ""
    figures: Mapping[str, Figure] = msgspec.field(default_factory=dict)
    keep_alive: bool | None = None
    closed: bool = True


def is_percentile(name: str) -> bool:
    """Whether a figure is a percentile of times: "p99.9"."""
    return name[0] == "p" and name[1:2].isdigit()


def is_measured(figures: Mapping[str, Figure]) -> bool:
    """Whether figures are of a result: a rate, or times of requests."""
    return bool(figures.keys() & {"rate", "mean", "time"}) or any(map(is_percentile, figures))


BY_HAND = ("table", "figures")
"""What stands for the tool of a result that its author wrote: a row of a table, or a figure a line."""


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """One result: the output of a tool, or a row of a table.

    `figures` has, by name: `rate` (a second), `requests`, `duration` (s), `connections`, `threads`,
    `offered` (a second), `mean`, `stdev`, `min`, `max` (s), `rate_stdev`, `errors`,
    `error_share`, `connect_errors`, `bytes`, `bytes_each`, `memory` (bytes), `cpu` (share), and `p99` and
    other percentiles of times (s). `closed` says whether the tool's loop is closed; None: the tool
    is not known.
    """

    tool: str
    line: int
    last: int
    label: str = ""
    group: str = ""
    url: str = ""
    closed: bool | None = None
    keep_alive: bool | None = None
    figures: Mapping[str, Figure] = msgspec.field(default_factory=dict)
    command: ReportedCommand | None = None
    table: int = 0

    @property
    def percentiles(self) -> dict[float, Figure]:
        """The times (s) by percentile."""
        return {float(name[1:]): figure for name, figure in self.figures.items() if is_percentile(name)}

    def get(self, name: str) -> Figure | None:
        """A figure by name: the result's own, or else its command's."""
        found = self.figures.get(name)
        if found is None and self.command is not None:
            found = self.command.figures.get(name)
        return found
