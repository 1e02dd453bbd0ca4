"""What a heading says: which figure, in which unit, in the many wordings there are; and what a cell
says under it: the figure, its unit, the spread beside it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

import msgspec

from assay.audit.document import Figure
from assay.audit.interval import NUMBER, SECONDS, Interval, exactly, printed
from assay.audit.lexicon import compiled, source, table, words

_COUNTED = source("headings.counted")
RATE = compiled("headings.rate")
"""Words for requests a second, in headings, cells and sentences."""

_SEVERAL_SECONDS = re.compile(
    rf"\b{_COUNTED}\s{{0,2}}(?:/|\bper\b|\bin\b)\s{{0,2}}(\d{{1,3}})\s?(?:s|secs?|seconds?)\b", re.IGNORECASE
)
"""A count in so many seconds: "hits / 10s"."""

_TIME_WORDS = compiled("headings.time_words")
_TIME_UNIT = compiled("headings.time_unit")
_PERCENTILE = compiled("headings.percentile")
_OF_JMETER = re.compile(r"\d\d(?:\.\d+)?(?:th)?\s?%? ?line")
"""Headings of JMeter's own tables, whose times are in ms."""
_SIZE_UNIT = re.compile(r"\b([kmg]?)(i?)(b|bytes)\b")

_DEVIATION = re.compile(r"std\.?\s?dev|stdev|deviation|\bstd\b|σ|±")
Kind = Literal["rate", "time", "share", "size", "count"]
"""What a figure is: requests a second, seconds, a share of 1, bytes, a number."""
_MEASURES: tuple[Kind, ...] = ("rate", "time", "share", "size", "count")
KIND: dict[str, Kind] = {figure: kind for kind in _MEASURES for figure in words(f"measures.{kind}")}
"""What each figure is."""
_KINDS = table("kinds")
"""What a heading's words say, as they are tried in turn. `good_share` is what `error_share` leaves."""
_REQUESTS = compiled("headings.requests")
_MEAN = compiled("headings.mean")
_MAX = compiled("headings.max")
_MIN = compiled("headings.min")
_THOUSANDS = compiled("headings.thousands")
_MILLIONS = re.compile(r"\b(?:million|mil)\s{0,2}(?:req|rps)|\(millions?\)|\bmrps\b|\bmreq", re.IGNORECASE)


class Heading(msgspec.Struct, frozen=True):
    """What a column holds: a figure's name or a percentile, and the size of its unit.

    `unit` is 0 where the heading does not say it; a cell may, then. A `time` is a mean or a percentile:
    the heading says only that it is one.
    """

    figure: str
    percentile: float = 0.0
    unit: float = 0.0

    @property
    def name(self) -> str:
        """The name of its figure: "rate", "p99.9"."""
        return f"p{self.percentile:g}" if self.percentile else self.figure

    @property
    def is_time(self) -> bool:
        """Whether it is a time of requests."""
        return KIND.get(self.figure) == "time" and self.figure not in ("stdev", "duration")


@lru_cache(maxsize=4096)
def heading(text: str) -> Heading | None:
    """What a heading says; None where it is no figure of a load test."""
    said = " ".join(text.lower().replace("_", " ").split())[:200]
    if not said:
        return None
    if _KINDS["ratio"].search(said):
        return Heading("ratio")
    is_time = bool(_TIME_WORDS.search(said))
    if (RATE.search(said) or _SEVERAL_SECONDS.search(said)) and not is_time:
        return _rate(said)
    found_unit = _TIME_UNIT.search(f"{said} ")
    written = found_unit[1] if found_unit else ""
    unit = SECONDS.get(written, SECONDS.get(written.rstrip("s"), 0.0))
    percentile = _percentile(said)
    if percentile and _OF_JMETER.fullmatch(said):
        return Heading("percentile", percentile, 1e-3)
    if percentile and (
        is_time or unit or re.fullmatch(r"\W*(?:t?p\s?[\d.]+|[\d.]+(?:th|st|nd|rd|%| ?percentile)+)\W*", said)
    ):
        return Heading("percentile", percentile, unit)
    if _REQUESTS.fullmatch(said):
        return Heading("requests", unit=1.0)
    for figure, pattern in _KINDS.items():
        if pattern.search(said) and not (is_time and figure not in ("stdev", "transfer")):
            return Heading(figure, unit=_unit_of(figure, said))
    return _time(said, unit, is_time=is_time)


