"""What follows the results of a run, as tables: rates, searches, services."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.report.model import capacities, latency, services
from assay.report.model.rows import Section
from assay.report.model.values import Table, plain

Cells = tuple[tuple[str, ...], ...]


def apart(found: Sequence[Section]) -> tuple[tuple[Section, ...], tuple[Table, ...]]:
    """The sections that stand for themselves, and the tables that follow them."""
    measured, searched = capacities.apart(found)
    alone, rated = latency.apart(measured)
    tables = (
        *_made("Response time", latency.NOTE, latency.HEADS, latency.tables(rated)),
        *_made("Capacity", capacities.NOTE, capacities.HEADS, capacities.tables(searched, alone)),
        *_made("Services", services.NOTE, services.HEADS, services.tables(alone)),
    )
    return alone, tables


def _made(what: str, note: str, heads: Sequence[str], tables: Mapping[str, Cells]) -> Iterator[Table]:
    for title, lines in tables.items():
        yield plain(f"{what}: {title}" if title else what, heads, lines, note, longest=80)
