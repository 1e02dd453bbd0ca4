"""HTML by lxml (libxml2): headings, paragraphs, listings and tables with the lines they begin on."""

from __future__ import annotations

from lxml import etree

from assay.audit.document import TextBlock, TextLine, TextRow, TextTable
from assay.audit.reading.plain import plain_line

_SKIPPED = frozenset({"script", "style", "svg", "head", "noscript", "template", "nav", "iframe"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS = """
p div li ul ol dl dt dd section article header footer main blockquote figure figcaption body br hr
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())


def html(text: str, first: int = 1) -> list[TextBlock | TextTable]:
    """The parts of a page or of a piece of one; whatever cannot be parsed is passed over."""
    parser = etree.HTMLParser(recover=True, remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        root = etree.fromstring(text.encode("utf-8", errors="replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return []
    if root is None:
        return []
    walk = _Walk(first - 1)
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if not isinstance(element.tag, str):
            continue
        if event == "start":
            walk.begin(element)
        else:
            walk.end(element)
    walk.flush()
    return walk.parts


MOST_ROWS = 10_000
"""Rows of a table that are read: one of results has hundreds."""


class _Walk:
    """What has been met so far: text that waits for its block to end, and the tables that are open."""

    def __init__(self, offset: int) -> None:
        self.parts: list[TextBlock | TextTable] = []
        self._offset = offset
        self._number = 1
        self._text: list[str] = []
        self._skipped = 0
        self._listing = 0
        self._tables = 0
        self._rows: list[TextRow] = []
        self._cells: list[str] = []
        self._spans: list[int] = []

    def begin(self, element: etree._Element) -> None:
        """An element begins."""
        tag = str(element.tag).lower()
        if tag in _SKIPPED:
            self._skipped += 1
            return
        if self._skipped:
            return
        if tag == "table":
            self._tables += 1
            if self._tables == 1:
                self.flush()
                self._rows = []
        elif self._tables and tag == "tr":
            self._cells, self._text = [], []
            self._number = self._line(element)
        elif self._tables and tag in ("td", "th"):
            self._text = []
        elif not self._tables and (tag in _BLOCKS or tag in _HEADINGS or tag == "pre") and not self._listing:
            self.flush()
            self._number = self._line(element)
        if tag == "pre":
            self._listing += 1
        if tag == "br":
            self._text.append("\n")
        self._text.append(element.text or "")

    def end(self, element: etree._Element) -> None:
        """An element ends; what stands behind it goes on."""
        tag = str(element.tag).lower()
        if tag in _SKIPPED:
            self._skipped -= 1
        elif not self._skipped:
            self._close(tag)
        if not self._skipped:
            self._text.append(element.tail or "")

    def _close(self, tag: str) -> None:
        if tag == "pre":
            self._listing -= 1
            if not self._tables:
                self._keep("code")
        elif tag in _HEADINGS and not self._tables:
            self._keep("heading", _HEADINGS[tag])
        elif self._tables and tag in ("td", "th"):
            self._cells.append(" ".join("".join(self._text).split()))
            self._text = []
        elif self._tables and tag == "tr":
            if any(self._cells) and len(self._rows) < MOST_ROWS:
                self._rows.append(TextRow(self._number, tuple(self._cells)))
            self._cells = []
        elif tag == "table":
            self._tables -= 1
            if not self._tables and len(self._rows) > 1:
                head, *rows = self._rows
                self.parts.append(TextTable(head.number, head.cells, tuple(rows)))
            self._text = []
        elif tag in _BLOCKS and not self._tables and not self._listing:
            self.flush()

    def flush(self) -> None:
        """Keep the text that waits as a paragraph."""
        if not self._tables:
            self._keep("prose")

    def _keep(self, kind: str, level: int = 0) -> None:
        text = "".join(self._text)
        self._text = []
        if not text.strip():
            return
        numbered = [(self._number + at, plain_line(line)) for at, line in enumerate(text.split("\n"))]
        if kind == "code":
            self.parts.append(TextBlock("code", tuple(TextLine(*one) for one in numbered)))
            return
        lines = tuple(TextLine(number, " ".join(line.split())) for number, line in numbered if line.strip())
        self.parts.append(TextBlock("heading" if kind == "heading" else "prose", lines, level))

    def _line(self, element: etree._Element) -> int:
        return self._offset + (element.sourceline or 1)
