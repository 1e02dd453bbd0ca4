"""wrk's report: its lines, their widths and its units."""

from __future__ import annotations

import math
from collections.abc import Callable

from assay.dropin.tally import Tally
from assay.dropin.units import Units
from assay.dropin.wrk.figures import WrkFigures
from assay.dropin.wrk.flags import WrkFlags

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
