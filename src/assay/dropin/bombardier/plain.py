"""bombardier's plain-text report, and its units."""

from __future__ import annotations

from collections.abc import Iterator

from assay.dropin.bombardier import golang
from assay.dropin.bombardier.figures import LATENCIES, BombardierFigures
from assay.dropin.bombardier.flags import BombardierFlags
from assay.dropin.reports import Units

_MICROSECONDS = Units(("us", "ms", "s"), 1000)
_SECONDS = Units(("s", "m", "h"), 60)
_BINARY = Units(("", "KB", "MB", "GB", "TB", "PB"), 1024)


def time_us(value: float) -> str:
    """A time given in µs: "42.00us", "0.85ms", "1.50s", "1.00m"."""
    return _SECONDS.format(value / 1e6) if value >= 1e6 else _MICROSECONDS.format(value)


def binary(value: float) -> str:
    """A number of bytes: "17.36MB"."""
    return _BINARY.format(value)


def intro(flags: BombardierFlags) -> str:
    """The line before the load."""
    whole = golang.duration(flags.duration_ns)
    span = f"for {whole}" if flags.requests is None else f"with {flags.requests} request(s)"
    return f"Bombarding {flags.text} {span} using {flags.connections} connection(s)\n"


def report(flags: BombardierFlags, figures: BombardierFigures) -> str:
    """The statistics."""
    return "\n".join(_lines(flags, figures)) + "\n"


def _lines(flags: BombardierFlags, figures: BombardierFigures) -> Iterator[str]:
    yield f"{'Statistics':>10} {'Avg':>10} {'Stdev':>10} {'Max':>10}"
    rates = figures.rate_stats()
    if rates is None:
        yield "  There wasn't enough data to compute statistics for requests."
    else:
        yield f"  {'Reqs/sec':<10} {rates.mean:10.2f} {rates.stddev:10.2f} {rates.max:10.2f}"
    yield from _latencies(flags, figures)
    first, second, third, fourth, fifth = figures.by_class
    yield "  HTTP codes:"
    yield f"    1xx - {first}, 2xx - {second}, 3xx - {third}, 4xx - {fourth}, 5xx - {fifth}"
    yield f"    others - {figures.other}"
    if figures.errors:
        yield "  Errors:"
        for text, count in figures.errors:
            yield f"    {text:>10} - {count}"
    yield f"  {'Throughput:':<10} {binary(figures.throughput):>10}/s"


def _latencies(flags: BombardierFlags, figures: BombardierFigures) -> Iterator[str]:
    stats = figures.latency_stats(LATENCIES)
    if stats is None:
        yield "  There wasn't enough data to compute statistics for latencies."
        return
    cells = (time_us(value) for value in (stats.mean, stats.stddev, stats.max))
    yield f"  {'Latency':<10} " + " ".join(f"{cell:>10}" for cell in cells)
    if flags.latencies:
        yield "  Latency Distribution"
        for share, value in stats.percentiles.items():
            yield f"     {share * 100:2.0f}% {time_us(value):>10}"
