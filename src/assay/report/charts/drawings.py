"""The two kinds of drawing: lines in a frame, and strips (a row a server along one axis)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay.core import units as fmt
from assay.report import svg
from assay.report.document import Drawing
from assay.report.picture import colour, shape
from assay.report.svg import Scale

HEIGHT = 320.0
_TICK_ROOM = 64.0
Point = tuple[float, float]


class Curve(msgspec.Struct, frozen=True):
    """One line: its points, the ends of their intervals (x, low, high) where known, and its colour.
    `dashed` lines share their colour with a plain one; points that are not `joined` are marks
    alone; the ends of a `band` are one area. `slices` are pieces of level line (from, to, height), and there
    may be `faint` ones before them."""

    name: str
    colour: int | None
    points: tuple[Point, ...]
    ends: tuple[tuple[float, float, float], ...] = ()
    dashed: bool = False
    joined: bool = True
    band: bool = False
    slices: tuple[tuple[float, float, float], ...] = ()
    faint: tuple[tuple[float, float, float], ...] = ()

    @property
    def heights(self) -> list[float]:
        """What the vertical axis must hold of its points and intervals."""
        return [y for _, *ys in (*self.points, *self.ends) for y in ys]


class Frame(msgspec.Struct, frozen=True):
    """The two axes of a plot: scales of the data within so many pixels, words for ticks and titles. `inside`
    stands within the plot: what a reader must know before looking."""

    x: Callable[[float, float], Scale]
    y: Callable[[float, float], Scale]
    write_x: Callable[[float], str]
    write_y: Callable[[float], str]
    x_title: str
    y_title: str
    inside: str = ""
    x_ticks: tuple[float, ...] = ()
    level: tuple[float, str] | None = None


def plot(curves: Sequence[Curve], frame: Frame, width: float, height: float = HEIGHT) -> Drawing:
    """The curves within their frame, below a legend."""
    legend, top = _legend(curves, width)
    inside = svg.wrapped(frame.inside, width - 80, 11)
    title_y = top + 14
    y = frame.y(top + height - 44, title_y + 14 + 15 * len(inside))
    ticks = y.ticks(5)
    x = frame.x(
        10 + max((svg.width_of(svg.short(frame.write_y(one)), 11) for one in ticks), default=0.0), width - 10
    )
    parts = [*legend, svg.text(0, title_y, y.named(frame.y_title), "soft small")]
    parts += _grid(frame, x, y, ticks, width, title_y + 14)
    parts += [
        svg.text(x.start + 8, title_y + 26 + 15 * place, words, "small warn")
        for place, words in enumerate(inside)
    ]
    for curve in curves:
        parts += _curve(curve, x, y)
    return Drawing(width, top + height, tuple(part for part in parts if part))


def _curve(curve: Curve, x: Scale, y: Scale) -> Iterator[str]:
    cls = colour(curve.colour)
    if curve.band:
        upper = [(x(at), y(high)) for at, _, high in curve.ends]
        yield svg.area(upper, [(x(at), y(low)) for at, low, _ in curve.ends], f"band {cls}")
    for at, low, high in () if curve.band and len(curve.ends) > 1 else curve.ends:
        yield svg.line(x(at), y(low), x(at), y(high), f"thin {cls}")
    for pieces, kind in ((curve.faint, "faint"), (curve.slices, "curve")):
        yield svg.pieces([(x(a), x(b), y(level)) for a, b, level in pieces], f"{kind} {cls}")
    if curve.joined:
        line = f"curve {'dash ' if curve.dashed else ''}{cls}"
        yield svg.path([(x(a), y(b)) for a, b in curve.points], line)
    for a, b in curve.points:
        kind = "open" if curve.dashed else "fill"
        yield svg.mark(shape(curve.colour), x(a), y(b), f"{kind} {cls}", 3.5)


def _grid(
    frame: Frame, x: Scale, y: Scale, ticks: Sequence[float], width: float, top: float
) -> Iterator[str]:
    for tick in ticks:
        yield svg.line(x.start, y(tick), x.end, y(tick), "grid")
        yield svg.text(x.start - 6, y(tick) + 4, svg.short(frame.write_y(tick)), "soft small", "end")
    across = frame.x_ticks or x.ticks(max(2, int((x.end - x.start) / _TICK_ROOM)))
    yield from svg.below(x, across, frame.write_x, (top, y.start), width)
    yield svg.text((x.start + x.end) / 2, y.start + 32, x.named(frame.x_title), "soft small", "middle")
    if frame.level is not None:
        value, words = frame.level
        yield svg.line(x.start, y(value), x.end, y(value), "refline")
        yield svg.text(x.end, y(value) - 5, words, "soft small", "end")


def _legend(curves: Sequence[Curve], width: float) -> tuple[list[str], float]:
    """Marks and names in as many lines as they need, and the height that takes."""
    parts: list[str] = []
    x, y = 0.0, 14.0
    for curve in curves:
        words = svg.cut(curve.name, min(width - 24, 320))
        room = 24 + svg.width_of(words)
        if x and x + room > width:
            x, y = 0.0, y + 20
        kind, cls = ("open" if curve.dashed else "fill"), colour(curve.colour)
        parts.append(svg.mark(shape(curve.colour), x + 7, y - 4, f"{kind} {cls}", 5))
        parts.append(svg.text(x + 18, y, words, whole=curve.name))
        x += room + 10
    return parts, y + 8


# --- over time: a small plot a server, for each has its own height -------------------------


class ThroughputCurve(msgspec.Struct, frozen=True):
    """A server's throughput over time: its trials' mean, each trial alone, and where a level changed."""

    name: str
    colour: int | None
    mean: tuple[Point, ...]
    trials: tuple[tuple[Point, ...], ...]
    changes: tuple[Point, ...]


def throughput_courses(found: Sequence[ThroughputCurve], width: float) -> Drawing:
    """A small plot a server, on one time axis, each from zero to its own highest."""
    columns = 1 if width < 600 else min(3, len(found)) if len(found) != 4 else 2
    gap, height = 24.0, 150.0 if len(found) > 1 else 250.0
    room = (width - gap * (columns - 1)) / columns
    ends = [x for course in found for trial in (course.mean, *course.trials) for x, _ in trial]
    parts = []
    for place, course in enumerate(found):
        drawn = _course(course, Scale(min(ends), max(ends) + 1e-9, 0, 1), room, height)
        at = svg.number((room + gap) * (place % columns)), svg.number((height + 14) * (place // columns))
        parts.append(svg.element("g", "".join(drawn), transform=f"translate({at[0]},{at[1]})"))
    rows = -(-len(found) // columns)
    y = rows * (height + 14) + 8
    parts.append(svg.text(width / 2, y, "seconds since measuring began", "soft small", "middle"))
    return Drawing(width, y + 8, tuple(parts))


def _course(course: ThroughputCurve, time: Scale, width: float, height: float) -> Iterator[str]:
    cls = colour(course.colour)
    highest = max(y for trial in (course.mean, *course.trials) for _, y in trial) or 1.0
    y = Scale(0, highest * 1.05, height - 20, 26)
    ticks = y.ticks(int(height / 50))
    x = Scale(
        time.low, time.high, 6 + max(svg.width_of(svg.short(fmt.rate(one)), 11) for one in ticks), width - 4
    )
    yield svg.text(0, 14, svg.cut(course.name, width, bold=True), f"name own {cls}", whole=course.name)
    if x.low < 0:
        yield svg.element(
            "rect", x=x.start, y=y.end, width=x(0) - x.start, height=y.start - y.end, cls="shade"
        )
    for tick in ticks:
        yield svg.line(x.start, y(tick), x.end, y(tick), "grid")
        yield svg.text(x.start - 4, y(tick) + 4, svg.short(fmt.rate(tick)), "soft small", "end")
    for tick in x.ticks(max(2, int((x.end - x.start) / 36))):
        words = svg.short(fmt.significant(tick))
        at = min(x(tick), width - svg.width_of(words, 11) / 2)
        yield svg.text(at, y.start + 15, words, "soft small", "middle")
    for trial in course.trials:
        yield svg.path([(x(a), y(b)) for a, b in trial], f"faint {cls}")
    yield svg.path([(x(a), y(b)) for a, b in course.mean], f"curve {cls}")
    for a, b in course.changes:
        yield svg.mark(
            2, x(a), y(b) - 9, "fill s-none", 4, tip=f"the level changed at {fmt.significant(a, 3)} s"
        )


_PHONE = 560.0
"""Below this width a name stands above its strip, not before it."""
_AXIS_ROOM = 78.0


class Strip(msgspec.Struct, frozen=True):
    """One row. `value`, `low`, `high` and `trials` are on the axis; `below` and `above` say that the truth
    may lie lower, or higher, than what is drawn; one that is `hidden` was measured and is hatched throughout.
    `label` stands beside it, in the colour of its `tone`; `badge` below it; `other` is a second value, drawn
    hollow; `group` opens a group.
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
    tone: Literal["", "good", "bad"] = ""

    @property
    def drawn(self) -> bool:
        """Whether a figure of it is seen on the axis."""
        return any(True for _ in self.values())

    def values(self) -> Iterator[float]:
        """Whatever the axis must hold."""
        yield from (one for one in (self.value, self.low, self.high, self.other) if one is not None)
        yield from self.trials


