"""Quantities as texts write them: a number, a multiple, and the unit that says what it measures."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from assay.audit.headings import RATE, Kind
from assay.audit.interval import NUMBER, SECONDS, SPAN, Interval, printed, spanned

_SECONDS = {
    **{unit: size for unit, size in SECONDS.items() if unit not in ("m", "h", "с")},
    **dict.fromkeys(("sekunde", "sekunden", "secondes", "segundo", "segundos", "секунд", "seg"), 1.0),
    **dict.fromkeys(("мин", "minuten", "minutos"), 60.0),
}
_TIME = "|".join(sorted(map(re.escape, _SECONDS), key=len, reverse=True))
_QUANTITY = re.compile(
    rf"(?<![\w.,/])[~≈<>≤≥]?(?P<number>{NUMBER})"
    rf"(?:\s?(?P<multiple>k|M|mil(?:lion)?|thousand|万|млн|тыс)?{SPAN}?\+?\s{{0,3}}[(\[]?\s?"
    rf"(?P<rate>{RATE.pattern}|(?:iter\w{{0,8}}|ops)/s\w{{0,5}})"
    rf"|\s{{0,3}}(?:(?P<time>{_TIME})(?![^\W\d_])|(?P<share>[%％])|(?P<size>[kMGT]?i?B)\b))",
    re.IGNORECASE,
)
_BYTES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_ALL: tuple[Kind, ...] = ("rate", "time", "share", "size")
_LONGEST = 600
"""Characters of a line that are looked at: figures stand in short ones."""


class WrittenQuantity(msgspec.Struct, frozen=True):
    """A number with a unit, and from where to where it stands in its text. `unit` is as it is written."""

    kind: Kind
    value: Interval
    start: int
    end: int
    quote: str
    unit: str

    @property
    def name(self) -> str:
        """Which figure of its kind it is, as far as its unit says it."""
        return "rate" if self.kind == "rate" else ""


def quantities(text: str) -> Iterator[WrittenQuantity]:
    """Every quantity of a text, in order."""
    for found in _QUANTITY.finditer(text[:_LONGEST]):
        number, multiple = printed(found["number"]), (found["multiple"] or "").lower()
        kind: Kind = next(kind for kind in _ALL if found[kind])
        unit = found[kind].lower()
        if number is None:
            continue
        if kind == "rate":
            multiple = multiple or (unit[0] if unit.startswith(("krps", "kreq")) else "")
            upper = found["upper"]
            value = (
                spanned(found["number"], multiple, upper, found["upper_multiple"] or "")
                if upper
                else printed(found["number"], multiple)
            )
        elif kind == "size":
            value = number.times(_BYTES[unit[0] if unit[0] in _BYTES else ""])
        else:
            value = number.times(_SECONDS[unit] if kind == "time" else 0.01)
        if value is not None and value.high > 0:
            yield WrittenQuantity(
                kind, value, found.start("number"), found.end(), found[0].strip(), found[kind]
            )
