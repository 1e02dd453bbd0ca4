"""bombardier's flags: what is accepted, what is refused, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, urlsplit, urlunsplit

from assay.dropin.bombardier import golang, kingpin
from assay.dropin.bombardier.kingpin import Flag, Misuse

VERSION = "v2.0.2"
"""The version of bombardier whose command line this is."""

Client = Literal["fasthttp", "net/http.v1", "net/http.v2"]
_S = 10**9
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
_PARTS = {
    "i": "intro", "intro": "intro", "p": "progress", "progress": "progress",
    "r": "result", "result": "result",
}  # fmt: skip
_CLIENTS: dict[str, Client] = {"fasthttp": "fasthttp", "http1": "net/http.v1", "http2": "net/http.v2"}
_SWITCHES = ("latencies", "stream", "insecure", "disableKeepAlives", "no-print", *_CLIENTS)
_LETTERS = {
    "version": "", "help": "", "help-long": "", "help-man": "",
    "connections": "c", "timeout": "t", "latencies": "l", "method": "m", "body": "b", "body-file": "f",
    "stream": "s", "cert": "", "key": "", "insecure": "k", "disableKeepAlives": "a", "header": "H",
    "requests": "n", "duration": "d", "rate": "r", "fasthttp": "", "http1": "", "http2": "", "print": "p",
    "no-print": "q", "format": "o",
}  # fmt: skip
_HELP = ("help", "help-long", "help-man")
FLAGS = [Flag(name, letter, name not in (*_SWITCHES, *_HELP, "version")) for name, letter in _LETTERS.items()]


class Wrong(Exception):
    """The words are understood and ask for something that cannot be; the line is bombardier's."""


class Asked(Exception):
    """Nothing but the help, or the version, was asked for."""

    def __init__(self, what: Literal["help", "version"]) -> None:
        """Keep which."""
        super().__init__(what)
        self.what = what


@dataclass(frozen=True)
class Flags:
    """A command line that bombardier accepts.

    `requests` counts the run, where it is not None; `template` is the file of `-o path:`.
    """

    url: SplitResult
    connections: int = 125
    timeout_ns: int = 2 * _S
    latencies: bool = False
    method: str = "GET"
    body: str = ""
    body_file: str = ""
    stream: bool = False
    certificate: str = ""
    key: str = ""
    insecure: bool = False
    keep_alive: bool = True
    headers: tuple[tuple[str, str], ...] = ()
    requests: int | None = None
    duration_ns: int = 10 * _S
    rate_per_s: int | None = None
    client: Client = "fasthttp"
    parts: frozenset[str] = frozenset(("intro", "progress", "result"))
    format: Literal["text", "json", "template"] = "text"
    template: str = ""

    @property
    def text(self) -> str:
        """The URL as it is shown."""
        return urlunsplit(self.url)


@dataclass
class _Reading:
    given: dict[str, str] = field(default_factory=dict)
    on: dict[str, bool] = field(default_factory=dict)
    headers: list[tuple[str, str]] = field(default_factory=list)
    client: Client = "fasthttp"


def read(words: Sequence[str]) -> Flags:
    """Read a command line as bombardier does; raises `kingpin.Misuse` and `Asked`."""
    rest: list[str] = []
    reading = _Reading()
    for name, argument in kingpin.read(words, FLAGS, rest):
        _take(reading, name, argument)
    if not rest:
        raise Misuse("required argument 'url' not provided")
    if len(rest) > 1:
        raise Misuse(f"unexpected {rest[1]}")
    given = reading.given
    kind, template = _format(given.get("format", "plain-text"))
    connections, requests = _number(given, "connections"), _number(given, "requests")
    return Flags(
        url=_url(rest[0]),
        connections=125 if connections is None else connections,
        timeout_ns=_duration(given, "timeout", 2 * _S),
        latencies=reading.on.get("latencies", False),
        method=given.get("method", "GET"),
        body=given.get("body", ""),
        body_file=given.get("body-file", ""),
        stream=reading.on.get("stream", False),
        certificate=given.get("cert", ""),
        key=given.get("key", ""),
        insecure=reading.on.get("insecure", False),
        keep_alive=not reading.on.get("disableKeepAlives", False),
        headers=tuple(dict(reading.headers).items()),
        requests=requests,
        duration_ns=_duration(given, "duration", 10 * _S),
        rate_per_s=_number(given, "rate"),
        client=reading.client,
        parts=frozenset()
        if reading.on.get("no-print")
        else _parts(given.get("print", "intro,progress,result")),
        format=kind,
        template=template,
    )


