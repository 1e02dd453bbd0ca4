"""`Measurement`: what the engine saw. Made by the engine only, never edited.

Written by `make schema` from the structs of `crates/engine`: change those.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from assay.model.plan import Value


class RequestAccounting(Value, frozen=True, kw_only=True):
    """Every request of the whole run: started = completed + failed + in_flight."""

    started: int
    """Begun."""
    completed: int
    """Answered as expected."""
    failed: int
    """Failed."""
    in_flight: int
    """Unanswered when the run ended."""


class Stray(Value, frozen=True, kw_only=True):
    """Bytes that belong to no answer: they came after the end of one, or on a connection that carried
    nothing. The answer counts, the connection is not used again.
    """

    bytes: int = 0
    """How many."""
    connections: int = 0
    """On how many connections; one that was opened again counts again."""
    example: str = ""
    """The first of them."""


Origin: TypeAlias = Literal["generator", "peer", "network", "plan"]
"""Who is to blame.

"generator": we could not: out of descriptors, ports or memory.
"peer": the server did something wrong.
"network": the path between broke, or was never there.
"plan": an expectation of the plan was not met.
"""


class Outcome(Value, frozen=True, kw_only=True):
    """How many requests failed in one way, whose fault it was, and one example."""

    origin: Origin
    """Whose fault it was."""
    kind: str
    """In what way they failed: connect_refused, reset, timeout, unexpected_status, no_ports, and so on."""
    count: int
    """How many."""
    example: str = ""
    """What was seen the first time."""


class Connections(Value, frozen=True, kw_only=True):
    """What became of the connections, over the whole run."""

    asked: int
    """The plan's number."""
    opened: int
    """Opened at least once."""
    answered: int
    """Answered at least one request."""
    reopened: int
    """Opened again after a close."""
    peak: int
    """The most open at one time (the sum of each worker's most)."""
    busy_peak: int | None = None
    """Of an open loop: the most in use at one time of the measured phase, at most: the sum of each
    worker's most, which need not have been at one time. Whether starts had to wait tells
    `waited_starts`.
    """


class Histogram(Value, frozen=True, kw_only=True):
    """Times in nanoseconds, with 3 significant digits. Count, extremes, mean and deviation are exact
    running sums; the slots of `data` are within 0.1 %.
    """

    count: int
    """Number of times recorded."""
    min_ns: int
    """The smallest; 0 when empty."""
    max_ns: int
    """The largest; 0 when empty."""
    mean_ns: float
    """The arithmetic mean."""
    stdev_ns: float
    """The standard deviation (of the population)."""
    unit_ns: int
    """Nanoseconds in one recorded unit."""
    data: str
    """The HdrHistogram V2 compressed encoding, in base64."""


class Http2(Value, frozen=True, kw_only=True):
    """What HTTP/2 has that HTTP/1 has not, in the measured phase."""

    stream_waits: int
    """Requests that waited because the server allows no more streams at once on a connection."""
    stream_wait_ns: int
    """For how long they did, together."""
    streams_allowed: int | None = None
    """The fewest streams that the server allowed at once on a connection, where it said so."""
    window_stalls: int
    """How often the bodies of a connection's requests waited for the server's windows."""
    window_stall_ns: int
    """For how long they did, over all connections."""
    faults: dict[str, int] = {}
    """Connections that the server broke, by stage ("greeting", "open") and code."""
    resets: dict[str, int] = {}
    """Streams that the server ended, by code. REFUSED_STREAM is not among them: see `unprocessed`."""
    going_away: dict[str, int] = {}
    """The server's GOAWAYs, by code."""


