"""How figures are written in sentences."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share as a percentage with as many digits as tell it from 0 and 100: "97 %", "0.12 %"."""
    value = 100 * share
    for digits in (0, 1, 2):
        if value == 0 or abs(value) >= 10 ** (1 - digits) and abs(value - 100) >= 0.5 * 10**-digits:
            shown = f"{value:.{digits}f}"
            return f"{shown.rstrip('0').rstrip('.') if digits else shown} %"
    return f"{value:.3g} %"


def rate(per_s: float) -> str:
    """A rate: "84,766/s", "3.2/s"."""
    return f"{per_s:,.0f}/s" if per_s >= 100 else f"{per_s:.3g}/s"


def duration(ns: float) -> str:
    """A time in the unit that reads best: "910 ns", "12.3 µs", "4.56 ms", "10.0 s"."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(ns) >= size:
            value = ns / size
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    return f"{ns:.0f} ns"


def counted(n: int, noun: str) -> str:
    """A count with its noun: "1 answer", "1,234 answers"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
