"""bombardier's units."""

from __future__ import annotations

from assay.dropin.reports import Units

_MICROSECONDS = Units(("us", "ms", "s"), 1000)
_SECONDS = Units(("s", "m", "h"), 60)
_BINARY = Units(("", "KB", "MB", "GB", "TB", "PB"), 1024)


def time_us(value: float) -> str:
    """A time given in µs: "42.00us", "0.85ms", "1.50s", "1.00m"."""
    return _SECONDS.format(value / 1e6) if value >= 1e6 else _MICROSECONDS.format(value)


def binary(value: float) -> str:
    """A number of bytes: "17.36MB"."""
    return _BINARY.format(value)
