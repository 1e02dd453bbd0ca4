"""From bombardier's flags to a `LoadPlan`, and the requests its clients send, byte for byte."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path
from urllib.parse import quote, unquote

from assay.dropin.bombardier.flags import BombardierFlags
from assay.engine import target_policy
from assay.model.plan import Closed, LoadPlan, Open, Request, Stage, StopAfter, StopAtCount, Tls

CHUNK_BYTES = 4096
"""A streamed body is sent in chunks of this size."""
_WITHOUT_BODY = ("GET", "HEAD")
_EXPECT_BODY = ("PATCH", "POST", "PUT")


def head(flags: BombardierFlags) -> str:
    """The head without its empty line, in the order of the client that is asked for."""
    is_fast = flags.client == "fasthttp"
    lines = _fasthttp(flags) if is_fast else _net_http(flags)
    fields = "".join(f"{name}: {value}\r\n" for name, value in lines)
    path = _normal_path(flags.url.path) if is_fast else flags.url.path or "/"
    # A blank would end the target; Go sends a query as it stands.
    query = f"?{flags.url.query.replace(' ', '%20')}" if flags.url.query else ""
    return f"{flags.method} {path}{query} HTTP/1.1\r\n{fields}"


def has_body(flags: BombardierFlags) -> bool:
    """Whether the request has one, be it empty."""
    return bool(flags.body or flags.body_file) or flags.stream


def is_kept_alive(flags: BombardierFlags) -> bool:
    """Whether the connection is to serve more requests: fasthttp does not heed `-a`."""
    closes = any(name.lower() == "connection" and value == "close" for name, value in flags.headers)
    return not closes and (flags.keep_alive or flags.client == "fasthttp")


def is_sent_again(flags: BombardierFlags) -> bool:
    """Whether the client sends a request again whose idle connection had just ended: fasthttp what is
    idempotent, net/http what is safe."""
    return flags.client == "fasthttp" or flags.method in ("GET", "HEAD", "OPTIONS", "TRACE")


def _framing(flags: BombardierFlags) -> tuple[str, str]:
    if flags.stream:
        return "Transfer-Encoding", "chunked"
    length = Path(flags.body_file).stat().st_size if flags.body_file else len(os.fsencode(flags.body))
    return "Content-Length", str(length)


def _basic(user_and_password: str) -> str:
    return "Basic " + base64.b64encode(os.fsencode(user_and_password)).decode()


def _fasthttp(flags: BombardierFlags) -> list[tuple[str, str]]:
    """The URL's credentials go as they are written, in place of any that a header gives."""
    given = {_normal(name): value for name, value in flags.headers}
    user, _, password = (flags.credentials or "").partition(":")
    if user:
        given["Authorization"] = _basic(f"{user}:{password}")
    takes_body = flags.method not in _WITHOUT_BODY
    lines = [("User-Agent", given.pop("User-Agent", "fasthttp"))]
    lines.append(("Host", given.pop("Host", flags.url.netloc)))
    kind = given.pop("Content-Type", "application/octet-stream" if takes_body else "")
    for framing in ("Content-Length", "Transfer-Encoding"):
        given.pop(framing, None)
    if kind:
        lines.append(("Content-Type", kind))
    if has_body(flags) or takes_body:
        lines.append(_framing(flags))
    last = [(name, given.pop(name)) for name in ("Cookie",) if name in given]
    if given.get("Connection") == "close":
        last.append(("Connection", given.pop("Connection")))
    return [*lines, *given.items(), *last]


def _net_http(flags: BombardierFlags) -> list[tuple[str, str]]:
    """The URL's credentials go with their escapes undone, where no header gives others."""
    given = dict(flags.headers)
    if flags.credentials is not None and "Authorization" not in given:
        user, _, password = flags.credentials.partition(":")
        given["Authorization"] = _basic(f"{_unescaped(user)}:{_unescaped(password)}")
    lines = [("Host", given.pop("Host", flags.url.netloc))]
    lines.append(("User-Agent", given.pop("User-Agent", "Go-http-client/1.1")))
    if is_chunked(flags):
        lines.append(("Transfer-Encoding", "chunked"))
    elif flags.body or flags.body_file:
        lines.append(_framing(flags))
    lines += sorted(given.items())
    if "Accept-Encoding" not in given and flags.method != "HEAD":
        lines.append(("Accept-Encoding", "gzip"))
    if not flags.keep_alive:
        lines.append(("Connection", "close"))
    return lines


