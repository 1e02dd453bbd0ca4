"""Text as it is: from bytes to clean lines, the parts of plain text, and values separated by commas.

Plain is also Markdown too large for the library: fences, tables of pipes, and paragraphs.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from html import unescape

from assay.audit.document import TextBlock, TextLine, TextRow, TextTable
from assay.core.errors import InputError

LONGEST_LINE = 4000
"""Characters of a line that are read: no output of a tool and no sentence is longer."""

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]{0,32}[ -/]?[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decoded(name: str, content: bytes) -> str:
    """The text of a file: UTF-8, UTF-16 with its mark, or else Windows-1252; `InputError` for no text."""
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    if b"\0" in content[:8192]:
        raise InputError(f"{name} is not a text", "give Markdown, HTML, plain text, a notebook, CSV or JSON")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        # A text cut off in the middle of a character is still UTF-8.
        if problem.start > len(content) - 4 or problem.start > 2**20:
            return content.decode("utf-8", errors="replace")
        return content.decode("cp1252", errors="replace")


def plain_line(text: str) -> str:
    """A line without colours and cursor movements, and no longer than is read."""
    cut = text[:LONGEST_LINE]
    if "\x1b" in cut:
        cut = _ANSI.sub("", cut)
    if "\r" in cut:  # a progress line that was written over: what stayed visible is the last
        cut = next((piece for piece in reversed(cut.split("\r")) if piece.strip()), "")
    return cut.rstrip("\n")


def lines_of(text: str, first: int = 1) -> list[TextLine]:
    """The lines of a text, numbered from `first`."""
    return [TextLine(number, plain_line(line)) for number, line in enumerate(text.split("\n"), first)]


_LINK = re.compile(r"!?\[([^\[\]]{0,300})\](?:\([^()\s]{0,500}(?:\s\"[^\"]{0,200}\")?\)|\[[^\[\]]{0,100}\])")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_MARKS = re.compile(r"(?<=\S)\*{1,3}|\*{1,3}(?=\S)|`{1,3}|~~|(?<![A-Za-z0-9])_{1,2}|_{1,2}(?![A-Za-z0-9])")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def unmarked(text: str) -> str:
    """Inline Markdown and HTML without its marks: what a reader of the page sees."""
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _TAG.sub("", text)
    if "&" in text:
        text = unescape(text).replace("\u00a0", " ")
    text = _MARKS.sub("", text)
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


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


def separated(text: str) -> list[TextBlock | TextTable]:
    """The table that a CSV file is; a row that cannot be read ends it."""
    sample = text[:8192]
    first = sample.split("\n", 1)[0]
    sign = max("\t;,", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
    rows: list[TextRow] = []
    number = 1
    try:
        for cells in reader:
            if len(rows) > MOST_ROWS:
                break
            if any(cells):
                rows.append(TextRow(number, tuple(plain_line(cell).strip() for cell in cells)))
            number = reader.line_num + 1
    except csv.Error:
        pass
    return [TextTable(rows[0].number, rows[0].cells, tuple(rows[1:]))] if len(rows) > 1 else []
