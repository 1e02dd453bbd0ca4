"""Why requests failed, as far as it was seen, and what the user can do about that cause.

Advice follows from evidence alone: the kind of most failures, the engine's own words for one of them, and
what was asked for. Where that names no cause there is none here, and the rule gives its general advice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from assay.core.units import time
from assay.model.measurement import Outcome
from assay.verdict.load import Load


class Cause(NamedTuple):
    """A cause: `evidence` says what was seen of it, `remedy` what to do."""

    evidence: str
    remedy: str


DESCRIPTORS = "raise the limit of open files (ulimit -n), or ask for fewer connections"
PORTS = "widen net.ipv4.ip_local_port_range, or ask for fewer connections"
QUEUE = (
    "ask for fewer connections (--connections), or raise the server's own connection limit and its accept "
    "queue (the backlog of its listen call, net.core.somaxconn)"
)
FULL = "what serves there takes no more connections: raise its limit, or ask for fewer (--connections)"
LONGER = "measure for longer than its slowest answer takes (--duration)"

CONNECTING = {
    "connect_refused": FULL,
    "connect_timeout": QUEUE,
    "unreachable": "look at the network between: routes, firewalls",
    "no_descriptors": DESCRIPTORS,
    "no_ports": PORTS,
}
"""What to do, by how the connections failed that could not be opened."""


def cause_of(load: Load) -> Cause | None:
    """What most of the failed requests met; where none failed, why none was answered."""
    if not load.measured.failed:
        return None if load.measured.completed else _of_silence(load)
    most = max(load.measured.outcomes, key=lambda outcome: outcome.count, default=None)
    if most is None or most.count * 2 < load.measured.failed:
        return None
    if most.kind in CONNECTING:
        return Cause("", CONNECTING[most.kind])
    found = _BY_KIND.get(most.kind)
    return found(load, most) if found is not None else None


def _is_tls(load: Load) -> bool:
    return urlsplit(load.plan.url).scheme == "https"


def _name(load: Load) -> str:
    """What the handshake names the server: what --sni gave, else the URL's host."""
    tls = load.plan.tls
    return (tls.server_name if tls.asks_for_name else None) or urlsplit(load.plan.url).hostname or ""


def _answers_began(load: Load) -> bool:
    """Whether bytes of answers came: HTTP/2 and HTTP/3 have bytes of their own before these."""
    return bool(load.measured.bytes_read) and load.measured.http2 is None and load.measured.http3 is None


def _of_silence(load: Load) -> Cause | None:
    """No request ended within the measured time."""
    if not load.measured.requests.in_flight:
        return None
    if _is_tls(load) and not load.measured.handshakes:
        return Cause(
            "no TLS handshake was completed",
            "what listens there may not speak TLS: if so, write http://; else find out what it waits for",
        )
    if _answers_began(load):
        return Cause(
            "answers began and did not end",
            f"measure a path whose answers end (a stream of events has no end), or {LONGER}",
        )
    return Cause("", f"{LONGER}, or find out what the server waits for")


def _tls(load: Load, most: Outcome) -> Cause | None:
    name, tls = _name(load), load.plan.tls
    for pattern, evidence, remedy in _TLS:
        if re.search(pattern, most.example):
            if pattern == _REFUSED and re.fullmatch(r"[\d.]+|.*:.*", name):  # an address (RFC 6066)
                return Cause(*_NO_NAME_ASKED)
            return None if pattern == _INVALID and tls.insecure else Cause(evidence.format(name=name), remedy)
    return None


_INVALID = "invalid peer certificate"
_REFUSED = "InternalError|Unrecogni[sz]edName|AccessDenied"
"""Alerts of servers that choose a certificate by name, and of others that agree on nothing."""
_NO_NAME_ASKED = (
    "the server refused the handshake, and no server name was asked for: the URL's host is an address",
    "ask for the name that it serves with --sni NAME",
)
_TLS = (
    (
        "UnknownIssuer|CaUsedAsEndEntity",
        "no authority that is trusted here has signed the server's certificate",
        "trust its authority, or the certificate itself, with --cacert PATH, or accept any certificate with "
        "--insecure (-k)",
    ),
    (
        "not valid for name|NotValidForName",
        "the certificate is not for the name {name!r}",
        "ask for a name that it bears with --sni NAME, or accept any certificate with --insecure (-k)",
    ),
    (
        _INVALID,
        "the server's certificate is not valid",
        "give the server a valid certificate, or accept any with --insecure (-k)",
    ),
    (
        _REFUSED,
        "the server refused the handshake for the name {name!r}",
        "ask for a name that it serves with --sni NAME, or look at its log",
    ),
    (
        "CertificateRequired|BadCertificate|UnknownCA|CertificateUnknown|CertificateExpired",
        "the server asks for a certificate of the client that it trusts",
        "give it one with --cert PATH and --key PATH",
    ),
    (
        "ProtocolVersion|HandshakeFailure",
        "client and server agreed on no version or cipher of TLS",
        "allow what the server speaks: --tls-min, --tls-max (TLS 1.2 and 1.3 are known)",
    ),
    (
        "InvalidContentType|corrupt message",
        "what listens there answers without TLS",
        "write http:// in the URL",
    ),
)
"""What the example of a failed handshake holds, what was seen then, and what to do."""


