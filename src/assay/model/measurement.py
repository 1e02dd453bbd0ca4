"""`Measurement`: what the engine saw. Made by the engine only, never edited.

The Rust twin is `crates/engine/src/record/measurement.rs`.
"""

from __future__ import annotations

from typing import Literal

from assay.model.plan import Value


class Histogram(Value, frozen=True, kw_only=True):
    """Times in nanoseconds, HdrHistogram with 3 significant digits, 1 µs to 1 h.

    `data` is the HdrHistogram V2 compressed encoding in base64; a recorded value times
    `unit_ns` is nanoseconds. `count`, `min_ns`, `max_ns`, `mean_ns` and `stdev_ns` are the
    engine's own running sums, exact where the buckets are within 0.1 %.
    """

    count: int
    min_ns: int
    max_ns: int
    mean_ns: float
    stdev_ns: float
    unit_ns: int
    data: str


class Window(Value, frozen=True, kw_only=True):
    """One slice of the run, summed over the workers; `start_ns` counts from the first request."""

    start_ns: int
    length_ns: int
    phase: Literal["warmup", "measured"]
    started: int
    completed: int
    failed: int
    bytes_read: int


class Outcome(Value, frozen=True, kw_only=True):
    """How many requests failed in one way, whose fault it was, and one example.

    origin: generator (we could not), peer (the server did wrong), network (the path broke),
    plan (an expectation of the plan was not met).
    kind: connect_refused, connect_timeout, reset, closed_early, timeout, bad_answer,
    unexpected_status, unexpected_header, unexpected_body, no_descriptors, no_ports, ...
    """

    origin: Literal["generator", "peer", "network", "plan"]
    kind: str
    count: int
    example: str = ""


class RequestAccounting(Value, frozen=True, kw_only=True):
    """Every request is accounted for: started = completed + failed + in_flight."""

    started: int
    completed: int
    failed: int
    in_flight: int


class Stray(Value, frozen=True, kw_only=True):
    """Bytes that belong to no answer: after the end of one, or on a connection that carried nothing.

    The answer counts, the connection is not used again. `connections` are those they came on (one that
    was opened again counts again), `example` the first of them.
    """

    bytes: int = 0
    connections: int = 0
    example: str = ""


class Connections(Value, frozen=True, kw_only=True):
    """Of the whole run, warm-up included: `asked` by the plan, `opened` at least once, `answered` at
    least one request; `reopened` counts reconnects after a close, `peak` the most open at one time.

    `busy_peak` is the most in use at one time of the measured phase, at most (open loops only): the
    sum of each thread's most, which need not have been at one time."""

    asked: int
    opened: int
    answered: int
    reopened: int
    peak: int
    busy_peak: int | None = None


class Worker(Value, frozen=True, kw_only=True):
    """What one engine thread did in the measured phase, by its own CPU clock.

    `largest_stall_ns` is the longest time its loop did not come round although it was due.
    `completed_by_window` is its part of the measured windows.
    """

    cpu: int | None
    wall_ns: int
    cpu_ns: int
    largest_stall_ns: int
    completed: int
    completed_by_window: tuple[int, ...] = ()


class UnderWay(Value, frozen=True, kw_only=True):
    """The requests that were under way when the run ended.

    `ages` are how long each had been so by then: since it was sent or, before that, since it was taken.
    `quiet_ns` is how long nothing had been answered by then: since the latest complete answer, right or
    wrong, or since the begin of the measured phase. `edges_ns` is their ages together, less how long those
    had been under way that the measured phase began with.
    """

    ages: Histogram
    quiet_ns: int
    edges_ns: int


