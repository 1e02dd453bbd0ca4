"""bombardier's flags and help: what is accepted, what is refused, and in which words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, urlsplit, urlunsplit

import msgspec

from assay.core import urls
from assay.dropin.bombardier import golang
from assay.dropin.bombardier.golang import KingpinFlag, KingpinMisuse

USAGE = """\
usage: bombardier [<flags>] <url>

HTTP load on a server, as bombardier offers it, from Assay's engine

Flags:
      --help                  Print this.
      --version               Print the version.
  -c, --connections=125       Connections kept busy
  -t, --timeout=2s            Longest wait for an answer
  -l, --latencies             Print percentiles of the latency, too
  -m, --method=GET            Request method
  -b, --body=""               Request body
  -f, --body-file=""          File that holds the body
  -s, --stream                Send the body in chunks
      --cert=""               PEM file of the client's certificate
      --key=""                PEM file of its key
  -k, --insecure              Accept any certificate
  -a, --disableKeepAlives     One request on each connection (clients of net/http)
  -H, --header="K: V" ...     Send this header, too (may be repeated)
  -n, --requests=[pos. int.]  End after so many requests
  -d, --duration=10s          End after so long
  -r, --rate=[pos. int.]      Requests a second, in all
      --fasthttp              Send what fasthttp sends
      --http1                 Send what net/http sends
      --http2                 HTTP/2 to an https URL: one connection, its streams the <connections>
  -p, --print=<spec>          What to print, with commas: intro (i), progress (p), result (r)
  -q, --no-print              Print nothing
  -o, --format=<spec>         plain-text (pt) or json (j)

Args:
  <url>  Where the load goes; http where no scheme is written

"""


VERSION = "v2.0.2"
"""The version of bombardier whose command line this is."""

Client = Literal["fasthttp", "net/http.v1", "net/http.v2"]
_S = 10**9
_MAX_PORT = 65535
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
_HOST = re.compile(r"([a-z0-9_-]{1,63}\.)*[a-z0-9-]{1,63}|[a-f0-9:]+|.*[^\x00-\x7f].*")
"""What bombardier takes for a host, in small letters; one of other letters is the resolver's matter."""
_AT_ONCE = ("version", "help-long", "help-man")
"""What is done as soon as it is read, whatever else is wrong."""
FLAGS = [
    KingpinFlag(name, letter, takes=name not in (*_SWITCHES, *_AT_ONCE, "help"), repeats=name == "header")
    for name, letter in _LETTERS.items()
]


class Wrong(Exception):
    """The words are understood and ask for something that cannot be; the line is bombardier's."""


class HelpAsked(Exception):
    """Nothing but the help, or the version, was asked for."""

    def __init__(self, what: str) -> None:
        """Keep the name of the flag that asks."""
        super().__init__(what)
        self.what = what


class BombardierFlags(msgspec.Struct, frozen=True):
    """A command line that bombardier accepts.

    `credentials` are the URL's ("user:password", escaped as there); `requests` counts the run, where
    it is not None; the `format` "template" is that of `-o path:`, which `check` refuses.
    """

    url: SplitResult
    credentials: str | None = None
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

    @property
    def bad_port(self) -> str:
        """The URL's port, where no port is so large; else ""."""
        port = _port(self.url) or ""
        return port if len(port.lstrip("0")) > 5 or int(port or 0) > _MAX_PORT else ""

    @property
    def text(self) -> str:
        """The URL as it is shown, credentials and all: so bombardier shows it."""
        user = "" if self.credentials is None else f"{self.credentials}@"
        return urlunsplit(self.url._replace(netloc=f"{user}{self.url.netloc}"))


@dataclass
class _FlagsRead:
    given: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    on: dict[str, bool] = field(default_factory=dict)
    headers: list[tuple[str, str]] = field(default_factory=list)
    client: Client = "fasthttp"


def read(words: Sequence[str]) -> BombardierFlags:
    """Read a command line as bombardier does; raises `kingpin.Misuse` and `HelpAsked`."""
    found = golang.read(words, FLAGS, most_arguments=1)
    asked = [flag.name for flag, _ in found.flags]
    at_once = next((name for name in asked if name in _AT_ONCE), None)
    if at_once is not None:
        raise HelpAsked(at_once)
    if found.problem:
        raise KingpinMisuse(found.problem)
    if "help" in asked:
        raise HelpAsked("help")
    reading = _FlagsRead()
    for index, (flag, argument) in enumerate(found.flags):
        if flag.name in asked[:index] and not flag.repeats:
            raise KingpinMisuse(f"flag '{flag.name}' cannot be repeated")
        _take(reading, flag.name, argument)
    if not found.arguments:
        raise KingpinMisuse("required argument 'url' not provided")
    given = reading.given
    parts = _parts(given.get("print", "intro,progress,result"))
    report = _format(given.get("format", "plain-text"))
    numbers = reading.numbers
    url, credentials = _url(found.arguments[0])
    return BombardierFlags(
        url=url,
        credentials=credentials,
        connections=numbers.get("connections", 125),
        timeout_ns=numbers.get("timeout", 2 * _S),
        latencies=reading.on.get("latencies", False),
        method=given.get("method", "GET"),
        body=given.get("body", ""),
        body_file=given.get("body-file", ""),
        stream=reading.on.get("stream", False),
        certificate=given.get("cert", ""),
        key=given.get("key", ""),
        insecure=reading.on.get("insecure", False),
        keep_alive=not reading.on.get("disableKeepAlives", False),
        headers=tuple(reading.headers),
        requests=numbers.get("requests"),
        duration_ns=numbers.get("duration", 10 * _S),
        rate_per_s=numbers.get("rate"),
        client=reading.client,
        parts=frozenset() if reading.on.get("no-print") else parts,
        format=report,
    )


