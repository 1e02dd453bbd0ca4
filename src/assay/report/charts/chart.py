"""`Chart`: one picture, its data as a table, and its look on light, dark and paper."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.report import format as fmt

Spec = dict[str, Any]

# Okabe and Ito's palette without its yellow and black, which vanish on a white or a dark page:
# told apart with every common colour blindness. Series beyond it repeat colours; their marks' shapes
# differ.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DATA = "rows"
"""What a specification calls its data, which is added when it is used."""
FILE_WIDTH = 720
"""Width in pixels of charts written to files (twice that in a PNG)."""


@dataclass(frozen=True)
class Chart:
    """A chart. `name` is good for a file and an anchor; `note` says how to read it."""

    name: str
    title: str
    note: str
    spec: Spec
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def finish(spec: Spec, values: list[dict[str, Any]], height: int) -> Spec:
    """Give a specification its data and the width of its place; the page adds the look."""
    done = {key: value for key, value in spec.items() if key not in ("config", "usermeta")}
    done["datasets"] = done.get("datasets", {}) | {DATA: values}
    done["width"] = "container"
    done["height"] = height
    done["autosize"] = {"type": "fit-x", "contains": "padding"}
    return {key: _visible(value) for key, value in done.items()}


def _visible(value: Any) -> Any:  # noqa: ANN401 - a specification is JSON of any shape
    """The same with every text in it fit to be shown: names come from studies and records."""
    match value:
        case str():
            return fmt.visible(value, lines=True)
        case dict():
            return {key: _visible(one) for key, one in value.items()}
        case list() | tuple():
            return [_visible(one) for one in value]
    return value


def config(dark: bool = False) -> Spec:
    """Fonts and colours. The page holds both and chooses by the reader's setting."""
    ink, grid = ("#e8e6e3", "#3a3d42") if dark else ("#1c1e21", "#dcdfe3")
    font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"
    text = {
        "labelColor": ink,
        "titleColor": ink,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": 500,
    }
    return {
        "background": None,
        "font": font,
        "view": {"stroke": None},
        "axis": text | {"gridColor": grid, "domainColor": grid, "tickColor": grid, "labelLimit": 220},
        "legend": text | {"orient": "bottom", "symbolOpacity": 1, "columns": 3, "labelLimit": 220},
        "title": {"color": ink},
        "text": {"color": ink, "fontSize": 12},
        "rule": {"color": ink},
        "tick": {"color": ink, "opacity": 1},
        "range": {"category": list(PALETTE)},
    }


def to_svg(chart: Chart) -> str:
    """The chart as a picture that scales, on white."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(_for_file(chart)))


def to_png(chart: Chart) -> bytes:
    """The chart as pixels at twice the size, on white: legible on a slide."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(_for_file(chart), scale=2))


def _for_file(chart: Chart) -> Spec:
    spec = copy.deepcopy(chart.spec)
    spec["width"] = FILE_WIDTH
    spec["title"] = chart.title
    spec["config"] = config() | {"background": "white"}
    return spec


def as_rows(cells: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Freeze a table's cells."""
    return tuple(tuple(row) for row in cells)
