"""Tables of results: rows or columns of figures, found by their headings and the units in their cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from assay.audit.document import Figure, Reported, TextRow, TextTable, is_measured
from assay.audit.headings import A_SECOND, BYTES_A_SECOND, CELL, RATE, UNIT, Heading, bare, heading, put
from assay.audit.interval import NUMBER, is_european
from assay.audit.lexicon import compiled
from assay.audit.names import is_scenario

MOST_COLUMNS = 200
"""Columns of a table that are looked at: no table of results for people has more."""
MOST_ROWS = 2000


class Grid(msgspec.Struct, frozen=True):
    """A table in which results were found: which of its lines are results, for rules about tables."""

    table: TextTable
    results: tuple[Reported, ...]


def results(table: TextTable) -> Grid | None:
    """The results in a table; None where it has none."""
    width = min(len(table.head), MOST_COLUMNS)
    if width < 2 or not table.rows:
        return None
    if width < len(table.head):
        table = TextTable(table.number, table.head[:width], table.rows, table.caption)
    european = any(is_european(cell) for row in table.rows[:200] for cell in row.cells[:width])
    heads = [_by_cells(heading(text), table, at, european) for at, text in enumerate(table.head)]
    heads = _highest(heads)
    by_users = any(head is not None and head.figure == "connections" for head in heads)
    if any(
        head is not None and (_is_result(head, text) or (by_users and head.is_time))
        for head, text in zip(heads[1:], table.head[1:], strict=True)
    ):
        found = tuple(_by_heading(table, heads, european)) or tuple(_rows(table, heads, european))
    else:
        found = (
            tuple(_columns(table, european))
            or tuple(_captioned(table, heads, european))
            or tuple(_unnamed(table, heads, european))
        )
    return Grid(table, found) if found else None


def _highest(heads: list[Heading | None]) -> list[Heading | None]:
    """The highest rates are the rates of a table that tells no others."""
    alone = not any(head is not None and head.figure == "rate" for head in heads)
    kept = Heading("rate", unit=1.0) if alone else None
    return [
        kept and Heading("rate", unit=head.unit) if head is not None and head.figure == "rate_max" else head
        for head in heads
    ]


def _is_result(head: Heading, text: str) -> bool:
    """A rate, or a time that is said to be one of requests: a mean in ms may be anybody's."""
    if head.figure == "rate":
        return True
    return head.is_time and (head.percentile >= 90 or _OF_REQUESTS.search(text) is not None)


_OF_REQUESTS = re.compile(r"latenc|response|request|\brt\b", re.IGNORECASE)


def _by_cells(head: Heading | None, table: TextTable, at: int, european: bool) -> Heading | None:
    """What a column holds where its heading leaves it open: the units in its cells say it."""
    if head is not None and head.figure not in ("throughput", *_LOADS):
        return head
    cells = _column(table, at)
    numbers = [found for cell in cells if (found := CELL.match(cell))]
    if not at and not numbers:
        return None  # "Request" above names of requests
    if head is None and at and (short := bare(table.head[at])) is not None:
        timed = sum(UNIT.match(found["rest"] or "") is not None for found in numbers)
        return short if 2 * timed > len(numbers) or _rated(table) else None
    if at and _mostly(RATE, numbers):
        return Heading("rate", unit=1.0)
    if at and _mostly(BYTES_A_SECOND, numbers):
        return Heading("transfer")
    if head is None or head.figure != "throughput":
        return head
    said = any(re.search(r"[a-zA-Z]{2}|%|/", cell) for cell in cells)
    return Heading("rate", unit=1.0) if _mostly(A_SECOND, numbers) or (numbers and not said) else None


def _column(table: TextTable, at: int) -> list[str]:
    """The first cells of a column, by which it is told what it holds."""
    return [row.cells[at].strip() for row in table.rows[:20] if at < len(row.cells)]


def _mostly(pattern: re.Pattern[str], numbers: list[re.Match[str]]) -> bool:
    return 2 * sum(pattern.search(found[0]) is not None for found in numbers) > len(numbers)


def _rated(table: TextTable) -> bool:
    """Whether some column holds rates, by its heading or, under "throughput", by its cells."""
    figures = [head and head.figure for head in map(heading, table.head)]
    return "rate" in figures or any(
        figure == "throughput" and any(map(A_SECOND.search, _column(table, at)))
        for at, figure in enumerate(figures)
    )


