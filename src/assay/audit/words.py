"""Numbers in the arithmetic of findings, as a reader would write them."""

from __future__ import annotations

from assay.audit.interval import Interval


def number(value: float) -> str:
    """At most four digits that mean something, thousands set apart."""
    if value >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def numbered(value: float, noun: str) -> str:
    """A number with its noun: "1 connection", "1,234 connections"."""
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def between(interval: Interval) -> str:
    """The number as it was printed; both bounds where rounding left much open."""
    if interval.low > 0 and interval.high / interval.low > 1.02:
        return f"{number(interval.low)} to {number(interval.high)}"
    return number(interval.middle)


def percent(share: float) -> str:
    """A share: 0.12 %, 3.4 %, 22 %."""
    return f"{share * 100:.2g} %" if share < 0.1 else f"{share * 100:.0f} %"


def time(seconds: float) -> str:
    """A time in the unit that suits it."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(interval: Interval) -> str:
    """How many times: 1.34."""
    return f"{interval.middle:.3g}"
