"""The figures of wrk's report, true by default; in strict mode by wrk's own arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.dropin.reports import Tally, tally_us
from assay.model.measurement import Measurement

_CONNECT = ("connect_refused", "connect_timeout", "unreachable", "no_descriptors", "no_ports", "no_memory")
_TIMEOUT = "timeout"
_ENDED = "ended by close"
_NOT_RIGHT = 399


@dataclass(frozen=True)
class Errors:
    """How often something failed, in wrk's kinds. `status` counts answers with a status above 399.

    The engine does not tell a connection that broke while it was written to from one that broke while
    it was read: both are `read`, and `write` is 0.
    """

    connect: int
    read: int
    write: int
    timeout: int
    status: int

    @property
    def on_sockets(self) -> int:
        """All but the statuses."""
        return self.connect + self.read + self.write + self.timeout


@dataclass(frozen=True)
class WrkFigures:
    """What wrk's report says, before it is written down. Times are in µs.

    `latency_us` is the time from the send to the complete answer; with a fixed rate, from the intended
    start. `per_thread` has the answers a second of one thread: a value a thread and 100 ms with answers.
    """

    runtime_us: int
    requests: int
    bytes_read: int
    latency_us: Tally
    latency_mean_us: float
    latency_stdev_us: float
    per_thread: Tally
    errors: Errors


def figures(measured: Measurement, *, connections: int, timeout_us: int, strict: bool) -> WrkFigures:
    """The figures of a load that has ended."""
    times = measured.response_time or measured.service_time
    latency = tally_us(times)
    late = 0
    if strict:
        late = sum(count for value, count in latency.counts if value > timeout_us)
        kept = [(value, count) for value, count in latency.counts if value <= timeout_us]
        latency = Tally(kept, kept[0][0] if kept else 0, kept[-1][0] if kept else 0)
        latency = corrected(latency, measured.completed, measured.measured_ns // 1000, connections)
    population = times.stdev_ns / 1000
    n = times.count
    return WrkFigures(
        runtime_us=measured.measured_ns // 1000,
        requests=measured.completed,
        bytes_read=measured.bytes_read,
        latency_us=latency,
        latency_mean_us=latency.mean if strict else times.mean_ns / 1000,
        latency_stdev_us=latency.stdev if strict or n < 2 else population * math.sqrt(n / (n - 1)),
        per_thread=rates(measured),
        errors=errors(measured, late, strict=strict),
    )


def errors(measured: Measurement, late: int, *, strict: bool) -> Errors:
    """Failures by wrk's kinds. `late` are answers that came after the timeout (strict mode).

    An answer that only the end of its connection ends is complete; for wrk it is an error as well.
    """
    counts = {outcome.kind: outcome.count for outcome in measured.outcomes}
    if strict and measured.ended_by_close:
        counts[_ENDED] = measured.ended_by_close
    return Errors(
        connect=sum(counts.get(kind, 0) for kind in _CONNECT),
        read=sum(n for kind, n in counts.items() if kind != _TIMEOUT and kind not in _CONNECT),
        write=0,
        timeout=counts.get(_TIMEOUT, 0) + late,
        status=sum(n for status, n in measured.statuses.items() if int(status) > _NOT_RIGHT),
    )


def rates(measured: Measurement) -> Tally:
    """Answers a second of each thread: a value for each whole window with answers, as wrk takes it."""
    lengths = [window.length_ns for window in measured.windows if window.phase == "measured"]
    # The last window may be cut short by the end.
    whole = [length_ns for length_ns in lengths if length_ns == lengths[0]]
    each = (samples(whole, worker.completed_by_window) for worker in measured.workers)
    return Tally.of(itertools.chain.from_iterable(each))


def samples(lengths_ns: Sequence[int], completed: Sequence[int]) -> Iterator[int]:
    """The rates a second of one thread: windows without an answer count for the next one that has some."""
    since_ns = 0
    for length_ns, count in zip(lengths_ns, completed, strict=False):
        since_ns += length_ns
        if count:
            yield count * 1_000_000_000 // since_ns
            since_ns = 0


def corrected(latency: Tally, completed: int, runtime_us: int, connections: int) -> Tally:
    """wrk's correction for coordinated omission, in strict mode only: it invents samples.

    A value n of at least twice the mean interval between a connection's answers is taken to have hidden
    answers of n - interval, n - 2 interval, … down to the interval, which are added.
    """
    each = completed // connections
    interval = runtime_us // each if each > 0 else 0
    if interval <= 0:
        return latency
    counts = dict(latency.counts)
    for value, count in latency.counts:
        if value >= 2 * interval:
            for hidden in range(value - interval, interval, -interval):
                counts[hidden] = counts.get(hidden, 0) + count
    return Tally(sorted(counts.items()), latency.low, latency.high)
