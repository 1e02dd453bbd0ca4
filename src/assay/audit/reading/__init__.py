"""Readers: bytes of a file to a `Document`, by its kind. Nothing here knows what a benchmark is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath

from assay.audit.document import TextBlock, TextDocument, TextTable
from assay.audit.reading.plain import decoded, lines_of, plain, separated

_SIMPLE_TABLE = re.compile(r"^={3,200}(?: {1,8}={3,200}){1,30}\s*$", re.MULTILINE)
"""A simple table of reStructuredText, which no other text has, whatever its file is called."""

Part = TextBlock | TextTable

MOST = 2 * 2**20
"""Characters of a text that are read: books are shorter. What is left out is told. Of a notebook it
is what its cells say: its JSON is read whole, most of which is pictures."""

LARGE = 2**18
"""Characters beyond which Markdown is read as plain text: the library takes up to ten seconds a megabyte."""


def read(name: str, content: bytes) -> TextDocument:
    """The document that the bytes are; `InputError` where they are no text."""
    text = decoded(name, content)
    if PurePath(name).suffix.lower() == ".ipynb":
        from assay.audit.reading.markdown import notebook

        parts, cut = notebook(text, MOST)
        return TextDocument(name, tuple(parts), cut)
    cut = len(text) > MOST
    text = text[:MOST]
    return TextDocument(name, tuple(_reader(name, text)(text)), cut)


def _reader(name: str, text: str) -> Callable[[str], list[Part]]:
    """How a text of that name is read. Readers that bring much are imported when needed."""
    suffix = PurePath(name).suffix.lower()
    start = text[:500].lstrip().lower()
    if suffix in (".html", ".htm", ".xhtml") or (not suffix and start.startswith(("<!doctype", "<html"))):
        from assay.audit.reading.html import html

        return html
    if suffix in (".csv", ".tsv"):
        return separated
    if suffix in (".rst", ".rest") or (suffix != ".txt" and _SIMPLE_TABLE.search(text[:LARGE])):
        from assay.audit.reading.plain import rst

        return rst
    if suffix == ".json":
        return _listing
    if suffix in (".md", ".markdown", ".mdx", ".mkd", "") and len(text) <= LARGE:
        from assay.audit.reading.markdown import markdown

        return markdown
    return plain


def _listing(text: str) -> list[Part]:
    """A file that is a listing as a whole."""
    return [TextBlock("code", tuple(lines_of(text)))]
