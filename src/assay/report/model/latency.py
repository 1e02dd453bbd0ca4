"""The open loops that follow a closed one, in one table: what a user waits at shares of each capacity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.core import format as fmt
from assay.model.estimate import Estimate
from assay.report.model.rows import (
    Row,
    Section,
    response_words,
    service_words,
    throughput_words,
    times_limited,
)

HEADS = ("server", "load", "rate:", "p50:", "p99:", "95 %", "service p99:", "findings")
"""Of `cells`; a head that ends in a colon stands over a column of figures."""

_NOTE = "Open loop, Poisson arrivals: p50 and p99 are response time, from the intended start of each request"


_TELLING = 100.0
"""The ratio of its ends up to which an interval is shown."""


def apart(found: Sequence[Section]) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """The sections that stand for themselves, and those whose rates the run found."""
    rated = tuple(section for section in found if all(row.case.rate for row in section.rows))
    return tuple(section for section in found if section not in rated), rated


def by_table(rated: Iterable[Section]) -> dict[str, list[Row]]:
    """The rows for each closed load and workload that open loops follow, by the title of their table."""
    found: dict[str, list[Row]] = {}
    for section in rated:
        for row in section.rows:
            assert row.case.rate is not None  # `apart` chose it for that
            found.setdefault(f"{row.case.workload}, {row.case.rate.load}", []).append(row)
    return found


def note(rows: Iterable[Row]) -> str:
    """How to read a table of these rows."""
    limited = times_limited(rows)
    return f"{_NOTE}; {limited}" if limited else _NOTE


def cells(rows: Iterable[Row]) -> Iterable[tuple[str, ...]]:
    """A line for each server and rate: the servers in their order, their rates rising."""
    listed = list(rows)
    names = list(dict.fromkeys(row.name for row in listed))
    for row in sorted(listed, key=lambda row: names.index(row.name)):
        yield (
            row.name,
            _load(row),
            throughput_words(row),
            *response_words(row),
            "" if row.times.limits else _interval(row.response_p99_ns),
            service_words(row)[1],
            " ".join(row.codes),
        )


def _load(row: Row) -> str:
    rate = row.case.rate
    return fmt.share(rate.share, exact=True) if rate and not rate.common else "common"


def _interval(estimate: Estimate | None) -> str:
    """Of a tail over few trials, which may reach over orders of magnitude: then it says nothing."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    if estimate.high > _TELLING * estimate.low:
        return fmt.WIDE
    return f"{fmt.time(estimate.low)} to {fmt.time(estimate.high)}"
