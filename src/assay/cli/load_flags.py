"""The flags of `assay load` as a table, and the plan they make.

A flag names the place in the plan where its value goes: adding one is adding a line.
Only the load's shape and its end are put together by hand, since several flags share them.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from assay.cli import words
from assay.cli.address import full_url, target_of
from assay.cli.parser import Parser
from assay.errors import InputError
from assay.values.plan import LoadPlan

DEFAULT_CONNECTIONS = 64
DEFAULT_DURATION_NS = 10_000_000_000
"""Ten seconds: the shortest measured window that S7 does not flag."""
DEFAULT_STATUSES = "2xx,3xx"


@dataclass(frozen=True)
class Flag:
    """`names` of the flag, the place `into` the plan (dotted), how its word is read, its help.

    `parse` None makes a switch, whose presence sets `switch`.
    """

    names: tuple[str, ...]
    into: str
    parse: Callable[[str], Any] | None
    metavar: str
    help: str
    repeat: bool = False
    switch: Any = True

    @property
    def dest(self) -> str:
        """The attribute of the parsed arguments: the long name."""
        return self.names[-1].lstrip("-").replace("-", "_")


HOW_MUCH = (
    Flag(("-c", "--connections"), "load.connections", words.whole, "N",
         f"connections kept busy [{DEFAULT_CONNECTIONS}]; with --rate, at most so many"),
    Flag(("-d", "--duration"), "stop.ns", words.time_ns, "TIME", "measure for so long [10s]"),
    Flag(("-n", "--count"), "stop.count", words.whole, "N", "measure so many requests instead"),
    Flag(("-t", "--threads"), "threads", words.whole, "N", "engine threads [half the cores]"),
    Flag(("--cpus",), "cpus", words.cpus, "LIST", "pin the threads to these cores: 0,2 or 0-3"),
    Flag(("--warm-up",), "warmup_max_ns", words.time_ns, "TIME", "load for so long before measuring [0s]"),
    Flag(("--think-time",), "load.think_time_ns", words.time_ns, "TIME",
         "pause of a connection between an answer and its next request [0s]"),
)  # fmt: skip

AT_A_RATE = (
    Flag(("-r", "--rate"), "load.rate", words.rate_per_s, "RATE",
         "open loop: send RATE requests a second, whatever the server does"),
    Flag(("--stage",), "load.stages", words.stage, "TIME:RATE[..RATE]",
         "open loop in stages; repeatable: 10s:1000, 30s:1000..5000", repeat=True),
    Flag(("--arrivals",), "load.arrivals", str, "{constant,poisson}",
         "open loop: even or random gaps between requests [constant]"),
    Flag(("--pacer",), "load.pacer", str, "{spin,sleep}",
         "open loop: punctual and busy, or cheap and up to 1 ms late [spin]"),
)  # fmt: skip

WHAT = (
    Flag(("-m", "--method"), "request.method", words.method, "METHOD",
         "request method [GET; POST with a body]"),
    Flag(("-H", "--header"), "request.headers", words.header, "'NAME: VALUE'",
         "add a request header; repeatable", repeat=True),
    Flag(("-b", "--body"), "request.body", str, "TEXT", "request body"),
    Flag(("--body-file",), "request.body_file", words.readable_file, "PATH", "request body from a file"),
    Flag(("--expect-status",), "request.expect.status", words.statuses, "CODES",
         f"status codes of right answers [{DEFAULT_STATUSES}]; any checks none"),
    Flag(("--timeout",), "timeout_ns", words.time_ns, "TIME", "give a request up after so long [5s]"),
    Flag(("--no-keep-alive",), "keep_alive", None, "", "a new connection for each request", switch=False),
    Flag(("--http",), "http_version", str, "{1.1,1.0}", "protocol version [1.1]"),
    Flag(("--pipeline",), "pipeline", words.whole, "N", "requests in flight on a connection [1]"),
    Flag(("--requests-per-connection",), "requests_per_connection", words.whole, "N",
         "reconnect after so many requests"),
    Flag(("--seed",), "seed", words.natural, "N", "seed of everything random [0]"),
)  # fmt: skip

GROUPS = (("how much", HOW_MUCH), ("at a rate", AT_A_RATE), ("what is sent", WHAT))


def add_to(parser: Parser) -> None:
    """Give the parser the address and every flag of the table."""
    parser.add_argument("url", metavar="URL", help="http://host:port/path")
    for title, flags in GROUPS:
        group = parser.add_argument_group(title)
        for flag in flags:
            _add(group, flag)


def _add(group: argparse._ArgumentGroup, flag: Flag) -> None:
    settings: dict[str, Any] = {"dest": flag.dest, "help": flag.help, "default": argparse.SUPPRESS}
    if flag.parse is None:
        group.add_argument(*flag.names, action="store_const", const=flag.switch, **settings)
    elif flag.metavar.startswith("{"):
        choices = flag.metavar.strip("{}").split(",")
        group.add_argument(*flag.names, choices=choices, metavar=flag.metavar, **settings)
    else:
        action = "append" if flag.repeat else "store"
        group.add_argument(*flag.names, type=flag.parse, metavar=flag.metavar, action=action, **settings)


def plan_from(args: argparse.Namespace, addresses: Iterable[str] = ()) -> LoadPlan:
    """The plan that the parsed flags ask for; InputError where they exclude each other."""
    given = vars(args)
    tree: dict[str, Any] = {"request": {"expect": {}}, "load": {}, "stop": {}}
    for _, flags in GROUPS:
        for flag in flags:
            if flag.dest in given:
                _put(tree, flag.into, given[flag.dest])
    tree["url"] = full_url(args.url)
    tree["request"]["target"] = target_of(tree["url"])
    tree["requests"] = [_request(tree.pop("request"))]
    tree["load"] = _load(tree["load"], tree["stop"])
    tree["stop"] = _stop(tree["stop"], tree["load"])
    tree.setdefault("threads", _threads(tree))
    tree["addresses"] = list(addresses)
    return msgspec.convert(tree, LoadPlan)


def _put(tree: dict[str, Any], place: str, value: object) -> None:
    *path, last = place.split(".")
    for step in path:
        tree = tree.setdefault(step, {})
    tree[last] = value


def _request(request: dict[str, Any]) -> dict[str, Any]:
    has_body = "body" in request or "body_file" in request
    if "body" in request and "body_file" in request:
        raise InputError("--body and --body-file exclude each other", "give one of them")
    request.setdefault("method", "POST" if has_body else "GET")
    request["expect"].setdefault("status", words.statuses(DEFAULT_STATUSES))
    if not request["expect"]["status"]:
        del request["expect"]
    return request


def _load(load: dict[str, Any], stop: dict[str, Any]) -> dict[str, Any]:
    """Closed unless a rate or stages were asked for."""
    if "rate" in load and "stages" in load:
        raise InputError("--rate and --stage exclude each other", "a rate held for a time is a stage")
    if "rate" not in load and "stages" not in load:
        for name in ("arrivals", "pacer"):
            if name in load:
                raise InputError(f"--{name} needs an open loop", "add --rate RATE")
        return {"kind": "closed", "connections": DEFAULT_CONNECTIONS} | load
    if "think_time_ns" in load:
        raise InputError("--think-time belongs to a closed loop", "leave out --rate and --stage")
    if "stages" in load and stop:
        raise InputError("--stage says itself when the load ends", "leave out --duration and --count")
    connections = load.pop("connections", DEFAULT_CONNECTIONS)
    if "rate" in load:
        rate = load.pop("rate")
        length = round(stop["count"] / rate * 1e9) if "count" in stop else stop.get("ns", DEFAULT_DURATION_NS)
        load["stages"] = [{"duration_ns": length, "from_per_s": rate, "to_per_s": rate}]
    return {"kind": "open", "max_connections": connections} | load


def _stop(stop: dict[str, Any], load: dict[str, Any]) -> dict[str, Any]:
    if "ns" in stop and "count" in stop:
        raise InputError("--duration and --count exclude each other", "give one of them")
    if "count" in stop:
        return {"kind": "requests"} | stop
    if load["kind"] == "open":
        return {"kind": "duration", "ns": sum(stage["duration_ns"] for stage in load["stages"])}
    return {"kind": "duration", "ns": DEFAULT_DURATION_NS} | stop


def _threads(tree: dict[str, Any]) -> int:
    """Half the cores, at least one: the server under test usually runs on the other half.

    Never more threads than connections, since a connection belongs to one thread; exactly
    one for each core that the user named.
    """
    if "cpus" in tree:
        return len(tree["cpus"])
    connections: int = tree["load"].get("connections") or tree["load"]["max_connections"]
    return max(1, min(connections, len(os.sched_getaffinity(0)) // 2))
