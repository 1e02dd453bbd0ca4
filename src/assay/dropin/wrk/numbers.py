"""Numbers on wrk's command line: whole, with a unit of one letter behind them."""

from __future__ import annotations

import re

_MOST = 2**64 - 1
_SCANNED = re.compile(r"\s*([+-]?)(\d+)\s*(\S{0,2})")

METRIC = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
TIME = {"": 1, "s": 1, "m": 60, "h": 3600}


def scan(text: str, units: dict[str, int]) -> int | None:
    """The number that `text` begins with, times its unit in any case; None where wrk sees none.

    As C reads it: unsigned, so that "-1" is a very large number, and what does not fit wraps or
    stays at the largest.
    """
    found = _SCANNED.match(text)
    if found is None:
        return None
    sign, digits, unit = found.groups()
    scale = units.get(unit.lower())
    if scale is None:
        return None
    number = min(int(digits), _MOST)
    if sign == "-" and number < _MOST:
        number = -number % 2**64
    return number * scale % 2**64
