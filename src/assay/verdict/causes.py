"""Why requests failed, as far as it was seen, and what the user can do about that cause.

Advice follows from evidence alone: the kind of most failures, the engine's own words for one of them, and
what was asked for. Where that names no cause there is none here, and the rule gives its general advice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from assay.model.measurement import Outcome
from assay.verdict.load import Access, Load
from assay.verdict.rule import exact_duration


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
    way = load.way
    if not load.counts.failed:
        return None if load.counts.completed else _of_silence(load, way)
    most = max(load.counts.outcomes, key=lambda outcome: outcome.count, default=None)
    if most is None or most.count * 2 < load.counts.failed:
        return None
    if most.kind in CONNECTING:
        return Cause("", CONNECTING[most.kind])
    found = _BY_KIND.get(most.kind)
    return found(load, way, most) if found is not None else None


def _of_silence(load: Load, way: Access) -> Cause | None:
    """No request ended within the measured time."""
    if not load.requests.in_flight:
        return None
    if way.tls and not way.handshakes:
        return Cause(
            "no TLS handshake was completed",
            "what listens there may not speak TLS: if so, write http://; else find out what it waits for",
        )
    if load.counts.bytes_read and way.bytes_are_of_answers:
        return Cause(
            "answers began and did not end",
            f"measure a path whose answers end (a stream of events has no end), or {LONGER}",
        )
    return Cause("", f"{LONGER}, or find out what the server waits for")


def _tls(load: Load, way: Access, most: Outcome) -> Cause | None:
    for pattern, found in _TLS:
        if re.search(pattern, most.example):
            return found(way)
    return None


def _unknown_authority(way: Access) -> Cause:
    trust = "trust its authority, or the certificate itself, with --cacert PATH"
    return Cause(
        "no authority that is trusted here has signed the server's certificate",
        f"{trust}, or accept any certificate with --insecure (-k)",
    )


def _other_name(way: Access) -> Cause:
    return Cause(
        f"the certificate is not for the name {way.server_name or way.host!r}",
        "ask for a name that it bears with --sni NAME, or accept any certificate with --insecure (-k)",
    )


def _other_certificate(way: Access) -> Cause | None:
    if way.insecure:
        return None
    return Cause(
        "the server's certificate is not valid",
        "give the server a valid certificate, or accept any with --insecure (-k)",
    )


def _name_asked(way: Access) -> Cause | None:
    """Alerts of servers that choose a certificate by name, and of others that agree on nothing."""
    if way.asks_for_name:
        return Cause(
            f"the server refused the handshake for the name {way.server_name or way.host!r}",
            "ask for a name that it serves with --sni NAME, or look at its log",
        )
    return Cause(
        "the server refused the handshake, and no server name was asked for: the URL's host is an address",
        "ask for the name that it serves with --sni NAME",
    )


_TLS: Sequence[tuple[str, Callable[[Access], Cause | None]]] = (
    ("UnknownIssuer|CaUsedAsEndEntity", _unknown_authority),
    ("not valid for name|NotValidForName", _other_name),
    ("invalid peer certificate", _other_certificate),
    ("InternalError|Unrecogni[sz]edName|AccessDenied", _name_asked),
    (
        "CertificateRequired|BadCertificate|UnknownCA|CertificateUnknown|CertificateExpired",
        lambda way: Cause(
            "the server asks for a certificate of the client that it trusts",
            "give it one with --cert PATH and --key PATH",
        ),
    ),
    (
        "ProtocolVersion|HandshakeFailure",
        lambda way: Cause(
            "client and server agreed on no version or cipher of TLS",
            "allow what the server speaks: --tls-min, --tls-max (TLS 1.2 and 1.3 are known)",
        ),
    ),
    (
        "InvalidContentType|corrupt message",
        lambda way: Cause("what listens there answers without TLS", "write http:// in the URL"),
    ),
)


def _status(load: Load, way: Access, most: Outcome) -> Cause | None:
    """By the status that most answers had."""
    status, count = max(way.statuses.items(), key=lambda item: item[1], default=("", 0))
    if count * 2 < load.counts.failed:
        return None
    evidence = f"most answers had the status {status}"
    if status in ("401", "403"):
        return Cause(evidence, _credentials(way, most))
    remedy = _BY_STATUS.get(status) or _BY_STATUS.get(f"{status[:1]}xx")
    if remedy is None:
        return None
    if status == "400" and not way.tls:
        remedy += "; where the port speaks TLS, write https://"
    return Cause(evidence, remedy)


def _credentials(way: Access, most: Outcome) -> str:
    if way.authorized:
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


def _redirects(load: Load, way: Access, most: Outcome) -> Cause:
    if way.cookies:
        return Cause("", "ask for the path that the redirects lead to, or raise --follow")
    return Cause(
        "redirects led to redirects",
        "keep the cookies that the server may set on the way with --cookies, or raise --follow",
    )


def _elsewhere(load: Load, way: Access, most: Outcome) -> Cause:
    to = f" ({most.example})" if most.example else ""
    return Cause(
        f"redirects lead to another scheme, host or port{to}",
        "load the URL that they lead to, or leave --follow out",
    )


def _closed(load: Load, way: Access, most: Outcome) -> Cause | None:
    """Where some requests were answered, the limit that the others met is not known."""
    if load.counts.completed:
        return None
    if load.counts.bytes_read:
        return Cause("no answer was whole when its connection ended", "find the cause in the server's log")
    tls = "" if way.tls else "; where the port speaks TLS, write https://"
    return Cause(
        "the server ended each connection without an answer", f"find the cause in the server's log{tls}"
    )


def _timeout(load: Load, way: Access, most: Outcome) -> Cause:
    limit = exact_duration(way.timeout_ns)
    if load.counts.bytes_read and not load.counts.completed and way.bytes_are_of_answers:
        return Cause(
            f"answers began and did not end within {limit}",
            "measure a path whose answers end (a stream of events has no end), or raise --timeout",
        )
    return Cause("", f"find out what the server waits for, or raise --timeout above {limit}")


def _no_http(load: Load, way: Access, most: Outcome) -> Cause | None:
    """Not a word of it was an answer in HTTP."""
    if load.counts.completed:
        return None
    return Cause(
        "what listens there answers with something else than HTTP/1",
        "correct the port, or ask in the protocol that it speaks (https://, --http2)",
    )


def _wrong_protocol(load: Load, way: Access, most: Outcome) -> Cause:
    return Cause(
        f"the server does not speak the HTTP that was asked for ({most.example})",
        "leave --http2 or --http3 out, or take what the server picks with --http auto",
    )


_BY_KIND: dict[str, Callable[[Load, Access, Outcome], Cause | None]] = {
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
