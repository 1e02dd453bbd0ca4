"""Two runs side by side: each figure of the new one over that of the base."""

from __future__ import annotations

from assay.core import format as fmt
from assay.report.charts.chart import Chart, as_rows
from assay.report.charts.hues import hues
from assay.report.charts.scale import logarithmic
from assay.report.charts.strips import Axis, Strip, draw
from assay.report.model import compared as told
from assay.report.model.rows import short_name
from assay.verdict.compare import RunComparison


def changes(found: RunComparison) -> Chart | None:
    """A strip a figure of each case both have; None where nothing can be set against anything."""
    shown = [one for one in found.changes if one.change is not None and one.metric != "errors"]
    places = hues(found.new.header.cases)
    colours = {case.id: places[short_name(case)] for case in found.new.header.cases}
    strips = []
    for one in shown:
        ratio = one.change
        assert ratio is not None  # chosen for it
        open_below = ratio.low is None and ratio.high is not None
        open_above = ratio.high is None and ratio.low is not None
        strips.append(
            Strip(
                told.NAMES[one.metric],
                colours.get(one.case, 0),
                f"{fmt.ratio(ratio)} {one.outcome}".strip(),
                value=None if open_below or open_above else ratio.value,
                low=ratio.low,
                high=ratio.high,
                below=open_below,
                above=open_above,
                badge="; ".join(f"{limit.words} ({limit.code})" for limit in one.limits),
                group=fmt.safe(one.case, 80),
            )
        )
    if not strips:
        return None
    axis = Axis(logarithmic, lambda value: fmt.significant(value), "new / base", ((1.0, "no change"),))
    return Chart(
        name="changes",
        title="New against base",
        note="Mark: the ratio; bar: its 95 % interval. A bar that crosses the line shows no change.",
        draw=lambda width: draw(strips, axis, width),
        heads=("figure", "case", "new / base"),
        rows=as_rows((strip.name, strip.group, strip.label) for strip in strips),
    )
