"""Text without a library: clean lines, plain text, values separated by commas, and reStructuredText.

Plain is also Markdown too large for the library: fences, tables of pipes, and paragraphs. docutils would run
the directives of reStructuredText, and takes longer to import than an audit may last.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable
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
    kept = [line for line in rows if not _RULE.fullmatch(line.text)] if rules else []
    if len(kept) < 2:
        return None
    head, *rest = (TextRow(line.number, cells_of(line.text)) for line in kept[:MOST_ROWS])
    if len(head.cells) != len(re.split(r"[|│+]", rules[0].text.strip().strip("|│+"))):
        return None  # a tool's own table: Locust's
    return TextTable(head.number, head.cells, tuple(rest))


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
            return self._table(at, self._text_end(at), _grid)
        if _SIMPLE.fullmatch(line.text):
            return self._table(at, self._text_end(at), _simple)
        for directive, split in ((_CSV, _comma), (_LIST, _starred)):
            if directive.match(line.text):
                return self._table(at + 1, self._indented_end(at + 1, _indent(line)), split)
        if after is not None and _UNDERLINE.fullmatch(after.text) and len(after.text.strip()) >= 3:
            sign = after.text.strip()[0]
            if sign not in self._levels:
                self._levels.append(sign)
            self.parts.append(TextBlock("heading", (line,), self._levels.index(sign) + 1))
            return at + 2
        if _UNDERLINE.fullmatch(line.text):
            return at + 1
        return self._paragraph(at)

    def _text_end(self, at: int) -> int:
        """Where the lines that are not empty end."""
        while at < len(self._lines) and self._lines[at].text.strip():
            at += 1
        return at

    def _indented_end(self, at: int, outer: int) -> int:
        """Where the lines end that are empty, or further in than `outer`."""
        while at < len(self._lines) and (
            not self._lines[at].text.strip() or _indent(self._lines[at]) > outer
        ):
            at += 1
        return at

    def _table(self, start: int, end: int, split: _Split) -> int:
        rows = split(self._lines[start:end])
        if len(rows) > 1:
            self.parts.append(TextTable(rows[0].number, rows[0].cells, tuple(rows[1:])))
        return end

    def _paragraph(self, start: int) -> int:
        at = self._text_end(start)
        lines = self._lines[start:at]
        kept = tuple(TextLine(one.number, unmarked(one.text)) for one in lines)
        if not lines[0].text.lstrip().startswith(".. "):
            self.parts.append(TextBlock("prose", kept))
        if not _LITERAL.match(lines[-1].text):
            return at
        end = self._indented_end(at, _indent(lines[0]))
        if any(line.text.strip() for line in self._lines[at:end]):
            self.parts.append(TextBlock("code", tuple(self._lines[at:end])))
        return end


def _grid(lines: list[TextLine]) -> list[TextRow]:
    return [TextRow(line.number, cells_of(line.text)) for line in lines if "|" in line.text]


def _simple(lines: list[TextLine]) -> list[TextRow]:
    starts = [found.start() for found in re.finditer(r"={2,500}", lines[0].text)]
    columns = [slice(*ends) for ends in zip(starts, [*starts[1:], None], strict=True)]
    return [
        TextRow(line.number, tuple(unmarked(line.text[column]).strip() for column in columns))
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
