"""Units of times and sizes as tools and people write them."""

from __future__ import annotations

import re

from assay.audit.interval import NUMBER, Interval, printed

SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "usec": 1e-6,
    "microsecond": 1e-6,
    "ms": 1e-3,
    "msec": 1e-3,
    "msecs": 1e-3,
    "millis": 1e-3,
    "millisecond": 1e-3,
    "milliseconds": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "m": 60.0,
    "min": 60.0,
    "mins": 60.0,
    "minute": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hour": 3600.0,
    "hours": 3600.0,
}
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
