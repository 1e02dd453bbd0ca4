"""From wrk's flags to a `LoadPlan`."""

from __future__ import annotations

from assay import reach
from assay.dropin.wrk.flags import Flags
from assay.dropin.wrk.url import Url
from assay.values.plan import Closed, LoadPlan, Open, Request, Stage, StopAfter, Tls

NS_PER_S = 1_000_000_000
LONGEST_TIMEOUT_NS = 3600 * NS_PER_S
_MIN_TIMEOUT_NS = 1_000_000


class Unreachable(Exception):
    """The URL's host has no address, or none that accepts a connection; the line is wrk's."""


def addresses(url: Url, named: str) -> tuple[reach.Endpoint, ...]:
    """The addresses of the URL's host; `named` is the URL as typed.

    Raises `Unreachable` where there is none, InputError for a machine of others without their leave.
    """
    try:
        found = reach.look_up(url.host, url.service)
    except reach.Unresolved as problem:
        raise Unreachable(f"unable to resolve {url.host}:{url.service} {problem.reason}") from None
    reach.ask_leave(named, [endpoint.ip for endpoint in found])
    return found


def reachable(url: Url, named: str) -> str:
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


def given_headers(flags: Flags) -> dict[str, str]:
    """The header fields of `-H`, the last of a name winning; what is no field is left out."""
    headers: dict[str, str] = {}
    for text in flags.headers:
        name, colon, value = text.partition(":")
        if colon and value.startswith(" "):
            headers[name] = value[1:]
    return headers


def plan(flags: Flags, address: str, *, strict: bool, batch: int = 1) -> LoadPlan:
    """The load that the flags ask for, on the server at `address`, with `batch` requests at once.

    wrk sends header fields in the order of a Lua table, which differs from run to run; here they come as
    given, after `Host`. wrk looks at no clock until an answer comes, so a late one is late and not
    lost: in strict mode the engine waits as long as it can. wrk also leaves connections that its threads
    cannot share evenly unopened; so does strict mode.
    """
    url = flags.url
    connections = flags.connections - (flags.connections % flags.threads if strict else 0)
    headers = {"Host": url.authority, **given_headers(flags)}
    return LoadPlan(
        url=f"{'https' if url.tls else 'http'}://{url.authority}",
        requests=(Request(target=url.path, headers=tuple(headers.items())),),
        load=_load(flags, connections),
        stop=StopAfter(ns=flags.duration_s * NS_PER_S),
        threads=flags.threads,
        timeout_ns=LONGEST_TIMEOUT_NS if strict else max(_MIN_TIMEOUT_NS, flags.timeout_s * NS_PER_S),
        pipeline=batch,
        addresses=(address,),
        tls=Tls(insecure=True, alpn=()),
    )


def _load(flags: Flags, connections: int) -> Closed | Open:
    if flags.rate_per_s is None:
        return Closed(connections=connections)
    rate_per_s = float(flags.rate_per_s)
    stage = Stage(duration_ns=flags.duration_s * NS_PER_S, from_per_s=rate_per_s, to_per_s=rate_per_s)
    return Open(stages=(stage,), max_connections=connections)
