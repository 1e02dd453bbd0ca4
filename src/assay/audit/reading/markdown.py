"""Markdown by markdown-it-py: its blocks and tables; and Jupyter notebooks, of cells with Markdown and code.

Inline marks are taken off by ourselves: the library's inline pass takes most of the time, and nothing else of
it is needed.
"""

from __future__ import annotations

import json
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from assay.audit.document import BlockKind, TextBlock, TextLine, TextRow, TextTable
from assay.audit.reading.plain import lines_of, plain_line, unmarked
from assay.core.errors import InputError


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


_MISSES = 50


def notebook(text: str, most: int) -> tuple[list[TextBlock | TextTable], bool]:
    """The parts of a notebook, of cells with so many characters at most, and whether cells were left out.

    `InputError` where it is none.
    """
    try:
        whole = json.loads(text)
        cells = whole["cells"]
        assert isinstance(cells, list)
    except (ValueError, KeyError, TypeError, AssertionError, RecursionError):
        raise InputError("this is no notebook: there is no list of cells in its JSON") from None
    places = _NotebookLines(text)
    parts: list[TextBlock | TextTable] = []
    for cell in cells:
        if places.said > most:
            return parts, True
        if not isinstance(cell, dict):
            continue
        source = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            parts += markdown(source, places.find(source))
        elif source:
            parts.append(TextBlock("code", tuple(lines_of(source, places.find(source)))))
        for output in _list(cell.get("outputs")):
            parts += _output(output, places)
    return parts, False


def _output(output: object, places: _NotebookLines) -> list[TextBlock | TextTable]:
    if not isinstance(output, dict):
        return []
    told = output.get("data")
    data = told if isinstance(told, dict) else {}
    table = _joined(data.get("text/html"))
    if "<table" in table:
        from assay.audit.reading.html import html

        return html(table, places.find(table))
    shown = _joined(output.get("text")) or _joined(data.get("text/plain"))
    return [TextBlock("code", tuple(lines_of(shown, places.find(shown))))] if shown else []


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _joined(value: object) -> str:
    """Notebooks write a text as a list of its lines, or as one string."""
    if isinstance(value, str):
        return value
    return "".join(piece for piece in _list(value) if isinstance(piece, str))


class _NotebookLines:
    """Finds the line of the file on which a text of the notebook begins, going forwards only."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._number = 1
        self._missed = 0
        self.said = 0

    def find(self, content: str) -> int:
        """The number of the line where `content` begins; the last one found where it is not met.

        A text that escapes what others write as it is would be searched to its end for each cell: after a
        few misses that is given up.
        """
        self.said += len(content)
        head = json.dumps(content.split("\n", 1)[0], ensure_ascii=False)[1:-1]
        at = self._text.find(head, self._at) if head and self._missed < _MISSES else -1
        self._missed += at < 0 and bool(head)
        if at >= 0:
            self._number += self._text.count("\n", self._at, at)
            self._at = at
        return self._number
