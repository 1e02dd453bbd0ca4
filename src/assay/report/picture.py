"""A chart's look in a page, a file and pixels: its colours, its marks, its style."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from importlib import resources

from assay.core.errors import EnvironmentLacks
from assay.report import svg
from assay.report.document import Chart, Drawing

FILE_WIDTH = 760.0
"""Width in pixels of charts written to files (twice that in a PNG)."""
WIDE, HALF, NARROW = 900.0, 530.0, 358.0
"""What the page holds of each chart: one for a desk (or for half of its width, where two stand side by side),
and one for a phone with the same size of letters."""
_EDGE = 16.0

# Okabe and Ito's palette without its yellow and black, which vanish on a white or a dark page, and two more:
# told apart with every common colour blindness. Servers beyond them repeat colours; their marks differ.
_SERIES = (
    ("#0072b2", "#4fb3ea"), ("#c05200", "#ff8f4a"), ("#00805d", "#2fce9f"), ("#b8508f", "#ea93c4"),
    ("#946200", "#f2b632"), ("#2a79ae", "#9bd4fa"), ("#6b5bb5", "#a99df0"), ("#8a5a3c", "#d3a17f"),
)  # fmt: skip
COLOURS = len(_SERIES)
INKS = {
    "page": ("#ffffff", "#16181b"), "ink": ("#1c1e21", "#e8e6e3"), "soft": ("#5b6068", "#a2a7ae"),
    "line": ("#dcdfe3", "#3a3d42"), "panel": ("#f5f6f8", "#202327"), "grey": ("#767b84", "#9a9fa8"),
    "good": ("#00704f", "#5fd0a5"), "bad": ("#b3261e", "#ff8a80"), "warn": ("#a04000", "#ffab70"),
    "note": ("#00639b", "#7cc4f5"), "link": ("#00639b", "#7cc4f5"),
} | {f"s{place}": both for place, both in enumerate(_SERIES)}  # fmt: skip
"""Every colour of a page and its charts: on light, on dark."""


def inline(chart: Chart, *, half: bool = False) -> tuple[tuple[str, str], ...]:
    """The chart for a page, as (class, SVG): the style shows the one that fits the reader's window."""
    desk = ("half", HALF) if half else ("wide", WIDE)
    sizes = (("narrow", NARROW),) if chart.small else (desk, ("narrow", NARROW))
    return tuple((size, _document(chart.draw(width), chart.title)) for size, width in sizes)


def to_svg(chart: Chart, about: str) -> str:
    """The chart as a picture that scales, on white, with what its marks mean and what it is `about`."""
    drawn = chart.draw(FILE_WIDTH - 2 * _EDGE)
    room = drawn.width
    parts: list[str] = []
    y = _EDGE + 14
    for words, cls in ((chart.title, "head"), (chart.note, "soft small"), (about, "soft small")):
        if cls != "head" and words == chart.note:
            moved = f"translate({svg.number(_EDGE)},{svg.number(y)})"
            parts.append(svg.element("g", "".join(drawn.parts), transform=moved))
            y += drawn.height + 20
        for one in svg.wrapped(words, room, 17 if cls == "head" else 11):
            parts.append(svg.text(_EDGE, y, one, cls))
            y += 22 if cls == "head" else 15
        y += 4
    style = svg.element("style", _flat_style())
    ground = svg.element("rect", width=FILE_WIDTH, height=y, fill=INKS["page"][0])
    return _document(Drawing(FILE_WIDTH, y, (style, ground, *parts)), chart.title, alone=True)


def to_png(chart: Chart, about: str) -> bytes:
    """The same as pixels at twice the size: legible on a slide."""
    if not _has_fonts():
        raise EnvironmentLacks(
            "a picture's words: this machine has no font that they could be drawn with",
            "apt-get install fonts-dejavu-core",
        )
    return _pixels(to_svg(chart, about))


def _pixels(document: str) -> bytes:
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=document, zoom=2))


@functools.cache
def _has_fonts() -> bool:
    """Whether the words of a chart are drawn: without any of its fonts they would be left out silently."""
    style = svg.element("style", _flat_style())
    blank, said = (
        _document(Drawing(40, 20, (style, svg.text(2, 15, words))), "", alone=True) for words in ("", "Aa")
    )
    return _pixels(blank) != _pixels(said)


def _document(drawn: Drawing, title: str, *, alone: bool = False) -> str:
    size = f"{svg.number(drawn.width)} {svg.number(drawn.height)}"
    about: dict[str, float | str] = {"viewBox": f"0 0 {size}", "role": "img", "aria_label": title}
    if alone:
        about |= {"xmlns": "http://www.w3.org/2000/svg", "width": drawn.width, "height": drawn.height}
    return svg.element("svg", "".join(drawn.parts), **about)


def style() -> str:
    """How the classes look; colours are the page's variables."""
    return resources.files("assay.report").joinpath("page", "chart.css").read_text(encoding="utf-8")


def variables() -> str:
    """Every colour as a variable: light, dark, and light on paper."""
    light, dark = ("".join(f"--{name}:{both[place]};" for name, both in INKS.items()) for place in (0, 1))
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _flat_style() -> str:
    """The style for a file of its own: not every reader of SVG knows variables."""
    return re.sub(r"var\(--(\w+)\)", lambda found: INKS[found[1]][0], style())


def colour(place: int | None) -> str:
    """The class of a server's colour; None is what does not compete."""
    return "s-none" if place is None else f"s{place % COLOURS}"


def shape(place: int | None) -> int:
    """The mark of a server: the second round of colours has other marks."""
    return 0 if place is None else place + place // COLOURS


def as_rows(cells: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Freeze a table's cells."""
    return tuple(tuple(row) for row in cells)


def slug(text: str) -> str:
    """`text` fit for an anchor and the name of a file."""
    return "".join(character if character.isalnum() else "-" for character in text.lower()).strip("-")[:60]