class Http2(Value, frozen=True, kw_only=True):
    """What HTTP/2 has that HTTP/1 has not, in the measured phase.

    Requests that waited because the server allows no more streams at once on a connection (`stream_waits`,
    for `stream_wait_ns` together, at the fewest for `streams_allowed`), and how often and how long bodies of
    requests waited for the server's windows (over all connections). `faults` are connections that the server
    broke, by stage ("greeting", "open") and code; `resets` streams that it ended, and `going_away` its
    GOAWAYs, by code.
    """

    stream_waits: int
    stream_wait_ns: int
    streams_allowed: int | None = None
    window_stalls: int
    window_stall_ns: int
    faults: dict[str, int] = {}
    resets: dict[str, int] = {}
    going_away: dict[str, int] = {}


class Http3(Value, frozen=True, kw_only=True):
    """What HTTP/3 has that HTTP/1 has not, in the measured phase.

    `handshakes` are connections opened. Requests that waited because the server allows no more streams
    (`stream_limit_waits`, for `stream_limit_ns` together), and how often and how long bodies of requests
    waited for the server's windows (`flow_stalls`, `flow_stall_ns`, over all connections). `udp_sent` and
    `udp_received` are datagrams, `lost_packets` those sent that were taken for lost and sent again, `goaway`
    the server's GOAWAYs. `resets` are streams that the server ended, by code, and `lost` connections that
    were lost, by stage ("handshake", "open") and how.
    """

    handshakes: int
    stream_limit_waits: int
    stream_limit_ns: int
    flow_stalls: int
    flow_stall_ns: int
    udp_sent: int
    udp_received: int
    lost_packets: int
    goaway: int
    resets: dict[str, int] = {}
    lost: dict[str, int] = {}


class Measurement(Value, frozen=True, kw_only=True):
    """One execution of a `LoadPlan`.

    `requests` and `connections` cover the whole run, warm-up included; every other figure covers the
    measured phase only, unless it says otherwise. `completed` counts answers that met the plan's
    expectation: a wrong answer is a failure of origin `plan`.
    Service time runs from the send to the complete answer; response time, in open loops,
    from the intended start; send lag is actual minus intended start. `handshakes` counts TLS
    handshakes of the whole run by what was agreed on (version, cipher suite, protocol).
    `ended_by_close` counts answers that only the end of their connection ended: whether they were
    whole cannot be told. `resent` counts requests sent again because the server had not processed them,
    each as often as it was. `stray` includes what came within 20 ms after the end of the run.
    `waited_starts` counts starts of an open loop that came due while all connections (of HTTP/2 and HTTP/3:
    all streams) of their thread were in use, and were made later; None where nobody looked. `under_way` is
    None of arms that were interleaved, and where a script gave up.
    """

    started_at_unix_ns: int
    warmup_ns: int
    measured_ns: int
    interrupted: bool
    requests: RequestAccounting
    started: int
    completed: int
    failed: int
    bytes_read: int
    bytes_written: int
    body_bytes: int
    statuses: dict[str, int]
    encodings: dict[str, int]
    http_versions: dict[str, int] = {}
    checked: int
    ended_by_close: int = 0
    resent: int = 0
    stray: Stray = Stray()
    outcomes: tuple[Outcome, ...]
    connections: Connections
    service_time: Histogram
    response_time: Histogram | None
    send_lag: Histogram | None
    connect_time: Histogram
    handshake_time: Histogram | None = None
    handshakes: dict[str, int] = {}
    first_byte_time: Histogram
    http2: Http2 | None = None
    http3: Http3 | None = None
    missed_starts: int
    waited_starts: int | None = None
    windows: tuple[Window, ...]
    workers: tuple[Worker, ...]
    under_way: UnderWay | None = None
    engine_version: str


class Snapshot(Value, frozen=True, kw_only=True):
    """The live view: running totals since the start of the current phase.

    Published by the workers at the end of each window, never on the request path.
    """

    phase: Literal["warmup", "measured"]
    elapsed_ns: int
    started: int
    completed: int
    failed: int
    bytes_read: int
    open_connections: int
    service_time_p50_ns: int
    service_time_p99_ns: int
    service_time_max_ns: int
    send_lag_p99_ns: int | None = None
    client_cpu: float
    windows: tuple[Window, ...]
