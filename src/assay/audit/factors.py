"""Factors that words may mean: "3 times faster" is said of 3 and of 4, "50 % faster" of 1.5 and of 2."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assay.audit.interval import NUMBER, Interval, printed

Bound = Literal["about", "least", "most"]


@dataclass(frozen=True, slots=True)
class FactorReading:
    """A factor that words may mean, and what still agrees with it."""

    claimed: float
    agrees: Interval


FRACTIONS = {"half": 2.0, "third": 3.0, "quarter": 4.0, "tenth": 10.0, "halves": 2.0, "halved": 2.0}
"""Words for a part, and how many times the whole is as much."""
_FACTORS = {
    "twice": 2.0,
    "double": 2.0,
    "two": 2.0,
    "triple": 3.0,
    "thrice": 3.0,
    "three": 3.0,
    "doubles": 2.0,
    "doubled": 2.0,
    "triples": 3.0,
    "tripled": 3.0,
    "quadruples": 4.0,
    "quadrupled": 4.0,
    **FRACTIONS,
    "four": 4.0,
    "five": 5.0,
    "six": 6.0,
    "seven": 7.0,
    "eight": 8.0,
    "nine": 9.0,
    "ten": 10.0,
    "order of magnitude": 10.0,
    "orders of magnitude": 100.0,
    "hundred": 100.0,
}
_LEAST = re.compile(r"\b(?:over|more than|at least|exceed\w*|above|greater than|>)\s?(?:\w+\s)?$|>\s?$", re.I)
_MOST = re.compile(r"\b(?:up to|as much as|at most|maximum of|as many as)\s(?:\w+\s)?$", re.I)
_ROUGHLY = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|close to|some)\s(?:\w+\s)?"
    r"|[~≈]\s?)$",
    re.I,
)
_RANGE = re.compile(rf"(?P<n>{NUMBER})\s?(?:x|×|%|times)?\s?(?:-|–|—|to|and|or|~)\s?$", re.I)


def factors(found: re.Match[str], sentence: str) -> tuple[tuple[FactorReading, ...], Bound]:
    """All that the words may mean as better ÷ worse."""
    groups = found.groupdict()
    way = (groups.get("way") or "").lower()
    start = found.start("n") if groups.get("n") else found.start()
    before = sentence[max(found.start() - 30, 0) : start]
    bound: Bound = "least" if _LEAST.search(before) else "most" if _MOST.search(before) else "about"
    slack = 0.25 if _ROUGHLY.search(before) else 0.1
    word = (groups.get("word") or groups.get("word2") or "").lower()
    if word:
        value = _FACTORS[word]
        low, high = (0.5, 3.0) if "magnitude" in word else (0.95, 1.15)
        return _as_factor(Interval(value * low, value * high), value, slack, way), bound
    number = printed(groups["n"])
    if number is None or number.middle <= 0:
        return (), bound
    ranging = _RANGE.search(sentence[max(start - 14, 0) : start])
    least = printed(ranging["n"]) if ranging else None
    if least is not None and least.low <= number.low:  # "2-3x" is any factor between
        number = Interval(least.low, number.high)
    if groups.get("unit", "x") in ("%", "percent", "per cent"):
        return _as_share(number.times(0.01), slack), bound
    return (() if number.middle < 1 else _as_factor(number, number.middle, slack, way)), bound


def _as_factor(number: Interval, said: float, slack: float, way: str) -> tuple[FactorReading, ...]:
    """ "3 times faster" is said of 3 and of 4; "3 times as fast" of 3 only."""
    kept = [FactorReading(said, number.widened(slack))]
    if way.endswith("er") and said > 1:
        kept.append(FactorReading(said + 1, Interval(number.low + 1, number.high + 1).widened(slack)))
    return tuple(kept)


def _as_share(share: Interval, slack: float) -> tuple[FactorReading, ...]:
    """ "50 % faster" is 1.5 times the rate, or half of the time; "200 % faster" is said of 2 and of 3."""
    kept = [Interval(1 + share.low, 1 + share.high)]
    if share.high < 1:
        kept.append(Interval(1 / (1 - share.low), 1 / (1 - share.high)))
    if share.low > 1:
        kept.append(share)
    # "20 % faster" is held to its 20 %: the tolerance is a part of the excess, and a little of the whole.
    eased = [max(0.3 * slack, 0.25 * (each.middle - 1)) for each in kept]
    return tuple(
        FactorReading(each.middle, Interval(each.low - more, each.high + more))
        for each, more in zip(kept, eased, strict=True)
    )
