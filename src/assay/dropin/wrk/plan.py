"""From wrk's flags to a `LoadPlan`."""

from __future__ import annotations

from assay.dropin.wrk.flags import WrkFlags, WrkUrl
from assay.engine import target_policy
from assay.model.plan import Closed, LoadPlan, Open, Request, Stage, StopAfter, Tls

NS_PER_S = 1_000_000_000
LONGEST_TIMEOUT_NS = 3600 * NS_PER_S
_MIN_TIMEOUT_NS = 1_000_000
_MOST_NS = 2**63
"""Beyond what the engine allows, and still a number that it can read."""


class Unreachable(Exception):
    """The URL's host has no address, or none that accepts a connection; the line is wrk's."""


def addresses(url: WrkUrl, named: str) -> tuple[target_policy.Endpoint, ...]:
    """The addresses of the URL's host; `named` is the URL as typed.

    Raises `Unreachable` where there is none, InputError for a machine of others without their leave.
    """
    try:
        found = target_policy.look_up(url.host, url.service)
    except target_policy.Unresolved as problem:
        raise Unreachable(f"unable to resolve {url.host}:{url.service} {problem.reason}") from None
    target_policy.ask_leave(named, [endpoint.ip for endpoint in found])
    return found


def reachable(url: WrkUrl, named: str) -> str:
    """The first address of the URL's host that accepts a connection, as "ip:port"."""
    reason = ""
    for endpoint in addresses(url, named):
        try:
            endpoint.knock()
        except OSError as problem:
            reason = problem.strerror or str(problem)
            continue
        return str(endpoint)
    raise Unreachable(f"unable to connect to {url.host}:{url.service} {reason}")


def given_headers(flags: WrkFlags) -> dict[str, str]:
    """The header fields of `-H`, the last of a name winning; what is no field is left out."""
    headers: dict[str, str] = {}
    for text in flags.headers:
        name, colon, value = text.partition(":")
        if colon and value.startswith(" "):
            headers[name] = value[1:]
    return headers


def plan(flags: WrkFlags, address: str, *, strict: bool, batch: int = 1) -> LoadPlan:
    """The load that the flags ask for, on the server at `address`, with `batch` requests at once.

    wrk sends header fields in the order of a Lua table, which differs from run to run; here they come as
    given, after `Host`, and mean nothing to the client, as in wrk. wrk looks at no clock until an answer
    comes, so a late one is late and not lost: in strict mode the engine waits as long as it can. wrk also
    leaves connections that its threads cannot share evenly unopened; so does strict mode. A connection that
    fails is opened again at once.
    """
    url = flags.url
    connections = flags.connections - (flags.connections % flags.threads if strict else 0)
    headers = {"Host": url.authority, **given_headers(flags)}
    lines = [f"GET {url.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return LoadPlan(
        url=f"{'https' if url.tls else 'http'}://{url.authority}",
        requests=(Request(target=url.path, head="".join(f"{line}\r\n" for line in lines)),),
        load=_load(flags, connections),
        stop=StopAfter(ns=_ns(flags.duration_s)),
        threads=flags.threads,
        timeout_ns=LONGEST_TIMEOUT_NS if strict else max(_MIN_TIMEOUT_NS, _ns(flags.timeout_s)),
        pipeline=batch,
        addresses=(address,),
        retry_wait_max_ns=0,
        tls=Tls(insecure=True, alpn=()),
    )


def flag_of(field: str) -> str:
    """The flag that a field of the plan was made from; "" where there is none."""
    name = field.partition("[")[0]
    return _FLAGS.get(name, "")


_FLAGS = {
    "load.connections": "-c",
    "load.max_connections": "-c",
    "load.stages": "-R",
    "pipeline": "-s",
    "stop": "-d",
    "stop.ns": "-d",
    "threads": "-t",
    "timeout_ns": "-T",
}


def _ns(time_s: int) -> int:
    return min(time_s * NS_PER_S, _MOST_NS)


def _load(flags: WrkFlags, connections: int) -> Closed | Open:
    if flags.rate_per_s is None:
        return Closed(connections=connections)
    rate_per_s = float(flags.rate_per_s)
    stage = Stage(duration_ns=_ns(flags.duration_s), from_per_s=rate_per_s, to_per_s=rate_per_s)
    return Open(stages=(stage,), max_connections=connections)
