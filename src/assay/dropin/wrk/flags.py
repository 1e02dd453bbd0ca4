"""wrk's flags and wrk2's, their numbers and URL, what is refused and how; and the `LoadPlan` they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from assay.core import urls
from assay.dropin import getopt
from assay.engine import target_policy
from assay.model.plan import Closed, LoadPlan, Open, Request, Stage, StopAfter, Tls

_MOST = 2**64 - 1
_SCANNED = re.compile(r"\s*([+-]?)(\d+)\s*(\S{0,2})")

METRIC = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
TIME = {"": 1, "s": 1, "m": 60, "h": 3600}


def scan(text: str, units: dict[str, int]) -> int | None:
    """The number that `text` begins with, times its unit in any case; None where wrk sees none.

    As C reads it: unsigned, so that "-1" is a very large number, and what does not fit wraps or
    stays at the largest.
    """
    found = _SCANNED.match(text)
    if found is None:
        return None
    sign, digits, unit = found.groups()
    scale = units.get(unit.lower())
    if scale is None:
        return None
    number = min(int(digits), _MOST)
    if sign == "-" and number < _MOST:
        number = -number % 2**64
    return number * scale % 2**64


_HOST = r"(?:[A-Za-z0-9._-]+|\[(?P<v6>[0-9A-Fa-f:.]+(?:%[A-Za-z0-9._~%-]+)?)\])"
_USER = r"(?:[A-Za-z0-9._!~*'()%;:&=+$,-]*@)?"
_AUTHORITY = re.compile(rf"{_USER}(?P<host>{_HOST})(?::(?P<port>\d+))?")
_URL = re.compile(r"(?P<scheme>[A-Za-z]+)://(?P<authority>[^/?#]+)(?P<rest>(?:[/?][!-~]*)?)")
_MAX_PORT = 65535


class WrkUrl(msgspec.Struct, frozen=True):
    """The parts of a URL that wrk uses. `host` has no brackets; `port` is None where none is written."""

    scheme: str
    host: str
    port: str | None
    path: str

    @property
    def tls(self) -> bool:
        """Whether it is spoken to over TLS."""
        return self.scheme.startswith("https")

    @property
    def service(self) -> str:
        """What the resolver is asked for: the port, or the scheme's name."""
        return self.port if self.port is not None else self.scheme

    @property
    def authority(self) -> str:
        """What `Host` says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


def parse_url(text: str) -> WrkUrl | None:
    """Take a URL apart; None where wrk would not.

    Without a path it is "/", and a query is lost; a fragment after a path is part of it, as in wrk.
    """
    whole = _URL.fullmatch(text)
    parts = _AUTHORITY.fullmatch(whole["authority"]) if whole else None
    if whole is None or parts is None or int(parts["port"] or 0) > _MAX_PORT:
        return None
    if parts["v6"] and not urls.is_address(parts["v6"]):
        return None
    return WrkUrl(
        scheme=whole["scheme"],
        host=parts["v6"] or parts["host"],
        port=parts["port"],
        path=whole["rest"] if whole["rest"].startswith("/") else "/",
    )


VERSION = "4.2.0"
"""The version of wrk whose command line this is."""

# Flags, columns, order and widths are wrk's (its last line is one shorter): scripts look for them.
# Descriptions are ours.
USAGE = "\n".join(
    f"{line:<54}"
    for line in (
        "Usage: wrk <options> <url>",
        "  Options:",
        "    -c, --connections <N>  Connections kept busy",
        "    -d, --duration    <T>  How long to test",
        "    -t, --threads     <N>  Threads that share them",
        "",
        "    -s, --script      <S>  Run this Lua script",
        "    -H, --header      <H>  Send this header, too",
        "        --latency          Print percentiles, too",
        "        --timeout     <T>  Longest wait for an answer",
        "    -v, --version          Print the version",
        "",
        "  Numbers may end in a unit:  1k, 1M, 1G",
        "  Times may end in a unit:    2s, 2m, 2h",
    )
)[:-1]

_SHORT = "t:c:d:s:H:T:R:LUBrv?"
_LONG = {
    "connections": ("c", True),
    "duration": ("d", True),
    "threads": ("t", True),
    "script": ("s", True),
    "header": ("H", True),
    "latency": ("L", False),
    "timeout": ("T", True),
    "help": ("h", False),
    "version": ("v", False),
    "rate": ("R", True),
    "u_latency": ("U", False),
    "batch_latency": ("B", False),
}
_NUMBERS = {
    "t": METRIC,
    "c": METRIC,
    "R": METRIC,
    "d": TIME,
    "T": TIME,
}


class Refused(Exception):
    """wrk prints its usage and ends with 1; `message` is what it says on standard error before that."""

    def __init__(self, message: str = "") -> None:
        """`message` may be empty."""
        super().__init__(message)
        self.message = message


class WrkFlags(msgspec.Struct, frozen=True):
    """A command line that wrk accepts. `rest` are the words after the URL, which go to the script."""

    text: str
    url: WrkUrl
    threads: int = 2
    connections: int = 10
    duration_s: int = 10
    timeout_s: int = 2
    script: str | None = None
    headers: tuple[str, ...] = ()
    percentiles: bool = False
    rate_per_s: int | None = None
    uncorrected: bool = False
    rest: tuple[str, ...] = ()


def read(words: Sequence[str], on_version: Callable[[], None]) -> WrkFlags:
    """Read a command line as wrk does; raises `Refused`. `-v` calls `on_version` and is no end."""
    rest: list[str] = []
    given: dict[str, str] = {}
    values: dict[str, int] = {}
    headers: list[str] = []
    try:
        for letter, argument in getopt.read(words, _SHORT, _LONG, rest):
            if letter in "hr?":
                raise Refused
            if letter in _NUMBERS:
                number = scan(argument, _NUMBERS[letter])
                if number is None:
                    raise Refused
                values[letter] = number
            elif letter == "v":
                on_version()
            elif letter == "H":
                headers.append(argument)
            else:
                given[letter] = argument
    except getopt.Misuse as misuse:
        raise Refused(f"wrk: {misuse}") from None
    return _checked(rest, given, values, tuple(headers))


def _checked(
    rest: list[str], given: dict[str, str], values: dict[str, int], headers: tuple[str, ...]
) -> WrkFlags:
    threads, connections = values.get("t", 2), values.get("c", 10)
    if not rest or 0 in (threads, values.get("d"), values.get("R")):
        raise Refused
    url = parse_url(rest[0])
    if url is None:
        raise Refused(f"invalid URL: {rest[0]}")
    if connections == 0 or connections < threads:
        raise Refused("number of connections must be >= threads")
    return WrkFlags(
        text=rest[0],
        url=url,
        threads=threads,
        connections=connections,
        duration_s=values.get("d", 10),
        timeout_s=values.get("T", 2),
        script=given.get("s"),
        headers=headers,
        percentiles="L" in given or "U" in given,
        rate_per_s=values.get("R"),
        uncorrected="U" in given,
        rest=tuple(rest[1:]),
    )


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


FLAGS = {
    "load.connections": "-c",
    "load.max_connections": "-c",
    "load.stages": "-R",
    "pipeline": "-s",
    "stop": "-d",
    "stop.ns": "-d",
    "threads": "-t",
    "timeout_ns": "-T",
}
"""The flag that each field of the plan is from."""


def _ns(time_s: int) -> int:
    return min(time_s * NS_PER_S, _MOST_NS)


def _load(flags: WrkFlags, connections: int) -> Closed | Open:
    if flags.rate_per_s is None:
        return Closed(connections=connections)
    rate_per_s = float(flags.rate_per_s)
    stage = Stage(duration_ns=_ns(flags.duration_s), from_per_s=rate_per_s, to_per_s=rate_per_s)
    return Open(stages=(stage,), max_connections=connections)