def _status(load: Load, most: Outcome) -> Cause | None:
    """By the status that most answers had."""
    status, count = max(load.measured.statuses.items(), key=lambda item: item[1], default=("", 0))
    if count * 2 < load.measured.failed:
        return None
    evidence = f"most answers had the status {status}"
    if status in ("401", "403"):
        return Cause(evidence, _credentials(load, most))
    remedy = _BY_STATUS.get(status) or _BY_STATUS.get(f"{status[:1]}xx")
    if remedy is None:
        return None
    if status == "400" and not _is_tls(load):
        remedy += "; where the port speaks TLS, write https://"
    return Cause(evidence, remedy)


def _credentials(load: Load, most: Outcome) -> str:
    if any(name.lower() == "authorization" for one in load.plan.requests for name, _ in one.headers):
        return "give credentials that the server accepts for this path"
    scheme = re.search(r"(?i)www-authenticate: *(\w+)", most.example)
    flags = {"basic": "-u NAME:PASSWORD", "bearer": "--bearer TOKEN"}
    asked = flags.get(scheme[1].lower()) if scheme else None
    return f"give it credentials: {asked or '--bearer TOKEN, -u NAME:PASSWORD or -H'}"


_BY_STATUS = {
    "400": "correct the request: its path, headers or body",
    "404": "correct the path of the URL: the server has nothing there",
    "405": "ask with a method that the path allows (--method)",
    "407": "give the proxy credentials",
    "408": "raise the server's time-out for requests, or send them faster",
    "411": "send the body with its length: leave --chunked out",
    "413": "send a smaller body, or raise the server's limit of a body",
    "415": "say what the body is: -H 'Content-Type: …'",
    "421": "ask for a host that it serves: -H 'Host: …', --sni NAME",
    "422": "correct the body, and say what it is: -H 'Content-Type: …'",
    "429": "raise the server's limit of requests, or ask for a lower --rate",
    "3xx": "ask for the path that the redirects lead to, or follow them with --follow N",
    "4xx": "correct the request: its path, headers or body",
    "502": "start what stands behind the proxy",
    "503": "find in the server's log what it lacks, or offer a load that it can carry",
    "504": "find out what stands behind the proxy and waits",
    "5xx": "find the cause in the server's log",
}
"""What to do where most answers have a status that is not right."""


def _redirects(load: Load, most: Outcome) -> Cause:
    if load.plan.cookies:
        return Cause("", "ask for the path that the redirects lead to, or raise --follow")
    return Cause(
        "redirects led to redirects",
        "keep the cookies that the server may set on the way with --cookies, or raise --follow",
    )


def _elsewhere(load: Load, most: Outcome) -> Cause:
    to = f" ({most.example})" if most.example else ""
    return Cause(
        f"redirects lead to another scheme, host or port{to}",
        "load the URL that they lead to, or leave --follow out",
    )


def _closed(load: Load, most: Outcome) -> Cause | None:
    """Where some requests were answered, the limit that the others met is not known."""
    if load.measured.completed:
        return None
    if load.measured.bytes_read:
        return Cause("no answer was whole when its connection ended", "find the cause in the server's log")
    tls = "" if _is_tls(load) else "; where the port speaks TLS, write https://"
    return Cause(
        "the server ended each connection without an answer", f"find the cause in the server's log{tls}"
    )


def _timeout(load: Load, most: Outcome) -> Cause:
    limit = time(load.plan.timeout_ns, exact=True)
    if _answers_began(load) and not load.measured.completed:
        return Cause(
            f"answers began and did not end within {limit}",
            "measure a path whose answers end (a stream of events has no end), or raise --timeout",
        )
    return Cause("", f"find out what the server waits for, or raise --timeout above {limit}")


def _no_http(load: Load, most: Outcome) -> Cause | None:
    """Not a word of it was an answer in HTTP."""
    if load.measured.completed:
        return None
    return Cause(
        "what listens there answers with something else than HTTP/1",
        "correct the port, or ask in the protocol that it speaks (https://, --http2)",
    )


def _wrong_protocol(load: Load, most: Outcome) -> Cause:
    return Cause(
        f"the server does not speak the HTTP that was asked for ({most.example})",
        "leave --http2 or --http3 out, or take what the server picks with --http auto",
    )


_BY_KIND: dict[str, Callable[[Load, Outcome], Cause | None]] = {
    "tls_error": _tls,
    "unexpected_status": _status,
    "too_many_redirects": _redirects,
    "redirect_elsewhere": _elsewhere,
    "closed_early": _closed,
    "closed_idle": _closed,
    "reset": _closed,
    "timeout": _timeout,
    "bad_answer": _no_http,
    "wrong_protocol": _wrong_protocol,
}
