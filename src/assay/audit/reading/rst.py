"""reStructuredText, as far as a benchmark needs it: titles, literal blocks, grid, simple and CSV tables.

docutils would run directives and takes longer to import than an audit may last.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

from assay.audit.document import TextBlock, TextLine, TextRow, TextTable
from assay.audit.reading.plain import lines_of, unmarked

_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*")
_GRID = re.compile(r"\s*\+(?:[-=]{1,500}\+)+\s*")
_SIMPLE = re.compile(r"\s*={2,500}(?:\s+={2,500})+\s*")
_LITERAL = re.compile(r"\s*\.\. (?:code-block|code|sourcecode|highlight|parsed-literal)::|.*::\s*$")
_CSV = re.compile(r"\s*\.\. csv-table::")
_LIST = re.compile(r"\s*\.\. list-table::")
_Split = Callable[[list[TextLine]], list[TextRow]]
"""Reads the rows that drawn or listed lines are."""

_OPTION = re.compile(r"\s*:[a-z-]{1,30}:\s?(.*)")


def rst(text: str) -> list[TextBlock | TextTable]:
    """The parts of a reStructuredText."""
    return _RstReader(lines_of(text)).read()


def _indent(line: TextLine) -> int:
    return len(line.text) - len(line.text.lstrip())


class _RstReader:
    """Goes through the lines once; each method reads one construct and says where it ended."""

    def __init__(self, lines: list[TextLine]) -> None:
        self._lines = lines
        self._levels: list[str] = []
        self.parts: list[TextBlock | TextTable] = []

    def read(self) -> list[TextBlock | TextTable]:
        at = 0
        while at < len(self._lines):
            at = self._next(at)
        return self.parts

    def _next(self, at: int) -> int:
        line = self._lines[at]
        after = self._lines[at + 1] if at + 1 < len(self._lines) else None
        if not line.text.strip():
            return at + 1
        if _GRID.fullmatch(line.text):
            return self._drawn(at, _grid)
        if _SIMPLE.fullmatch(line.text):
            return self._drawn(at, _simple)
        if _CSV.match(line.text) or _LIST.match(line.text):
            return self._listed(at, _comma if _CSV.match(line.text) else _starred)
        if after is not None and _UNDERLINE.fullmatch(after.text) and len(after.text.strip()) >= 3:
            sign = after.text.strip()[0]
            if sign not in self._levels:
                self._levels.append(sign)
            self.parts.append(TextBlock("heading", (line,), self._levels.index(sign) + 1))
            return at + 2
        if _UNDERLINE.fullmatch(line.text):
            return at + 1
        return self._paragraph(at)

    def _paragraph(self, at: int) -> int:
        start = at
        while at < len(self._lines) and self._lines[at].text.strip():
            at += 1
        lines = self._lines[start:at]
        kept = tuple(TextLine(one.number, unmarked(one.text)) for one in lines)
        if not lines[0].text.lstrip().startswith(".. "):
            self.parts.append(TextBlock("prose", kept))
        return self._literal(at, _indent(lines[0])) if _LITERAL.match(lines[-1].text) else at

    def _literal(self, at: int, outer: int) -> int:
        start = at
        while at < len(self._lines) and (
            not self._lines[at].text.strip() or _indent(self._lines[at]) > outer
        ):
            at += 1
        if any(line.text.strip() for line in self._lines[start:at]):
            self.parts.append(TextBlock("code", tuple(self._lines[start:at])))
        return at

    def _drawn(self, at: int, split: _Split) -> int:
        start = at
        while at < len(self._lines) and self._lines[at].text.strip():
            at += 1
        rows = split(self._lines[start:at])
        if len(rows) > 1:
            self.parts.append(TextTable(rows[0].number, rows[0].cells, tuple(rows[1:])))
        return at

    def _listed(self, at: int, split: _Split) -> int:
        outer, start = _indent(self._lines[at]), at + 1
        at += 1
        while at < len(self._lines) and (
            not self._lines[at].text.strip() or _indent(self._lines[at]) > outer
        ):
            at += 1
        rows = split(self._lines[start:at])
        if len(rows) > 1:
            self.parts.append(TextTable(rows[0].number, rows[0].cells, tuple(rows[1:])))
        return at


def _grid(lines: list[TextLine]) -> list[TextRow]:
    return [
        TextRow(
            line.number, tuple(unmarked(cell).strip() for cell in line.text.strip().strip("|").split("|"))
        )
        for line in lines
        if "|" in line.text
    ]


def _simple(lines: list[TextLine]) -> list[TextRow]:
    edges = [found.span() for found in re.finditer(r"={2,500}", lines[0].text)]
    starts = [start for start, _ in edges]
    ends = [*starts[1:], None]
    return [
        TextRow(
            line.number,
            tuple(unmarked(line.text[a:b]).strip() for a, b in zip(starts, ends, strict=True)),
        )
        for line in lines
        if not _SIMPLE.fullmatch(line.text)
    ]


def _comma(lines: list[TextLine]) -> list[TextRow]:
    rows: list[TextRow] = []
    for line in lines:
        option = _OPTION.match(line.text)
        if option and "header" not in line.text:
            continue
        words = option[1] if option else line.text
        if words.strip():
            try:
                cells = next(csv.reader([words.strip()], skipinitialspace=True))
            except (csv.Error, StopIteration):
                continue
            rows.append(TextRow(line.number, tuple(cell.strip() for cell in cells)))
    return rows


def _starred(lines: list[TextLine]) -> list[TextRow]:
    rows: list[TextRow] = []
    for line in lines:
        text = line.text.strip()
        if text.startswith("* -"):
            rows.append(TextRow(line.number, (unmarked(text[3:]).strip(),)))
        elif text.startswith("- ") and rows:
            rows[-1] = TextRow(rows[-1].number, (*rows[-1].cells, unmarked(text[2:]).strip()))
    return rows
