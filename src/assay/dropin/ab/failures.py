"""What ab counts as failed: each request once, or by ab's own arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.dropin.request_log import kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.dropin.request_log import Requests

_CONNECT = ("connect_timeout", "unreachable", "no_descriptors", "no_ports", "no_memory", "tls_error")
_RECEIVE = ("connect_refused", "reset", "io_error", "timeout")
_LENGTH = ("closed_early", "closed_idle")
_BROKEN = ("reset", "io_error")


@dataclass(frozen=True)
class Failures:
    """How often something failed, in ab's kinds."""

    connect: int
    receive: int
    length: int
    exceptions: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.connect + self.receive + self.length + self.exceptions


@dataclass(frozen=True)
class AbFailures:
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
