"""wrk's figures, true by default, by its own arithmetic if strict; its report's lines, widths and units."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from assay.dropin.reports import Tally, Units, tally_us
from assay.dropin.wrk.flags import WrkFlags
from assay.model.measurement import Measurement

if TYPE_CHECKING:
    from assay.model.measurement import Histogram


_CONNECT = ("connect_refused", "connect_timeout", "unreachable", "no_descriptors", "no_ports", "no_memory")
_TIMEOUT = "timeout"
_ENDED = "ended by close"
_NOT_RIGHT = 399


class Errors(msgspec.Struct, frozen=True):
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


class WrkFigures(msgspec.Struct, frozen=True):
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


# wrk never reaches the last unit of its lists, so "h" and "P" are not in them.
_MICROSECONDS = Units(("us", "ms"), 1000)
_SECONDS = Units(("s", "m"), 60)
_METRIC = Units(("", "k", "M", "G", "T"), 1000)
_BINARY = Units(("", "K", "M", "G", "T"), 1024)
_PERCENTILES = (50.0, 75.0, 90.0, 99.0)


def time_us(value: float) -> str:
    """A time: "42.00us", "0.85ms", "1.50s", "1.00m"."""
    return _SECONDS.format(value / 1e6) if value >= 1e6 else _MICROSECONDS.format(value)


def padded(text: str, width: int) -> str:
    """`text` right-aligned so that digits stand under digits, whether a unit of 0, 1 or 2 letters follows.

    What does not fit loses its end, as in wrk.
    """
    blanks = 2 - text[-1:].isalpha() - text[-2:-1].isalpha()
    width -= blanks
    return f"{text[:width]:>{width}}" + " " * blanks


def banner(flags: WrkFlags) -> str:
    """The two lines at the start."""
    span = _SECONDS.format(flags.duration_s, 0)
    return (
        f"Running {span} test @ {flags.text}\n  {flags.threads} threads and {flags.connections} connections\n"
    )


def report(figures: WrkFigures, percentiles: str, strict: bool) -> str:
    """Everything after the banner. `percentiles` is the block that `--latency` asks for, or ""."""
    latency = (figures.latency_us, figures.latency_mean_us, figures.latency_stdev_us)
    requests = (figures.per_thread, figures.per_thread.mean, figures.per_thread.stdev)
    lines = [
        f"  Thread Stats{'Avg':>6}{'Stdev':>11}{'Max':>8}{'+/- Stdev':>12}",
        _row("Latency", *latency, time_us, strict),
        _row("Req/Sec", *requests, _METRIC.format, strict),
    ]
    return "\n".join(lines) + "\n" + percentiles + _summary(figures)


def distribution(latency_us: Tally, strict: bool) -> str:
    """The block that `--latency` adds."""
    lines = ["  Latency Distribution"]
    for percentile in _PERCENTILES:
        value = time_us(percentile_of(latency_us, percentile, strict))
        lines.append(f"{percentile:>7.0f}%{padded(value, 10)}")
    return "\n".join(lines) + "\n"


def percentile_of(tally: Tally, percentile: float, strict: bool) -> int:
    """The value below or at which `percentile` of the values lie; wrk counts half a rank more."""
    rank = percentile / 100 * tally.total
    return tally.at_rank(math.floor(rank + 1) if strict else max(1, math.ceil(rank)))


def _row(
    name: str, tally: Tally, mean: float, stdev: float, form: Callable[[float], str], strict: bool
) -> str:
    near = tally.share_within(mean - stdev, mean + stdev) * 100
    share = f"{near:8.2f}" if not math.isnan(near) else f"{'-nan' if strict else '0.00':>8}"
    cells = padded(form(mean), 8) + padded(form(stdev), 10) + padded(form(tally.high), 9)
    return f"    {name:<10}{cells}{share}%"


def _summary(figures: WrkFigures) -> str:
    runtime_s = figures.runtime_us / 1e6
    errors = figures.errors
    lines = [
        f"  {figures.requests} requests in {time_us(figures.runtime_us)}, "
        f"{_BINARY.format(figures.bytes_read)}B read"
    ]
    if errors.on_sockets:
        lines.append(
            f"  Socket errors: connect {errors.connect}, read {errors.read}, "
            f"write {errors.write}, timeout {errors.timeout}"
        )
    if errors.status:
        lines.append(f"  Non-2xx or 3xx responses: {errors.status}")
    requests_per_s = figures.requests / runtime_s if runtime_s else 0.0
    bytes_per_s = figures.bytes_read / runtime_s if runtime_s else 0.0
    lines.append(f"Requests/sec: {requests_per_s:9.2f}")
    lines.append(f"Transfer/sec: {_BINARY.format(bytes_per_s):>10}B")
    return "\n".join(lines) + "\n"


_OF_SPECTRUM = (50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0)
_BUCKETS, _SUB_BUCKETS = 37, 2048
"""The layout of the engine's histograms: 1 ns to 39 hours with three significant digits."""
_ROW = "{:12.3f} {:12.6f} {:12d} {:12.2f}"
_RECORDED = "Recorded Latency"
_UNCORRECTED = "Uncorrected Latency (measured without taking delayed starts into account)"


def spectra(measured: Measurement, uncorrected: bool) -> str:
    """The times from the intended starts; where asked for, those from the sends behind them."""
    recorded = measured.response_time or measured.service_time
    text = _spectrum(_RECORDED, recorded)
    return text + _spectrum(_UNCORRECTED, measured.service_time) if uncorrected else text


def _spectrum(title: str, times: Histogram) -> str:
    from assay.stats.quantiles import by_rank, spectrum

    lines = [f"  Latency Distribution (HdrHistogram - {title})"]
    for percentile in _OF_SPECTRUM:
        value_us = by_rank(times)(int(percentile / 100 * times.count + 0.5)) / 1e3 if times.count else 0
        lines.append(f"{percentile:7.3f}%{padded(time_us(int(value_us)), 10)}")
    heads = ("Value", "Percentile", "TotalCount", "1/(1-Percentile)")
    lines += ["", "  Detailed Percentile spectrum:", " ".join(f"{head:>12}" for head in heads), ""]
    for time_ns, percent, below in spectrum(times):
        inverse = 100 / (100 - percent) if percent < 100 else math.inf
        lines.append(_ROW.format(time_ns / 1e6, percent / 100, below, inverse))
    lines += [
        f"#[Mean    = {times.mean_ns / 1e6:12.3f}, StdDeviation   = {times.stdev_ns / 1e6:12.3f}]",
        f"#[Max     = {times.max_ns / 1e6:12.3f}, Total count    = {times.count:12d}]",
        f"#[Buckets = {_BUCKETS:12d}, SubBuckets     = {_SUB_BUCKETS:12d}]",
        "-" * 58,
    ]
    return "\n".join(lines) + "\n"
