"""The plan that words ask for: the values of the table of flags, by the flags' names.

The table says where each value goes. Put together here is what several flags share: the load's shape, its
end, the requests, the way to the server. Where flags exclude each other the error says which, and what to
do.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from assay.core import urls
from assay.core.errors import InputError
from assay.engine import target_policy
from assay.model.plan import LoadPlan
from assay.plan.words import load_requests, load_table, parse
from assay.plan.words.address import full_url, host_and_port, target_of
from assay.plan.words.load_table import (
    DEFAULT_CONNECTIONS,
    DEFAULT_DURATION_NS,
    DEFAULT_STATUSES,
    GROUPS,
    TLS,
    LoadFlag,
)
from assay.plan.words.recorded import expanded

Tree: TypeAlias = dict[str, Any]


class DraftedLoad(msgspec.Struct, frozen=True, kw_only=True):
    """A plan and the values that it was made of, by the names of their flags.

    `lines` are those of the file of requests in which each of its requests stands; None without a file.
    """

    plan: LoadPlan
    given: Mapping[str, Any]
    lines: Sequence[int] | None = None
    notes: tuple[str, ...] = ()
    """What was left out of a recording."""


def drafted_load(url: str, given: Mapping[str, Any]) -> DraftedLoad:
    """The plan that the values ask for; InputError where they exclude each other. A recording among them
    may say the URL."""
    load = expanded(url, given)
    url, given = load.url, load.given
    tree: Tree = {"request": {}, "expect": {}, "sent": {}, "route": {}, "load": {}, "stop": {}, "tls": {}}
    for _, flags in GROUPS:
        for flag in flags:
            if flag.dest in given:
                _put(tree, flag.into, given[flag.dest])
    tree["url"] = full_url(url)
    if "proxy" in tree:
        tree["proxy"], tree["sent"]["proxy_basic"] = _proxy(tree["proxy"])
    tree |= _requests(tree.pop("request"), tree.pop("expect"), tree.pop("sent"), tree["url"])
    lines = tree.pop("lines", None)
    tree |= _route(tree.pop("route"), tree["url"], through_proxy="proxy" in tree)
    _check_sources(tree.get("source_addresses", ()))
    tree["tls"] = _tls(tree["tls"], tree["url"], [flag for flag in TLS if flag.dest in given])
    tree["load"] = _load(tree["load"], tree["stop"], tree)
    tree["stop"] = _stop(tree["stop"], tree["load"])
    _check_connections(tree)
    tree |= _http(tree.pop("http", {}), tree)
    tree.setdefault("threads", _threads(tree))
    tree.setdefault("seed", secrets.randbelow(2**31))
    tree["ends_unreached"] = True
    tree.setdefault("resend", True)
    return DraftedLoad(plan=msgspec.convert(tree, LoadPlan), given=given, lines=lines, notes=load.notes)


def _put(tree: Tree, place: str, value: object) -> None:
    *path, last = place.split(".")
    for step in path:
        tree = tree.setdefault(step, {})
    tree[last] = value


def _exclude(given: Tree, names: dict[str, str], remedy: str = "give one of them") -> None:
    """InputError where more than one of `names` (key → flag) is given."""
    found = [flag for key, flag in names.items() if key in given]
    if len(found) > 1:
        raise InputError(f"{found[0]} and {found[1]} exclude each other", remedy)


# --- what is sent -----------------------------------------------------------------------


def _requests(request: Tree, expect: Tree, sent: Tree, url: str) -> Tree:
    """The plan's `requests` and their order."""
    common = {"headers": _headers(request, sent), "expect": _expect(expect)}
    if "file" in sent:
        for name in ("method", "body", "body_file", "form", "chunk_bytes"):
            if name in request:
                flag = {"chunk_bytes": "chunked"}.get(name, name).replace("_", "-")
                raise InputError(f"--{flag} and --requests exclude each other", "say it in the file")
        if target_of(url) != "/":
            raise InputError("--requests names the paths itself", "leave the path out of the URL")
        found = load_requests.read(sent["file"], common, templated="templated" in request, url=url)
        order = found.order(sent.get("order"))
        return {
            "requests": found.requests,
            "hosts": found.hosts,
            "request_order": order,
            "lines": found.lines,
        }
    if "order" in sent:
        raise InputError("--order needs several requests", "add --requests FILE")
    has_body = bool({"body", "body_file", "form"} & request.keys())
    if "chunk_bytes" in request and not has_body:
        raise InputError("--chunked needs a body", "add --body, --body-file or --form")
    if "chunk_bytes" in request and "templated" in request:
        raise InputError("--chunked and --template exclude each other", "give one of them")
    request.setdefault("method", "POST" if has_body else "GET")
    return {"requests": [request | common | {"target": target_of(url)}]}


