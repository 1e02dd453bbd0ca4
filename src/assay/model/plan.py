"""`LoadPlan`: what the engine is asked to do. The only way into the engine.

The same shapes exist in Rust (`crates/engine/src/plan.rs`), which validates what a type
cannot say (a rate above zero, a request without a path, ...); a test round-trips every
variant through both.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all stored values: immutable, keyword-only, strict about unknown keys.

    Each value repeats `frozen` and `kw_only`: msgspec does not hand `kw_only` down, and type
    checkers read both from the class itself.
    """


Http: TypeAlias = Literal["1", "2", "3", "auto"]
"""Which HTTP is spoken."""

# --- what is sent ---------------------------------------------------------------------


class BodyEquals(Value, frozen=True, kw_only=True, tag="equals", tag_field="kind"):
    """The decoded body is exactly `text`."""

    text: str


class BodyOneOf(Value, frozen=True, kw_only=True, tag="one_of", tag_field="kind"):
    """The decoded body is exactly one of `texts`."""

    texts: tuple[str, ...]


class BodyMatches(Value, frozen=True, kw_only=True, tag="matches", tag_field="kind"):
    """The regular expression `pattern` is found in the body (Rust `regex` syntax)."""

    pattern: str


class BodyLength(Value, frozen=True, kw_only=True, tag="length", tag_field="kind"):
    """The decoded body is exactly `bytes` long."""

    bytes: int


class HeaderExpected(Value, frozen=True, kw_only=True):
    """Header `name` (any case) is present and, when given, its value is found by `pattern`."""

    name: str
    pattern: str | None = None


class Expect(Value, frozen=True, kw_only=True):
    """What a right answer to a request is.

    `status` is checked on every answer; headers and body on every `check_every`-th answer
    of each worker (1 checks all of them).
    """

    status: tuple[int, ...] = ()
    headers: tuple[HeaderExpected, ...] = ()
    body: BodyEquals | BodyOneOf | BodyMatches | BodyLength | None = None
    check_every: int = 1


class FormPart(Value, frozen=True, kw_only=True):
    """One field of a multipart form: `text`, or a `file` sent as `file_name` (its own name otherwise).

    `content_type` is the part's; a file's is application/octet-stream otherwise.
    """

    name: str
    text: str | None = None
    file: str | None = None
    file_name: str | None = None
    content_type: str | None = None


class Request(Value, frozen=True, kw_only=True):
    """One request of the plan. `target` is the request target as sent (path and query).

    `head` is the whole head, byte for byte, without its empty line: then method, target and
    headers do not go into it, and nothing is added.

    The body is `body`, what `body_file` holds, or the multipart `form`.
    `chunk_bytes` sends the body in chunks of that size. `templated` replaces `{counter}`
    (different in every request of the run), `{random:1-100}` and `{uuid}` in target, header
    values and body, anew for each request.
    """

    method: str = "GET"
    target: str = "/"
    headers: tuple[tuple[str, str], ...] = ()
    head: str | None = None
    body: str | None = None
    body_file: str | None = None
    form: tuple[FormPart, ...] = ()
    chunk_bytes: int | None = None
    templated: bool = False
    weight: int = 1
    expect: Expect | None = None


# --- how it is offered ----------------------------------------------------------------


class Closed(Value, frozen=True, kw_only=True, tag="closed", tag_field="kind"):
    """`connections` connections; a completion triggers that connection's next request."""

    connections: int
    think_time_ns: int = 0


class Stage(Value, frozen=True, kw_only=True):
    """`duration_ns` during which the intended rate moves linearly between two rates."""

    duration_ns: int
    from_per_s: float
    to_per_s: float


class Open(Value, frozen=True, kw_only=True, tag="open", tag_field="kind"):
    """Arrivals that never wait for answers, on at most `max_connections` connections."""

    stages: tuple[Stage, ...]
    max_connections: int
    arrivals: Literal["constant", "poisson"] = "constant"
    pacer: Literal["spin", "sleep"] = "spin"


class StopAfter(Value, frozen=True, kw_only=True, tag="duration", tag_field="kind"):
    """Measure for `ns` nanoseconds, counted from the end of the warm-up."""

    ns: int


class StopAtCount(Value, frozen=True, kw_only=True, tag="requests", tag_field="kind"):
    """Measure `count` requests, counted from the end of the warm-up; fewer once `within_ns` is up."""

    count: int
    within_ns: int | None = None