_BARE = table("bare")


def bare(text: str) -> Heading | None:
    """What a heading without a unit and without "latency" says, where its figures are times."""
    said = " ".join(text.lower().replace("_", " ").split()).strip(" .:*")[:60]
    if percentile := _percentile(said) if re.fullmatch(r"\W*(?:p\W?)?[\d.,]+\W?\w*|median", said) else 0.0:
        return Heading("percentile", percentile)
    return next((Heading(figure) for figure, pattern in _BARE.items() if pattern.fullmatch(said)), None)


_RATES = {
    "rate_stdev": _DEVIATION,
    "": re.compile(r"\bmin\b"),
    "offered": re.compile(r"\b(?:target(?:ed)?|offered|intended|desired|nominal|planned|asked)\b"),
    "rate_max": re.compile(r"\bmax\b|\bpeak\b|\bp\d\d"),
}
"""What a heading of rates says of them; of the lowest ones nothing."""


def _rate(words: str) -> Heading | None:
    kind = next((kind for kind, pattern in _RATES.items() if pattern.search(words)), "rate")
    return Heading(kind, unit=_rate_unit(words)) if kind else None


_THROUGHPUT = source("headings.throughput")


def _time(words: str, unit: float, *, is_time: bool) -> Heading | None:
    if not (is_time or unit):
        return Heading("throughput") if re.fullmatch(_THROUGHPUT, words) else None
    if re.search(r"\btotal\b|time taken|elapsed|^duration|start|boot|build|compile|test", words):
        return Heading("duration", unit=unit) if re.search(r"duration|time taken|elapsed", words) else None
    if _MEDIAN.search(words):
        return Heading("percentile", 50.0, unit)
    for figure, pattern in (("max", _MAX), ("min", _MIN), ("mean", _MEAN)):
        if pattern.search(words):
            return Heading(figure, unit=unit)
    return Heading("time", unit=unit) if is_time else None


_MEDIAN = re.compile(r"\bmedian|p50|médiane|mediana|медиан|中位|中央値")


def _percentile(words: str) -> float:
    if _MEDIAN.search(words):
        return 50.0
    found = _PERCENTILE.search(words)
    if not found:
        return 0.0
    digits = (found[1] or found[2]).replace(",", ".")
    if "." not in digits and len(digits) > 2:  # p999 is 99.9
        digits = f"{digits[:2]}.{digits[2:]}"
    value = float(digits)
    return value if 0 < value < 100 else 0.0


def _rate_unit(words: str) -> float:
    many = _SEVERAL_SECONDS.search(words)
    if many:
        return 1.0 / max(float(many[1]), 1.0)
    if _MILLIONS.search(words):
        return 1e6
    return 1e3 if _THOUSANDS.search(words) else 1.0


def _unit_of(figure: str, said: str) -> float:
    """The unit of a figure that is no rate and no time; 0 where neither the heading nor its kind says it."""
    if KIND.get(figure) == "size":
        found = _SIZE_UNIT.search(said)
        return _SCALES[found[1]] if found else 0.0
    return {"share": 0.01, "count": 1.0}.get(KIND.get(figure, ""), 0.0)