class Axis(msgspec.Struct, frozen=True):
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
    if not values:
        return Drawing(width, y + 4, tuple(parts))
    titles = svg.wrapped(scale.named(axis.unit), 0.9 * width if phone else scale.end - scale.start, 11)
    parts += [
        svg.text(
            svg.within((scale.start + scale.end) / 2, one, width),
            y + 31 + 14 * place,
            one,
            "soft small",
            "middle",
        )
        for place, one in enumerate(titles)
    ]
    return Drawing(width, y + 24 + 14 * len(titles), (*_axis(axis, scale, top, y, width), *parts))


def _wide(strip: Strip, scale: Scale, y: float, width: float) -> tuple[list[str], float]:
    middle = y + 15
    cls = "name" if strip.colour is None else f"name own {colour(strip.colour)}"
    parts = [
        svg.text(0, middle + 4, svg.cut(strip.name, scale.start - 18, bold=True), cls, whole=strip.name),
        *_track(strip, scale, middle),
    ]
    lines = svg.wrapped(strip.label, width - scale.end - 20)
    parts += [
        svg.text(width, middle + 4 + 14 * place, words, _tone(strip), "end")
        for place, words in enumerate(lines)
    ]
    below = 14 * max(0, len(lines) - 1)
    return parts, 36 + max(below, _badge(parts, strip, scale.start, y + 41, scale.end if below else width))


