"""Tables that are drawn with signs and spaces, in listings and in plain text: no library reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.document import TextBlock, TextDocument, TextLine, TextRow, TextTable
from assay.audit.headings import heading
from assay.audit.reading.text import unmarked

_RULE = re.compile(r"[\s|:+=─━┼┬┴├┤╞╪╡┌┐└┘╔╗╚╝╠╣╦╩╬═-]{3,400}")
_SIGNS = re.compile(r"[|│┃║]")
_APART = re.compile(r"\s{2,200}|\t")
_MOST_ROWS = 500
_TOOLS_OWN = re.compile(r"\bStat\b|\bPercentile\W{1,9}Latency|\bThread Stats\b|# reqs|\bPercentage of\b|\+/-")
"""Headings of the tables that load-test tools print themselves, which their own readers know."""


def drawn(document: TextDocument, taken: frozenset[int]) -> Iterator[TextTable]:
    """The tables with at least a heading of figures and two rows; lines that are `taken` are a tool's."""
    for block in document.blocks:
        if block.kind != "heading" and len(block.lines) > 2:
            yield from _tables(block, taken)


def _tables(block: TextBlock, taken: frozenset[int]) -> Iterator[TextTable]:
    at = 0
    lines = block.lines
    while at < len(lines) - 2:
        line = lines[at]
        at += 1
        if line.number in taken or len(line.text) > 400 or _TOOLS_OWN.search(line.text):
            continue
        head = _cells(line.text)
        if len(head) < 2 or not _heads(head):
            continue
        rows = list(_rows(lines[at : at + _MOST_ROWS], len(head), taken))
        if len(rows) > 1:
            yield TextTable(line.number, head, tuple(rows))
            at += len(rows)


def _heads(head: tuple[str, ...]) -> bool:
    """Whether some cell but the first is the heading of a figure, and none is a figure itself."""
    if any(re.fullmatch(r"[\d.,]{1,20}\s?(?:k|ms|us|µs|s|%)?", cell) for cell in head):
        return False
    return any(heading(cell) is not None for cell in head[1:])


def _rows(lines: tuple[TextLine, ...], width: int, taken: frozenset[int]) -> Iterator[TextRow]:
    """The lines below a heading that have as many cells, up to the first that has not."""
    for line in lines:
        if _RULE.fullmatch(line.text):
            continue
        cells = _cells(line.text)
        if len(cells) != width and not _SIGNS.search(line.text):
            cells = tuple(line.text.split())  # columns may have grown together: "38ms 170ms"
        if len(cells) != width or line.number in taken or not any(cell[:1].isdigit() for cell in cells[1:]):
            return
        yield TextRow(line.number, cells)


def _cells(text: str) -> tuple[str, ...]:
    """The cells of a line: between signs, or where two spaces stand between words."""
    parts = _SIGNS.split(text.strip().strip("|│┃║")) if _SIGNS.search(text) else _APART.split(text.strip())
    return tuple(unmarked(part).strip(" \t'\"") for part in parts)
