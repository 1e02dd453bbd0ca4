"""From ab's flags to its request, byte for byte, and to a `LoadPlan`."""

from __future__ import annotations

import base64
import socket
from typing import Literal

from assay.dropin.ab.flags import AbFlags
from assay.engine import target_policy
from assay.model.plan import Closed, LoadPlan, Request, StopAtCount, Tls

_LONGEST_HEAD = 8192
_DEFAULTS = ("host", "user-agent", "accept")


def head(flags: AbFlags, strict: bool) -> str | None:
    """The head without its empty line; None where ab would find it too long.

    Of several cookies ab sends the last alone, although it documents more; by default all are sent.
    """
    target = flags.url.text if flags.proxy else flags.url.path
    lines = [f"{flags.method} {target} HTTP/1.0"]
    if flags.keep_alive:
        lines.append("Connection: Keep-Alive")
    if flags.cookies:
        cookies = flags.cookies[-1:] if strict else flags.cookies
        lines.append(f"Cookie: {'; '.join(cookies)}")
    for name, credentials in flags.credentials:
        coded = base64.b64encode(credentials.encode("utf-8", "surrogateescape")).decode()
        lines.append(f"{name}: Basic {coded}")
    if flags.body is not None:
        lines.append(f"Content-length: {flags.body.stat().st_size}")
        lines.append(f"Content-type: {flags.content_type}")
    lines += flags.headers
    given = {name for name in _DEFAULTS for line in flags.headers if line.lower().startswith(f"{name}:")}
    defaults = (f"Host: {flags.url.authority}", "User-Agent: ApacheBench/2.3", "Accept: */*")
    lines += [line for name, line in zip(_DEFAULTS, defaults, strict=True) if name not in given]
    text = "".join(f"{line}\r\n" for line in lines)
    return text if len(text) + 2 < _LONGEST_HEAD else None


NS_PER_S = 1_000_000_000
_LONGEST_TIMEOUT_NS = 3600 * NS_PER_S
_SHORTEST_TIMEOUT_NS = 1_000
_TIMEOUTS = ("timeout", "connect_timeout")
_BROKEN = ("connect_refused", "unreachable", "reset", "io_error")
_VERSIONS: dict[str, Literal["1.2", "1.3"]] = {"TLS1.2": "1.2", "TLS1.3": "1.3"}


def endpoint(flags: AbFlags) -> tuple[str, int]:
    """The host and the port that are connected to: the proxy's, where there is one."""
    return flags.proxy or (flags.url.host, flags.url.port)


def address(flags: AbFlags) -> str:
    """The address that is connected to; `reach.Unresolved` where there is none, InputError without leave."""
    host, port = endpoint(flags)
    family = socket.AF_UNSPEC
    if flags.source is not None:
        family = socket.AF_INET6 if ":" in flags.source else socket.AF_INET
    if flags.proxy is not None:
        target_policy.ask_leave(flags.url.text, target_policy.behind_proxy(flags.url.host, flags.url.port))
    return target_policy.address(host, port, named=host if flags.proxy else flags.url.text, family=family)


def source(flags: AbFlags) -> str | None:
    """The address of `-B`, which may be a name; `reach.Unresolved` where it has none."""
    if flags.source is None:
        return None
    return target_policy.look_up(flags.source, 0)[0].ip


def versions(flags: AbFlags) -> tuple[Literal["1.2", "1.3"], ...]:
    """The versions of TLS that `-f` allows; () where it names only those that are broken."""
    wanted = (flags.protocols or "").upper()
    if wanted.startswith(("TLS1.2", "TLS1.3")):
        return (_VERSIONS[wanted[:6]],)
    is_old = wanted.startswith(("SSL", "TLS1"))
    return () if is_old else ("1.2", "1.3")


def plan(flags: AbFlags, head: str, where: str) -> LoadPlan:
    """The load that the flags ask for, at an address.

    ab ends at the first connection that breaks, unless `-r` or over TLS; a timeout always ends it.
    A proxy is merely connected to, and the request's target names the server: so ab does it, also
    with https.
    """
    bound = source(flags)
    # A time limit below 0 is over before the first request.
    within_ns = max(1, flags.limit_s * NS_PER_S) if flags.limit_s else None
    body_file = str(flags.body) if flags.body is not None else None
    method = "HEAD" if flags.method == "HEAD" else "GET"
    return LoadPlan(
        url=f"{'https' if flags.url.tls else 'http'}://{flags.url.bracketed}:{flags.url.port}",
        requests=(Request(method=method, head=head, body_file=body_file),),
        load=Closed(connections=flags.concurrency),
        stop=StopAtCount(count=flags.requests, within_ns=within_ns),
        timeout_ns=min(max(flags.timeout_s * NS_PER_S, _SHORTEST_TIMEOUT_NS), _LONGEST_TIMEOUT_NS),
        keep_alive=flags.keep_alive,
        http_version="1.0",
        addresses=(where,),
        source_addresses=() if bound is None else (bound,),
        tls=Tls(
            insecure=True,
            alpn=(),
            resumption=False,
            versions=versions(flags),
            asks_for_name=flags.names_server,
            certificate_file=flags.certificate,
            key_file=flags.certificate,
        ),
        request_log="answers" if flags.layout.verbosity >= 2 else "times",
        # ab tries again at once, whatever failed.
        retry_wait_max_ns=0,
        ends_on=_TIMEOUTS if flags.tolerant or flags.url.tls else (*_TIMEOUTS, *_BROKEN),
        socket_buffer_bytes=flags.buffer_bytes if flags.buffer_bytes > 0 else None,
    )
