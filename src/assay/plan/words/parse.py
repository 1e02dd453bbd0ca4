"""The command line's words: to times, rates, headers and sets of cores."""

from __future__ import annotations

import argparse
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import cure_of, reason_of
from assay.core.vault import token

if TYPE_CHECKING:
    from assay.verdict.objective import Objective, ObjectiveLimit

_TIME_UNITS_NS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_YEAR_NS = 366 * 24 * 3600 * 10**9
_MOST = 10**15
"""More than any load can count, and still exact in JSON."""
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zµ]*)")
_MULTIPLES = {"": 1, "k": 10**3, "m": 10**6}
_PER_S = {"s": 1, "m": 60, "min": 60, "h": 3600}
"""A rate's unit of time in seconds."""
_RATE_WORD = re.compile(r"(\d+(?:\.\d+)?)([km]?)(?:/(s|m|min|h))?")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A header name or method (RFC 9110, 5.6.2)."""


def time_ns(word: str) -> int:
    """A length of time above zero: 500ms, 10s, 1.5m; a bare number is seconds."""
    found = _TIME.fullmatch(word.strip().lower())
    unit = _TIME_UNITS_NS.get(found[2] or "s") if found else None
    if found is None or unit is None:
        raise argparse.ArgumentTypeError(f"{word!r} is not a length of time such as 500ms, 10s or 2m")
    length = round(float(found[1]) * unit)
    if length <= 0:
        raise argparse.ArgumentTypeError(f"{word!r} is not above zero")
    if length > _YEAR_NS:
        raise argparse.ArgumentTypeError(f"{word!r} is longer than a year")
    return length


def time_or_none_ns(word: str) -> int:
    """The same, or 0."""
    return 0 if word in ("0", "0s") else time_ns(word)


def slice_ns(word: str) -> int:
    """The length of a slice, within what the engine takes."""
    length = time_ns(word)
    if not 1_000_000 <= length <= 3_600_000_000_000:
        raise argparse.ArgumentTypeError(f"{word!r} is not between 1ms and 1h")
    return length


def objective(word: str) -> Objective:
    """What a search has to hold: p99<50ms,errors<0.1%."""
    from assay.verdict import objective as known

    try:
        return known.parse(word)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def limits(word: str) -> tuple[ObjectiveLimit, ...]:
    """What a load is held to: p99<200ms,errors<1%,throughput>500."""
    from assay.verdict import objective as known

    try:
        found = known.limits_of(word)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
    if of_one := next((one for one in found if one.request and one.figure == "throughput"), None):
        raise argparse.ArgumentTypeError(f"{of_one.text!r}: throughput is of all requests")
    return found


def whole(word: str) -> int:
    """A whole number above zero; 10k and 2m are short for thousands and millions."""
    found = re.fullmatch(r"(\d+)([km]?)", word.strip().lower().replace("_", "").replace(",", ""))
    number = int(found[1]) * _MULTIPLES[found[2]] if found else 0
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number above zero")
    if number > _MOST:
        raise argparse.ArgumentTypeError(f"{word!r} is more than {_MOST:,}")
    return number


def share(word: str) -> float:
    """A share: 5%, 0.1%, 0.05."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", word)
    share = float(found[1]) / (100 if found[2] else 1) if found else -1.0
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a share such as 5% or 0.05")
    return share


def share_above_zero(word: str) -> float:
    """A share above zero: 2%, 0.5%, 0.02."""
    found = share(word)
    if not found:
        raise argparse.ArgumentTypeError(f"{word!r} is not above zero")
    return found


def natural(word: str) -> int:
    """A whole number, zero included: a seed."""
    if not re.fullmatch(r"\d{1,19}", word):
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number")
    return int(word)


def rate_per_s(word: str) -> float:
    """A rate above zero, in requests a second: 500, 20k, 1.5k/s, 6/m, 90/h."""
    rate = _rate_or_none(word)
    if not rate > 0:
        raise argparse.ArgumentTypeError(
            f"{word!r} is not a rate such as 500, 20k (requests a second) or 6/m (a minute)"
        )
    return rate


def _rate_or_none(word: str) -> float:
    """The same, or 0 for a pause."""
    found = _RATE_WORD.fullmatch(word.strip().lower())
    rate = float(found[1]) * _MULTIPLES[found[2]] / _PER_S[found[3] or "s"] if found else math.nan
    return rate if math.isfinite(rate) else math.nan


def stage(word: str) -> dict[str, float]:
    """One stage of an open loop: 10s:1000 holds a rate, 10s:0..5000 moves between two, 10s:0 is a pause."""
    length, colon, rates = word.partition(":")
    first, dots, last = rates.partition("..")
    from_per_s, to_per_s = _rate_or_none(first), _rate_or_none(last if dots else first)
    if not colon or math.isnan(from_per_s) or math.isnan(to_per_s):
        raise argparse.ArgumentTypeError(
            f"{word!r} is not a stage such as 10s:1000, 10s:0..5000 or 10s:0 (a pause)"
        )
    return {"duration_ns": time_ns(length), "from_per_s": from_per_s, "to_per_s": to_per_s}


def header(word: str) -> tuple[str, str]:
    """A request header as "Name: value"."""
    name, colon, value = word.partition(":")
    if not colon:
        raise argparse.ArgumentTypeError(f'{word!r} is not a header such as "Accept: text/html"')
    said = value.strip()
    found = referred(said)
    return name.strip(), said if found == said else token(found)


def referred(word: str) -> str:
    """What the variable holds that env:NAME names; any other word itself."""
    found = re.fullmatch(r"env:([A-Z_][A-Z0-9_]*)", word)
    if found is None:
        return word
    said = os.environ.get(found[1], "")
    if not said or re.search(r"[\r\n\0]", said):
        raise argparse.ArgumentTypeError(
            f"the variable {found[1]} is {'not one line' if said else 'not set'}"
        )
    return said


def text_of(word: str) -> str:
    """What a file of text holds."""
    try:
        return Path(readable_file(word)).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise argparse.ArgumentTypeError(f"{word} is not text") from None


def statuses(word: str) -> tuple[int, ...]:
    """Status codes of right answers: 200, 200,204, 2xx,3xx; "any" checks none."""
    if word == "any":
        return ()
    from http import HTTPStatus

    codes: list[int] = []
    for part in word.split(","):
        if re.fullmatch(r"[1-5]xx", part):
            # The registered codes of the class: an unregistered one is hardly what was meant.
            codes += [code for code in HTTPStatus if code // 100 == int(part[0])]
        elif re.fullmatch(r"[1-9]\d\d", part):
            codes.append(int(part))
        else:
            raise argparse.ArgumentTypeError(f"{word!r} is not status codes such as 200, 200,204 or 2xx")
    return tuple(sorted({int(code) for code in codes}))


def cpus(word: str) -> tuple[int, ...]:
    """Cores by number: 0, 0,2, 0-3."""
    found: list[int] = []
    for part in word.split(","):
        ends = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part)
        if ends is None or int(ends[2] or ends[1]) < int(ends[1]):
            raise argparse.ArgumentTypeError(f"{word!r} is not a set of cores such as 0, 0,2 or 0-3")
        found += range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    return tuple(dict.fromkeys(found))


def readable_file(word: str) -> str:
    """The path of a file that can be read."""
    path = Path(word)
    try:
        path.open("rb").close()
    except OSError as problem:
        raise argparse.ArgumentTypeError(f"{word}: {reason_of(problem)}; {cure_of(problem)}") from None
    return str(path.absolute())
