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


def columns(log: bytes) -> NDArray[Any]:
    """One row a request, in the order in which they ended; `failure` is 0 where there was none."""
    import numpy as np

    return np.frombuffer(log, dtype=np.dtype(ENTRY))
