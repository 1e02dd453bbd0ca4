"""Strips: a row a server along one axis, with its trials as dots, its interval, and what is open hatched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.report.charts import svg
from assay.report.charts.chart import Drawing, colour, shape
from assay.report.charts.scale import Scale

_PHONE = 560.0
"""Below this width a name stands above its strip, not before it."""
_TICK_ROOM = 78.0


@dataclass(frozen=True)
class Strip:
    """One row. `value`, `low`, `high` and `trials` are on the axis; `below` and `above` say that the truth
    may lie lower, or higher, than what is drawn; one that is `hidden` was measured and is hatched throughout.
    `label` stands beside it, `badge` below it; `other` is a second value, drawn hollow; `group` opens a
    group.
    """

    name: str
    colour: int | None
    label: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    below: bool = False
    above: bool = False
    trials: tuple[float, ...] = ()
    badge: str = ""
    other: float | None = None
    group: str = ""
    hidden: bool = False

    @property
    def drawn(self) -> bool:
        """Whether anything of it is seen on the axis."""
        return self.hidden or any(True for _ in self.values())

    def values(self) -> Iterator[float]:
        """Whatever the axis must hold."""
        yield from (one for one in (self.value, self.low, self.high, self.other) if one is not None)
        yield from self.trials


@dataclass(frozen=True)
class Axis:
    """How values become pixels and words: `scale` of the values, `write` of a tick, the `unit` below it, and
    lines (value, words) through all strips. Names take at most the share `names` of the width."""

    scale: Callable[[Iterable[float], float, float], Scale]
    write: Callable[[float], str]
    unit: str
    lines: tuple[tuple[float, str], ...] = ()
    names: float = 0.3


def draw(strips: Sequence[Strip], axis: Axis, width: float) -> Drawing:
    """The strips, one below the other, over their axis."""
    phone = width < _PHONE
    values = [*(value for strip in strips for value in strip.values()), *(value for value, _ in axis.lines)]
    names = (
        0.0
        if phone
        else min(axis.names * width, 14 + max(svg.width_of(one.name, bold=True) for one in strips))
    )
    said = 0.0 if phone else min(0.32 * width, 14 + max(svg.width_of(one.label) for one in strips))
    scale = axis.scale(values, names + 8, width - said - 12)
    top = 20.0 if axis.lines else 4.0
    parts: list[str] = []
    y, group = top, ""
    for strip in strips:
        if strip.group != group:
            group = strip.group
            parts.append(svg.text(0, y + 17, svg.cut(group, width, bold=True), "name soft"))
            y += 26
        drawn, height = (_narrow if phone else _wide)(strip, scale, y, width)
        parts += drawn
        y += height
    below = _axis(axis, scale, top, y, width) if values else []
    return Drawing(width, y + (38 if values else 4), (*below, *parts))


def _wide(strip: Strip, scale: Scale, y: float, width: float) -> tuple[list[str], float]:
    middle = y + 15
    cls = "name" if strip.colour is None else f"name own {colour(strip.colour)}"
    parts = [
        svg.text(0, middle + 4, svg.cut(strip.name, scale.start - 18, bold=True), cls, whole=strip.name),
        svg.text(
            width, middle + 4, svg.cut(strip.label, width - scale.end - 20), anchor="end", whole=strip.label
        ),
        *_track(strip, scale, middle),
    ]
    return parts, 36 + _badge(parts, strip, scale.start, y + 41, width)


def _narrow(strip: Strip, scale: Scale, y: float, width: float) -> tuple[list[str], float]:
    cls = "name" if strip.colour is None else f"name own {colour(strip.colour)}"
    beside = svg.width_of(strip.name, bold=True) + svg.width_of(strip.label) + 16 <= width
    parts = [svg.text(0, y + 14, svg.cut(strip.name, width, bold=True), cls, whole=strip.name)]
    if beside:
        parts.append(svg.text(width, y + 14, strip.label, anchor="end"))
    else:
        y += 16
        parts.append(svg.text(0, y + 14, svg.cut(strip.label, width), whole=strip.label))
    parts += _track(strip, scale, y + 29)
    return parts, 50 + (0 if beside else 16) + _badge(parts, strip, 0, y + 54, width)


def _badge(parts: list[str], strip: Strip, x: float, y: float, width: float) -> float:
    """Add the words below a strip; how much room they take."""
    lines = svg.wrapped(strip.badge, width - x, 11)
    parts += [svg.text(x, y + 14 * place, words, "small warn") for place, words in enumerate(lines)]
    return 14.0 * len(lines) + (6 if lines else 0)


def _track(strip: Strip, scale: Scale, y: float) -> Iterator[str]:
    cls = colour(strip.colour)
    tip = f"{strip.name}: {strip.label}"
    yield svg.line(scale.start, y, scale.end, y, "grid")
    ends = [one for one in (strip.low, strip.value, strip.high) if one is not None]
    if strip.other is not None:
        yield svg.mark(3, scale(strip.other), y, f"open {cls}", 6)
    if not ends:
        yield svg.hatch(scale.start, scale.end, y - 6, 12, cls) if strip.hidden else ""
        yield svg.dots(((scale(one), y + 10) for one in strip.trials), cls)
        return
    left, right = scale(min(ends)), scale(max(ends))
    if strip.below:
        yield svg.hatch(scale.start, left, y - 6, 12, cls)
        yield svg.arrow(scale.start, y, -1, f"fill {cls}")
    if strip.above:
        yield svg.hatch(right, scale.end, y - 6, 12, cls)
        yield svg.arrow(scale.end, y, 1, f"fill {cls}")
    yield svg.line(left, y, right, y, f"span {cls}")
    for end, is_open in ((strip.low, strip.below), (strip.high, strip.above)):
        if end is not None and not is_open and (strip.value is None or right - left > 8):
            yield svg.line(scale(end), y - 6, scale(end), y + 6, f"span {cls}")
    yield svg.dots(((scale(one), y + 11) for one in strip.trials), cls)
    if strip.value is not None:
        yield svg.mark(shape(strip.colour), scale(strip.value), y, f"fill {cls}", tip=tip)


def _axis(axis: Axis, scale: Scale, top: float, bottom: float, width: float) -> list[str]:
    """Lines behind the strips, ticks and the unit; words that would touch are left out."""
    parts, free = [], -1.0
    for tick in scale.ticks(max(2, int((scale.end - scale.start) / _TICK_ROOM))):
        x, words = scale(tick), svg.short(axis.write(tick))
        half = svg.width_of(words, 11) / 2
        at = min(max(x, half), width - half)
        parts.append(svg.line(x, top, x, bottom, "grid"))
        if at - half > free:
            parts.append(svg.text(at, bottom + 14, words, "soft small", "middle"))
            free = at + half + 4
    for value, words in axis.lines:
        x = scale(value)
        parts.append(svg.line(x, top - 4, x, bottom, "refline"))
        shown = svg.cut(words, width, 11)
        half = svg.width_of(shown, 11) / 2
        at = min(max(x, half), width - half)
        parts.append(svg.text(at, top - 8, shown, "soft small", "middle", whole=words))
    middle = (scale.start + scale.end) / 2
    parts.append(svg.text(middle, bottom + 31, axis.unit, "soft small", "middle"))
    return parts


def lean(strips: Iterable[Strip]) -> tuple[Strip, ...]:
    """The same without the trials: where there are too many rows to see them."""
    return tuple(replace(strip, trials=()) for strip in strips)
