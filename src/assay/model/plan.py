"""`LoadPlan`: what the engine is asked to do. The only way into the engine, which validates it.

Written by `make schema` from the structs of `crates/engine`: change those.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from assay.model import Value as Value

SCHEMA = "8f803907"
"""What tells this schema from others: the engine has to have the same."""


class Host(Value, frozen=True, kw_only=True):
    """A server that requests go to beside that of the plan's URL."""

    url: str
    """Scheme, host and port, as in `LoadPlan.url`; the scheme is the same."""
    address: str | None = None
    """The address to use instead of resolving the host."""


class FormPart(Value, frozen=True, kw_only=True):
    """One field of a multipart form."""

    name: str
    """The field's name."""
    text: str | None = None
    """Its value, where no file is sent."""
    file: str | None = None
    """The file that is sent; read once, before the run."""
    file_name: str | None = None
    """The name the file is sent under, instead of its own."""
    content_type: str | None = None
    """The content type of this part; a file's is `application/octet-stream` otherwise."""


class HeaderExpected(Value, frozen=True, kw_only=True):
    """A header that a right answer carries."""

    name: str
    """Its name, in any case."""
    pattern: str | None = None
    """A regular expression found in its value; without one, being there is enough."""


class BodyEquals(Value, frozen=True, kw_only=True, tag="equals", tag_field="kind"):
    """Exactly this text."""

    text: str
    """The text."""


class BodyOneOf(Value, frozen=True, kw_only=True, tag="one_of", tag_field="kind"):
    """Exactly one of these texts."""

    texts: tuple[str, ...]
    """The texts."""


class BodyMatches(Value, frozen=True, kw_only=True, tag="matches", tag_field="kind"):
    """This regular expression is found in it."""

    pattern: str
    """In the syntax of the `regex` crate."""


class BodyLength(Value, frozen=True, kw_only=True, tag="length", tag_field="kind"):
    """It is exactly so long."""

    bytes: int
    """Length in bytes."""


BodyExpected: TypeAlias = BodyEquals | BodyOneOf | BodyMatches | BodyLength
"""What the decoded body of a right answer is."""


class Expect(Value, frozen=True, kw_only=True):
    """What a right answer is. The status is checked on every answer, headers and body on every
    `check_every`-th of each worker.
    """

    status: tuple[int, ...] = ()
    """Allowed status codes; empty allows all."""
    headers: tuple[HeaderExpected, ...] = ()
    """Headers that must be there."""
    body: BodyExpected | None = None
    """What the body must be."""
    check_every: int = 1
    """1 checks headers and body of every answer, n those of every n-th."""


class Request(Value, frozen=True, kw_only=True):
    """One request of the plan."""

    name: str | None = None
    """What its figures go by, where it is one of several; by default its method and path, between them the
    host where there are several. Those of one name are added up.
    """
    host: int = 0
    """Where it goes: 0 to the plan's URL, else to which of its hosts, from 1 on."""
    method: str = "GET"
    """The method, as sent."""
    target: str = "/"
    """The request target, as sent: path and query."""
    headers: tuple[tuple[str, str], ...] = ()
    """Header fields, in order, as sent. `Host` and `Content-Length` are added where missing."""
    head: str | None = None
    """The whole head, byte for byte, without its empty line: method, target and headers then do not go
    into it, and nothing is added.
    """
    body: str | None = None
    """The body."""
    body_file: str | None = None
    """The file that holds the body; read once, before the run."""
    form: tuple[FormPart, ...] = ()
    """A multipart form (RFC 7578) instead of a body; its `Content-Type` is added where missing."""
    chunk_bytes: int | None = None
    """Sends the body in chunks of this size, as a stream of unknown length is sent."""
    templated: bool = False
    """Replaces `{counter}` (different in every request of the run), `{random:1-100}` and `{uuid}` in
    target, header values and body, anew for each request.
    """
    weight: int = 1
    """How often it is sent in relation to the others."""
    expect: Expect | None = None
    """What a right answer is; without it every well-formed answer is right."""


RequestOrder: TypeAlias = Literal["sequential", "random", "per_connection"]
"""In which order several requests are sent.

"sequential": one after the other, each as often in a row as its weight says.
"random": drawn by weight.
"per_connection": each connection sends them one after the other, from the first on: it is a client of
its own, with its part of a count. Starts that have times of their own go to all connections in turn.
"""


