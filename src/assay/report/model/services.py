"""What databases, caches and upstreams took beside each server: apart from the server's own share."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core import format as fmt
from assay.report.model.rows import Section

HEADS = ("server", "service", "CPU:", "memory:", "version")
"""Of `tables`; a head that ends in a colon stands over a column of figures."""

NOTE = (
    "CPU is the share of the servers' cores that the service took while the row was measured; "
    "memory is the most at the end of any trial, with pages that its processes share in proportion "
    "(* where they are counted for each)"
)


def tables(found: Iterable[Section]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The lines of each section whose servers used services, by its title."""
    made = {section.title: tuple(_lines(section)) for section in found}
    return {title: lines for title, lines in made.items() if lines}


def _lines(section: Section) -> Iterable[tuple[str, ...]]:
    for row in (*section.candidates, *section.shown_apart):
        for used in row.services:
            memory = fmt.size(used.memory_bytes) + ("" if used.pages_shared_out else " *")
            yield row.name, used.name, fmt.share(used.cpu_share), memory, used.version
