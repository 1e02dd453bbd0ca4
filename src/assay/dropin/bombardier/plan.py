"""From bombardier's flags to a `LoadPlan`."""

from __future__ import annotations

import os

from assay.dropin.bombardier import request
from assay.dropin.bombardier.flags import BombardierFlags
from assay.engine import target_policy
from assay.model.plan import Closed, LoadPlan, Open, Request, Stage, StopAfter, StopAtCount, Tls

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
    is_chunked = request.is_chunked(flags)
    sent = Request(
        method=flags.method,
        head=request.head(flags),
        body=body if body or file or not is_chunked else "",
        body_file=file,
        chunk_bytes=request.CHUNK_BYTES if is_chunked else None,
    )
    counted = flags.requests is not None
    is_http2 = flags.client == "net/http.v2" and flags.url.scheme == "https"
    connections = 1 if is_http2 else flags.connections
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
        keep_alive=request.is_kept_alive(flags),
        resend=request.is_sent_again(flags),
        # bombardier's deviations are of each time in µs, which histograms do not keep.
        request_log="times" if strict and 0 < (flags.requests or 0) <= _MOST_LOGGED else "off",
        addresses=(_address(flags),),
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


def _address(flags: BombardierFlags) -> str:
    port = flags.url.port or (443 if flags.url.scheme == "https" else 80)
    host = flags.url.hostname or ""
    return target_policy.address(host, port, named=host)


def _load(flags: BombardierFlags, connections: int) -> Closed | Open:
    if flags.rate_per_s is None:
        return Closed(connections=connections)
    rate_per_s = float(flags.rate_per_s)
    # The last rate of an open loop holds until the stop.
    stage = Stage(duration_ns=NS_PER_S, from_per_s=rate_per_s, to_per_s=rate_per_s)
    return Open(stages=(stage,), max_connections=connections, pacer="sleep")