def check(flags: Flags) -> None:
    """Refuse what bombardier refuses before it starts, in its order; raises `Wrong`."""
    rules: tuple[tuple[bool, str], ...] = (
        (flags.rate_per_s == 0, "rate can't be less than 1"),
        (flags.connections < 1, "invalid number of connections(must be > 0)"),
        (flags.requests == 0, "invalid number of requests(must be > 0)"),
        (flags.requests is None and flags.duration_ns < _S, "invalid test duration(must be >= 1s)"),
        (flags.timeout_ns < 0, "timeout can't be negative"),
        (flags.method not in _METHODS, f"Unknown HTTP method: {flags.method}"),
        (flags.method == "HEAD" and bool(flags.body), "HEAD requests cannot have body"),
        (bool(flags.body and flags.body_file), "use either --body or --body-file"),
        (bool(flags.certificate and not flags.key), "no Path to TLS Client Certificate Private Key"),
        (bool(flags.key and not flags.certificate), "no Path to TLS Client Certificate"),
    )
    for is_broken, line in rules:
        if is_broken:
            raise Wrong(line)


def _take(reading: _Reading, name: str, argument: str | None) -> None:
    if name in _HELP:
        raise Asked("help")
    if name == "version":
        raise Asked("version")
    if name in _CLIENTS:
        reading.client = _CLIENTS[name]
    elif name in _SWITCHES:
        if argument not in (None, "true", "false", "1", "0", "t", "f"):
            raise Misuse(f"strconv.ParseBool: parsing {golang.quoted(argument or '')}: invalid syntax")
        reading.on[name] = argument in (None, "true", "1", "t")
    elif name == "header":
        key, colon, value = (argument or "").partition(":")
        if not colon:
            raise Misuse("invalid header format")
        reading.headers.append((key, value.strip(" ")))
    else:
        reading.given[name] = argument or ""


def _read(given: dict[str, str], name: str, how: Callable[[str], int]) -> int | None:
    if name not in given:
        return None
    try:
        return how(given[name])
    except ValueError as problem:
        raise Misuse(str(problem)) from None


def _number(given: dict[str, str], name: str) -> int | None:
    return _read(given, name, golang.unsigned)


def _duration(given: dict[str, str], name: str, default: int) -> int:
    found = _read(given, name, golang.duration_ns)
    return default if found is None else found


def _parts(spec: str) -> frozenset[str]:
    words = spec.split(",")
    if not spec:
        raise Misuse("empty print spec is not a valid print spec")
    if len(words) > 3:
        raise Misuse(f"spec {golang.quoted(spec)} has too many parts, at most 3 are allowed")
    for word in words:
        if word not in _PARTS:
            raise Misuse(f"{golang.quoted(word)} is not a valid part of print spec")
    return frozenset(_PARTS[word] for word in words)


def _format(spec: str) -> tuple[Literal["text", "json", "template"], str]:
    if spec in ("plain-text", "pt"):
        return "text", ""
    if spec in ("json", "j"):
        return "json", ""
    if spec.startswith("path:") and spec != "path:":
        return "template", spec.removeprefix("path:")
    raise Misuse(f"unknown format or invalid format spec {golang.quoted(spec)}")


def _url(text: str) -> SplitResult:
    """The URL with its scheme, its host in small letters."""
    try:
        url = urlsplit(text if "://" in text else f"http://{text}")
        host, port = url.hostname, url.port
    except ValueError as problem:
        raise Misuse(f"parse {golang.quoted(text)}: {problem}") from None
    if url.scheme not in ("http", "https"):
        raise Misuse("unsupported scheme")
    if not host:
        raise Misuse("empty host")
    shown = f"[{host}]" if ":" in host else host
    return url._replace(netloc=shown if port is None else f"{shown}:{port}")