class Stage(Value, frozen=True, kw_only=True):
    """A time during which the intended rate moves linearly from one value to another."""

    duration_ns: int
    """How long it lasts."""
    from_per_s: float
    """The rate at its start."""
    to_per_s: float
    """The rate at its end."""


Arrivals: TypeAlias = Literal["constant", "poisson"]
"""How arrivals of an open loop follow each other.

"constant": evenly.
"poisson": independently of each other: exponential gaps.
"""

Pacer: TypeAlias = Literal["spin", "sleep"]
"""How a worker of an open loop waits for the next intended start.

"spin": asleep while the start is far, then polling: exact, and costs up to a whole core.
"sleep": asleep until the start: costs little, and starts late by the timer's slack.
"""


class Closed(Value, frozen=True, kw_only=True, tag="closed", tag_field="kind"):
    """A completion triggers that connection's next request."""

    connections: int
    """How many connections."""
    think_time_ns: int = 0
    """The pause between a completion and the next request of that connection."""


class Open(Value, frozen=True, kw_only=True, tag="open", tag_field="kind"):
    """Arrivals that never wait for answers."""

    stages: tuple[Stage, ...]
    """The intended rate over time, of requests. Stages begin with the measured phase, before which the
    first rate holds; the last one holds until the stop.
    """
    max_connections: int
    """The most connections that may be open at once."""
    arrivals: Arrivals = "constant"
    """How arrivals follow each other."""
    pacer: Pacer = "spin"
    """How a worker waits for the next one."""


Load: TypeAlias = Closed | Open
"""How the load is offered."""


class StopAfter(Value, frozen=True, kw_only=True, tag="duration", tag_field="kind"):
    """After a time."""

    ns: int
    """Its length."""


class StopAtCount(Value, frozen=True, kw_only=True, tag="requests", tag_field="kind"):
    """When so many requests have ended."""

    count: int
    """How many."""
    within_ns: int | None = None
    """The longest that may take; the run then ends with fewer."""


Stop: TypeAlias = StopAfter | StopAtCount
"""When the measured phase ends."""

HttpVersion: TypeAlias = Literal["1.1", "1.0"]
"""The version the requests claim.

"1.1": HTTP/1.1
"1.0": HTTP/1.0
"""

Http: TypeAlias = Literal["1", "2", "3", "auto"]
"""Which HTTP is spoken.

"1": HTTP/1.1, or 1.0 where `LoadPlan.http_version` says so.
"2": HTTP/2: by ALPN over TLS, by prior knowledge without.
"3": HTTP/3, over QUIC: by prior knowledge, on UDP.
"auto": over TLS HTTP/2 where the server picks it, else HTTP/1.1; asked once, before the run.
"""

AddressFamily: TypeAlias = Literal["any", "ipv4", "ipv6"]
"""A family of addresses.

"any": whichever the resolver gives.
"ipv4": IPv4.
"ipv6": IPv6.
"""

TlsVersion: TypeAlias = Literal["1.2", "1.3"]
"""A version of TLS.

"1.2": TLS 1.2
"1.3": TLS 1.3
"""


class Tls(Value, frozen=True, kw_only=True):
    """How an `https` URL is spoken to."""

    ca_file: str | None = None
    """PEM file of the authorities to trust instead of the system's."""
    certificate_file: str | None = None
    """PEM file of the client's certificate chain."""
    key_file: str | None = None
    """PEM file of its key."""
    server_name: str | None = None
    """The name to ask for (SNI) and to check, instead of the URL's host."""
    asks_for_name: bool = True
    """Asks for that name at all."""
    alpn: tuple[str, ...] = ("http/1.1",)
    """Application protocols to offer; empty offers none."""
    versions: tuple[TlsVersion, ...] = ("1.2", "1.3")
    """Versions to offer."""
    insecure: bool = False
    """Accepts any certificate."""
    resumption: bool = True
    """Resumes sessions on later connections."""


RequestLog: TypeAlias = Literal["off", "times", "answers"]
"""Whether single requests are written down.

"off": no.
"times": their times and lengths, and the head of the first answer.
"answers": the heads of all answers too.
"""


class Part(Value, frozen=True, kw_only=True):
    """Which of a plan's workers run in one process, where others run elsewhere, and from which instant on.
    The plan stays that of the whole: its connections, rates, counts and seeds are dealt to all of its
    workers, wherever they run.
    """

    first_worker: int
    """The number of the first worker that runs there."""
    workers: int
    """How many run there."""
    starts_at_unix_ns: int = 0
    """When the run begins, by the calendar of the machine that executes the part, in nanoseconds since
    1970; at once where that is over.
    """


