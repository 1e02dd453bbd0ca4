"""The figures of ab's report from the log of its requests, true by default; by ab's arithmetic if strict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from assay.dropin.reports import Requests, columns, kind

if TYPE_CHECKING:
    from assay.model.measurement import Measurement


_CONNECT = ("connect_timeout", "unreachable", "no_descriptors", "no_ports", "no_memory", "tls_error")
_RECEIVE = ("connect_refused", "reset", "io_error", "timeout")
_LENGTH = ("closed_early", "closed_idle")
_BROKEN = ("reset", "io_error")


class Failures(msgspec.Struct, frozen=True):
    """How often something failed, in ab's kinds."""

    connect: int
    receive: int
    length: int
    exceptions: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.connect + self.receive + self.length + self.exceptions


class AbFailures(msgspec.Struct, frozen=True):
    """The failures, and the length in bytes that every document should have."""

    failures: Failures
    document_bytes: int


def count_failures(table: Requests, outcomes: Mapping[str, int], *, variable_length: bool) -> AbFailures:
    """Count each failed request once. The first document that is complete sets the length."""
    lengths = [
        length for length, failure in zip(table.body_bytes, table.failure, strict=True) if failure == 0
    ]
    document_bytes = lengths[0] if lengths else 0
    differing = 0 if variable_length else len(lengths) - lengths.count(document_bytes)
    known = (*_CONNECT, *_RECEIVE, *_LENGTH)
    failures = Failures(
        connect=sum(outcomes.get(kind, 0) for kind in _CONNECT),
        receive=sum(outcomes.get(kind, 0) for kind in _RECEIVE),
        length=differing + sum(outcomes.get(kind, 0) for kind in _LENGTH),
        exceptions=sum(count for kind, count in outcomes.items() if kind not in known),
    )
    return AbFailures(failures, document_bytes)


def failures_of_ab(table: Requests, *, variable_length: bool, tls: bool) -> AbFailures:
    """Keep the accounting as ab keeps them (`close_connection` and the loop around it in httpd's ab.c).

    An answer that ends early is a document like any other. A connection that breaks is counted when
    ab reads from it and again when it is told of the error, and its document, as far as it came, is
    held against the length. The length is that of whatever ends while one answer, exactly, is good:
    so a break right after the first answer sets it anew. A refused connection is tried again at once
    and both attempts are read, with one error. Over TLS, reading counts nothing.
    """
    good = document_bytes = length = broken = refused = 0
    for failure, body_bytes in zip(table.failure, table.body_bytes, strict=True):
        what = kind(failure)
        if what in _BROKEN:
            broken += 1
        elif what == "connect_refused":
            refused += 1
        elif what != "tls_error":
            good += 1
        if good == 1:
            document_bytes = body_bytes
        elif body_bytes != document_bytes and not variable_length:
            length += 1
    told = (refused + 1) // 2
    if tls:
        return AbFailures(Failures(0, 0, length, told), document_bytes)
    return AbFailures(Failures(0, broken + 2 * told, length, broken + told), document_bytes)


class TimesRow(msgspec.Struct, frozen=True):
    """One row of "Connection Times". Times in µs; `minimum`, `mean`, `median`, `maximum` whole."""

    label: str
    name: str
    minimum: int
    mean: int
    deviation: float
    median: int
    maximum: int


class AbFigures(msgspec.Struct, frozen=True):
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
    rows: tuple[TimesRow, ...]
    totals_us: list[int]
    strict: bool

    def percentile_us(self, percentile: int) -> int:
        """The time within which so many percent of the requests ended.

        The smallest time that so many are not above; ab takes the element after it.
        """
        floor, ceiling = self.done * percentile // 100, -(-self.done * percentile // 100)
        rank = floor if self.strict else max(0, ceiling - 1)
        return self.totals_us[min(rank, self.done - 1)]

    def row_of_csv_us(self, percentile: int) -> int:
        """The same for the CSV file, where ab rounds the element's number."""
        rank = int(0.5 + self.done * percentile / 100)
        return self.totals_us[min(rank, self.done - 1)] if self.strict else self.percentile_us(percentile)


def figures(
    measured: Measurement, log: bytes, *, variable_length: bool, tls: bool, strict: bool
) -> AbFigures:
    """The figures of a load that has ended."""
    table = columns(log)
    if strict:
        kept = failures_of_ab(table, variable_length=variable_length, tls=tls)
    else:
        counts = {outcome.kind: outcome.count for outcome in measured.outcomes}
        kept = count_failures(table, counts, variable_length=variable_length)
    times = times_us(table)
    # To ab, an answer that breaks off after its head has its status all the same.
    failed = table.failure if not strict else [status == 0 for status in table.status]
    statuses = [status for status, fails in zip(table.status, failed, strict=True) if not fails]
    kept_alive = sum(
        keeps for keeps, failure in zip(table.keeps_alive, table.failure, strict=True) if not failure
    )
    return AbFigures(
        done=len(table),
        time_s=measured.measured_ns / 1e9,
        failures=kept.failures,
        not_2xx=sum(not 200 <= status <= 299 for status in statuses),
        kept_alive=kept_alive,
        document_bytes=kept.document_bytes,
        bytes_read=measured.bytes_read,
        bytes_written=measured.bytes_written,
        body_bytes=measured.body_bytes,
        rows=tuple(row(label, name, times[label], strict) for label, name in _ROWS) if len(table) else (),
        totals_us=sorted(times["Total"]),
        strict=strict,
    )


_ROWS = (
    ("Connect", "initial connection time"),
    ("Processing", "processing time"),
    ("Waiting", "waiting time"),
    ("Total", "total time"),
)


def times_us(table: Requests) -> dict[str, list[int]]:
    """The times of each request in whole µs, by the label of their row."""
    total, connect, waiting = (
        [time // 1000 for time in times] for times in (table.total_ns, table.connect_ns, table.first_byte_ns)
    )
    processing = [whole - part for whole, part in zip(total, connect, strict=True)]
    return {"Connect": connect, "Processing": processing, "Waiting": waiting, "Total": total}


def row(label: str, name: str, times: Sequence[int], strict: bool) -> TimesRow:
    """One row. ab takes the middle of an odd number of times for an even one's, and the other way round."""
    ordered = sorted(times)
    count, middle = len(ordered), len(ordered) // 2
    takes_two = (count % 2 == 1 and count > 1) if strict else count % 2 == 0
    other = middle + 1 if strict else middle - 1
    median = (ordered[middle] + ordered[other]) // 2 if takes_two else ordered[middle]
    whole = sum(ordered)
    centre = whole / count
    squares = sum((time - centre) ** 2 for time in ordered)
    deviation = math.sqrt(squares / (count - 1)) if count > 1 else 0.0
    return TimesRow(label, name, ordered[0], whole // count, deviation, median, ordered[-1])
