"""bombardier's figures, true by default, by its own arithmetic if strict; its reports: text and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlunsplit

import msgspec

from assay.dropin.bombardier import golang
from assay.dropin.bombardier.flags import BombardierFlags
from assay.dropin.bombardier.golang import number, quoted
from assay.dropin.reports import Tally, Units, columns, tally_us
from assay.model.measurement import Measurement, Outcome, Window

if TYPE_CHECKING:
    from assay.engine.driver import EngineRun


_MOST_WITHOUT_SPREAD = 2
_TIMEOUT = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
_CLOSED = (
    "the server closed connection before returning the first response byte. Make sure the server returns "
    "'Connection: close' response header before closing the connection"
)
LATENCIES = (0.5, 0.75, 0.9, 0.95, 0.99)


class Stats(msgspec.Struct, frozen=True):
    """Mean, standard deviation and largest of values, and the values below which so many lie."""

    mean: float
    stddev: float
    max: float
    percentiles: dict[float, float]


class BombardierFigures(msgspec.Struct, frozen=True):
    """What bombardier's reports say, before they are written down.

    `latencies_us` are whole µs; `rates_per_s` one value for each 20 ms in which the load went on.
    """

    time_ns: int
    bytes_read: int
    bytes_written: int
    by_class: tuple[int, int, int, int, int]
    other: int
    errors: tuple[tuple[str, int], ...]
    latencies_us: Tally
    exact_latency_us: tuple[float, float]
    rates_per_s: tuple[float, ...]
    ended: int
    strict: bool

    @property
    def throughput(self) -> float:
        """Bytes a second, both ways."""
        return (self.bytes_read + self.bytes_written) / (self.time_ns / 1e9) if self.time_ns else 0.0

    def latency_stats(self, percentiles: Sequence[float] = ()) -> Stats | None:
        """The times in µs; None where there are none."""
        tally = self.latencies_us
        if not tally.total:
            return None
        mean, stddev = self.exact_latency_us
        if self.strict:
            mean = tally.mean
            apart = sum((value - mean) ** 2 for value, _ in tally.counts)
            stddev = math.sqrt(apart / tally.total) if tally.total > _MOST_WITHOUT_SPREAD else 0.0
        found = {share: float(tally.at_rank(self._rank(share, tally.total))) for share in percentiles}
        return Stats(mean, stddev, tally.high, found)

    def rate_stats(self, percentiles: Sequence[float] = ()) -> Stats | None:
        """Requests a second; None where no time passed."""
        rates = sorted(self.rates_per_s)
        if not rates:
            return None
        count = len(rates)
        mean = sum(rates) / count
        spread = sorted(set(rates)) if self.strict else rates
        apart = sum((rate - mean) ** 2 for rate in spread)
        fewest = _MOST_WITHOUT_SPREAD if self.strict else 1
        stddev = math.sqrt(apart / (count - 1)) if count > fewest else 0.0
        if not self.strict:
            mean = self.ended / (self.time_ns / 1e9)
        found = {share: rates[min(self._rank(share, count), count) - 1] for share in percentiles}
        return Stats(mean, stddev, rates[-1], found)

    def _rank(self, share: float, count: int) -> int:
        """Of the smallest value that so many are not above; bombardier rounds it."""
        rank = int(share * count + 0.5) if self.strict else math.ceil(share * count)
        return max(1, rank)


def figures(
    flags: BombardierFlags, measured: Measurement, running: EngineRun, strict: bool
) -> BombardierFigures:
    """The figures of a load that has ended.

    With a rate the times run from the intended start; bombardier's, and the strict ones, from the send. Bytes
    are those on the wire, TLS with its handshakes among them. Strict times of a counted load are those of
    each request, also of those that failed: from before its connection was opened, each in whole µs.
    """
    times = measured.response_time if measured.response_time and not strict else measured.service_time
    classes = [0, 0, 0, 0, 0]
    others = measured.failed
    for status, count in measured.statuses.items():
        if 100 <= int(status) <= 599:
            classes[int(status) // 100 - 1] += count
        else:
            others += count
    first, second, third, fourth, fifth = classes
    bytes_read, bytes_written = running.tls_bytes() or (measured.bytes_read, measured.bytes_written)
    log = columns(running.request_log())
    return BombardierFigures(
        time_ns=measured.measured_ns,
        bytes_read=bytes_read,
        bytes_written=bytes_written,
        by_class=(first, second, third, fourth, fifth),
        other=others,
        errors=errors(flags, measured.outcomes),
        latencies_us=Tally.of(total // 1000 for total in log.total_ns) if len(log) else tally_us(times),
        exact_latency_us=(times.mean_ns / 1000, times.stdev_ns / 1000),
        rates_per_s=rates(measured.windows, strict),
        ended=measured.completed + measured.failed,
        strict=strict,
    )


def rates(windows: Sequence[Window], strict: bool) -> tuple[float, ...]:
    """Requests a second in each window. A last one that was cut short counts in strict mode only."""
    measured = [window for window in windows if window.phase == "measured" and window.length_ns]
    whole = [window for window in measured if window.length_ns == measured[0].length_ns]
    kept = measured if strict else whole
    return tuple((window.completed + window.failed) / (window.length_ns / 1e9) for window in kept)


def undialled(flags: BombardierFlags, reason: str, took_ns: int, strict: bool) -> BombardierFigures:
    """The figures where the URL leads nowhere: every request fails, or one a connection without `-n`."""
    failed = flags.requests if flags.requests is not None else flags.connections
    error = f"{_prefix(flags)}dial tcp: {reason}"
    return BombardierFigures(
        time_ns=took_ns,
        bytes_read=0,
        bytes_written=0,
        by_class=(0, 0, 0, 0, 0),
        other=failed,
        errors=((error, failed),),
        latencies_us=Tally((), 0, 0),
        exact_latency_us=(0.0, 0.0),
        rates_per_s=(failed / (took_ns / 1e9),) if took_ns else (),
        ended=failed,
        strict=strict,
    )


def _prefix(flags: BombardierFlags) -> str:
    """What net/http puts before an error: the method and the URL, without its password."""
    if flags.client == "fasthttp":
        return ""
    user, colon, _ = (flags.credentials or "").partition(":")
    shown = "" if flags.credentials is None else f"{user}:***@" if colon else f"{user}@"
    url = urlunsplit(flags.url._replace(netloc=f"{shown}{flags.url.netloc}"))
    return f"{flags.method.capitalize()} {quoted(url)}: "


def errors(flags: BombardierFlags, outcomes: Sequence[Outcome]) -> tuple[tuple[str, int], ...]:
    """Failures in the words that Go has for them, the most frequent first."""
    is_net_http = flags.client != "fasthttp"
    port = flags.url.port or (443 if flags.url.scheme == "https" else 80)
    host = f"[{flags.url.hostname}]" if ":" in (flags.url.hostname or "") else flags.url.hostname
    dial = f"dial tcp {host}:{port}"
    words = {
        "connect_refused": f"{dial}: connect: connection refused",
        "connect_timeout": "dialing to the given TCP address timed out",
        "unreachable": f"{dial}: connect: no route to host",
        "no_descriptors": f"{dial}: socket: too many open files",
        "no_ports": f"{dial}: connect: cannot assign requested address",
        "timeout": _TIMEOUT if is_net_http else "timeout",
        "reset": f"read tcp {host}:{port}: read: connection reset by peer",
        "closed_early": "unexpected EOF",
        "closed_idle": "EOF" if is_net_http else _CLOSED,
    }
    prefix = _prefix(flags)
    told = (
        (prefix + words.get(outcome.kind, outcome.example or outcome.kind), outcome.count)
        for outcome in outcomes
    )
    return tuple(sorted(told, key=lambda error: -error[1]))


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


def text_report(flags: BombardierFlags, figures: BombardierFigures) -> str:
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


def json_report(flags: BombardierFlags, figures: BombardierFigures) -> str:
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