class LoadPlan(Value, frozen=True, kw_only=True):
    """One load, complete: where, what, how, for how long, from which cores."""

    url: str
    """Scheme, host and port (`http://127.0.0.1:8080`). Its path is not used: see `Request.target`.
    `http+unix://` and a percent-encoded path name a unix socket.
    """
    hosts: tuple[Host, ...] = ()
    """More servers, which requests name by their number. Each connection goes to one host: they are dealt
    by the weights of the hosts' requests, and each host that has any gets one at least.
    """
    requests: tuple[Request, ...] = (Request(),)
    """What is sent."""
    request_order: RequestOrder = "sequential"
    """In which order. With "per_connection" each connection is a client of its own: it sends the requests
    from the first on, has its part of a count, and takes its slice where starts have times of their
    own.
    """
    load: Load
    """How it is offered."""
    stop: Stop
    """When the measured phase ends."""
    warmup_max_ns: int = 0
    """The longest warm-up; 0 measures from the first request. Otherwise it lasts until `begin_measuring`
    is called or so long; the phases follow each other without a gap in the load.
    """
    threads: int = 1
    """Worker threads, each with its share of the connections."""
    cpus: tuple[int, ...] = ()
    """Cores to pin the workers to, round robin; empty pins none."""
    timeout_ns: int = 5_000_000_000
    """The longest a connect or a request may take."""
    window_ns: int = 100_000_000
    """Length of the slices of the time series."""
    keep_alive: bool = True
    """Whether a connection serves more than one request."""
    http_version: HttpVersion = "1.1"
    """The version the requests claim."""
    http: Http = "1"
    """Which HTTP is spoken; what `tls.alpn` offers is for HTTP/1."""
    streams: int = 1
    """Requests under way at once on a connection of HTTP/2 or HTTP/3, each on a stream of its own: so many
    places it has, each of which begins as a completion or an arrival says.
    """
    pipeline: int = 1
    """Requests sent at once on a connection, before the first answer is in. In an open loop so many start
    together, and the rate is still that of requests.
    """
    requests_per_connection: int | None = None
    """Closes a connection after so many requests."""
    addresses: tuple[str, ...] = ()
    """Addresses to use, round robin, instead of resolving the host: `ip`, `ip:port` or `unix:/path`."""
    address_family: AddressFamily = "any"
    """Of which family an address that a name resolves to must be."""
    source_addresses: tuple[str, ...] = ()
    """Local addresses to connect from, round robin."""
    connections_per_s: float | None = None
    """Opens the first connections at this rate instead of all at once."""
    proxy: str | None = None
    """A proxy, `http://host:port`: plain for `http`, by CONNECT for `https`."""
    cookies: bool = False
    """Keeps the cookies that each connection is given and sends them back."""
    redirects: int = 0
    """Follows so many redirects within the URL's scheme, host and port; a redirect that leads elsewhere
    then fails its request. 0 takes a redirect as any other answer.
    """
    resend: bool = False
    """Sends requests again that the protocol says were not processed, each as one request still, whose
    times begin with its first send: refused streams and those beyond a GOAWAY (RFC 9113, 8.7; RFC 9114,
    5.2), and over HTTP/1, where their method is idempotent, those behind an announced close and one
    whose connection ended between two answers (RFC 9112, 9.3.1 and 9.3.2; RFC 9110, 9.2.2).
    """
    tls: Tls = Tls()
    """How an `https` URL is spoken to."""
    request_log: RequestLog = "off"
    """Whether the requests of a counted run are written down one by one."""
    retry_wait_max_ns: int = 100_000_000
    """The longest a connection waits after failures in a row until it is tried again: the first time not
    at all, then 1 millisecond, doubled each time. 0 never waits.
    """
    ends_unreached: bool = False
    """Ends the run when every attempt to connect fails and none ever succeeded."""
    ends_on: tuple[str, ...] = ()
    """Kinds of failure (`Outcome.kind`) that end the run the first time one is seen."""
    held_body_bytes: int = 268_435_456
    """The most memory for bodies that come in pieces and are checked, over all connections. A body beyond
    it counts as wrong.
    """
    socket_buffer_bytes: int | None = None
    """Size of the kernel's send and receive buffers of a connection."""
    seed: int = 0
    """Seed of everything random."""
    part: Part | None = None
    """What of the load is offered from here, where others offer the rest. The plan in a record is that of
    the whole.
    """
