"""What h2load says while the load goes on, and its report: figures, lines and log."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

import msgspec

from assay.core import console
from assay.dropin.h2load import values
from assay.dropin.h2load.flags import H2loadFlags
from assay.dropin.h2load.values import decimal, octets, time
from assay.dropin.reports import columns, tally_us
from assay.model.measurement import Histogram, Measurement

if TYPE_CHECKING:
    from assay.engine.driver import EngineRun
    from assay.model.measurement import Snapshot


_GROUPS = {
    "X25519": "X25519 253 bits",
    "secp256r1": "ECDH P-256 256 bits",
    "secp384r1": "ECDH P-384 384 bits",
    "secp521r1": "ECDH P-521 521 bits",
}
_STEPS = 10


class H2loadProgress:
    """The lines of one load, in h2load's order. h2load tells of its first thread alone."""

    def __init__(self, flags: H2loadFlags) -> None:
        """Say nothing yet."""
        self._flags = flags
        self._clients, self._requests = flags.shares()[0]
        self._told = 0
        self._running: EngineRun | None = None
        self._agreed = self._measures = False

    def begin(self, running: EngineRun) -> None:
        """Say that the load begins, and how it is dealt to threads."""
        self._running = running
        flags = self._flags
        console.write("starting benchmark...")
        warmup, main = (f"{ns / values.NS_PER_S:g}s" for ns in (flags.warmup_ns, flags.duration_ns))
        timed = (
            f"Timing-based test with {warmup} of warm-up time and {main} of main duration for measurements."
        )
        for index, (clients, requests) in enumerate(flags.shares()):
            what = timed if flags.duration_ns else f"{requests} total requests"
            console.write(f"spawning thread #{index}: {clients} total client(s). {what}")
        if flags.duration_ns:
            self._each("Warm-up started for thread #{}.")
            step = max(1, self._clients // _STEPS)
            for made in range(step, self._clients + 1, step):
                console.write(f"progress: {made * 100 // self._clients}% of clients started")

    def watch(self, snapshot: Snapshot) -> None:
        """Say how far the load has come."""
        if self._flags.duration_ns:
            if snapshot.phase == "measured" and snapshot.completed:
                self._begin_measuring()
        elif self._flags.requests:
            self._advance(snapshot.completed * self._requests // self._flags.requests)
        if snapshot.completed:
            self._agree()

    def end(self, measured: Measurement) -> None:
        """Say what is left to say."""
        if self._flags.socket and not measured.connections.opened:
            # A unix socket fails at once, and h2load tells of each client.
            for _ in range(self._flags.clients):
                console.note("client could not connect to host")
        if measured.connections.opened:
            if self._flags.duration_ns:
                self._begin_measuring()
            if any(outcome.kind == "wrong_protocol" for outcome in measured.outcomes):
                self._disagree()
            elif measured.handshakes or self._flags.where.spoken == "http":
                self._agree(measured)
        if self._flags.duration_ns:
            self._each(
                "Main benchmark duration is over for thread #{0}. Stopping all clients.",
                "Stopped all clients for thread #{0}",
            )
        else:
            self._advance(measured.completed * self._requests // self._flags.requests)

    def _each(self, *lines: str) -> None:
        for index in range(self._flags.threads):
            for line in lines:
                console.write(line.format(index))

    def _begin_measuring(self) -> None:
        if not self._measures:
            self._measures = True
            if self._flags.warmup_ns:
                self._agree()
            self._each(
                "Warm-up phase is over for thread #{0}.",
                "Main benchmark duration is started for thread #{0}.",
            )

    def _agree(self, measured: Measurement | None = None) -> None:
        """Say what TLS and the protocol are, once known: where TLS chose among several, at the end."""
        protocols = self._flags.protocols
        if self._agreed or (len(protocols) > 1 and measured is None):
            return
        self._agreed = True
        is_two = len(protocols) > 1 and measured is not None and "2" in measured.http_versions
        protocol = "h2" if is_two else protocols[-1]
        self._tell_session()
        console.write(f"Application protocol: {protocol}")

    def _disagree(self) -> None:
        """Say of each client that the server picked none of the protocols."""
        self._agreed = True
        self._tell_session()
        for _ in range(self._flags.clients):
            console.write("No protocol negotiated. Fallback behaviour may be activated")
            console.write("No supported protocol was negotiated. Supported protocols were:")
            console.write("\n".join(self._flags.alpn))

    def _tell_session(self) -> None:
        session = self._running.session() if self._running else None
        if session is not None:
            from assay.dropin.reports import cipher

            version, suite, group, _ = session
            console.write(f"TLS Protocol: {version.replace('TLS ', 'TLSv')}\nCipher: {cipher(suite)}")
            console.write(f"Server Temp Key: {_GROUPS.get(group, group)}")

    def _advance(self, done: int) -> None:
        step = max(1, self._requests // _STEPS)
        if done >= step:
            self._agree()
        if not self._agreed:
            return
        while self._told + step <= done:
            self._told += step
            console.write(f"progress: {self._told * 100 // self._requests}% done")


_NEVER_SENT = (
    "connect_refused", "connect_timeout", "unreachable", "tls_error", "no_descriptors", "no_ports",
    "wrong_protocol",
)  # fmt: skip
_TIMEOUTS = ("timeout", "connect_timeout")


class StatisticsRow(msgspec.Struct, frozen=True):
    """A row of the table: extremes, mean and standard deviation, and the percentage within one of the mean.

    Times are in seconds. None is what is not known.
    """

    low: float | None
    high: float | None
    mean: float
    deviation: float | None
    near: float | None


class H2loadFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What h2load's report says, before it is written down."""

    time_s: float
    per_s: float
    bytes_per_s: int
    total: int
    started: int
    done: int
    succeeded: int
    errored: int
    timeouts: int
    classes: tuple[int, int, int, int]
    bytes_read: int
    head_bytes: int
    saved: str
    body_bytes: int
    request_time: StatisticsRow
    connect_time: StatisticsRow
    first_byte_time: StatisticsRow
    rates: StatisticsRow

    @property
    def failed(self) -> int:
        """Those without an answer, and those whose answer says that something is wrong."""
        return self.total - self.succeeded


def figures(flags: H2loadFlags, measured: Measurement, strict: bool) -> H2loadFigures:
    """The figures of a load that has ended.

    With `--rps` the times run from the intended start; h2load's, and the strict ones, from the send.
    """
    counts = {outcome.kind: outcome.count for outcome in measured.outcomes}
    statuses = {int(status): count for status, count in measured.statuses.items()}
    done, timed = measured.completed, flags.duration_ns > 0
    total = done + measured.failed if timed else flags.requests
    times = measured.response_time if measured.response_time and not strict else measured.service_time
    span_s = measured.measured_ns / 1e9
    return H2loadFigures(
        time_s=span_s + (measured.warmup_ns / 1e9 if timed else 0),
        per_s=done / span_s if span_s else 0.0,
        bytes_per_s=int(measured.bytes_read / span_s) if span_s else 0,
        total=total,
        started=measured.started - sum(counts.get(kind, 0) for kind in _NEVER_SENT),
        done=done,
        succeeded=sum(count for status, count in statuses.items() if status < 400),
        errored=total - done,
        timeouts=sum(counts.get(kind, 0) for kind in _TIMEOUTS),
        classes=_classes(statuses),
        bytes_read=measured.bytes_read,
        head_bytes=max(0, measured.bytes_read - measured.body_bytes),
        # How long heads were before HTTP/2 and HTTP/3 shortened them is not kept.
        saved="-" if done and (measured.http2 or measured.http3) else "0.00%",
        body_bytes=measured.body_bytes,
        request_time=_statistics(times),
        connect_time=_statistics(measured.connect_time),
        first_byte_time=_statistics(measured.first_byte_time),
        rates=_rates(flags, measured),
    )


def _classes(statuses: dict[int, int]) -> tuple[int, int, int, int]:
    second, third, fourth, fifth = (
        sum(count for status, count in statuses.items() if status // 100 == first) for first in (2, 3, 4, 5)
    )
    return second, third, fourth, fifth


def _statistics(times: Histogram) -> StatisticsRow:
    # Of the sample, as h2load has it.
    count = times.count
    mean_us = times.mean_ns / 1e3
    deviation_us = times.stdev_ns / 1e3 * (math.sqrt(count / (count - 1)) if count > 1 else 0.0)
    # Times are kept in whole µs: one that the mean lies in is near it.
    near = tally_us(times).share_within(math.floor(mean_us - deviation_us), math.ceil(mean_us + deviation_us))
    return StatisticsRow(
        low=times.min_ns / 1e9,
        high=times.max_ns / 1e9,
        mean=times.mean_ns / 1e9,
        deviation=deviation_us / 1e6,
        near=0.0 if math.isnan(near) else near * 100,
    )


def _rates(flags: H2loadFlags, measured: Measurement) -> StatisticsRow:
    """Requests a second of each client: known where each thread has one; else the mean alone is."""
    span_s = measured.measured_ns / 1e9
    mean = measured.completed / flags.clients / span_s if span_s else 0.0
    if flags.clients > flags.threads:
        return StatisticsRow(None, None, mean, None, None)
    rates = [worker.completed / span_s if span_s else 0.0 for worker in measured.workers]
    apart = sum((rate - mean) ** 2 for rate in rates)
    deviation = math.sqrt(apart / (len(rates) - 1)) if len(rates) > 1 else 0.0
    near = sum(abs(rate - mean) <= deviation for rate in rates) / len(rates)
    return StatisticsRow(min(rates), max(rates), mean, deviation, near * 100)


_UNKNOWN = "-"


def report(found: H2loadFigures) -> str:
    """Everything from "finished in" on."""
    second, third, fourth, fifth = found.classes
    traffic = ", ".join(
        f"{octets(number)}B ({number}) {what}"
        for number, what in (
            (found.bytes_read, "total"),
            (found.head_bytes, f"headers (space savings {found.saved})"),
            (found.body_bytes, "data"),
        )
    )
    return "\n".join(
        (
            "",
            f"finished in {time(found.time_s)}, {decimal(found.per_s)} req/s, {octets(found.bytes_per_s)}B/s",
            f"requests: {found.total} total, {found.started} started, {found.done} done, "
            f"{found.succeeded} succeeded, {found.failed} failed, {found.errored} errored, "
            f"{found.timeouts} timeout",
            f"status codes: {second} 2xx, {third} 3xx, {fourth} 4xx, {fifth} 5xx",
            f"traffic: {traffic}",
            f"{'':<18}{'min':>6}{'max':>12}{'mean':>13}{'sd':>11}{'+/- sd':>14}",
            _row("time for request:", found.request_time, time),
            _row("time for connect:", found.connect_time, time),
            _row("time to 1st byte:", found.first_byte_time, time),
            _row("req/s           :", found.rates, decimal),
        )
    )


def _row(name: str, row: StatisticsRow, form: Callable[[float], str]) -> str:
    numbers = (row.low, row.high, row.mean, row.deviation)
    cells = "  ".join(f"{_UNKNOWN if number is None else form(number):>10}" for number in numbers)
    near = f"{_UNKNOWN:>10}" if row.near is None else f"{decimal(row.near):>9}%"
    return f"{name} {cells}{near}"


def write_log(file: TextIO, log: bytes, started_at_unix_ns: int) -> None:
    """Write each request's start in µs since 1970, its status, -1 where it failed, and its time in µs."""
    table = columns(log)
    for index in range(len(table)):
        sent_ns = started_at_unix_ns + table.begun_ns[index] + table.connect_ns[index]
        status = -1 if table.failure[index] else table.status[index]
        time_us = (table.total_ns[index] - table.connect_ns[index]) // 1000
        file.write(f"{sent_ns // 1000}\t{status}\t{time_us}\n")