class Tls(Value, frozen=True, kw_only=True):
    """How an `https` URL is spoken to. Files are PEM; `ca_file` replaces the system's authorities.

    `server_name` is asked for (SNI) and checked instead of the URL's host; without `asks_for_name`
    nothing is asked for. `insecure` accepts any certificate; `resumption` resumes sessions on later
    connections.
    """

    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    server_name: str | None = None
    asks_for_name: bool = True
    alpn: tuple[str, ...] = ("http/1.1",)
    versions: tuple[Literal["1.2", "1.3"], ...] = ("1.2", "1.3")
    insecure: bool = False
    resumption: bool = True


class Part(Value, frozen=True, kw_only=True):
    """Which of a plan's workers run in one process, where others run elsewhere, and from which instant on.

    The plan stays that of the whole load: connections, rates, counts and seeds are dealt to all `threads`
    of it, wherever they run. `starts_at_unix_ns` is by the clock of the machine that executes the part;
    an instant that is over means at once.
    """

    first_worker: int
    workers: int
    starts_at_unix_ns: int = 0


class LoadPlan(Value, frozen=True, kw_only=True):
    """One load, complete: where, what, how, for how long, from which cores.

    `url` gives scheme, host and port; its path is not used (see `Request.target`).
    `http+unix://` and a percent-encoded path name a unix socket. `addresses` (`ip`, `ip:port` or
    `unix:/path`) are used round robin instead of resolving the host, whose addresses are of
    `address_family`; `source_addresses` to connect from. `connections_per_s` opens the first
    connections at that rate instead of all at once. `proxy` is `http://host:port`. `redirects` are
    followed within the URL's scheme, host and port, as part of their request.
    `resend` sends requests again that the protocol says were not processed: streams refused or beyond a
    GOAWAY and, over HTTP/1, requests of idempotent methods behind an announced close, or on a connection
    that ended between two answers. Each is one request still, whose times begin with its first send.
    `http` is which HTTP is spoken: "2" by ALPN over TLS and by prior knowledge without, "3" over QUIC on
    UDP (an `https` URL), "auto" which of "1" and "2" a server behind TLS picks when it is asked once before
    the run (without TLS: "1"). A connection of HTTP/2 or HTTP/3 carries `streams` requests at once, each of
    which begins as a completion or an arrival says: it has as many places as HTTP/1 has connections.
    `tls.alpn` is what HTTP/1 offers.
    With the order "per_connection" each connection is a client of its own: it sends the requests from the
    first on, has its part of a count, and takes its slice where starts have times of their own.
    An open loop warms up at the rate its first stage begins with; its stages begin with the
    measured phase, and the last rate holds until the stop. Its rates are of requests: with `pipeline`,
    so many start together, as much less often.
    A connection that failed is tried again: after the first failure at once, after more in a row when
    1 ms is over, doubled each time, at most `retry_wait_max_ns` (0 never waits). `ends_unreached` ends
    the run where every attempt to connect fails and none ever succeeded.
    `request_log` writes down each request of a counted run ("answers": with the heads of all answers,
    not of the first alone). `ends_on` are kinds of failure (`Outcome.kind`) that end the run the first
    time one is seen. `held_body_bytes` bounds the memory of all bodies that come in pieces and are
    checked (one beyond it counts as wrong). `socket_buffer_bytes` sizes the kernel's buffers of a
    connection.

    `warmup_max_ns` = 0 measures from the first request. Otherwise the run starts in its
    warm-up phase and stays there until `Run.begin_measuring()` is called or the bound is
    reached; the phases follow each other without a gap in the load.

    `part` is set on what a generator among several is told; the plan in a record is that of the whole.
    """

    url: str
    requests: tuple[Request, ...] = (Request(),)
    request_order: Literal["sequential", "random", "per_connection"] = "sequential"
    load: Closed | Open
    stop: StopAfter | StopAtCount
    warmup_max_ns: int = 0
    threads: int = 1
    cpus: tuple[int, ...] = ()
    timeout_ns: int = 5_000_000_000
    window_ns: int = 100_000_000
    keep_alive: bool = True
    http_version: Literal["1.1", "1.0"] = "1.1"
    http: Http = "1"
    streams: int = 1
    pipeline: int = 1
    requests_per_connection: int | None = None
    addresses: tuple[str, ...] = ()
    address_family: Literal["any", "ipv4", "ipv6"] = "any"
    source_addresses: tuple[str, ...] = ()
    connections_per_s: float | None = None
    proxy: str | None = None
    cookies: bool = False
    redirects: int = 0
    resend: bool = False
    tls: Tls = Tls()
    request_log: Literal["off", "times", "answers"] = "off"
    retry_wait_max_ns: int = 100_000_000
    ends_unreached: bool = False
    ends_on: tuple[str, ...] = ()
    held_body_bytes: int = 256 * 1024 * 1024
    socket_buffer_bytes: int | None = None
    seed: int = 0
    part: Part | None = None
