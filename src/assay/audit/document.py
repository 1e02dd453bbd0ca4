"""`Document`: a text as the audit sees it, whatever format it came in.

A reader (`audit/reading`) makes it once; everything after it looks at these immutable values and
never at the file again. Line numbers are those of the file, from 1, so that a finding can be shown
where a person would look for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

BlockKind = Literal["prose", "code", "heading"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text as it is read, and where it stands in the file."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together: a paragraph or list item, a listing, or a heading with its level."""

    kind: BlockKind
    lines: tuple[Line, ...]
    level: int = 0

    @property
    def text(self) -> str:
        """The block as one run of words."""
        return " ".join(line.text.strip() for line in self.lines)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, and the line that it stands on."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its headings and its rows. Short rows are as short as they were written."""

    number: int
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    caption: str = ""


@dataclass(frozen=True)
class Document:
    """A text with its parts in the order in which they stand; `cut` says that only its beginning was read."""

    name: str
    parts: tuple[Block | Table, ...]
    cut: bool = False

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Everything but the tables."""
        return tuple(part for part in self.parts if isinstance(part, Block))

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables."""
        return tuple(part for part in self.parts if isinstance(part, Table))

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines of all blocks, in order: where outputs of tools and commands are looked for."""
        return tuple(line for block in self.blocks for line in block.lines)

    @cached_property
    def text_at(self) -> dict[int, str]:
        """The text by the number of its line; of a table's row, its cells."""
        found: dict[int, str] = {}
        for part in self.parts:
            if isinstance(part, Block):
                for line in part.lines:
                    found.setdefault(line.number, line.text)
            else:
                found.setdefault(part.number, " | ".join(part.head))
                for row in part.rows:
                    found.setdefault(row.number, " | ".join(row.cells))
        return found
