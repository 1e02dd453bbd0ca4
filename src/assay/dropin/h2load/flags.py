"""h2load's flags: what is accepted, what is refused, and how."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.dropin import getopt
from assay.dropin.h2load import values
from assay.dropin.h2load.values import Base, base, target

VERSION = "1.52.0"
"""The version of nghttp2 whose h2load this is."""
CLEAR = ("h2c", "http/1.1")
SPOKEN = ("h2", "h2c", "http/1.1")
_OVER_QUIC = {"h3", "h3-29"}
"""Offered first, either means that QUIC is spoken and nothing else: what comes after it goes unheard."""
_DEFAULT_ALPN = "h2,h2-16,h2-14,http/1.1"
_UNIX = "unix:"
_MOST_BITS = 30
_FRAME = (16384, 16777215)

_SHORT = "hvW:c:d:m:n:p:t:w:f:H:i:r:T:N:D:B:"
_LONG = {
    "requests": ("n", True),
    "clients": ("c", True),
    "data": ("d", True),
    "threads": ("t", True),
    "max-concurrent-streams": ("m", True),
    "window-bits": ("w", True),
    "max-frame-size": ("f", True),
    "connection-window-bits": ("W", True),
    "input-file": ("i", True),
    "header": ("H", True),
    "no-tls-proto": ("p", True),
    "verbose": ("v", False),
    "help": ("h", False),
    "rate": ("r", True),
    "connection-active-timeout": ("T", True),
    "connection-inactivity-timeout": ("N", True),
    "duration": ("D", True),
    "base-uri": ("B", True),
    "alpn-list": ("npn-list", True),
    **{name: (name, False) for name in ("version", "h1", "no-udp-gso", "ktls")},
    **{
        name: (name, True)
        for name in (
            "ciphers", "tls13-ciphers", "groups", "timing-script-file", "npn-list", "rate-period",
            "header-table-size", "encoder-header-table-size", "warm-up-time", "log-file", "connect-to", "rps",
            "qlog-file-base", "max-udp-payload-size",
        )
    },
}  # fmt: skip
_DEFAULTS = {"w": "30", "W": "30", "f": 16384, "header-table-size": 4096, "encoder-header-table-size": 4096}
_NEVER = {
    "T": "how long a connection lives cannot be bounded here; -N bounds how long an answer may take",
    "r": "connections here have no share of the requests of their own; --rps sets a rate of requests",
    "ciphers": "cipher suites cannot be chosen here; leave it out",
    "tls13-ciphers": "cipher suites cannot be chosen here; leave it out",
    "groups": "groups of key exchange cannot be chosen here; leave it out",
    "timing-script-file": "requests cannot be given an instant each here; --rps sets a rate of requests",
    "ktls": "TLS is spoken by the program and not by the kernel here; leave it out",
    "v": "answers are not printed here; leave it out",
}
"""What is asked for with these flags is not done: the line says why, and what there is."""


class EarlyEnd(Exception):
    """h2load ends before anything is sent: `code`, and a line on standard output or error."""

    def __init__(self, message: str = "", *, asked: str = "") -> None:
        """`message` is what is wrong, `asked` the flag that only wanted to be told something."""
        super().__init__(message)
        self.message = message
        self.asked = asked


class H2loadFlags(msgspec.Struct, frozen=True, kw_only=True):
    """A command line that h2load accepts. 0 for a time or a rate is none of it."""

    where: Base
    targets: tuple[str, ...]
    socket: str = ""
    connect_to: tuple[str, int] | None = None
    requests: int = 1
    clients: int = 1
    threads: int = 1
    streams: int = 1
    headers: tuple[tuple[str, str], ...] = ()
    data: str | None = None
    clear: str = "h2c"
    alpn: tuple[str, ...] = ()
    duration_ns: int = 0
    warmup_ns: int = 0
    timeout_ns: int = 0
    per_client_per_s: float = 0.0
    log_file: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols that may be spoken, by their names in ALPN, the best first."""
        if set(self.alpn[:1]) & _OVER_QUIC:
            return ("h3",)
        offered = self.alpn if self.where.scheme == "https" else (self.clear,)
        return tuple(name for name in offered if name in SPOKEN)

    def shares(self) -> list[tuple[int, int]]:
        """The clients and the requests of each thread, as h2load deals them."""
        return list(zip(_dealt(self.clients, self.threads), _dealt(self.requests, self.threads), strict=True))


