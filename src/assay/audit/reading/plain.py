"""Plain text, and Markdown too large for the library: fences, tables of pipes, and paragraphs."""

from __future__ import annotations

import re

from assay.audit.document import TextBlock, TextLine, TextRow, TextTable
from assay.audit.reading.text import lines_of, unmarked

_FENCE = re.compile(r"\s{0,12}(`{3,12}|~{3,12})")
_HEADING = re.compile(r"(#{1,6})\s+(\S.*)")
_RULE = re.compile(r"[\s|:+=-]{3,}")
_QUOTED = re.compile(r"(?:\s{0,3}>\s?)+")


def plain(text: str, first: int = 1) -> list[TextBlock | TextTable]:
    """The parts of a text that nobody marked up, or only lightly."""
    parts: list[TextBlock | TextTable] = []
    held: list[TextLine] = []
    fence = ""

    def end(kind: str = "prose") -> None:
        if held:
            parts.extend(_part(held, code=kind == "code"))
            held.clear()

    for line in lines_of(text, first):
        marked = _FENCE.match(line.text)
        if fence:
            if marked and line.text.strip().startswith(fence) and not line.text.strip().strip(fence[0]):
                end("code")
                fence = ""
            else:
                held.append(line)
        elif marked:
            end()
            fence = marked[1]
        elif not held and (heading := _HEADING.match(line.text)):
            parts.append(
                TextBlock("heading", (TextLine(line.number, unmarked(heading[2])),), len(heading[1]))
            )
        elif not line.text.strip():
            end()
        else:
            quoted = _QUOTED.match(line.text)
            held.append(TextLine(line.number, line.text[quoted.end() :]) if quoted else line)
    end("code" if fence else "prose")
    return parts


def _part(lines: list[TextLine], *, code: bool) -> list[TextBlock | TextTable]:
    if code:
        return [TextBlock("code", tuple(lines))]
    found = piped(lines)
    if found is not None:
        return [found]
    if all(line.text.startswith(("    ", "\t")) for line in lines):
        return [TextBlock("code", tuple(lines))]
    return [TextBlock("prose", tuple(TextLine(line.number, unmarked(line.text)) for line in lines))]


def cells_of(line: str) -> tuple[str, ...]:
    """The cells of a row that is written with pipes."""
    return tuple(unmarked(cell).strip() for cell in line.strip().strip("|│┃").replace("│", "|").split("|"))


MOST_ROWS = 10_000
"""Rows of a table that are read: one of results has hundreds."""


def piped(lines: list[TextLine]) -> TextTable | None:
    """A table of pipes: a heading, a rule of dashes, rows. None if the lines are no such table."""
    rows = [line for line in lines if line.text.count("|") + line.text.count("│") >= 1]
    if len(rows) < 3 or len(rows) < len(lines) - 2:
        return None
    rules = [line for line in rows[:3] if _RULE.fullmatch(line.text)]
    if not rules:
        return None
    head = next(line for line in rows if not _RULE.fullmatch(line.text))
    if len(cells_of(head.text)) != len(re.split(r"[|│+]", rules[0].text.strip().strip("|│+"))):
        return None  # a tool's own table: Locust's
    kept = [line for line in rows if not _RULE.fullmatch(line.text)]
    if len(kept) < 2:
        return None
    head, *rest = kept[:MOST_ROWS]
    return TextTable(
        head.number, cells_of(head.text), tuple(TextRow(one.number, cells_of(one.text)) for one in rest)
    )