_Cell = tuple[Heading | None, TextRow, int]
"""A cell that may hold a figure: its heading, its row, and its place in it."""


def _read(cells: Iterable[_Cell], european: bool) -> dict[str, Figure]:
    """The figures of cells; of several with one name the first."""
    figures: dict[str, Figure] = {}
    for head, row, at in cells:
        if head is not None and at < len(row.cells):
            put(figures, head, row.cells[at], row.number, european)
    return figures


def _rows(table: TextTable, heads: list[Heading | None], european: bool) -> Iterator[Reported]:
    """A result a row; several where columns tell the same figure of several loads."""
    columns: dict[str, list[int]] = {}
    for place, head in enumerate(heads):
        if head is not None:
            columns.setdefault(head.name, []).append(place)
    turns = max((len(at) for name, at in columns.items() if name in _TURNING), default=1)
    names = [
        at
        for at, head in enumerate(heads)
        if (head is None and not _timed(table, at) and not _INDEX.fullmatch(table.head[at].strip()))
        or (head is not None and head.figure in _NAMING)
    ]
    repeated = next((at for at in columns.values() if len(at) == turns > 1), None)
    compared = [at for at in names if _NAMES.fullmatch(table.head[at].strip())]
    blank = bool(names) and any(row.cells[names[0] : names[0] + 1] == ("",) for row in table.rows)
    # One column of errors or bytes beside two of rates: whose is it?
    shared = [
        at
        for name, at in columns.items()
        if turns == 1 or len(at) == turns or (len(at) == 1 and name in _SHARED)
    ]
    above: dict[int, str] = {}
    for row in table.rows[:MOST_ROWS]:
        if blank:  # a blank cell is the one above it
            above.update({at: row.cells[at] for at in names if at < len(row.cells) and row.cells[at]})
        label = _label(row, compared if blank and compared else names)
        scenario = " ".join(above[at] for at in names if at in above and at not in compared)
        for turn in range(turns):
            own = [at[turn] if len(at) == turns else at[0] for at in shared]
            figures = _read(((heads[at], row, at) for at in own), european)
            if is_measured(figures):
                _beside(figures)
                group = table.head[repeated[turn]] if repeated else scenario if compared else ""
                yield _result(table, label, group, figures)


_INDEX = re.compile(r"\(?index\)?|#|№|no\.?|rank|place|position", re.IGNORECASE)
_NAMING = ("version", "workers")


def _timed(table: TextTable, at: int) -> bool:
    """Whether a column holds times of something else: how long a start or a build takes is no name."""
    cells = _column(table, at)
    found = [cell for cell in map(CELL.match, cells) if cell and UNIT.match(cell["rest"] or "")]
    return at > 0 and len(found) > len(cells) / 2


_SHARED = ("connections", "threads", "workers", "duration", "requests", "offered", "pipelining")


def _beside(figures: dict[str, Figure]) -> None:
    """A column of its own may tell the spread of the rates, as a share or in their unit."""
    spread, rate = figures.pop("spread", None), figures.get("rate")
    if spread is not None and rate is not None:
        share = "%" in spread.quote
        around = rate.value.times(spread.value.middle / 100) if share else spread.value
        figures.setdefault("rate_spread", Figure(around, spread.line, spread.quote))


_FIGURE_WORDS = compiled("tables.figure_words")


def _named_by_heading(table: TextTable, heads: list[Heading | None]) -> dict[str, list[int]]:
    """The columns by what is left of their headings without the words for figures: "Foo" of "Foo RPS"."""
    columns: dict[str, list[int]] = {}
    for at, head in enumerate(heads):
        name = " ".join(_FIGURE_WORDS.sub(" ", table.head[at]).split()).strip(" -:,")
        if at and head is not None and re.search(r"[^\W\d]", name) and not is_scenario(name):
            columns.setdefault(name, []).append(at)
    return columns


def _by_heading(table: TextTable, heads: list[Heading | None], european: bool) -> Iterator[Reported]:
    """Results of a table whose rows are loads and whose headings name both server and figure: "Foo RPS"."""
    load = heads[0] is not None and heads[0].figure in _LOADS
    if not load and not all(is_scenario(row.cells[0]) for row in table.rows[:MOST_ROWS] if row.cells):
        return
    columns = _named_by_heading(table, heads)
    if len(columns) < 2:
        return
    for row in table.rows[:MOST_ROWS]:
        for name, places in columns.items():
            figures = _read(((heads[at], row, at) for at in [*places, *[0] * load]), european)
            if is_measured(figures):
                yield _result(table, name, row.cells[0], figures)