FIELD = re.compile(
    r"^[^\w%#]{0,12}(?P<key>(?:[^\W_]|[%#])[^:=：|\n]{0,50}?)\s{0,20}(?:[:=：]|\.{3,60}:?)\s{0,30}"
    r"(?P<value>[~≈<>]?\s?\d.{0,80})$"
)
"""A line "name: value", whatever signs stand before it."""
CELL = re.compile(
    rf"^[~≈<>≤≥+\s]{{0,4}}(?P<number>{NUMBER})\s{{0,3}}(?P<multiple>k|K|M|mil|million|万|萬|Mio\.?|млн|тыс)?"
    r"(?P<rest>(?:\s|±|\+/-|\+-|%|[^\W\d_]|[µμ/(\[（]).{0,60})?$"
)
_SPREAD = re.compile(rf"(?:±|\+/-|\+-)\s{{0,3}}(?P<number>{NUMBER})\s{{0,2}}(?P<sign>%|k)?")
UNIT = re.compile(r"^\s{0,3}(ns|us|µs|μs|ms|msec|secs?|seconds?|s|мкс|мс|сек|毫秒|微秒|秒)(?![^\W\d_])")
_SHARE = re.compile(rf"\(\s?(?P<number>{NUMBER})\s?%\s?\)|^\s{{0,2}}(?P<plain>{NUMBER})\s?%")
_SIZE = re.compile(r"^\s{0,3}([kKMG]?)i?[bB](?:ytes)?\b")
BYTES_A_SECOND = re.compile(r"\d\s?[kKMG]i?[bB]\s?(?:/|p)\s?s")
A_SECOND = re.compile(r"\d\s?(?:/|per\s)\s?s(?:ec(?:ond)?)?\b", re.IGNORECASE)
"""Throughput in a cell that leaves out of what: JMeter's "81.2/sec"."""
_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_NO_RATE = re.compile(r"\s{0,2}(?:%|[kmg]?i?b(?:ytes)?\b|ms\b|ns\b|ops)", re.IGNORECASE)


def put(figures: dict[str, Figure], head: Heading, cell: str, number: int, european: bool = False) -> None:
    """Keep the figure of a cell of line `number` under what its heading says, unless one is there."""
    share = _SHARE.search(cell) if head.figure in ("errors", "good_share") else None
    if share is not None:
        value = printed(share["number"] or share["plain"], european=european)
        if value is not None:
            told = "error_share" if head.figure == "errors" else "good_share"
            figures.setdefault(told, Figure(value.times(0.01), number, cell[:80]))
        return
    value = _value(head, cell, european)
    if value is None or head.figure == "good_share":
        return
    figures.setdefault(head.name, Figure(value, number, cell[:80]))
    spread = _SPREAD.search(cell)
    if spread and head.figure in ("rate", "mean"):
        around = _spread(spread, value, head, european)
        if around is not None:
            figures.setdefault(f"{head.figure}_spread", Figure(around, number, spread[0]))


def _spread(found: re.Match[str], value: Interval, head: Heading, european: bool) -> Interval | None:
    number = printed(found["number"], european=european)
    if number is None:
        return None
    if found["sign"] == "%":
        return value.times(number.middle / 100)
    return number.times(1e3 if found["sign"] == "k" else (head.unit or 1.0))


def _value(head: Heading, cell: str, european: bool) -> Interval | None:
    found = CELL.match(cell.strip().lstrip("±") if head.figure == "spread" else cell.strip())
    if found is None:
        return None
    rest = found["rest"] or ""
    kind = KIND.get(head.figure)
    number = printed(found["number"], found["multiple"] or "", european=european)
    if number is None or head.figure in ("ratio", "version"):
        return None
    if kind == "time":
        unit = UNIT.match(rest)
        scale = SECONDS[unit[1]] if unit else head.unit
        return number.times(scale) if scale else None
    if kind == "size":
        size = _SIZE.match((found["multiple"] or "") + rest)
        plain = printed(found["number"], european=european)
        scale = _SCALES[size[1].lower()] if size else head.unit
        return plain.times(scale) if scale and plain else None
    if kind == "rate":
        if _NO_RATE.match(rest) or "%" in rest.split("±")[0]:
            return None
        return number if found["multiple"] else number.times(head.unit or 1.0)
    if kind == "share":
        return number.times(0.01)
    if kind == "count" and number.high - number.low == 1.0:
        return exactly(number.middle)
    return number
