"""What the searches within a study have found, in one table for each load: each server's capacity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.core import format as fmt
from assay.model.estimate import Estimate
from assay.report.model.rows import Row, Section, one_sided, throughput_words

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
        yield (
            row.name,
            throughput_words(row),
            _between(row.throughput),
            _of_closed(row, closed.get(row.case.search.case)),
            str(row.trials),
            " ".join(row.codes),
        )


def _of_closed(row: Row, before: Row | None) -> str:
    """The capacity as a share of its closed loop's throughput, where that is no bound itself."""
    found, whole = row.throughput, before.throughput if before else None
    if found is None or whole is None or (before and before.known and before.known.limits):
        return fmt.UNKNOWN
    return one_sided(found) + fmt.share(found.value / whole.value)


def _between(found: Estimate | None) -> str:
    if found is None or found.low is None or found.high is None:
        return ""
    return f"{fmt.rate(found.low)} to {fmt.rate(found.high)}"
