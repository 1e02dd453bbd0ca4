"""bombardier's JSON: one line, its keys in its order, its numbers as Go writes them."""

from __future__ import annotations

from collections.abc import Iterator

from assay.dropin.bombardier.figures import LATENCIES, BombardierFigures, Stats
from assay.dropin.bombardier.flags import BombardierFlags
from assay.dropin.bombardier.golang import number, quoted


def report(flags: BombardierFlags, figures: BombardierFigures) -> str:
    """The whole object, without a line end.

    By default `latency` ends with two keys of ours, the count of times and the smallest.
    """
    return f'{{"spec":{_object(_spec(flags))},"result":{_object(_result(flags, figures))}}}'


def _object(pairs: Iterator[tuple[str, str]]) -> str:
    return "{" + ",".join(f'"{key}":{value}' for key, value in pairs) + "}"


def _spec(flags: BombardierFlags) -> Iterator[tuple[str, str]]:
    yield "numberOfConnections", str(flags.connections)
    if flags.requests is None:
        yield "testType", '"timed"'
        yield "testDurationSeconds", number(flags.duration_ns / 1e9)
    else:
        yield "testType", '"number-of-requests"'
        yield "numberOfRequests", str(flags.requests)
    yield "method", quoted(flags.method)
    yield "url", quoted(flags.text)
    if flags.headers:
        pairs = (f'{{"key":{quoted(key)},"value":{quoted(value)}}}' for key, value in flags.headers)
        yield "headers", f"[{','.join(pairs)}]"
    if flags.body_file:
        yield "bodyFilePath", quoted(flags.body_file)
    else:
        yield "body", quoted(flags.body)
    if flags.certificate:
        yield "certPath", quoted(flags.certificate)
        yield "keyPath", quoted(flags.key)
    yield "stream", str(flags.stream).lower()
    yield "timeoutSeconds", number(flags.timeout_ns / 1e9)
    yield "client", quoted(flags.client)
    if flags.rate_per_s is not None:
        yield "rate", str(flags.rate_per_s)


def _result(flags: BombardierFlags, figures: BombardierFigures) -> Iterator[tuple[str, str]]:
    yield "bytesRead", str(figures.bytes_read)
    yield "bytesWritten", str(figures.bytes_written)
    yield "timeTakenSeconds", number(figures.time_ns / 1e9)
    for digit, count in enumerate(figures.by_class, start=1):
        yield f"req{digit}xx", str(count)
    yield "others", str(figures.other)
    if figures.errors:
        told = (f'{{"description":{quoted(text)},"count":{count}}}' for text, count in figures.errors)
        yield "errors", f"[{','.join(told)}]"
    # Readers take the key for granted: a load without an answer has it, with nothing in it.
    nothing = Stats(0, 0, 0, dict.fromkeys(LATENCIES, 0.0))
    yield "latency", _object(_latency(figures.latency_stats(LATENCIES) or nothing, flags, figures))
    rates = figures.rate_stats(LATENCIES)
    if rates is not None:
        cells = (f'"{share * 100:.0f}":{value:.6f}' for share, value in rates.percentiles.items())
        percentiles = f'"percentiles":{{{",".join(cells)}}}'
        yield "rps", _object(_moments(rates))[:-1] + "," + percentiles + "}"


def _moments(stats: Stats) -> Iterator[tuple[str, str]]:
    yield "mean", number(stats.mean)
    yield "stddev", number(stats.stddev)
    yield "max", number(stats.max)


def _latency(stats: Stats, flags: BombardierFlags, figures: BombardierFigures) -> Iterator[tuple[str, str]]:
    yield from _moments(stats)
    if flags.latencies:
        cells = (f'"{share * 100:.0f}":{value:.0f}' for share, value in stats.percentiles.items())
        yield "percentiles", f"{{{','.join(cells)}}}"
    if not figures.strict:
        yield "count", str(figures.latencies_us.total)
        yield "min", str(figures.latencies_us.low)
