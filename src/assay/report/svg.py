"""Elements of SVG as text, their classes resolved by the page's style; scales with ticks at round values."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from xml.sax.saxutils import escape, quoteattr

import msgspec

from assay.core import units as fmt

SIZE = 12.0
"""Height of text in pixels."""
Corner = tuple[float, float]
SHAPES = 4
"""How many different marks there are."""
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[] /-"), frozenset("mwMW@%<>=+&~")
_BOLD = 1.13


def width_of(text: str, size: float = SIZE, *, bold: bool = False) -> float:
    """About how many pixels `text` takes, rather more than less: as in DejaVu Sans, a wide one."""
    return size * sum(map(_em, text)) * (_BOLD if bold else 1)


def _em(character: str) -> float:
    if character in _NARROW:
        return 0.41
    if character in _WIDE:
        return 0.98
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    return 0.77 if character.isupper() or not character.isascii() else 0.64


def cut(text: str, width: float, size: float = SIZE, *, bold: bool = False) -> str:
    """`text` in so many pixels: where longer, cut in its middle, for names often differ at their ends."""
    if width_of(text, size, bold=bold) <= width:
        return text
    room = width - width_of("…", size, bold=bold)
    head = _fitting(text, room * 0.6, size * (_BOLD if bold else 1))
    rest = room - width_of(text[:head], size, bold=bold)
    tail = _fitting(text[:head:-1], rest, size * (_BOLD if bold else 1))
    return f"{text[:head].rstrip()}…{text[len(text) - tail :].lstrip()}"


def _fitting(text: str, width: float, size: float) -> int:
    """How many characters from the beginning take no more than so many pixels."""
    return sum(end <= width for end in accumulate(size * _em(character) for character in text))


def wrapped(text: str, width: float, size: float = SIZE) -> list[str]:
    """`text` in lines of so many pixels."""
    lines: list[str] = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(cut(word, width, size))
    return [line for line in lines if line]


def short(words: str) -> str:
    """The words of a tick without zeros that say nothing: "50 ms" of "50.0 ms", "0" of "0/s"."""
    return (
        "0"
        if re.match(r"0[ /]", words)
        else re.sub(r"(\.\d*?)0+(?=\D|$)", r"\1", words).replace(". ", " ").rstrip(".")
    )


def number(value: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def element(name: str, inner: str = "", **attributes: float | str) -> str:
    """One element; `inner` is markup, `cls` the class, "_" in a name stands for "-"."""
    said = "".join(f" {_name(key)}={_value(value)}" for key, value in attributes.items())
    return f"<{name}{said}>{inner}</{name}>" if inner else f"<{name}{said}/>"


def _name(key: str) -> str:
    return "class" if key == "cls" else key if key == "viewBox" else key.replace("_", "-")


def _value(value: float | str) -> str:
    return quoteattr(value if isinstance(value, str) else number(value))


def line(x1: float, y1: float, x2: float, y2: float, cls: str) -> str:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, cls=cls)


def text(x: float, y: float, words: str, cls: str = "", anchor: str = "start", whole: str = "") -> str:
    """Words on the base line `y`; `whole` is what a reader sees who points at them."""
    inner = escape(fmt.visible(words))
    tip = f"<title>{escape(fmt.visible(whole))}</title>" if whole and whole != words else ""
    return element("text", tip + inner, x=x, y=y, text_anchor=anchor, cls=f"t {cls}".strip())


def path(points: Iterable[tuple[float, float]], cls: str) -> str:
    """A line through the points; nothing for fewer than two."""
    found = list(points)
    if len(found) < 2:
        return ""
    return element("path", d="M" + "L".join(f"{number(x)},{number(y)}" for x, y in found), cls=cls)


def pieces(found: Iterable[tuple[float, float, float]], cls: str) -> str:
    """Many pieces of level line (from, to, height) in one element."""
    d = "".join(f"M{number(start)},{number(y)}H{number(max(end, start + 0.3))}" for start, end, y in found)
    return element("path", d=d, cls=cls) if d else ""


def area(upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]], cls: str) -> str:
    """What lies between two lines."""
    return path([*upper, *reversed(lower)], cls) if len(upper) > 1 else ""


def dots(points: Iterable[tuple[float, float]], cls: str) -> str:
    """Many dots in one element: strokes of no length with round ends."""
    d = "".join(f"M{number(x)},{number(y)}h0" for x, y in points)
    return element("path", d=d, cls=f"dots {cls}") if d else ""


def mark(shape: int, x: float, y: float, cls: str, r: float = 5.0, tip: str = "") -> str:
    """One of four marks, so that a colour is never the only difference."""
    inner = f"<title>{escape(fmt.visible(tip))}</title>" if tip else ""
    match shape % SHAPES:
        case 0:
            return element("circle", inner, cx=x, cy=y, r=r, cls=cls)
        case 1:
            side = 1.76 * r
            return element("rect", inner, x=x - side / 2, y=y - side / 2, width=side, height=side, cls=cls)
        case 2:
            corners: tuple[Corner, ...] = ((0, -1.25 * r), (1.15 * r, 0.85 * r), (-1.15 * r, 0.85 * r))
        case _:
            corners = ((0, -1.3 * r), (1.3 * r, 0), (0, 1.3 * r), (-1.3 * r, 0))
    d = "L".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in corners)
    return element("path", inner, d=f"M{d}Z", cls=cls)


def hatch(x1: float, x2: float, y: float, height: float, cls: str) -> str:
    """Slanted lines over a band: what is possible and was not measured."""
    slant, step = height * 0.7, 6.0
    first = math.ceil((x1 + slant) / step) * step
    starts = (first + step * place for place in range(max(0, int((x2 - first) // step) + 1)))
    d = "".join(f"M{number(x)},{number(y)}l{number(-slant)},{number(height)}" for x in starts if x <= x2)
    return element("path", d=d, cls=f"hatch {cls}") if d else ""


def box(x: float, y: float, width: float, height: float, cls: str, strength: float, tip: str) -> str:
    """A filled rectangle that says `tip` to who points at it; `strength` is how opaque it is."""
    title = f"<title>{escape(fmt.visible(tip))}</title>"
    look = {"cls": f"fill {cls}", "fill_opacity": f"{strength:.2f}"}
    return element("rect", title, x=x, y=y, width=width, height=height, **look)


def arrow(x: float, y: float, direction: int, cls: str) -> str:
    """The head of an arrow that points right (1) or left (-1), its point at `x`."""
    back = x - 8 * direction
    d = f"M{number(x)},{number(y)}L{number(back)},{number(y - 5)}L{number(back)},{number(y + 5)}Z"
    return element("path", d=d, cls=cls)


_STEPS = (1.0, 2.0, 5.0)
_LINEAR_BELOW = 4.0
"""Up to this ratio of its ends the ticks of a logarithmic scale are evenly spaced values."""


class Scale(msgspec.Struct, frozen=True):
    """Values from `low` to `high` onto pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def named(self, title: str) -> str:
        """The title of an axis of this scale: one that is logarithmic says so."""
        return f"{title} (logarithmic)" if self.log else title

    def __call__(self, value: float) -> float:
        """The pixel of `value`; of values beyond the ends, the end."""
        held = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(held / self.low) / math.log(self.high / self.low)
        else:
            share = (held - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """At most about so many round values."""
        if not self.log or self.high / self.low < _LINEAR_BELOW:
            return list(_even(self.low, self.high, most))
        for steps in (_STEPS, (1.0, 3.0), (1.0,)):
            found = list(_by_decades(self.low, self.high, steps))
            if len(found) <= most:
                return found if len(found) > 1 else list(_even(self.low, self.high, most))
        apart = -(-len(found) // max(1, most))
        return found[::apart]


def linear(values: Iterable[float], start: float, end: float) -> Scale:
    """From zero to a little above the largest value."""
    return Scale(0.0, 1.04 * max(values, default=0.0) or 1.0, start, end)


FAR = 20.0
"""Values further apart than so many times need a logarithmic scale: on a linear one the small ones vanish."""


def proportional(values: Iterable[float], start: float, end: float) -> Scale:
    """From zero, so that twice as long is twice as much; logarithmic where values are too far apart."""
    known = list(values)
    return (logarithmic if _far(known) else linear)(known, start, end)


def near(values: Iterable[float], start: float, end: float) -> Scale:
    """Over the values alone, for differences from a line among them; logarithmic where they are far apart."""
    known = list(values) or [1.0]
    if _far(known):
        return logarithmic(known, start, end)
    low, high = min(known), max(known)
    room = max(0.05 * (high - low), 0.01 * abs(high)) or 1.0
    return Scale(low - room, high + room, start, end)


def _far(values: Iterable[float]) -> bool:
    known = [value for value in values if value > 0]
    return bool(known) and max(known) > FAR * min(known)


def logarithmic(values: Iterable[float], start: float, end: float) -> Scale:
    """Over the values that are above zero, with a little room at both ends."""
    known = [value for value in values if value > 0] or [1.0]
    low, high = min(known), max(known)
    room = max((high / low) ** 0.06, 1.01 if high > 1.03 * low else 1.06)
    return Scale(low / room, high * room, start, end, log=True)


def below(
    scale: Scale,
    ticks: Iterable[float],
    write: Callable[[float], str],
    ends: tuple[float, float],
    width: float,
) -> Iterator[str]:
    """The ticks of a horizontal axis: a line each between these `ends`, from above, and its words below, but
    for those that would touch others."""
    free = -1.0
    top, bottom = ends
    for tick in ticks:
        words = short(write(tick))
        at, half = within(scale(tick), words, width), width_of(words, 11) / 2
        yield line(scale(tick), top, scale(tick), bottom, "grid")
        if at - half > free:
            yield text(at, bottom + 15, words, "soft small", "middle")
            free = at + half + 4


def within(x: float, words: str, width: float) -> float:
    """The middle of small words at `x`, moved as far as they need to lie within the width."""
    half = width_of(words, 11) / 2
    return min(max(x, half), width - half)


def _even(low: float, high: float, most: int) -> Iterator[float]:
    rough = (high - low) / max(1, most)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((size * times for times in (1, 2, 5, 10) if size * times >= rough), 10 * size)
    first = math.ceil(low / step - 1e-9)
    for place in range(first, math.floor(high / step + 1e-9) + 1):
        yield place * step


def _by_decades(low: float, high: float, steps: tuple[float, ...]) -> Iterator[float]:
    for decade in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for step in steps:
            if low <= step * 10.0**decade <= high:
                yield step * 10.0**decade
