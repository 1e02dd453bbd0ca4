"""What follows the results of a run, as tables that every output shows alike: rates, searches, services."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.report.model import capacities, latency, services
from assay.report.model.rows import Section


@dataclass(frozen=True)
class Follower:
    """A table about one workload and load. A head that ends in a colon stands over a column of figures."""

    title: str
    note: str
    heads: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def apart(found: Sequence[Section]) -> tuple[tuple[Section, ...], tuple[Follower, ...]]:
    """The sections that stand for themselves, and the tables that follow them."""
    measured, searched = capacities.apart(found)
    alone, rated = latency.apart(measured)
    tables = (
        *_made("Response time", latency.NOTE, latency.HEADS, latency.tables(rated)),
        *_made("Capacity", capacities.NOTE, capacities.HEADS, capacities.tables(searched, alone)),
        *_made("Services", services.NOTE, services.HEADS, services.tables(alone)),
    )
    return alone, tables


def _made(
    what: str, note: str, heads: tuple[str, ...], tables: Mapping[str, tuple[tuple[str, ...], ...]]
) -> Iterator[Follower]:
    for title, lines in tables.items():
        yield Follower(f"{what}: {title}" if title else what, note, heads, lines)
