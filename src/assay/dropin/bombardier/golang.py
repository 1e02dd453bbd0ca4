"""How Go writes and reads values, and how its kingpin library (2.2.6) reads a command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

_MICRO = ("us", "\u00b5s", "\u03bcs")
"""The micro sign and the Greek letter are both taken."""
NS = {"ns": 1, **dict.fromkeys(_MICRO, 10**3), "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"([0-9]*(?:\.[0-9]*)?)([^0-9.]*)")
_MOST = 2**63 - 1
_MOST_UNSIGNED = 2**64 - 1


def duration_ns(text: str) -> int:
    """Read a duration ("1.5s", "1m30s", "-2ms"); `ValueError` in Go's words."""
    wrong = ValueError(f"time: invalid duration {quoted(text)}")
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    if not rest:
        raise wrong
    total = Decimal(0)
    while rest:
        part = _PART.match(rest)
        if part is None or part[1] in ("", "."):
            raise wrong
        if not part[2]:
            raise ValueError(f"time: missing unit in duration {quoted(text)}")
        if part[2] not in NS:
            raise ValueError(f"time: unknown unit {quoted(part[2])} in duration {quoted(text)}")
        total += Decimal(part[1]) * NS[part[2]]
        rest = rest[part.end() :]
    if total > _MOST:
        raise wrong
    return sign * int(total)


def duration(ns: int) -> str:
    """Write a duration: "10s", "1m1s", "1.5s", "200ms", "0s"."""
    if ns < 0:
        return "-" + duration(-ns)
    if ns < NS["s"]:
        unit = next((unit for unit in ("ms", "\u00b5s", "ns") if ns >= NS[unit]), None)
        return "0s" if unit is None else f"{_short(Decimal(ns) / NS[unit])}{unit}"
    hours, rest = divmod(ns, NS["h"])
    minutes, rest = divmod(rest, NS["m"])
    text = f"{_short(Decimal(rest) / NS['s'])}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text


def unsigned(text: str) -> int:
    """Read a number of 64 bits without a sign, as ParseUint does with base 0; `ValueError` in Go's words."""
    try:
        if not re.fullmatch(r"[0-9a-zA-Z_]+", text):
            raise ValueError
        number = int(text, 0) if not re.fullmatch(r"0[0-7]+", text) else int(text, 8)
    except ValueError:
        raise ValueError(f"strconv.ParseUint: parsing {quoted(text)}: invalid syntax") from None
    if number > _MOST_UNSIGNED:
        raise ValueError(f"strconv.ParseUint: parsing {quoted(text)}: value out of range")
    return number


def decimal(text: str) -> int:
    """The same with base 10, which knows no prefixes and no separators."""
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(f"strconv.ParseUint: parsing {quoted(text)}: invalid syntax")
    return unsigned(text.lstrip("0") or "0")


def number(value: float) -> str:
    """Write a number with the fewest digits that mean it; an exponent only below 1e-4 and from 1e21 on."""
    if isinstance(value, int):
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        return {"inf": "+Inf", "-inf": "-Inf"}.get(str(value), "NaN")
    digits = Decimal(repr(value))
    if value and not -5 < digits.adjusted() < 21:
        mantissa, _, exponent = f"{digits.normalize():e}".partition("e")
        return f"{mantissa}e{exponent[0]}{int(exponent[1:]):02d}"
    return _short(digits)


