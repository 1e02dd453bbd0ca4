"""`h2load …`, from its words to its plan and its exit code, and its help."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from assay.core import console
from assay.core.errors import EXIT_OK, AssayError
from assay.dropin import front
from assay.dropin.h2load import flags as command_line
from assay.dropin.h2load.flags import VERSION, EarlyEnd, H2loadFlags
from assay.dropin.h2load.report import H2loadProgress, figures, report, write_log
from assay.dropin.h2load.values import NS_PER_S
from assay.engine import driver, target_policy
from assay.model.plan import Closed, Http, LoadPlan, Open, Request, Stage, StopAfter, StopAtCount, Tls

if TYPE_CHECKING:
    from assay.engine.driver import EngineRun


LONGEST_TIMEOUT_NS = 3600 * NS_PER_S
_OVERRIDES = {":method", ":scheme", ":authority", ":host", "user-agent"}


def plan(flags: H2loadFlags, strict: bool) -> LoadPlan:
    """The load that the flags ask for.

    InputError where the host has no address, or is a machine of others without their leave. h2load waits as
    long as it takes unless `-N` says otherwise; so does this, but for an hour at most. Each connection
    asks for the URIs from the first on, and for its part of `-n`. As many requests as
    `-m` says are under way on a connection, but over HTTP/1.1 with a body or at a rate one at a time.
    """
    timed = flags.duration_ns > 0
    over_one = flags.protocols == ("http/1.1",)
    one_at_a_time = flags.data is not None or flags.per_client_per_s > 0
    return LoadPlan(
        url=f"{flags.where.spoken}://{flags.where.authority}",
        requests=tuple(_request(flags, target, strict) for target in flags.targets),
        request_order="per_connection",
        load=_load(flags),
        stop=StopAfter(ns=flags.duration_ns) if timed else StopAtCount(count=flags.requests),
        warmup_max_ns=flags.warmup_ns if timed else 0,
        threads=flags.threads,
        timeout_ns=min(flags.timeout_ns or LONGEST_TIMEOUT_NS, LONGEST_TIMEOUT_NS),
        http=_http(flags),
        pipeline=flags.streams if over_one and not one_at_a_time else 1,
        streams=1 if over_one else flags.streams,
        addresses=(_address(flags),),
        tls=Tls(insecure=True, alpn=("http/1.1",)),
        request_log="times" if not timed and flags.log_file else "off",
    )


def _http(flags: H2loadFlags) -> Http:
    if flags.protocols == ("http/1.1",):
        return "1"
    if flags.protocols == ("h3",):
        return "3"
    return "auto" if "http/1.1" in flags.protocols else "2"


def _request(flags: H2loadFlags, target: str, strict: bool) -> Request:
    """A request as h2load writes it: `Host` and `user-agent` first, the length of a body last.

    A `Host` of the user's takes the place of ours (RFC 9112, 3.2); h2load sends both.
    """
    method = "GET" if flags.data is None else "POST"
    authority, agent = flags.where.authority, f"h2load nghttp2/{VERSION}"
    for name, value in flags.headers:
        method = value if name == ":method" else method
        authority = value if name in (":authority", ":host", *(() if strict else ("host",))) else authority
        agent = value if name == "user-agent" else agent
    ours = _OVERRIDES if strict else _OVERRIDES | {"host"}
    added = tuple(field for field in flags.headers if field[0] not in ours and field[0][0] != ":")
    headers = (("Host", authority), ("user-agent", agent), *added)
    over_one = flags.protocols == ("http/1.1",)
    if not strict or not over_one or all(name != "host" for name, _ in added):
        headers = tuple(field for field in headers if field[0] != "host")
        return Request(method=method, target=target, headers=headers, body_file=flags.data)
    # Two of `Host` are a fault that the engine makes where the head is given byte for byte alone.
    length = () if flags.data is None else (("Content-Length", str(Path(flags.data).stat().st_size)),)
    lines = (f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in (*headers, *length)))
    head = "".join(f"{line}\r\n" for line in lines)
    return Request(method=method, target=target, head=head, body_file=flags.data)


def _load(flags: H2loadFlags) -> Closed | Open:
    if not flags.per_client_per_s:
        return Closed(connections=flags.clients)
    rate_per_s = flags.per_client_per_s * flags.clients
    # The last rate of an open loop holds until the stop.
    stage = Stage(duration_ns=NS_PER_S, from_per_s=rate_per_s, to_per_s=rate_per_s)
    return Open(stages=(stage,), max_connections=flags.clients, pacer="sleep")


def _address(flags: H2loadFlags) -> str:
    if flags.socket:
        return f"unix:{flags.socket}"
    host, port = flags.connect_to or (flags.where.host, flags.where.port)
    return target_policy.address(host, port, named=host)


_DESCRIBED = (
    ("-n, --requests=<N>", "Requests, of all clients together. Default: 1"),
    ("-c, --clients=<N>", "Clients, each with a connection. Default: 1"),
    ("-t, --threads=<N>", "Threads that share them. Default: 1"),
    ("-i, --input-file=<PATH>", "URIs, a line each, in the place of the words'; '-' is standard input"),
    ("-m, --max-concurrent-streams=<N>", "Requests under way on a connection. Default: 1"),
    ("-f, --max-frame-size=<SIZE>", "Longest frame to be sent (HTTP/2). Default: 16K"),
    ("-w, --window-bits=<N>", "Window of a stream, 2**N-1 bytes (HTTP/2). Default: 30"),
    ("-W, --connection-window-bits=<N>", "Window of a connection, 2**N-1 bytes (HTTP/2). Default: 30"),
    ("-H, --header=<HEADER>", "Send this header field, too"),
    ("--ciphers=<SUITE>", "Refused: cipher suites cannot be chosen here"),
    ("--tls13-ciphers=<SUITE>", "Refused: cipher suites cannot be chosen here"),
    ("-p, --no-tls-proto=<PROTOID>", "Protocol without TLS: h2c or http/1.1. Default: h2c"),
    ("-d, --data=<PATH>", "Post this file"),
    ("-r, --rate=<N>", "Refused: connections at a rate, each with its share of the requests"),
    ("--rate-period=<DURATION>", "Time in which so many connections would be opened. Default: 1s"),
    ("-D, --duration=<DURATION>", "How long to measure, in the place of -n"),
    ("--warm-up-time=<DURATION>", "How long to warm up before that"),
    ("-T, --connection-active-timeout=<DURATION>", "Refused: -N bounds the wait for an answer"),
    ("-N, --connection-inactivity-timeout=<DURATION>", "Longest wait for an answer"),
    ("--timing-script-file=<PATH>", "Refused: an instant for each request"),
    ("-B, --base-uri=(<URI>|unix:<PATH>)", "Where requests go, whatever their URIs say"),
    (
        "--npn-list=<LIST>, --alpn-list=<LIST>",
        "Protocols over TLS (ALPN), the best first; h3 first is HTTP/3. Default: h2,h2-16,h2-14,http/1.1",
    ),
    ("--h1", "HTTP/1.1, with and without TLS"),
    ("--header-table-size=<SIZE>", "Table for the server's header fields (HTTP/2). Default: 4K"),
    ("--encoder-header-table-size=<SIZE>", "Table for our header fields (HTTP/2). Default: 4K"),
    ("--log-file=<PATH>", "Append a line a request: start, status, time"),
    ("--qlog-file-base=<PATH>", "Nothing, without HTTP/3; refused with it"),
    ("--connect-to=<HOST>[:<PORT>]", "Connect to this in the place of the URI's host"),
    ("--rps=<N>", "Requests a second of each client"),
    ("--groups=<GROUPS>", "Refused: groups of key exchange cannot be chosen here"),
    ("--no-udp-gso", "Nothing, without HTTP/3; refused with it"),
    ("--max-udp-payload-size=<SIZE>", "Nothing, without HTTP/3; refused with it"),
    ("--ktls", "Refused: TLS is spoken by the program here"),
    ("-v, --verbose", "Refused: answers are not printed here"),
    ("--version", "Print the version"),
    ("-h, --help", "Print this"),
)
USAGE = "\n".join(
    (
        "Usage: h2load [OPTIONS]... [URI]...",
        "Options:",
        *(f"  {flag}\n              {text}" for flag, text in _DESCRIBED),
        "  <SIZE> is a number and K, M or G of 1024; <DURATION> a number and h, m, s (the default) or ms.",
    )
)


EXIT_FAILED = 1
"""h2load's only other exit code: whatever kept it from starting."""