def _dealt(whole: int, parts: int) -> list[int]:
    return [whole // parts + (index < whole % parts) for index in range(parts)]


@dataclass
class _Given:
    """What has been read so far: the last of each flag, and every header field."""

    texts: dict[str, str]
    counts: dict[str, int]
    headers: list[tuple[str, str]]
    rest: list[str]


def read(words: Sequence[str]) -> H2loadFlags:
    """Read a command line as h2load does; raises `EarlyEnd`."""
    given = _Given({}, {}, [], [])
    try:
        for letter, argument in getopt.read(words, _SHORT, _LONG, given.rest):
            _take(letter, argument, given)
    except getopt.Misuse as misuse:
        raise EarlyEnd(f"h2load: {misuse}") from None
    return _checked(given)


def _take(letter: str, argument: str, given: _Given) -> None:
    if letter in ("h", "version"):
        raise EarlyEnd(asked=letter)
    if letter in _READ:
        reader, message = _READ[letter]
        number = reader(argument)
        if number is None:
            raise EarlyEnd(message + argument)
        given.counts[letter] = number
    elif letter == "H":
        given.headers.append(_header(argument))
    elif letter == "h1":
        given.texts.update({"p": "http/1.1", "npn-list": "http/1.1"})
    else:
        given.texts[letter] = argument
    message = _BOUNDS[letter](argument, given.counts.get(letter, 0)) if letter in _BOUNDS else ""
    if message:
        raise EarlyEnd(message)


def _bits(letter: str) -> Callable[[str, int], str]:
    def complain(text: str, _: int) -> str:
        bits = values.count(text)
        fits = bits is not None and bits <= _MOST_BITS
        return "" if fits else f"-{letter}: specify the integer in the range [0, 30], inclusive"

    return complain


def _frame(_: str, size: int) -> str:
    if size < _FRAME[0]:
        return f"--max-frame-size: minimum {_FRAME[0]}"
    return f"--max-frame-size: maximum {_FRAME[1]}" if size > _FRAME[1] else ""


_BOUNDS: dict[str, Callable[[str, int], str]] = {
    "w": _bits("w"),
    "W": _bits("W"),
    "f": _frame,
    "p": lambda text, _: "" if text.lower() in CLEAR else f"-p: unsupported protocol {text}",
    "r": lambda _, rate: "" if rate else "-r: the rate at which connections are made must be positive.",
    "rps": lambda text, _: f"--rps: Invalid value {text}" if values.rate_per_s(text) is None else "",
}
"""What h2load says of a flag's text, and of the number that it is, where it takes it not."""
_READ: dict[str, tuple[Callable[[str], int | None], str]] = {
    **{letter: (values.count, f"-{letter}: bad option value: ") for letter in "nctmr"},
    "f": (values.size, "--max-frame-size: bad option value: "),
    "T": (values.duration_ns, "-T: bad value for the conn_active_timeout wait time: "),
    "N": (values.duration_ns, "-N: bad value for the conn_inactivity_timeout wait time: "),
    "D": (values.duration_ns, "-D: value error "),
    "rate-period": (values.duration_ns, "--rate-period: value error "),
    "warm-up-time": (values.duration_ns, "--warm-up-time: value error "),
    "header-table-size": (values.size, "--header-table-size: Bad option value: "),
    "encoder-header-table-size": (values.size, "--encoder-header-table-size: Bad option value: "),
    "max-udp-payload-size": (values.size, "--max-udp-payload-size: bad option value: "),
}


def _header(text: str) -> tuple[str, str]:
    """A field of `-H`; the colon that a pseudo-header begins with ends no name."""
    name, colon, value = text[1:].partition(":")
    if not colon or text.startswith("::"):
        raise EarlyEnd(f"-H: invalid header: {text}")
    value = value.lstrip(" \t\n\v\f\r")
    if not value:
        raise EarlyEnd(f"-H: invalid header - value missing: {text[: len(name) + 1]}")
    return (text[:1] + name).lower(), value


def _checked(given: _Given) -> H2loadFlags:
    counts, texts = given.counts, given.texts
    if not given.rest and not {"i", "timing-script-file"} & texts.keys():
        raise EarlyEnd("no URI or input file given")
    if counts.get("c") == 0:
        raise EarlyEnd("-c: the number of clients must be strictly greater than 0.")
    for letter in _NEVER:
        if letter in texts or (letter in counts and letter != "r"):
            raise EarlyEnd(f"h2load: {'-' if len(letter) == 1 else '--'}{letter}: {_NEVER[letter]}")
    where, socket, targets = _places(texts, given.rest)
    warnings = tuple(_numbers_fit(counts))
    if "r" in counts:
        raise EarlyEnd(f"h2load: -r: {_NEVER['r']}")
    if "d" in texts:
        _check_body(texts["d"])
    if "qlog-file-base" in texts and texts.get("npn-list", "").split(",")[0] not in _OVER_QUIC:
        warnings += ("Warning: --qlog-file-base: only effective in quic, ignoring.",)
    flags = H2loadFlags(
        where=where,
        targets=targets,
        socket=socket,
        connect_to=_connect_to(texts.get("connect-to"), where),
        requests=counts.get("n", 1),
        clients=counts.get("c", 1),
        threads=counts.get("t", 1),
        streams=counts.get("m", 1),
        headers=tuple(given.headers),
        data=texts.get("d"),
        clear=texts.get("p", "h2c").lower(),
        alpn=tuple(texts.get("npn-list", _DEFAULT_ALPN).split(",")),
        duration_ns=counts.get("D", 0),
        warmup_ns=counts.get("warm-up-time", 0),
        timeout_ns=counts.get("N", 0),
        per_client_per_s=float(texts.get("rps", 0)),
        log_file=texts.get("log-file"),
        warnings=warnings,
    )
    _refuse(flags, {**texts, **counts})
    return flags


def _check_body(path: str) -> None:
    """Refuse what h2load cannot map into its memory: what is empty, and what is no plain file."""
    if not os.access(path, os.R_OK):
        raise EarlyEnd(f"-d: Could not open file {path}")
    if not Path(path).is_file() or Path(path).stat().st_size == 0:
        raise EarlyEnd(f"-d: Could not mmap file {path}")


def _refuse(flags: H2loadFlags, given: Mapping[str, object]) -> None:
    """Refuse protocols that are not spoken, and what of HTTP/2 cannot be chosen."""
    if not flags.protocols:
        raise EarlyEnd(f"h2load: --npn-list {','.join(flags.alpn)}: h3, h2 and http/1.1 are spoken here")
    if flags.protocols == ("h3",):
        _refuse_over_quic(flags, given)
    if flags.protocols == ("http/1.1",):
        return
    for name, _ in flags.headers:
        if name.startswith(":") and name not in (":method", ":authority", ":host"):
            # h2load sends it beside its own, which servers refuse (RFC 9113, 8.3).
            raise EarlyEnd(f"h2load: -H {name}: the URI says what is asked for; leave it out, or write --h1")
    for letter, usual in _DEFAULTS.items():
        if given.get(letter, usual) != usual:
            flag = f"{'-' if len(letter) == 1 else '--'}{letter}"
            raise EarlyEnd(
                f"h2load: {flag}: windows, frames and tables of streams have one size here; leave it out"
            )


def _refuse_over_quic(flags: H2loadFlags, given: Mapping[str, object]) -> None:
    """Refuse what HTTP/3 is not spoken without, and what of QUIC cannot be chosen."""
    if flags.where.scheme != "https":
        raise EarlyEnd("h2load: --npn-list h3: HTTP/3 is never without TLS: write https://")
    if flags.socket:
        raise EarlyEnd("h2load: --npn-list h3: HTTP/3 goes over UDP, and not through a unix socket")
    for name in ("max-udp-payload-size", "no-udp-gso", "qlog-file-base"):
        if name in given:
            raise EarlyEnd(f"h2load: --{name}: how QUIC sends cannot be chosen here; leave it out")


def _numbers_fit(counts: dict[str, int]) -> Iterator[str]:
    """Refuse numbers that do not go together, in h2load's order; yield its warnings."""
    timed = bool(counts.get("D"))
    requests, clients, threads, rate = (counts.get(letter, 1) for letter in "nctr")
    if timed and "r" in counts:
        raise EarlyEnd("-r, -D: they are mutually exclusive.")
    if requests == 0 and not timed:
        line = "the number of requests must be strictly greater than 0 if timing-based test is not being run."
        raise EarlyEnd(f"-n: {line}")
    if counts.get("m") == 0:
        raise EarlyEnd("-m: the max concurrent streams must be strictly greater than 0.")
    if threads == 0:
        raise EarlyEnd("-t: the number of threads must be strictly greater than 0.")
    warning = "-t: warning: the number of threads is greater than hardware cores."
    is_many = threads > (os.cpu_count() or 1)
    told = f"{warning}\n" if is_many else ""
    if requests < clients and not timed:
        raise EarlyEnd(f"{told}-n, -c: the number of requests must be greater than or equal to the clients.")
    if clients < threads:
        line = "the number of clients must be greater than or equal to the number of threads."
        raise EarlyEnd(f"{told}-c, -t: {line}")
    if "r" in counts and rate < threads:
        line = "the connection rate must be greater than or equal to the number of threads."
        raise EarlyEnd(f"{told}-r, -t: {line}")
    if "r" in counts and rate > clients:
        line = "the connection rate must be smaller than or equal to the number of clients."
        raise EarlyEnd(f"{told}-r, -c: {line}")
    if is_many:
        yield warning


def _places(texts: dict[str, str], rest: Sequence[str]) -> tuple[Base, str, tuple[str, ...]]:
    """Where requests go, the unix socket they go through or "", and what they ask for."""
    uris = _lines(texts["i"]) if "i" in texts else list(rest)
    if not uris:
        raise EarlyEnd("no URI available")
    given = texts.get("B", "")
    socket = given[len(_UNIX) :] if given.lower().startswith(_UNIX) else ""
    if given.lower().startswith(_UNIX) and not socket:
        raise EarlyEnd("--base-uri: invalid UNIX domain socket path: " + given)
    where = base(given if given and not socket else uris[0])
    if where is None:
        raise EarlyEnd(
            f"--base-uri: invalid base URI: {given}" if given and not socket else f"invalid URI: {uris[0]}"
        )
    targets = [target(uri) for uri in uris]
    if None in targets:
        raise EarlyEnd(f"invalid URI: {uris[targets.index(None)]}")
    return where, socket, tuple(text for text in targets if text is not None)


def _lines(path: str) -> list[str]:
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text("utf-8", "surrogateescape")
    except (OSError, ValueError):  # a name that no file can have
        raise EarlyEnd(f"cannot read input file: {path}") from None
    return text.removesuffix("\n").split("\n") if text else []


def _connect_to(text: str | None, where: Base) -> tuple[str, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\[[^\]]+\]|[^:]+)(?::([0-9]*))?", text)
    if found is None:
        raise EarlyEnd(f"--connect-to: Invalid value {text}")
    return found[1].strip("[]"), int(found[2]) if found[2] else where.port
