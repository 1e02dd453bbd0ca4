"""Values separated by commas, semicolons or tabs: one table."""

from __future__ import annotations

import csv
import io

from assay.audit.document import TextBlock, TextRow, TextTable
from assay.audit.reading.text import plain_line

MOST_ROWS = 10_000
"""Rows that are read: a table of results has hundreds."""


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