def main(words: Sequence[str]) -> int:
    """Do what h2load does with these words."""
    manners = front.Manners.of_environment()
    try:
        flags = command_line.read(words)
        for warning in flags.warnings:
            console.note(warning)
        with contextlib.ExitStack() as opened:
            log = None if flags.log_file is None else opened.enter_context(_log(flags))
            return _test(flags, manners, log)
    except EarlyEnd as ended:
        return _end(ended)
    except target_policy.Unresolved as problem:
        console.note(f"getaddrinfo() failed: {problem.reason}")
    except AssayError as problem:
        front.tell_problem("h2load", problem, _FLAGS)
    return EXIT_FAILED


_FLAGS = {
    "load.connections": "-c",
    "load.max_connections": "-c",
    "load.stages": "--rps",
    "pipeline": "-m",
    "streams": "-m",
    "requests": "-H",
    "stop.count": "-n",
    "stop.ns": "-D",
    "threads": "-t",
    "timeout_ns": "-N",
    "warmup_max_ns": "--warm-up-time",
}


def _end(ended: EarlyEnd) -> int:
    if ended.asked == "version":
        from assay.core.settings import version

        console.write(f"h2load nghttp2/{VERSION} [assay {version()}] as spoken by Assay")
    elif ended.asked:
        console.write(USAGE)
    else:
        console.note(ended.message)
        return EXIT_FAILED
    return EXIT_OK


def _log(flags: H2loadFlags) -> TextIO:
    if flags.duration_ns:
        raise EarlyEnd("h2load: --log-file: single requests are kept of a load of so many; -n instead of -D")
    try:
        return Path(flags.log_file or "").open("a", encoding="ascii")
    except OSError:
        raise EarlyEnd(f"--log-file: Could not open file {flags.log_file}") from None


def _test(flags: H2loadFlags, manners: front.Manners, log: TextIO | None) -> int:
    load = plan(flags, manners.strict)
    progress = H2loadProgress(flags)

    def start(load: LoadPlan) -> EngineRun:
        running = driver.start(load)
        # Only now: a load that cannot start is told of alone.
        progress.begin(running)
        return running

    offered = front.offer(load, manners, watch=progress.watch, start=start)
    progress.end(offered.measurement)
    console.write(report(figures(flags, offered.measurement, manners.strict)))
    if log is not None:
        write_log(log, offered.running.request_log(), offered.measurement.started_at_unix_ns)
    front.tell("h2load", offered.findings)
    return EXIT_OK
