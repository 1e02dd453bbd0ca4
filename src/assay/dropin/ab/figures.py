"""The figures of ab's report from the log of its requests, true by default; by ab's arithmetic if strict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.dropin.ab.books import Failures, books, books_of_ab
from assay.dropin.ab.requests import columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.values.measurement import Measurement

    Times = NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """One row of "Connection Times". Times in µs; `minimum`, `mean`, `median`, `maximum` whole."""

    label: str
    name: str
    minimum: int
    mean: int
    deviation: float
    median: int
    maximum: int


@dataclass(frozen=True)
class Figures:
    """What ab's report says, before it is written down.

    `done` are requests that ended, well or not. `totals_us` are their times in ascending order.
    """

    done: int
    time_s: float
    failures: Failures
    not_2xx: int
    kept_alive: int
    document_bytes: int
    bytes_read: int
    bytes_written: int
    body_bytes: int
    rows: tuple[Row, ...]
    totals_us: Times
    strict: bool

    def percentile_us(self, percentile: int) -> int:
        """The time within which so many percent of the requests ended.

        The smallest time that so many are not above; ab takes the element after it.
        """
        floor, ceiling = self.done * percentile // 100, -(-self.done * percentile // 100)
        rank = floor if self.strict else max(0, ceiling - 1)
        return int(self.totals_us[min(rank, self.done - 1)])

    def row_of_csv_us(self, percentile: int) -> int:
        """The same for the CSV file, where ab rounds the element's number."""
        rank = int(0.5 + self.done * percentile / 100)
        return (
            int(self.totals_us[min(rank, self.done - 1)]) if self.strict else self.percentile_us(percentile)
        )


def figures(measured: Measurement, log: bytes, *, variable_length: bool, tls: bool, strict: bool) -> Figures:
    """The figures of a load that has ended."""
    table = columns(log)
    good = table[table["failure"] == 0]
    if strict:
        kept = books_of_ab(table, variable_length=variable_length, tls=tls)
    else:
        counts = {outcome.kind: outcome.count for outcome in measured.outcomes}
        kept = books(table, counts, variable_length=variable_length)
    times = times_us(table)
    # To ab, an answer that breaks off after its head has its status all the same.
    statuses = table["status"][table["status"] > 0] if strict else good["status"]
    return Figures(
        done=len(table),
        time_s=measured.measured_ns / 1e9,
        failures=kept.failures,
        not_2xx=int(np.count_nonzero((statuses < 200) | (statuses > 299))),
        kept_alive=int(np.count_nonzero(good["keeps_alive"])),
        document_bytes=kept.document_bytes,
        bytes_read=measured.bytes_read,
        bytes_written=measured.bytes_written,
        body_bytes=measured.body_bytes,
        rows=tuple(row(label, name, times[label], strict) for label, name in _ROWS) if len(table) else (),
        totals_us=np.sort(times["Total"]),
        strict=strict,
    )


_ROWS = (
    ("Connect", "initial connection time"),
    ("Processing", "processing time"),
    ("Waiting", "waiting time"),
    ("Total", "total time"),
)


def times_us(table: NDArray[Any]) -> dict[str, Times]:
    """The times of each request in whole µs, by the label of their row."""
    total = (table["total_ns"] // 1000).astype(np.int64)
    connect = (table["connect_ns"] // 1000).astype(np.int64)
    waiting = (table["first_byte_ns"] // 1000).astype(np.int64)
    return {"Connect": connect, "Processing": total - connect, "Waiting": waiting, "Total": total}


def row(label: str, name: str, times: Times, strict: bool) -> Row:
    """One row. ab takes the middle of an odd number of times for an even one's, and the other way round."""
    ordered = np.sort(times)
    count, middle = len(ordered), len(ordered) // 2
    takes_two = (count % 2 == 1 and count > 1) if strict else count % 2 == 0
    other = middle + 1 if strict else middle - 1
    median = (ordered[middle] + ordered[other]) // 2 if takes_two else ordered[middle]
    # In floating point, as ab does: a sum of squares would overflow whole numbers.
    apart = ordered.astype(float) - float(ordered.sum() / count)
    deviation = float(np.sqrt(np.sum(apart**2) / (count - 1))) if count > 1 else 0.0
    mean = int(ordered.sum()) // count
    return Row(label, name, int(ordered[0]), mean, deviation, int(median), int(ordered[-1]))
