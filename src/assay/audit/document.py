"""`TextDocument`: a text as the audit sees it, whatever format it came in.

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
class TextLine:
    """One line of text as it is read, and where it stands in the file."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Lines that belong together: a paragraph or list item, a listing, or a heading with its level."""

    kind: BlockKind
    lines: tuple[TextLine, ...]
    level: int = 0

    @property
    def text(self) -> str:
        """The block as one run of words."""
        return " ".join(line.text.strip() for line in self.lines)


@dataclass(frozen=True, slots=True)
class TextRow:
    """A row of a table, and the line that it stands on."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table: its headings and its rows. Short rows are as short as they were written."""

    number: int
    head: tuple[str, ...]
    rows: tuple[TextRow, ...]
    caption: str = ""


@dataclass(frozen=True)
class TextDocument:
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
    def text_at(self) -> dict[int, str]:
        """The text by the number of its line; of a table's row, its cells."""
        found: dict[int, str] = {}
        for part in self.parts:
            if isinstance(part, TextBlock):
                for line in part.lines:
                    found.setdefault(line.number, line.text)
            else:
                found.setdefault(part.number, " | ".join(part.head))
                for row in part.rows:
                    found.setdefault(row.number, " | ".join(row.cells))
        return found