def _headers(request: Tree, sent: Tree) -> list[tuple[str, str]]:
    """The headers given, and those that other flags stand for."""
    own = request.get("headers", ())
    names = {name.lower() for name, _ in own}
    headers = [*own, *(one for one in request.pop("headers_of_file", ()) if one[0].lower() not in names)]
    _exclude(sent, {"basic": "--user", "bearer": "--bearer", "bearer_of_file": "--bearer-file"})
    for name, key, flag in (
        ("Authorization", "basic", "--user"),
        ("Authorization", "bearer", "--bearer"),
        ("Authorization", "bearer_of_file", "--bearer-file"),
        ("Proxy-Authorization", "proxy_basic", "--proxy with a name"),
        ("Accept-Encoding", "accept_encoding", "--accept-encoding"),
    ):
        if not sent.get(key):
            continue
        if any(given.lower() == name.lower() for given, _ in headers):
            raise InputError(f"{flag} and --header {name!r} exclude each other", "give one of them")
        headers.append((name, sent[key]))
    return headers


def _expect(expect: Tree) -> Tree | None:
    """What a right answer is; None where nothing is checked."""
    _exclude(
        expect,
        {"equals": "--expect-body", "matches": "--expect-match", "length": "--expect-length"},
    )
    expect.setdefault("status", parse.statuses(DEFAULT_STATUSES))
    for kind, field in (("equals", "text"), ("matches", "pattern"), ("length", "bytes")):
        if kind in expect:
            expect["body"] = {"kind": kind, field: expect.pop(kind)}
    if "check_every" in expect and not ("body" in expect or "headers" in expect):
        raise InputError(
            "--check-every thins out the checks of headers and bodies",
            "add --expect-header, --expect-body, …",
        )
    return expect if expect["status"] or len(expect) > 1 else None


# --- where it goes ----------------------------------------------------------------------


def _route(route: Tree, url: str, *, through_proxy: bool) -> Tree:
    """The plan's addresses and their family."""
    ways = {"unix": "--unix-socket", "address": "--address", "resolve": "--resolve"}
    _exclude(route, ways)
    families = {"ipv4": "--ipv4", "ipv6": "--ipv6"}
    _exclude(route, families)
    way = next((flag for key, flag in ways.items() if key in route), None)
    family = next((key for key in families if key in route), "any")
    if way and through_proxy:
        raise InputError(f"{way} and --proxy exclude each other", "the proxy finds the server itself")
    if way and family != "any":
        raise InputError(f"{way} and --{family} exclude each other", "the address says its family")
    return {"addresses": _addresses(route, url), "address_family": family}


def _addresses(route: Tree, url: str) -> list[str]:
    if "unix" in route:
        return [_unix_socket(route["unix"])]
    if "resolve" not in route:
        return list(route.get("address", ()))
    wanted, said = host_and_port(url), route["resolve"]
    if (said["host"], said["port"]) != wanted:
        raise InputError(
            f"--resolve speaks of {said['host']}:{said['port']}, the URL of {wanted[0]}:{wanted[1]}",
            "write the URL's host and port",
        )
    return list(said["addresses"])


def _proxy(url: str) -> tuple[str, str]:
    """A proxy's URL without credentials, and what it is told of them: with each request, or with CONNECT."""
    parts = urls.parse(url)
    return f"http://{urls.bracketed(parts.host)}:{parts.known_port}", load_table.told_proxy(parts.user)


