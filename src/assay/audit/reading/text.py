"""From bytes to clean lines: encodings, ANSI colours, lines without end."""

from __future__ import annotations

import codecs
import re
from html import unescape

from assay.audit.document import TextLine
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
