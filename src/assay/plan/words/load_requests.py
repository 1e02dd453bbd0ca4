"""`--requests FILE`: several requests, one a line: JSON, or a plain path or URL, with a method or without.

    {"path": "/", "weight": 9, "name": "start page"}
    {"method": "POST", "path": "/users", "json": {"name": "ada"}, "expect": {"status": 201}}
    /about
    DELETE http://127.0.0.1:8080/users/7

Empty lines and those that begin with # are left out. URLs may be of several servers.
What a line does not say (headers, expectation) the flags say.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from assay.core import credentials, urls
from assay.core.errors import InputError, cure_of, reason_of
from assay.plan.words import parse
from assay.plan.words.address import host_and_port, target_of

Tree: TypeAlias = dict[str, Any]


class ExpectLine(msgspec.Struct, forbid_unknown_fields=True):
    """What a right answer is. Status as a number, a list, or in words: "2xx"."""

    status: int | list[int] | str | None = None
    headers: dict[str, str | None] = {}
    body: str | None = None
    matches: str | None = None
    length: int | None = None
    check_every: int = 1


class RequestLine(msgspec.Struct, forbid_unknown_fields=True):
    """One line. The body is `body`, `json` (any value, sent as JSON) or what `body_file` holds."""

    path: str
    name: str | None = None
    method: str | None = None
    headers: dict[str, str | list[str]] = {}
    body: str | None = None
    json: Any = msgspec.UNSET
    body_file: str | None = None
    chunk_bytes: int | None = None
    template: bool | None = None
    weight: int | None = None
    expect: ExpectLine | None = None


class RecordedLines(msgspec.Struct, frozen=True):
    """Requests that another program recorded, an entry each as a line; empty where one was left out."""

    name: str
    lines: tuple[bytes, ...]


class RecordedLoad(msgspec.Struct, frozen=True):
    """Where requests go, the values of flags that they stand for, and what was left out of them."""

    url: str
    given: Mapping[str, Any]
    notes: tuple[str, ...] = ()


RequestSource: TypeAlias = "str | Sequence[bytes] | RecordedLines"
"""A file ("-": standard input), lines, or what another program recorded."""


@dataclass
class RequestFile:
    """The requests of a file, as the plan wants them, whether they are weighted, the line of each, and the
    servers of URLs, in the plan's order: that of the load's URL first."""

    requests: list[Tree]
    weighted: bool
    lines: list[int]
    servers: list[str]

    @property
    def hosts(self) -> list[Tree]:
        """The plan's hosts beside that of its URL."""
        return [{"url": server} for server in self.servers[1:]]

    def order(self, asked: str | None) -> str:
        """The plan's order. Drawing evenly takes the weights away."""
        asked = asked or ("weighted" if self.weighted else "sequential")
        if asked == "random":
            for request in self.requests:
                request["weight"] = 1
        return "sequential" if asked == "sequential" else "random"


def read(path: RequestSource, common: Tree, *, templated: bool, url: str) -> RequestFile:
    """Read the file ("-": standard input), or lines; InputError names the line. `common` is what the flags
    say of every request, `url` the server's that paths are of. Flags' headers that may hold a credential go
    to that server alone."""
    decoder = msgspec.json.Decoder(RequestLine)
    found = RequestFile([], weighted=False, lines=[], servers=[server_of(url)])
    abroad = common | {"headers": [one for one in common["headers"] if not _is_secret(*one)]}
    folder = Path.cwd() if path == "-" or not isinstance(path, str) else Path(path).parent
    for number, text in enumerate(_lines(path), 1):
        text = text.strip()
        if not text or text.startswith(b"#"):
            continue
        try:
            line = decoder.decode(text) if text.startswith((b"{", b"[")) else _plain(text)
            host, line.path = _place(line.path, found.servers)
            request = _request(line, abroad if host else common, folder) | ({"host": host} if host else {})
        except (msgspec.DecodeError, ValueError, argparse.ArgumentTypeError) as problem:
            raise InputError(
                f"{place(path, number)}: {problem}", 'write it like /a or {"path": "/a"}'
            ) from None
        found.weighted |= line.weight is not None
        request["templated"] = templated if line.template is None else line.template
        found.requests.append(request)
        found.lines.append(number)
    if not found.requests:
        raise InputError(f"{_named(path)} holds no request", 'write lines like /a or {"path": "/a"}')
    if all("host" in request for request in found.requests):
        unnamed = f"{_named(path)} holds no request to {found.servers[0]}"
        raise InputError(unnamed, f"give the URL of a server that it names: {found.servers[1]}")
    return found