def _check_sources(sources: Collection[str]) -> None:
    for source in sources:
        if not target_policy.is_this_machine((source,)):
            raise InputError(f"--source: {source} is no address of this machine", "`ip address` lists them")


def _unix_socket(path: Path) -> str:
    if not path.is_socket():
        reason = "is not a socket" if path.exists() else "no such file or directory"
        raise InputError(f"--unix-socket: {path}: {reason}", "is the server running?")
    return f"unix:{path.absolute()}"


def _tls(tls: Tree, url: str, given: list[LoadFlag]) -> Tree:
    if given and not url.lower().startswith("https://"):
        raise InputError(f"{given[0].names[-1]} belongs to an https URL", "write https://… or leave it out")
    least, most = tls.pop("least", "1.2"), tls.pop("most", "1.3")
    if least > most:
        raise InputError("--tls-min is above --tls-max", "no version is left")
    if "insecure" in tls and "ca_file" in tls:
        raise InputError("--insecure and --cacert exclude each other", "give one of them")
    return tls | {"versions": [version for version in ("1.2", "1.3") if least <= version <= most]}


# --- how much ---------------------------------------------------------------------------


def _load(load: Tree, stop: Tree, tree: Tree) -> Tree:
    """Closed unless a rate or stages were asked for."""
    if "rate" in load and "stages" in load:
        raise InputError("--rate and --stage exclude each other", "a rate held for a time is a stage")
    if "rate" not in load and "stages" not in load:
        for name in ("arrivals", "pacer"):
            if name in load:
                raise InputError(f"--{name} needs an open loop", "add --rate RATE")
        return {"kind": "closed", "connections": _usual_connections(tree)} | load
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


def _usual_connections(tree: Tree) -> int:
    """So many connections where nobody asked for a number: no more than a count of requests can use, and
    at least one for each thread that was asked for."""
    if "count" not in tree["stop"]:
        return DEFAULT_CONNECTIONS
    each: int = tree.get("streams", 1) * tree.get("pipeline", 1)
    used: int = math.ceil(tree["stop"]["count"] / each)
    threads: int = max(tree.get("threads", 1), len(tree.get("cpus", ())))
    return max(min(DEFAULT_CONNECTIONS, used), threads)


def _stop(stop: Tree, load: Tree) -> Tree:
    _exclude(stop, {"ns": "--duration", "count": "--count"})
    if "count" in stop:
        return {"kind": "requests"} | stop
    if load["kind"] == "open":
        return {"kind": "duration", "ns": sum(stage["duration_ns"] for stage in load["stages"])}
    return {"kind": "duration", "ns": DEFAULT_DURATION_NS} | stop


def _check_connections(tree: Tree) -> None:
    """What cannot be had together on a connection."""
    if "keep_alive" in tree and "requests_per_connection" in tree:
        raise InputError(
            "--no-keep-alive and --requests-per-connection exclude each other", "give one of them"
        )
    chunked = any("chunk_bytes" in request for request in tree["requests"])
    if chunked and "http_version" in tree:
        raise InputError("--chunked and --http1.0 exclude each other", "HTTP/1.0 knows no chunks")


def _http(http: Tree, tree: Tree) -> Tree:
    """Which HTTP is spoken. A server that does not speak the one that was asked for ends the load."""
    _exclude(http, {"two": "--http2", "three": "--http3", "version": "--http"})
    chosen = http.get("two") or http.get("three") or http.get("version", "1")
    if chosen == "1":
        return {}
    name, offered = ("HTTP/3", "h3") if chosen == "3" else ("HTTP/2", "h2")
    if "alpn" in tree["tls"]:
        raise InputError(f"--alpn and {name} exclude each other", f"{name} is offered as {offered}")
    return {"http": chosen, "ends_on": ["wrong_protocol"]}


def _threads(tree: Tree) -> int:
    """Half the cores, at least one: the server under test usually runs on the other half.

    Never more threads than connections, since a connection belongs to one thread; exactly
    one for each core that the user named.
    """
    if "cpus" in tree:
        return len(tree["cpus"])
    connections: int = tree["load"].get("connections") or tree["load"]["max_connections"]
    return max(1, min(connections, len(os.sched_getaffinity(0)) // 2))
