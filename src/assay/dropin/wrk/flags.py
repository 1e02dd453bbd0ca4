"""wrk's flags, and those of wrk2: what is accepted, what is refused, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.dropin import getopt
from assay.dropin.wrk import numbers
from assay.dropin.wrk.url import WrkUrl, parse

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
    "t": numbers.METRIC,
    "c": numbers.METRIC,
    "R": numbers.METRIC,
    "d": numbers.TIME,
    "T": numbers.TIME,
}


class Refused(Exception):
    """wrk prints its usage and ends with 1; `message` is what it says on standard error before that."""

    def __init__(self, message: str = "") -> None:
        """`message` may be empty."""
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class WrkFlags:
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
                number = numbers.scan(argument, _NUMBERS[letter])
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
    url = parse(rest[0])
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
