"""The engine's log of single requests (`EngineRun.request_log`), as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENTRY = [
    ("begun_ns", "<u8"),
    ("connect_ns", "<u8"),
    ("first_byte_ns", "<u8"),
    ("total_ns", "<u8"),
    ("body_bytes", "<u8"),
    ("status", "<u2"),
    ("failure", "u1"),
    ("keeps_alive", "?"),
    ("_", "V4"),
]
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


def columns(log: bytes) -> NDArray[Any]:
    """One row a request, in the order in which they ended; `failure` is 0 where there was none."""
    import numpy as np

    return np.frombuffer(log, dtype=np.dtype(ENTRY))