def check(flags: BombardierFlags) -> None:
    """Refuse what bombardier refuses before it starts, in its order; raises `Wrong`."""
    rules: tuple[tuple[bool, str], ...] = (
        (flags.rate_per_s == 0, "rate can't be less than 1"),
        (flags.connections < 1, "invalid number of connections(must be > 0)"),
        (flags.requests == 0, "invalid number of requests(must be > 0)"),
        (flags.requests is None and flags.duration_ns < _S, "invalid test duration(must be >= 1s)"),
        (flags.timeout_ns < 0, "timeout can't be negative"),
        (flags.method not in _METHODS, f"Unknown HTTP method: {flags.method}"),
        (flags.method == "HEAD" and bool(flags.body or flags.body_file), "HEAD requests cannot have body"),
        (bool(flags.body and flags.body_file), "use either --body or --body-file"),
        (bool(flags.certificate and not flags.key), "no Path to TLS Client Certificate Private Key"),
        (bool(flags.key and not flags.certificate), "no Path to TLS Client Certificate"),
        (flags.format == "template", "-o path: is not supported here: use -o json, which has every figure"),
    )
    for is_broken, line in rules:
        if is_broken:
            raise Wrong(line)


def _take(reading: _FlagsRead, name: str, argument: str) -> None:
    """Take a flag's argument; one that cannot be read is refused here, in the order of the words."""
    if name in _CLIENTS:
        reading.client = _CLIENTS[name]
    elif name in _SWITCHES:
        reading.on[name] = argument == "true"
    elif name == "header":
        key, colon, value = argument.partition(":")
        if not colon:
            raise KingpinMisuse("invalid header format")
        reading.headers.append((key, value.strip(" ")))
    elif name in _READERS:
        try:
            reading.numbers[name] = _READERS[name](argument)
        except ValueError as problem:
            raise KingpinMisuse(str(problem)) from None
    else:
        reading.given[name] = argument


_READERS: dict[str, Callable[[str], int]] = {
    "connections": golang.unsigned,
    **dict.fromkeys(("requests", "rate"), golang.decimal),
    **dict.fromkeys(("timeout", "duration"), golang.duration_ns),
}


def _parts(spec: str) -> frozenset[str]:
    words = spec.split(",")
    if not spec:
        raise KingpinMisuse("empty print spec is not a valid print spec")
    if len(words) > 3:
        raise KingpinMisuse(f"spec {golang.quoted(spec)} has too many parts, at most 3 are allowed")
    for word in words:
        if word not in _PARTS:
            raise KingpinMisuse(f"{golang.quoted(word)} is not a valid part of print spec")
    return frozenset(_PARTS[word] for word in words)


def _format(spec: str) -> Literal["text", "json", "template"]:
    if spec in ("plain-text", "pt"):
        return "text"
    if spec in ("json", "j"):
        return "json"
    if spec.startswith("path:"):
        return "template"
    raise KingpinMisuse(f"unknown format or invalid format spec {golang.quoted(spec)}")


def _port(url: SplitResult) -> str | None:
    """The port as it is written; one out of range is found out when it is dialled."""
    port = url.netloc.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
    return port if port.isascii() and port.isdigit() else None if url.port is None else str(url.port)


def _url(text: str) -> tuple[SplitResult, str | None]:
    """The URL with its scheme and its host in small letters, and the credentials that stood in it.

    Escapes become those that Go's URLs have: they are what is shown and sent.
    """
    text = f"http:{text}" if text.startswith("//") else text if "://" in text else f"http://{text}"
    try:
        url = urlsplit(text)
        host, port = url.hostname, _port(url)
        if host:
            urls.host_and_port(re.sub(r":[0-9]*$", "", url.netloc.rpartition("@")[2]))
    except ValueError as problem:
        raise KingpinMisuse(f"parse {golang.quoted(text)}: {str(problem).lower()}") from None
    if url.scheme not in ("http", "https"):
        raise KingpinMisuse("unsupported scheme")
    if not host or not _HOST.fullmatch(host):
        raise KingpinMisuse(f"host {golang.quoted(host or '')}: {'invalid' if host else 'empty'} host")
    shown = f"[{host}]" if ":" in host else host
    authority = shown if port is None else f"{shown}:{port}"
    user, at, _ = url.netloc.rpartition("@")
    return url._replace(netloc=authority, path=golang.escaped_path(url.path)), (
        golang.escaped_credentials(user) if at else None
    )
