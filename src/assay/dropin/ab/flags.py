"""ab's command line and its URL: which words it takes and which it refuses, and in which words of its own.

The scheme of a URL is optional, its path is all from the first slash on.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from assay.dropin.getopt import OptionReader

_SCHEMES = {"http://": False, "https://": True}
_PORTS = {False: 80, True: 443}
_MAX_PORT = 65535


class AbUrl(msgspec.Struct, frozen=True):
    """The parts of a URL that ab uses. `text` is what was typed; `host` has no brackets."""

    text: str
    tls: bool
    host: str
    port: int
    path: str

    @property
    def bracketed(self) -> str:
        """The host as it stands before a port."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        """What `Host` says: the port only where it is not the scheme's own."""
        return self.bracketed if self.port == _PORTS[self.tls] else f"{self.bracketed}:{self.port}"


def parse_url(text: str) -> AbUrl | None:
    """Take a URL apart; None where ab would not."""
    scheme = next((scheme for scheme in _SCHEMES if text.startswith(scheme)), "http://")
    tls = _SCHEMES[scheme]
    rest = text.removeprefix(scheme)
    authority, slash, path = rest.partition("/")
    host_and_port = _host_and_port(authority) if slash else None
    if host_and_port is None:
        return None
    host, port = host_and_port
    return AbUrl(text, tls, host, _PORTS[tls] if port is None else port, slash + path)


def _host_and_port(authority: str) -> tuple[str, int | None] | None:
    """The runtime's reading: trailing digits after a colon are a port; digits alone have no host."""
    found = re.fullmatch(r"(?s)(.*?)(?::([0-9]+))?", authority)
    if found is None:
        return None
    host, port = found[1], found[2]
    if port is not None and not 1 <= int(port) <= _MAX_PORT:
        return None
    if not host or host.isdigit() and port is None:
        return None
    if host.startswith("["):
        host = host[1:].removesuffix("]")
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            return None
    return host, None if port is None else int(port)


_LETTERS = "n:c:t:s:b:T:p:u:v:lrkVhwiIx:y:z:C:H:P:A:g:X:de:SqB:m:Z:f:E:"
_MOST_CONCURRENT = 200_000
_MOST_CODED = 1024
"""Bytes of credentials in base64, with the end that C's strings have."""
WITH_A_TIME = 50_000
"""-t sets -n to this."""
EXIT_FAILED = 1
EXIT_USAGE = 22
"""ab's own: EINVAL."""


class Ending(Exception):
    """The command line ends here: with lines on standard error, and perhaps the usage, or the version."""

    def __init__(self, code: int, *lines: str, usage: bool = False, version: bool = False) -> None:
        """Keep what is to be said and the exit code."""
        super().__init__(*lines)
        self.code = code
        self.lines = lines
        self.usage = usage
        self.version = version


class Layout(msgspec.Struct, frozen=True):
    """How the report is laid out. `attributes` are those of HTML's table, tr, and td and th."""

    html: bool = False
    attributes: tuple[str, str, str] = ("", "", "bgcolor=white")
    percentiles: bool = True
    confidence: bool = True
    progress: bool = True
    verbosity: int = 0


class AbFlags(msgspec.Struct, frozen=True):
    """A command line that ab accepts. `message` is what it says of an option that it does not know."""

    url: AbUrl
    layout: Layout
    requests: int = 1
    concurrency: int = 1
    limit_s: int = 0
    timeout_s: int = 30
    buffer_bytes: int = 0
    source: str | None = None
    method: str = "GET"
    body: Path | None = None
    content_type: str = "text/plain"
    keep_alive: bool = False
    tolerant: bool = False
    variable_length: bool = False
    cookies: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    credentials: tuple[tuple[str, str], ...] = ()
    proxy: tuple[str, int] | None = None
    gnuplot: Path | None = None
    csv: Path | None = None
    names_server: bool = True
    ciphers: str | None = None
    protocols: str | None = None
    certificate: str | None = None
    message: str = ""


@dataclass
class _AbOptions:
    """What the options have said so far; the last of a kind wins but where a list is kept."""

    values: dict[str, str] = field(default_factory=dict)
    methods: list[str] = field(default_factory=list)
    body: Path | None = None
    lists: dict[str, list[str]] = field(default_factory=dict)
    credentials: list[tuple[str, str]] = field(default_factory=list)
    requests: int = 1
    limit_s: int = 0


def read(words: Sequence[str], prog: str = "ab") -> AbFlags:
    """Read a command line as ab does; raises `Ending` where it ends there."""
    reading = _AbOptions()
    reader = OptionReader(words, _LETTERS)
    for letter, argument in reader.options():
        _take(reading, letter, argument, prog)
    message = f"{prog}: {reader.message}" if reader.message else ""
    said = (message,) if message else ()
    if len(reader.rest) != 1:
        raise Ending(EXIT_USAGE, *said, f"{prog}: wrong number of arguments", usage=True)
    url = parse_url(reader.rest[0])
    if url is None:
        raise Ending(EXIT_USAGE, *said, f"{prog}: invalid URL", usage=True)
    concurrency = _number(reading.values.get("c", "1"))
    if not 0 <= concurrency <= _MOST_CONCURRENT:
        problem = f"Invalid Concurrency [Range 0..{_MOST_CONCURRENT}]"
        raise Ending(EXIT_USAGE, *said, f"{prog}: {problem}", usage=True)
    if concurrency > reading.requests:
        problem = "Cannot use concurrency level greater than total number of requests"
        raise Ending(EXIT_USAGE, *said, f"{prog}: {problem}", usage=True)
    return _flags(reading, url, concurrency, message)