def is_chunked(flags: BombardierFlags) -> bool:
    """Whether the body goes in chunks: net/http sends an empty one so where the method expects a body."""
    if flags.client == "fasthttp":
        return flags.stream
    is_empty = not (flags.body or flags.body_file)
    return flags.method in _EXPECT_BODY if is_empty else flags.stream


def _unescaped(text: str) -> str:
    return unquote(text, errors="surrogateescape")


def _normal(name: str) -> str:
    """fasthttp's spelling of a field: each word with a capital letter."""
    return "-".join(part.capitalize() for part in name.split("-"))


def _normal_path(path: str) -> str:
    """fasthttp's reading of a path: escapes undone where they need not be, no empty parts and no dots."""
    text = re.sub("/+", "/", "/" + _unescaped(path))
    while "/./" in text:
        text = text.replace("/./", "/")
    while (at := text.find("/../")) >= 0:
        text = text[: max(0, text.rfind("/", 0, at))] + text[at + len("/..") :]
    if text.endswith("/.."):
        text = text[: text.rfind("/", 0, len(text) - len("/..")) + 1] or "/"
    return quote(text, safe="$&+,/:;=@-_.~", errors="surrogateescape")


NS_PER_S = 1_000_000_000
SAMPLE_NS = 20_000_000
"""bombardier takes a sample of the rate so often."""
_LONGEST_TIMEOUT_NS = 3600 * NS_PER_S
_SHORTEST_TIMEOUT_NS = 1_000
_MOST_LOGGED = 1_000_000
"""Requests whose single times are kept in strict mode: 48 bytes each."""


def plan(flags: BombardierFlags, strict: bool) -> LoadPlan:
    """The load that the flags ask for. A rate is an open loop: its starts wait for no answer.

    With `--http2` Go has one connection to an https URL, on which all requests are streams; without TLS it
    speaks HTTP/1.1.

    InputError where the host has no address, or is a machine of others without their leave.
    """
    body, file = flags.body or None, flags.body_file or None
    chunked = is_chunked(flags)
    sent = Request(
        method=flags.method,
        head=head(flags),
        body=body if body or file or not chunked else "",
        body_file=file,
        chunk_bytes=CHUNK_BYTES if chunked else None,
    )
    counted = flags.requests is not None
    is_http2 = flags.client == "net/http.v2" and flags.url.scheme == "https"
    connections = 1 if is_http2 else flags.connections
    host, port = flags.url.hostname or "", 443 if flags.url.scheme == "https" else 80
    return LoadPlan(
        url=f"{flags.url.scheme}://{flags.url.netloc}",
        requests=(sent,),
        load=_load(flags, connections),
        http="2" if is_http2 else "1",
        streams=flags.connections if is_http2 else 1,
        stop=StopAtCount(count=flags.requests or 0) if counted else StopAfter(ns=flags.duration_ns),
        threads=min(connections, max(1, (os.cpu_count() or 1) // 2)),
        timeout_ns=_timeout_ns(flags),
        window_ns=SAMPLE_NS,
        # bombardier tries again at once, whatever failed.
        retry_wait_max_ns=0,
        keep_alive=is_kept_alive(flags),
        resend=is_sent_again(flags),
        # bombardier's deviations are of each time in µs, which histograms do not keep.
        request_log="times" if strict and 0 < (flags.requests or 0) <= _MOST_LOGGED else "off",
        addresses=(target_policy.address(host, flags.url.port or port, named=host),),
        tls=Tls(
            insecure=flags.insecure,
            certificate_file=flags.certificate or None,
            key_file=flags.key or None,
        ),
    )


def _timeout_ns(flags: BombardierFlags) -> int:
    """0 is no limit, as it is in Go: the longest that a plan may have."""
    if flags.timeout_ns == 0:
        return _LONGEST_TIMEOUT_NS
    return min(max(flags.timeout_ns, _SHORTEST_TIMEOUT_NS), _LONGEST_TIMEOUT_NS)


def _load(flags: BombardierFlags, connections: int) -> Closed | Open:
    if flags.rate_per_s is None:
        return Closed(connections=connections)
    rate_per_s = float(flags.rate_per_s)
    # The last rate of an open loop holds until the stop.
    stage = Stage(duration_ns=NS_PER_S, from_per_s=rate_per_s, to_per_s=rate_per_s)
    return Open(stages=(stage,), max_connections=connections, pacer="sleep")