def _narrow(strip: Strip, scale: Scale, y: float, width: float) -> tuple[list[str], float]:
    cls = "name" if strip.colour is None else f"name own {colour(strip.colour)}"
    beside = svg.width_of(strip.name, bold=True) + svg.width_of(strip.label) + 16 <= width
    parts = [svg.text(0, y + 14, svg.cut(strip.name, width, bold=True), cls, whole=strip.name)]
    if beside:
        parts.append(svg.text(width, y + 14, strip.label, _tone(strip), "end"))
    lines = [] if beside else svg.wrapped(strip.label, width)
    for words in lines:
        y += 16
        parts.append(svg.text(0, y + 14, words, _tone(strip)))
    parts += _track(strip, scale, y + 29)
    return parts, 50 + 16 * len(lines) + _badge(parts, strip, 0, y + 54, width)


def _tone(strip: Strip) -> str:
    """The class of a label that says good or bad."""
    return f"name {strip.tone}" if strip.tone else ""


def _badge(parts: list[str], strip: Strip, x: float, y: float, width: float) -> float:
    """Add the words below a strip; how much room they take."""
    lines = svg.wrapped(strip.badge, width - x, 11)
    parts += [svg.text(x, y + 14 * place, words, "small warn") for place, words in enumerate(lines)]
    return 14.0 * len(lines) + (6 if lines else 0)


def _track(strip: Strip, scale: Scale, y: float) -> Iterator[str]:
    cls = f"s-{strip.tone}" if strip.tone else colour(strip.colour)
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


def _axis(axis: Axis, scale: Scale, top: float, bottom: float, width: float) -> Iterator[str]:
    """Lines behind the strips, and ticks."""
    ticks = scale.ticks(max(2, int((scale.end - scale.start) / _AXIS_ROOM)))
    yield from svg.below(scale, ticks, axis.write, (top, bottom), width)
    for value, words in axis.lines:
        x, shown = scale(value), svg.cut(words, width, 11)
        yield svg.line(x, top - 4, x, bottom, "refline")
        at = svg.within(x, shown, width)
        yield svg.text(at, top - 8, shown, "soft small", "middle", whole=words)


def lean(strips: Iterable[Strip]) -> tuple[Strip, ...]:
    """The same without the trials: where there are too many rows to see them."""
    return tuple(replace(strip, trials=()) for strip in strips)
