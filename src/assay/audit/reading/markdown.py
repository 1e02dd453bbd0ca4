"""Markdown by markdown-it-py: its blocks and tables; inline marks are taken off by ourselves.

The library's inline pass is left out: nothing of it is needed, and it takes most of the time.
"""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from assay.audit.document import BlockKind, TextBlock, TextLine, TextRow, TextTable
from assay.audit.reading.text import plain_line, unmarked


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline"])
    return parser


def markdown(text: str, first: int = 1) -> list[TextBlock | TextTable]:
    """The blocks and tables of a Markdown text whose first line has the number `first`."""
    reader = _MarkdownReader(first)
    tokens = _parser().parse(text)
    position = 0
    while position < len(tokens):
        position = reader.take(tokens, position)
    return reader.parts


class _MarkdownReader:
    """Goes through the tokens once and keeps the parts that it meets."""

    def __init__(self, first: int) -> None:
        self.parts: list[TextBlock | TextTable] = []
        self._first = first
        self._level = 0

    def take(self, tokens: list[Token], position: int) -> int:
        """Read what begins at `position`; return where the next thing begins."""
        token = tokens[position]
        if token.type == "table_open":
            return self._table(tokens, position)
        if token.type == "heading_open":
            self._level = int(token.tag[1:])
        elif token.type == "heading_close":
            self._level = 0
        elif token.type == "inline":
            kind: BlockKind = "heading" if self._level else "prose"
            lines = tuple(TextLine(line.number, unmarked(line.text)) for line in self._lines(token, 0))
            self.parts.append(TextBlock(kind, lines, self._level))
        elif token.type in ("fence", "code_block"):
            self.parts.append(
                TextBlock("code", (*self._opening(token), *self._lines(token, token.type == "fence")))
            )
        elif token.type == "html_block":
            self._html(token)
        return position + 1

    def _lines(self, token: Token, skipped: int) -> tuple[TextLine, ...]:
        start = self._number(token) + skipped
        content = token.content.removesuffix("\n").split("\n")
        return tuple(TextLine(start + at, plain_line(text)) for at, text in enumerate(content))

    def _opening(self, token: Token) -> tuple[TextLine, ...]:
        """What stands behind the signs of a fence, if it is more than a language: "```Running 10s test"."""
        words = token.info.strip()
        return (TextLine(self._number(token), plain_line(words)),) if len(words.split()) > 2 else ()

    def _number(self, token: Token) -> int:
        return self._first + (token.map[0] if token.map else 0)

    def _html(self, token: Token) -> None:
        content = token.content.lower()
        if "<table" in content or "<pre" in content or "<td" in content:
            from assay.audit.reading.html import html

            self.parts += html(token.content, self._number(token))
            return
        lines = tuple(TextLine(line.number, unmarked(line.text)) for line in self._lines(token, 0))
        self.parts.append(TextBlock("prose", lines))

    def _table(self, tokens: list[Token], position: int) -> int:
        start = self._number(tokens[position])
        rows: list[TextRow] = []
        cells: list[str] = []
        number = start
        while tokens[position].type != "table_close":
            token = tokens[position]
            if token.type == "tr_open":
                cells, number = [], self._number(token)
            elif token.type == "inline":
                cells.append(unmarked(plain_line(token.content)).strip())
            elif token.type == "tr_close":
                rows.append(TextRow(number, tuple(cells)))
            position += 1
        if rows:
            self.parts.append(TextTable(start, rows[0].cells, tuple(rows[1:])))
        return position + 1