def _short(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def quoted(text: str) -> str:
    """Write a string in quotes as `%q` does."""
    return '"' + "".join(_escaped(letter) for letter in text) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    if letter.isprintable():
        return letter
    code = ord(letter)
    if code < 0x80:
        return f"\\x{code:02x}"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escaped_path(path: str) -> str:
    """A path with the escapes that Go's URLs show and send: as written where that is valid, else anew."""
    if re.fullmatch(r"(?:[A-Za-z0-9$&+,/:;=@_.~!'()*\[\]-]|%[0-9A-Fa-f]{2})*", path):
        return path
    return quote(unquote(path, errors="surrogateescape"), safe="$&+,/:;=@_.~-", errors="surrogateescape")


def escaped_credentials(text: str) -> str:
    """A URL's user and password with Go's escapes, whatever they were written with."""
    parts = (unquote(part, errors="surrogateescape") for part in text.split(":", 1))
    return ":".join(quote(part, safe="$&+,;=_.~-", errors="surrogateescape") for part in parts)


class KingpinMisuse(Exception):
    """A command line that is not understood; the line is kingpin's."""


class KingpinFlag(msgspec.Struct, frozen=True):
    """A flag: its long name, its letter ("" for none), whether it takes an argument, and may be repeated."""

    name: str
    letter: str = ""
    takes: bool = True
    repeats: bool = False


class ParsedWords(msgspec.Struct, frozen=True):
    """What was read: each flag with its argument, the other words, and why reading ended, if not at the end.

    A switch's argument is "true" or "false".
    """

    flags: tuple[tuple[KingpinFlag, str], ...]
    arguments: tuple[str, ...]
    problem: str = ""


def read(words: Sequence[str], flags: Sequence[KingpinFlag], most_arguments: int) -> ParsedWords:
    """Read a command line; nothing is raised, a problem is part of what comes back."""
    reading = _WordReader(list(words), {f.name: f for f in flags}, {f.letter: f for f in flags if f.letter})
    found: list[tuple[KingpinFlag, str]] = []
    arguments: list[str] = []
    try:
        while (token := reading.take()) is not None:
            if token.is_flag:
                found.append(reading.flag(token.text))
            elif len(arguments) == most_arguments:
                raise KingpinMisuse(f"unexpected {token.text}")
            else:
                arguments.append(token.text)
    except KingpinMisuse as problem:
        return ParsedWords(tuple(found), tuple(arguments), str(problem))
    return ParsedWords(tuple(found), tuple(arguments))


class _Token(msgspec.Struct, frozen=True):
    """A flag as it is shown ("-c", "--rate"), or another word."""

    text: str
    is_flag: bool


@dataclass
class _WordReader:
    left: list[str]
    by_name: Mapping[str, KingpinFlag]
    by_letter: Mapping[str, KingpinFlag]
    attached: str | None = None
    only_arguments: bool = field(default=False, init=False)

    def take(self) -> _Token | None:
        """The next flag or word; None at the end."""
        if self.attached is not None:
            text, self.attached = self.attached, None
            return _Token(text, is_flag=False)
        while self.left:
            word = self.left.pop(0)
            if self.only_arguments:
                return _Token(word, is_flag=False)
            if word == "--":
                self.only_arguments = True
            elif word.startswith("--"):
                name, equals, value = word.partition("=")
                self.attached = value if equals else None
                return _Token(name, is_flag=True)
            elif word.startswith("-"):
                return self._short(word[1:])
            elif word.startswith("@"):
                self.left = [*_lines(word[1:]), *self.left]
            else:
                return _Token(word, is_flag=False)
        return None

    def _short(self, bundle: str) -> _Token:
        letter, rest = bundle[:1], bundle[1:]
        flag = self.by_letter.get(letter)
        if rest and flag is not None and flag.takes:
            self.attached = rest
        elif rest:
            self.left.insert(0, f"-{rest}")
        return _Token(f"-{letter}", is_flag=True)

    def flag(self, shown: str) -> tuple[KingpinFlag, str]:
        """The flag, with the argument that it takes."""
        name = shown.lstrip("-")
        if not shown.startswith("--"):
            flag, is_off = self.by_letter.get(name), False
        elif name in self.by_name:
            flag, is_off = self.by_name[name], False
        else:
            flag, is_off = self.by_name.get(name.removeprefix("no-")), True
        if flag is None or (is_off and flag.takes):
            raise KingpinMisuse(f"unknown {'long' if shown.startswith('--') else 'short'} flag '{shown}'")
        if not flag.takes:
            return flag, "false" if is_off else "true"
        expected = KingpinMisuse(f"expected argument for flag '{shown}'")
        try:
            token = self.take()
        except KingpinMisuse:
            raise expected from None
        if token is None or token.is_flag:
            raise expected
        return flag, token.text


def _lines(path: str) -> list[str]:
    if not path:
        raise KingpinMisuse("expected @ file to expand arguments from")
    try:
        lines = Path(path).read_bytes().decode("utf-8", "surrogateescape").splitlines()
    except (OSError, ValueError) as problem:  # ValueError: a NUL byte, which no name holds
        reason = (getattr(problem, "strerror", None) or str(problem)).lower()
        raise KingpinMisuse(f'failed to open arguments file "{path}": open {path}: {reason}') from None
    return [line for line in lines if not line.startswith("#")]
