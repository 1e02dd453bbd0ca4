"""What follows the results of a run, as tables: rates, searches, services."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.report.model import capacities, latency, services
from assay.report.model.rows import Section
from assay.report.model.values import Table, plain


def apart(found: Sequence[Section]) -> tuple[tuple[Section, ...], tuple[Table, ...]]:
    """The sections that stand for themselves, and the tables that follow them."""
    measured, searched = capacities.apart(found)
    alone, rated = latency.apart(measured)
    return alone, tuple(_tables(alone, rated, searched))


def _tables(
    alone: Sequence[Section], rated: Sequence[Section], searched: Sequence[Section]
) -> Iterator[Table]:
    for title, rows in latency.by_table(rated).items():
        yield _made("Response time", title, latency.HEADS, latency.cells(rows), latency.note(rows), keys=2)
    for title, lines in capacities.tables(searched, alone).items():
        yield _made("Capacity", title, capacities.HEADS, lines, capacities.NOTE)
    for title, lines in services.tables(alone).items():
        yield _made("Services", title, services.HEADS, lines, services.NOTE)


def _made(
    what: str, title: str, heads: Sequence[str], lines: Iterable[Sequence[str]], note: str, keys: int = 1
) -> Table:
    return plain(f"{what}: {title}" if title else what, heads, lines, note, longest=80, keys=keys)
