"""What a cell of a table says under its heading: the figure, its unit, the spread beside it."""

from __future__ import annotations

import re

from assay.audit.headings import Heading
from assay.audit.interval import NUMBER, Interval, exactly, printed
from assay.audit.reported import Figure
from assay.audit.units import SECONDS

CELL = re.compile(
    rf"^[~≈<>≤≥+\s]{{0,4}}(?P<number>{NUMBER})\s{{0,3}}(?P<multiple>k|K|M|mil|million)?"
    r"(?P<rest>(?:\s|±|\+/-|\+-|%|[a-zA-Zµμ/(\[]).{0,60})?$"
)
_SPREAD = re.compile(rf"(?:±|\+/-|\+-)\s{{0,3}}(?P<number>{NUMBER})\s{{0,2}}(?P<sign>%|k)?")
UNIT = re.compile(r"^\s{0,3}(ns|us|µs|μs|ms|msec|secs?|seconds?|s)\b")
_SIZE = re.compile(r"^\s{0,3}([kKMG]?)i?[bB](?:ytes)?\b")
BYTES_A_SECOND = re.compile(r"\d\s?[kKMG]i?[bB]\s?(?:/|p)\s?s")
A_SECOND = re.compile(r"\d\s?(?:/|per\s)\s?s(?:ec(?:ond)?)?\b", re.IGNORECASE)
"""Throughput in a cell that leaves out of what: JMeter's "81.2/sec"."""
_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


def put(
    figures: dict[str, Figure],
    percentiles: dict[float, Figure],
    head: Heading,
    cell: str,
    number: int,
    european: bool,
) -> None:
    """Keep the figure of a cell of line `number` under what its heading says, unless one is there."""
    value = _value(head, cell, european)
    if value is None:
        return
    figure = Figure(value, number, cell[:80])
    if head.figure == "percentile":
        percentiles.setdefault(head.percentile, figure)
        return
    figures.setdefault(head.figure, figure)
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
    number = printed(found["number"], found["multiple"] or "", european=european)
    if number is None or head.figure in ("ratio", "version"):
        return None
    if head.is_time or head.figure in ("stdev", "duration"):
        unit = UNIT.match(rest)
        scale = (
            SECONDS.get(unit[1].rstrip("s") if unit and unit[1].startswith("sec") else unit[1])
            if unit
            else head.unit
        )
        return number.times(scale) if scale else None
    if head.figure in ("memory", "transfer", "bytes"):
        size = _SIZE.match((found["multiple"] or "") + rest)
        plain = printed(found["number"], european=european)
        scale = _SCALES[size[1].lower()] if size else head.unit
        return plain.times(scale) if scale and plain else None
    if head.figure in ("rate", "offered"):
        if (
            re.match(r"\s{0,2}(?:%|[kmg]?i?b(?:ytes)?\b|ms\b|ns\b|ops)", rest.lower())
            or "%" in rest.split("±")[0]
        ):
            return None
        return number if found["multiple"] else number.times(head.unit or 1.0)
    if head.figure in ("error_share", "cpu"):
        return number.times(0.01)
    if head.figure in ("errors", "requests", "connections") and number.high - number.low == 1.0:
        return exactly(number.middle)
    return number