def _take(reading: _AbOptions, letter: str, argument: str, prog: str) -> None:
    act = _ACTS.get(letter)
    if act is not None:
        act(reading, letter, argument, prog)
    reading.values[letter] = argument
    reading.lists.setdefault(letter, []).append(argument)


def _take_requests(reading: _AbOptions, _letter: str, argument: str, _prog: str) -> None:
    reading.requests = _number(argument)
    if reading.requests <= 0:
        raise Ending(EXIT_FAILED, "Invalid number of requests", "")


def _take_limit(reading: _AbOptions, _letter: str, argument: str, _prog: str) -> None:
    reading.limit_s = _number(argument)
    reading.requests = WITH_A_TIME


def _take_method(reading: _AbOptions, letter: str, argument: str, prog: str) -> None:
    method = {"i": "HEAD", "p": "POST", "u": "PUT"}.get(letter, argument)
    if letter != "m" and reading.methods:
        raise Ending(EXIT_FAILED, f"Cannot mix {method} with other methods", "")
    if letter in "pu":
        try:
            with Path(argument).open("rb"):
                reading.body = Path(argument)
        except (OSError, ValueError) as problem:  # ValueError: a NUL byte, which no name holds
            reason = getattr(problem, "strerror", None) or str(problem)
            what = f"Could not open POST data file ({argument}): {reason}"
            if isinstance(problem, IsADirectoryError):
                what = f"Could not read POST data file: {reason}"
            raise Ending(EXIT_FAILED, f"{prog}: {what}") from None
    reading.methods.append(method)


def _take_credentials(reading: _AbOptions, letter: str, argument: str, _prog: str) -> None:
    name = {"A": "Authorization", "P": "Proxy-Authorization"}[letter]
    text = argument.lstrip(" \t\n\v\f\r")
    if (len(os.fsencode(text)) + 2) // 3 * 4 + 1 > _MOST_CODED:
        whose = {"A": "Authentication", "P": "Proxy"}[letter]
        raise Ending(EXIT_FAILED, f"{whose} credentials too long", "")
    reading.credentials.append((name, text))


def _end(_reading: _AbOptions, letter: str, _argument: str, _prog: str) -> None:
    raise Ending(0, version=True) if letter == "V" else Ending(EXIT_USAGE, usage=True)


_ACTS: dict[str, Callable[[_AbOptions, str, str, str], None]] = {
    "n": _take_requests,
    "t": _take_limit,
    **dict.fromkeys("ipum", _take_method),
    **dict.fromkeys("AP", _take_credentials),
    **dict.fromkeys("Vh", _end),
}


def _flags(reading: _AbOptions, url: AbUrl, concurrency: int, message: str) -> AbFlags:
    values = reading.values
    if "E" in values:
        _check_certificate(values["E"])
    return AbFlags(
        url=url,
        layout=_layout(values),
        requests=reading.requests,
        concurrency=concurrency,
        limit_s=reading.limit_s,
        timeout_s=_number(values.get("s", "30")),
        buffer_bytes=_number(values.get("b", "0")),
        source=values.get("B"),
        method=reading.methods[-1] if reading.methods else "GET",
        body=reading.body,
        content_type=values.get("T", "text/plain"),
        keep_alive="k" in values,
        tolerant="r" in values,
        variable_length="l" in values,
        cookies=tuple(reading.lists.get("C", ())),
        headers=tuple(reading.lists.get("H", ())),
        credentials=tuple(reading.credentials),
        proxy=_proxy(values["X"]) if "X" in values else None,
        gnuplot=Path(values["g"]) if "g" in values else None,
        csv=Path(values["e"]) if "e" in values else None,
        names_server="I" not in values,
        ciphers=values.get("Z"),
        protocols=values.get("f"),
        certificate=values.get("E"),
        message=message,
    )


def _check_certificate(path: str) -> None:
    """Refuse a file without a certificate, or without its key, in ab's words."""
    try:
        text = Path(path).read_bytes()
    except (OSError, ValueError):
        text = b""
    for what, mark in (("certificate", b"-----BEGIN CERTIFICATE"), ("private key", b"PRIVATE KEY-----")):
        if mark not in text:
            raise Ending(EXIT_FAILED, f"unable to get {what} from '{path}'")


def _layout(values: dict[str, str]) -> Layout:
    return Layout(
        html=not values.keys().isdisjoint("wxyz"),
        attributes=(values.get("x", ""), values.get("y", ""), values.get("z", "bgcolor=white")),
        percentiles="d" not in values,
        confidence="S" not in values,
        progress="q" not in values,
        verbosity=_number(values.get("v", "0")),
    )


def _number(text: str) -> int:
    """C's atoi: the number that the text begins with, in 32 bits; 0 where it begins with none."""
    found = re.match(r"[ \t\n\v\f\r]*([+-]?[0-9]+)", text)
    # strtol stays at the ends of 64 bits, of which the lower half is taken.
    number = min(max(int(found[1][:30]), -(2**63)), 2**63 - 1) if found else 0
    return (number + 2**31) % 2**32 - 2**31


def _proxy(text: str) -> tuple[str, int]:
    host, _, port = text.partition(":")
    return host, _number(port)