def place(path: RequestSource, number: int) -> str:
    """Where the request of that number stands."""
    return f"{_named(path)}, {'entry' if isinstance(path, RecordedLines) else 'line'} {number}"


def _lines(path: RequestSource) -> Sequence[bytes]:
    if isinstance(path, RecordedLines):
        return path.lines
    if not isinstance(path, str):
        return path
    try:
        return (sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()).splitlines()
    except OSError as problem:
        raise InputError(f"{_named(path)}: {reason_of(problem)}", cure_of(problem)) from None


def _named(path: RequestSource) -> str:
    if isinstance(path, RecordedLines):
        return path.name
    if not isinstance(path, str):
        return "requests"
    return "standard input" if path == "-" else path


def _plain(text: bytes) -> RequestLine:
    """A line that is a path or a URL, after a method where it has two words."""
    try:
        said = text.decode().split()
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    if not said or len(said) > 2 or not re.match(r"/|\*$|https?://", said[-1]):
        raise ValueError("it is neither JSON nor a path or a URL")
    return RequestLine(path=said[-1], method=said[0] if len(said) == 2 else None)


def _place(path: str, servers: list[str]) -> tuple[int, str]:
    """The number of the server and the target that a line's path or URL means; a new server is added. A path
    may be written without its first slash."""
    if not re.match(r"https?://", path):
        return 0, path if path.startswith(("/", "*")) else f"/{path}"
    server = server_of(path)
    if server not in servers:
        servers.append(server)
    return servers.index(server), target_of(path)


def _is_secret(name: str, value: str) -> bool:
    return credentials.holds(credentials.hidden_header(name, value))


def server_of(url: str) -> str:
    """Scheme, host and port of a URL, the port where it is not the scheme's own; InputError where it is no
    http URL."""
    host, port = host_and_port(url)
    scheme = urls.parse(url).scheme
    return f"{scheme}://{urls.bracketed(host)}{'' if port == urls.PORTS[scheme] else f':{port}'}"


def _request(line: RequestLine, common: Tree, folder: Path) -> Tree:
    headers = [
        (name, value)
        for name, said in line.headers.items()
        for value in ([said] if isinstance(said, str) else said)
    ]
    own = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in common["headers"] if name.lower() not in own]
    bodies = [
        name for name in ("body", "json", "body_file") if getattr(line, name) not in (None, msgspec.UNSET)
    ]
    if len(bodies) > 1:
        raise ValueError(f"{bodies[0]} and {bodies[1]} exclude each other")
    request: Tree = {
        **({"name": line.name} if line.name else {}),
        "target": line.path,
        "method": (line.method or ("POST" if bodies else "GET")).upper(),
        "headers": headers,
        "weight": 1 if line.weight is None else line.weight,
        "expect": _expect(line.expect, common),
    }
    if line.body is not None:
        request["body"] = line.body
    if line.json is not msgspec.UNSET:
        request["body"] = msgspec.json.encode(line.json).decode()
        if "content-type" not in own:
            request["headers"].append(("Content-Type", "application/json"))
    if line.body_file is not None:
        request["body_file"] = parse.readable_file(str(folder / line.body_file))
    if line.chunk_bytes is not None:
        request["chunk_bytes"] = line.chunk_bytes
    if request["weight"] < 0:
        raise ValueError("weight must be 0 or more")
    return request


def _expect(line: ExpectLine | None, common: Tree) -> Tree | None:
    """The line's own expectation, else that of the flags; its status too where it says none."""
    default: Tree | None = common["expect"]
    if line is None:
        return default
    expect: Tree = {
        "status": _statuses(line.status) if line.status is not None else (default or {}).get("status", ()),
        "headers": [{"name": name, "pattern": pattern} for name, pattern in line.headers.items()],
        "check_every": line.check_every,
    }
    bodies = {
        "equals": ("text", line.body),
        "matches": ("pattern", line.matches),
        "length": ("bytes", line.length),
    }
    found = [{"kind": kind, field: value} for kind, (field, value) in bodies.items() if value is not None]
    if len(found) > 1:
        raise ValueError("of body, matches and length only one can be expected")
    return expect | {"body": found[0] if found else None}


def _statuses(said: int | list[int] | str) -> tuple[int, ...]:
    if isinstance(said, str):
        return parse.statuses(said)
    return tuple(said) if isinstance(said, list) else (said,)
