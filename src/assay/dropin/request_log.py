"""The engine's log of single requests (`EngineRun.request_log`), as columns."""

from __future__ import annotations

import struct
from dataclasses import dataclass

ENTRY = struct.Struct("=5QHB?4x")
"""One request: times of its begin, its connection, first byte and end in ns, the bytes of its body, status,
failure, and whether the connection is kept. In the machine's own byte order, which the engine writes in."""

FAILURES = (
    "connect_refused", "connect_timeout", "unreachable", "reset", "io_error", "closed_early", "closed_idle",
    "timeout", "bad_answer", "tls_error",
)  # fmt: skip
"""The kinds of failure that the log numbers from 1 on, those first that ab's plans can meet.

The numbers are the order of `Failure` in crates/engine/src/record/failure.rs.
"""


def kind(failure: int) -> str:
    """The kind of an entry's failure; "" where there was none, "other" for one that has no name here."""
    if failure == 0:
        return ""
    return FAILURES[failure - 1] if failure <= len(FAILURES) else "other"


@dataclass(frozen=True, kw_only=True)
class Requests:
    """The log's columns: one place a request, in the order in which they ended."""

    begun_ns: list[int]
    connect_ns: list[int]
    first_byte_ns: list[int]
    total_ns: list[int]
    body_bytes: list[int]
    status: list[int]
    failure: list[int]
    keeps_alive: list[int]

    def __len__(self) -> int:
        """How many requests there are."""
        return len(self.begun_ns)


def columns(log: bytes) -> Requests:
    """Read the log; `failure` is 0 where there was none."""
    # Strides of a view make a column of a million requests in milliseconds; unpacking rows takes a second.
    octets = memoryview(log)
    words, halves = octets.cast("Q"), octets.cast("H")
    return Requests(
        begun_ns=words[0::6].tolist(),
        connect_ns=words[1::6].tolist(),
        first_byte_ns=words[2::6].tolist(),
        total_ns=words[3::6].tolist(),
        body_bytes=words[4::6].tolist(),
        status=halves[20::24].tolist(),
        failure=octets[42::48].tolist(),
        keeps_alive=octets[43::48].tolist(),
    )
