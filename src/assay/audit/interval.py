"""Numbers as they are printed, with units behind them: intervals, and the factors that words may mean.

An interval holds every value that prints like this: "1.2k" is anything from 1,150 to 1,250. All arithmetic of
the audit is arithmetic of intervals, so a difference that rounding explains is never a contradiction.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import msgspec

from assay.audit.lexicon import numbers, source


class Interval(msgspec.Struct, frozen=True):
    """All that a printed number may have been: low ≤ value ≤ high."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The number as it was printed."""
        return (self.low + self.high) / 2

    def __add__(self, other: Interval) -> Interval:
        """Every sum."""
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        """Every difference."""
        return Interval(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Interval) -> Interval:
        """Every product of two intervals that are not negative."""
        return Interval(self.low * other.low, self.high * other.high)

    def __truediv__(self, other: Interval) -> Interval:
        """Every quotient of two intervals that are not negative; infinite where it may divide by zero."""
        low = self.low / other.high if other.high > 0 else math.inf
        return Interval(low, self.high / other.low if other.low > 0 else math.inf)

    def times(self, factor: float) -> Interval:
        """In another unit."""
        return Interval(self.low * factor, self.high * factor)

    def widened(self, share: float) -> Interval:
        """With a tolerance on both sides."""
        return Interval(self.low * (1 - share), self.high * (1 + share))

    def meets(self, other: Interval) -> bool:
        """Whether both may be the same value."""
        return self.low <= other.high and other.low <= self.high

    def below(self, other: Interval) -> bool:
        """Whether it is less than the other, whatever both were before they were rounded."""
        return self.high < other.low


def exactly(value: float) -> Interval:
    """A number that is no measurement: a flag's value, a count."""
    return Interval(value, value)


MULTIPLES = numbers("units.multiples")
NUMBER = source("interval.number")
"""A number in any locale. Every repetition is bounded, so that a search takes linear time."""

SPAN = source("interval.span")
"""What makes a range of the number before it: "20" of "20–25k req/s"."""


def spanned(low: str, multiple: str, high: str, high_multiple: str) -> Interval | None:
    """All that a range holds: "20–25k" is anything from 19,500 to 25,500."""
    one, other = printed(low, multiple or high_multiple), printed(high, high_multiple or multiple)
    return Interval(one.low, other.high) if one and other and one.low < other.high else None


_EUROPEAN = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3}){1,5},\d{1,9}|\d{1,3}(?:\.\d{3}){2,5})(?![\d.,]\d)")
_APART = re.compile(r"[ '_\u00a0\u202f]")


def is_european(text: str) -> bool:
    """Whether some number in the text has the comma as its decimal sign beyond doubt: 1.234,5."""
    return _EUROPEAN.search(text) is not None


def printed(text: str, multiple: str = "", *, european: bool = False) -> Interval | None:
    """The interval of a printed number; None where its separators may mean two things."""
    digits = _plain(_APART.sub("", text.strip()), european)
    scale = MULTIPLES.get(multiple.lower())
    if digits is None or scale is None:
        return None
    value = float(digits)
    if not math.isfinite(value):
        return None
    half = 0.5 * 10.0 ** -len(digits.partition(".")[2])
    if scale == 1.0 and "." not in digits:
        half = 0.5 if not multiple and value else 0.0
    return Interval(max(value - half, 0.0) * scale, (value + half) * scale)


def counted(text: str, multiple: str = "") -> Interval | None:
    """A printed count: a whole number is just that."""
    found = printed(text, multiple)
    if found is None:
        return None
    return exactly(found.middle) if not multiple and found.high - found.low == 1.0 else found


_THOUSANDS = re.compile(r"(?!0)\d{1,3}(?:,\d{3}){1,9}(?:\.\d{1,30})?", re.ASCII)
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{3}){1,9},\d{1,30}|\d{1,3}(?:\.\d{3}){2,9}", re.ASCII)
_COMMA = re.compile(r"\d{1,30}(?:,\d{1,30})?", re.ASCII)
_POINT = re.compile(r"\d{1,30}(?:\.\d{1,30})?", re.ASCII)


def _plain(number: str, european: bool) -> str | None:
    """The number with a decimal point and nothing else; None if it is not one."""
    if european:
        number = number.replace(".", "")
        return number.replace(",", ".") if _COMMA.fullmatch(number) else None
    if _POINT.fullmatch(number):
        return number
    if _THOUSANDS.fullmatch(number):
        return number.replace(",", "")
    if _DOTTED.fullmatch(number):  # 1.234,5 says itself what it is
        return number.replace(".", "").replace(",", ".")
    return number.replace(",", ".") if _COMMA.fullmatch(number) else None


SECONDS = numbers("units.seconds")
"""Seconds in a unit of time."""

TIME_UNIT = (
    r"(?:ns|us|µs|μs|usec|microseconds?|ms|msecs?|millis(?:econds?)?|secs?|seconds?|s|mins?|minutes?|m"
    r"|hours?|h)"
)
TIME = re.compile(rf"({NUMBER})\s{{0,3}}({TIME_UNIT})\b")

_BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
SIZE = re.compile(rf"({NUMBER})\s{{0,3}}([kmgt]?)(i?)(bytes|byte|b)\b", re.IGNORECASE)


def seconds(number: str, unit: str) -> Interval | None:
    """A time in seconds; None for a unit that is none."""
    scale = SECONDS.get(unit.lower().rstrip("."), SECONDS.get(unit.lower().rstrip("s")))
    found = printed(number)
    return found.times(scale) if found is not None and scale is not None else None


def time_in(text: str) -> Interval | None:
    """The first time in the text, in seconds: "1.2 ms", "2m30s", "30"."""
    whole = re.fullmatch(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9}(?:\.\d{1,12})?)s)?", text.strip())
    if whole and any(whole.groups()) and (whole[1] or whole[2]):
        total = sum(float(part or 0) * size for part, size in zip(whole.groups(), (3600, 60, 1), strict=True))
        return Interval(total, total)
    found = TIME.search(text)
    return seconds(found[1], found[2]) if found else None


def size_in(text: str, *, binary: bool) -> Interval | None:
    """The first size in the text in bytes; "kB" means 1,024 to the tools for which `binary` is set."""
    found = SIZE.search(text)
    number = printed(found[1]) if found else None
    if found is None or number is None:
        return None
    scale = (_BINARY if binary or found[3] else _DECIMAL)[found[2].lower()]
    return number.times(scale)


_MANY = re.compile(r"\s*([\d.,]+)\s*([kKmMgG]?)\s*")


_READ: dict[str, Callable[[str], Interval | None]] = {
    "n": lambda text: printed(found[1], found[2]) if (found := _MANY.fullmatch(text)) else None,
    "c": lambda text: counted(found[1], found[2]) if (found := _MANY.fullmatch(text)) else None,
    "p": lambda text: share.times(0.01) if (share := printed(text.strip(" %"))) else None,
    "t": time_in,
    "b": lambda text: size_in(text, binary=True),
    "d": lambda text: size_in(text, binary=False),
}


def value_of(text: str, unit: str) -> Interval | None:
    """A figure of a tool's output: "n" number, "c" count, "p" share in %, "t" time with its unit, "b" and "d"
    size (binary, decimal), or a time in "s", "ms", "us" or "ns"."""
    if unit in _READ:
        return _READ[unit](text)
    found = printed(text)
    return found.times(SECONDS[unit]) if found else None