class Http3(Value, frozen=True, kw_only=True):
    """What HTTP/3 has that HTTP/1 has not, in the measured phase."""

    handshakes: int
    """Connections that were opened: QUIC's handshake and TLS's are one."""
    stream_limit_waits: int
    """Requests that waited because the server allows no more streams (MAX_STREAMS)."""
    stream_limit_ns: int
    """For how long they did, together."""
    flow_stalls: int
    """How often the bodies of a connection's requests waited for the server's windows."""
    flow_stall_ns: int
    """For how long they did, over all connections."""
    udp_sent: int
    """Datagrams sent."""
    udp_received: int
    """Datagrams received."""
    lost_packets: int
    """Packets sent that were taken for lost, and sent again."""
    goaway: int
    """The server's GOAWAYs."""
    resets: dict[str, int] = {}
    """Streams that the server ended, by code. H3_REQUEST_REJECTED is not among them: see `unprocessed`."""
    lost: dict[str, int] = {}
    """Connections that were lost, by stage ("handshake", "open") and how."""


class RequestFigures(Value, frozen=True, kw_only=True):
    """The requests of one name in the measured phase."""

    name: str
    """`Request.name`, else method and path without a query; "others" stands for all behind the first 64
    names.
    """
    completed: int
    """Requests answered as expected."""
    failed: int
    """Requests failed."""
    statuses: dict[str, int]
    """Answers by status code."""
    failures: dict[str, int]
    """Failed requests by way of failing (`Outcome.kind`)."""
    service_time: Histogram
    """Send to complete answer, of completed requests."""
    response_time: Histogram | None = None
    """Intended start to complete answer, of completed requests (open loop)."""


Phase: TypeAlias = Literal["warmup", "measured"]
"""Whether figures belong to the warm-up or to the measurement.

"warmup": before the measurement.
"measured": the measurement.
"""


class Window(Value, frozen=True, kw_only=True):
    """One slice of the run, summed over the workers."""

    start_ns: int
    """Its start, from the start of the run."""
    length_ns: int
    """Its length; the last of a phase may be shorter than the others."""
    phase: Phase
    """The phase it lies in."""
    started: int
    """Requests started in it."""
    completed: int
    """Requests answered as expected in it."""
    failed: int
    """Requests failed in it."""
    bytes_read: int
    """Bytes received in it."""


class WindowTimes(Value, frozen=True, kw_only=True):
    """The times of the requests that were answered in a window of the measured phase, or in several that
    were put together.
    """

    start_ns: int
    """Its start, from the start of the run."""
    length_ns: int
    """Its length; the last may be shorter than the others."""
    count: int
    """How many."""
    max_ns: int
    """The longest, to within 0.1 %."""
    data: str
    """`Histogram.data` of their times in nanoseconds; empty where there are none."""


class Worker(Value, frozen=True, kw_only=True):
    """What one engine thread did in the measured phase, by its own CPU clock."""

    cpu: int | None
    """The core it is pinned to."""
    wall_ns: int
    """Length of its measured phase."""
    cpu_ns: int
    """CPU time it used."""
    delayed_ns: int | None = None
    """For how long it was ready to run while another had its core; none where the system does not tell."""
    largest_stall_ns: int
    """The longest time its loop did not come round although it was due."""
    completed: int
    """Requests it completed."""
    completed_by_window: tuple[int, ...] = ()
    """Those of each measured window."""


class UnderWay(Value, frozen=True, kw_only=True):
    """The requests that were under way when the run ended."""

    ages: Histogram
    """How long each had been under way by then: since it was sent or, before that, since it was taken."""
    quiet_ns: int
    """How long nothing had been answered by then: since the latest complete answer, right or wrong, or
    since the begin of the measured phase.
    """
    edges_ns: int
    """Their ages together, less how long those had been under way that the measured phase began with."""