_NO_RESULT = compiled("tables.no_result")
"""Headings of columns beside the results: what was wanted, and what is said of it."""

_TURNING = ("rate", "mean", "time")
"""Figures of which a table may have a column for each load."""


def _by_units(row: TextRow, at: int) -> Heading | None:
    """What a row holds by the cell that names it; "throughput" may be of bytes."""
    head = heading(row.cells[at])
    if head is not None and head.figure == "throughput":
        return Heading("rate", unit=1.0) if any(RATE.search(cell) for cell in row.cells[at + 1 :]) else None
    return head


def _columns(table: TextTable, european: bool) -> Iterator[Reported]:
    """A result a column: the headings are names, and the first cells say what the rows hold.

    Where the second cells say it, the first ones are loads, each with results of its own.
    """
    rows = [row for row in table.rows[:MOST_ROWS] if len(row.cells) > 1]
    told = [sum(heading(row.cells[at]) is not None for row in rows) for at in (0, 1)]
    at = int(told[1] > max(told[0], len(rows) / 2) and len(table.head) > 2)
    by_load: dict[str, list[tuple[TextRow, Heading | None]]] = {}
    for row in rows:
        by_load.setdefault(row.cells[0] if at else "", []).append((row, _by_units(row, at)))
    for load, lines in by_load.items():
        if any(head is not None and _is_result(head, row.cells[at]) for row, head in lines):
            yield from _by_column(table, lines, at, load, european)


def _by_column(
    table: TextTable, lines: list[tuple[TextRow, Heading | None]], key: int, load: str, european: bool
) -> Iterator[Reported]:
    for at, name in enumerate(table.head[key + 1 :], key + 1):
        if not name or heading(name) is not None or _NO_RESULT.search(name):
            continue
        figures = _read(((head, row, at) for row, head in lines), european)
        if is_measured(figures):
            named = [row for row, _ in lines if _NAMES.fullmatch(row.cells[0]) and at < len(row.cells)]
            label = (named[0].cells[at] if named else "") if _VALUE.fullmatch(name) else name
            yield _result(table, label, load, figures)


_VALUE = compiled("tables.value")
"""The heading of a column of values that are all of one thing."""


def _captioned(table: TextTable, heads: list[Heading | None], european: bool) -> Iterator[Reported]:
    """Results of a table whose caption says what all its figures are: names by loads, or loads by names."""
    whole = heading(table.caption) if table.caption else None
    if whole is None or not (whole.figure == "rate" or whole.is_time):
        return
    open_ = [at for at, head in enumerate(heads) if at and (head is None or head.figure in _LOADS)]
    columns = [at for at in open_ if table.head[at]]
    by_row = _NAMES.fullmatch(table.head[0].strip()) or all(is_scenario(table.head[at]) for at in columns)
    for row in table.rows[:MOST_ROWS]:
        for at in columns:
            figures = _read([(whole, row, at)], european)
            if figures:
                name, group = (row.cells[0], table.head[at]) if by_row else (table.head[at], row.cells[0])
                yield _result(table, name[:120], group, figures)


_LOADS = ("connections", "threads", "requests")
_NAMES = compiled("tables.names")
"""First headings of tables whose rows are what is compared."""


def _unnamed(table: TextTable, heads: list[Heading | None], european: bool) -> Iterator[Reported]:
    """Results of a table of names by connections that does not say what its figures are."""
    first, *others = heads
    if first is None or first.figure != "connections" or len(others) < 2 or any(others):
        return
    names = table.head[1:]
    if any(is_scenario(name) or not name for name in names):
        return
    for row in table.rows[:MOST_ROWS]:
        for name, cell in zip(names, row.cells[1:], strict=False):
            figures = _read([(first, row, 0)], european)
            if figures and _PLAIN.fullmatch(cell.strip()):
                yield _result(table, name, row.cells[0], figures)


_PLAIN = re.compile(NUMBER)


def _result(table: TextTable, label: str, group: str, figures: dict[str, Figure]) -> Reported:
    line = next(iter(figures.values())).line
    return Reported(
        tool="table", line=line, last=line, label=label, group=group, figures=figures, table=table.number
    )


def _label(row: TextRow, names: list[int]) -> str:
    cells = [row.cells[at] for at in names if at < len(row.cells)]
    return " ".join(cell for cell in cells if cell)[:120]
