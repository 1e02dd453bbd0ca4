"""The ratios that a sentence tells, in eight languages: "3x", "20 %", "twice", "3 倍", "um den Faktor 2".

Every number or word of a ratio is looked for, then the word that says which way it goes: without one it
compares nothing. What words may mean is told as all their readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from assay.audit.interval import NUMBER, Interval, printed
from assay.audit.lexicon import compiled, numbers, source

LESS = source("ratios.less")
_MORE_CJK = source("ratios.more_cjk")
_LESS_CJK = r"慢|低|少|下降|降低|遅い|下回"
_RATIO = compiled("ratios.ratio")
_SHARES = ("%", "％", "percent", "per cent", "prozent", "pour cent", "por ciento", "por cento")
_BEHIND = compiled("ratios.behind")
_BEFORE = compiled("ratios.before")
_BESIDE_CJK = re.compile(rf"(?P<way>{_MORE_CJK}|{_LESS_CJK})")
_SIGNED = re.compile(r"\s?\)?\s(?:over|vs\.?|versus|than|against|compared)\b", re.I)
_ALONE = ("double", "tripl", "quadrupl", "halv", "вдвое", "doppelt", "verdoppel", "doble")
"""Words that say a factor and its direction at once."""
NEAR = 45
"""Characters between "than" or "half of" and the name that it is followed by."""


Bound = Literal["about", "least", "most"]


class FactorReading(msgspec.Struct, frozen=True):
    """A factor that words may mean, and what still agrees with it."""

    claimed: float
    agrees: Interval


_WORDS = numbers("ratios.words")
"""How many times words mean, by how they begin."""
_LEAST = compiled("ratios.least")
_MOST = compiled("ratios.most")
_ROUGHLY = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|close to|some|etwa|rund|fast|environ"
    r"|unos|cerca de|около)\s(?:\w+\s)?|[~≈约]\s?)$",
    re.I,
)
_RANGE = re.compile(rf"(?P<n>{NUMBER})\s?(?:x|×|%|times)?\s?(?:-|–|—|to|and|or|~)\s?$", re.I)


def _factors(
    written: str, word: str, way: str, sentence: str, start: int, *, share: bool, part: bool
) -> tuple[tuple[FactorReading, ...], Bound]:
    """All that the words may mean as better ÷ worse: a number or a word, at `start` of the sentence.

    `share`: it is a percentage by which; `part`: one of the whole ("80 % of the rate of").
    """
    before = sentence[max(start - 30, 0) : start]
    bound: Bound = "least" if _LEAST.search(before) else "most" if _MOST.search(before) else "about"
    slack = 0.25 if _ROUGHLY.search(before) else 0.1
    if word:
        value = next(value for name, value in sorted(_WORDS.items(), reverse=True) if word.startswith(name))
        low, high = (0.5, 3.0) if "magnitude" in word else (0.95, 1.15)
        return _as_factor(Interval(value * low, value * high), value, slack, way), bound
    number = printed(written)
    if number is None or number.middle <= 0:
        return (), bound
    ranging = _RANGE.search(sentence[max(start - 14, 0) : start])
    least = printed(ranging["n"]) if ranging else None
    if least is not None and least.low <= number.low:  # "2-3x" is any factor between
        number = Interval(least.low, number.high)
    if part:
        if not 0 < number.middle < 100:
            return (), bound
        whole = Interval(100 / number.high, 100 / max(number.low, 0.1))
        return (FactorReading(whole.middle, whole.widened(slack)),), bound
    if share:
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


class Ratio(msgspec.Struct, frozen=True):
    """A ratio of a sentence: from where to where it is told, its word, which way it goes, what it may mean.

    `part`: it is a part of the whole ("80 % of the rate of Foo").
    """

    start: int
    end: int
    word: str
    way: str
    readings: tuple[FactorReading, ...] = ()
    bound: Bound = "about"
    part: bool = False


def ratios(text: str, named: list[int]) -> Iterator[Ratio]:
    """Every ratio of a sentence that compares; `named` are the places of names in it."""
    for match in _RATIO.finditer(text):
        unit = (match["unit"] or "").lower()
        share = unit in _SHARES or unit.startswith("процент")
        told = _way(text, named, match, unit, share=share)
        if told is None:
            continue
        way, first, last = told
        part = share and way in _OF
        word, number = (match["word"] or "").lower(), match["factor"] or match["n"] or ""
        by = share and not part
        readings, bound = _factors(number, word, way, text, match.start(), share=by, part=part)
        if readings:
            yield Ratio(first, last, word, way, readings, bound, part)


_OF = ("of", "that of", "those of")


def _way(
    text: str, named: list[int], match: re.Match[str], unit: str, *, share: bool
) -> tuple[str, int, int] | None:
    """Which way a ratio goes ("" where its own word says it), and from where to where it is told."""
    word = (match["word"] or "").lower()
    start, end = match.span()
    if behind := _BEHIND.match(text, end):
        way = behind["way"].lower()
        if way not in _OF or any(0 <= at - behind.end() <= NEAR for at in named):
            return way, start, behind.end()
    begin = max(start - 80, 0)
    before = _BEFORE.search(text[begin:start])
    if before:
        return before["way"].lower(), begin + before.start(), end
    if match["factor"]:
        return None
    if word.startswith(_ALONE):
        return "", start, end
    if unit in ("倍", "раз", "раза", "fois", "veces", "vezes", "mal") or (share and _BESIDE_CJK.search(text)):
        near = _BESIDE_CJK.search(text[max(start - 14, 0) : end + 14])
        if near is None:
            return None if share else ("as much", start, end)
        less = re.match(_LESS_CJK, near["way"])
        return "less" if less else "more" if share else "as much", start, end
    if match["n"] and text[start - 1 : start] == "+" and _SIGNED.match(text, end):
        return "more", start, end
    counted = re.search(r"\b(?:ran|run|repeated|tested|each)\s(?:\w+\s)?$", text[begin:start])
    after = end + len(" times") * (bool(word) and text.startswith(" times", end))
    if not share and not counted and any(0 <= at - after <= 1 for at in named):
        return "of", start, after
    return None
