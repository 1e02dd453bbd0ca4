"""What the reports of several tools are made of: values and how often each occurred, the engine's log of
single requests, numbers with a unit behind them, and what OpenSSL calls the suites of TLS.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from assay.model.measurement import Histogram


class Tally(msgspec.Struct, frozen=True):
    """Distinct values in ascending order, each with its count. `low` and `high` are the extremes seen."""

    counts: Sequence[tuple[int, int]]
    low: int
    high: int

    @classmethod
    def of(cls, values: Iterable[int]) -> Tally:
        """Count plain values."""
        counts = sorted(Counter(values).items())
        return cls(counts, counts[0][0] if counts else 0, counts[-1][0] if counts else 0)

    @property
    def total(self) -> int:
        """How many values there are, equal ones counted."""
        return sum(count for _, count in self.counts)

    @property
    def mean(self) -> float:
        """The arithmetic mean; 0 where there is nothing."""
        total = self.total
        return sum(value * count for value, count in self.counts) / total if total else 0.0

    @property
    def stdev(self) -> float:
        """The standard deviation of the sample (n - 1); 0 with fewer than two values."""
        total = self.total
        if total < 2:
            return 0.0
        mean = self.mean
        return math.sqrt(sum((value - mean) ** 2 * count for value, count in self.counts) / (total - 1))

    def share_within(self, low: float, high: float) -> float:
        """The share of the values in [low, high]; not a number where there is nothing."""
        total = self.total
        inside = sum(count for value, count in self.counts if low <= value <= high)
        return inside / total if total else math.nan

    def at_rank(self, rank: int) -> int:
        """The value at a rank counted from 1, from the smallest; 0 beyond the last."""
        for value, count in self.counts:
            rank -= count
            if rank <= 0:
                return value
        return 0


def tally_us(times: Histogram) -> Tally:
    """The engine's times in whole microseconds.

    The engine keeps three significant digits; its smallest and largest are exact.
    """
    from assay.stats.quantiles import recorded

    low, high = times.min_ns // 1000, times.max_ns // 1000
    counts: Counter[int] = Counter()
    if times.count:
        for time_ns, count in recorded(times):
            counts[min(max(time_ns // 1000, low), high)] += count
    return Tally(sorted(counts.items()), low, high)


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


class Requests(msgspec.Struct, frozen=True, kw_only=True):
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


_FULL = 0.85


class Units(msgspec.Struct, frozen=True):
    """Names of units, each `scale` times the one before it.

    A tool may never reach the last (wrk): then it stands in `names` no more.
    """

    names: Sequence[str]
    scale: float

    def format(self, value: float, precision: int = 2) -> str:
        """`value`, given in the first unit, in the largest unit of which it is 85 % or more."""
        index = 0
        while index + 1 < len(self.names) and value >= _FULL * self.scale:
            value /= self.scale
            index += 1
        return f"{value:.{precision}f}{self.names[index]}"


def cipher(suite: str) -> str:
    """The registry's name of a suite in OpenSSL's spelling."""
    if suite.startswith("TLS13_"):
        return suite.replace("TLS13_", "TLS_")
    text = suite.removeprefix("TLS_").replace("_WITH_", "-")
    text = re.sub(r"AES_(\d+)_", r"AES\1-", text).replace("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305")
    return text.replace("_", "-")
