"""Jupyter notebooks: JSON of cells, whose Markdown, code and outputs are read as such."""

from __future__ import annotations

import json

from assay.audit.document import TextBlock, TextTable
from assay.audit.reading.markdown import markdown
from assay.audit.reading.text import lines_of
from assay.core.errors import InputError

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