class Measurement(Value, frozen=True, kw_only=True):
    """One execution of a plan. `requests`, `connections` and `windows` cover the whole run, all else the
    measured phase, unless it says otherwise. A wrong answer is a failure of origin "plan".
    """

    started_at_unix_ns: int
    """The start of the run, in nanoseconds since 1970."""
    warmup_ns: int
    """Length of the warm-up."""
    measured_ns: int
    """Length of the measured phase."""
    interrupted: bool
    """Whether it was stopped before its end."""
    requests: RequestAccounting
    """The whole run's accounting."""
    started: int
    """Requests begun."""
    completed: int
    """Requests answered as expected."""
    failed: int
    """Requests failed."""
    bytes_read: int
    """Bytes received."""
    bytes_written: int
    """Bytes sent."""
    body_bytes: int
    """Bytes of bodies, without their framing."""
    statuses: dict[str, int]
    """Answers by status code."""
    encodings: dict[str, int]
    """Answers by content coding."""
    http_versions: dict[str, int] = {}
    """Answers by HTTP version."""
    checked: int
    """Answers whose header and body expectations were checked."""
    ended_by_close: int = 0
    """Answers that only the end of their connection ended: whether they were whole cannot be told."""
    resent: int = 0
    """Requests sent again because the server did not process them, each as often as it was."""
    stray: Stray = Stray()
    """Bytes that belong to no answer, those included that came within 20 ms after the end of the run."""
    outcomes: tuple[Outcome, ...]
    """Failed requests by way of failing."""
    connections: Connections
    """The connections."""
    service_time: Histogram
    """Send to complete answer, of completed requests."""
    response_time: Histogram | None
    """Intended start to complete answer, of completed requests (open loop)."""
    send_lag: Histogram | None
    """Actual minus intended start (open loop)."""
    connect_time: Histogram
    """Begin of a connect to its success."""
    handshake_time: Histogram | None = None
    """From there to the end of the TLS handshake."""
    handshakes: dict[str, int] = {}
    """TLS handshakes of the whole run by what was agreed on: version, cipher suite, protocol."""
    first_byte_time: Histogram
    """Send to the first byte of the answer."""
    http2: Http2 | None = None
    """What HTTP/2 has beside, where it was spoken."""
    http3: Http3 | None = None
    """What HTTP/3 has beside, where it was spoken."""
    missed_starts: int
    """Starts that came due and could not be made before the end (open loop)."""
    waited_starts: int | None = None
    """Starts that came due while all connections (of HTTP/2 and HTTP/3: all streams) of their thread were
    in use, and were made later (open loop).
    """
    by_request: tuple[RequestFigures, ...] = ()
    """What each request of a mix came to, in the order of their names; empty where all have one."""
    windows: tuple[Window, ...]
    """The time series."""
    window_times: tuple[WindowTimes, ...] = ()
    """Times over time, of at most 2,048 windows, which are put together two by two until they are so few:
    response times of an open loop, else service times. None of arms that were interleaved.
    """
    workers: tuple[Worker, ...]
    """The engine's own threads."""
    under_way: UnderWay | None = None
    """What was under way at its end; not known of arms that were interleaved, and where a script gave up."""
    engine_version: str
    """The engine's version."""


class RequestSnapshot(Value, frozen=True, kw_only=True):
    """The live view of the requests of one name."""

    name: str
    """As of `RequestFigures`."""
    completed: int
    """Requests answered as expected."""
    failed: int
    """Requests failed."""
    up_to_ns: dict[str, int]
    """As of `Snapshot`."""


class Snapshot(Value, frozen=True, kw_only=True):
    """The live view: totals since the start of the current phase. Workers publish theirs at the end of
    each window, never on the request path.
    """

    phase: Phase
    """The current phase."""
    elapsed_ns: int
    """Time since its start."""
    started: int
    """Requests begun."""
    completed: int
    """Requests answered as expected."""
    failed: int
    """Requests failed."""
    bytes_read: int
    """Bytes received."""
    open_connections: int
    """Connections open now."""
    service_time_p50_ns: int
    """Median service time."""
    service_time_p99_ns: int
    """99th percentile of the service time."""
    service_time_max_ns: int
    """The longest service time."""
    send_lag_p99_ns: int | None = None
    """99th percentile of the send lag (open loop)."""
    up_to_ns: dict[str, int] = {}
    """How many completed requests took at most so many nanoseconds, from 100 microseconds to 10 seconds:
    of an open loop by response time, else by service time.
    """
    by_request: tuple[RequestSnapshot, ...] = ()
    """The same of each request of a mix; empty where all have one name."""
    client_cpu: float
    """CPU the workers used, as a share of their time."""
    windows: tuple[Window, ...]
    """The complete windows of this phase, the latest 1,200 at most."""
