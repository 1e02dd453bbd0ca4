"""From h2load's flags to a `LoadPlan`."""

from __future__ import annotations

from pathlib import Path

from assay.dropin.h2load.flags import VERSION, H2loadFlags
from assay.dropin.h2load.values import NS_PER_S
from assay.engine import target_policy
from assay.model.plan import Closed, Http, LoadPlan, Open, Request, Stage, StopAfter, StopAtCount, Tls

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
