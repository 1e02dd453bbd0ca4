"""What the searches within a study have found, in one table for each load: each server's capacity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.report import format as fmt
from assay.report.model.rows import Row, Section
from assay.values.estimate import Estimate

HEADS = ("server", "capacity:", "95 % sure:", "of its closed loop:", "trials:", "findings")
"""Of the cells; a head that ends in a colon stands over a column of figures."""

NOTE = "The highest rate at which the objective held, searched by open loops with Poisson arrivals"


def apart(found: Sequence[Section]) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """The sections that stand for themselves, and the searches."""
    searched = tuple(section for section in found if all(row.case.search for row in section.rows))
    return tuple(section for section in found if section not in searched), searched


def tables(searched: Iterable[Section], others: Sequence[Section]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The cells of a table for each search, by its title; `others` hold the closed loops it followed."""
    closed = {row.case.id: row for section in others for row in section.rows}
    return {section.title: tuple(_cells(section.rows, closed)) for section in searched}


def _cells(rows: Iterable[Row], closed: dict[str, Row]) -> Iterator[tuple[str, ...]]:
    for row in sorted(rows, key=lambda row: -(row.throughput.value if row.throughput else 0)):
        assert row.case.search is not None  # `apart` chose it for that
        found, before = row.throughput, closed.get(row.case.search.case)
        of_closed = found.value / before.throughput.value if found and before and before.throughput else None
        yield (
            row.name,
            _found(row),
            _between(found),
            fmt.share(of_closed),
            str(row.trials),
            " ".join(row.codes),
        )


def _found(row: Row) -> str:
    """The capacity, or the bound that is known of it."""
    found = row.throughput
    if row.withheld or found is None:
        return "withheld" if row.withheld else fmt.UNKNOWN
    sign = "at least " if found.high is None else "below " if found.low is None else ""
    return sign + fmt.rate(found.value)


def _between(found: Estimate | None) -> str:
    if found is None or found.low is None or found.high is None:
        return ""
    return f"{fmt.rate(found.low)} to {fmt.rate(found.high)}"
