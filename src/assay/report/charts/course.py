"""How a contest came to its answer: each ratio after every block, and its interval as it narrowed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay import verdict
from assay.report import format as fmt
from assay.report.charts.chart import Chart, as_rows
from assay.report.charts.hues import hues
from assay.report.charts.lines import Curve, Frame, plot
from assay.report.charts.placed import slug
from assay.report.charts.scale import Scale, logarithmic
from assay.report.model.rows import short_name
from assay.stats.sequential import always_valid_ratio
from assay.values.design import ContestDesign
from assay.values.estimate import Estimate
from assay.values.run import Run
from assay.verdict.pairs import pair_of
from assay.verdict.seen import CaseSeen, RunSeen
from assay.versus.answer import answer

_WIDEST = 8.0
"""Intervals that reach further from 1 than so many times are of too few blocks to draw."""


def courses(run: Run) -> Iterator[Chart | None]:
    """A chart for each rival against the best."""
    if not isinstance(run.header.design, ContestDesign):
        return
    found, seen = answer(run), verdict.see_run(run)
    best = seen.find(found.best.id) if found.best else None
    for one in found.pairs:
        other = seen.find(one.other.id)
        if best is not None and other is not None and not one.void:
            yield _course(run, seen, best, other, cases=len(found.pairs) + 1)


def _course(run: Run, seen: RunSeen, best: CaseSeen, other: CaseSeen, cases: int) -> Chart | None:
    findings = run.judgement.findings if run.judgement else ()
    pair = pair_of(seen, findings, best, other, cases=cases).pair
    logs = pair.logs if pair else ()
    steps = [(at, always_valid_ratio(logs[:at], seen.alpha(cases))) for at in range(1, len(logs) + 1)]
    known = [(at, ratio) for at, ratio in steps if ratio is not None]
    if len(known) < 2:
        return None
    names = short_name(best.case), short_name(other.case)
    colours = hues(run.header.cases)
    drawn = (
        Curve(
            f"{names[0]} / {names[1]}",
            colours[names[0]],
            tuple((float(at), ratio.value) for at, ratio in known),
            tuple((float(at), *ends) for at, ratio in known if (ends := _ends(ratio)) is not None),
            band=True,
        ),
        Curve(
            "each block alone",
            None,
            tuple((float(at), math.exp(log)) for at, log in enumerate(logs, start=1)),
            joined=False,
        ),
    )
    values = [1.0, *(value for curve in drawn for _, *ys in (*curve.points, *curve.ends) for value in ys)]
    frame = Frame(
        x=lambda start, end: Scale(1.0, float(len(logs)), start, end),
        y=lambda start, end: logarithmic(values, start, end),
        write_x=lambda value: f"{value:g}",
        write_y=lambda value: fmt.significant(value, 3),
        x_title="blocks so far",
        y_title="ratio of throughputs",
        x_ticks=tuple(float(at) for at in range(1, len(logs) + 1, max(1, len(logs) // 8))),
        level=(1.0, "equal"),
    )
    return Chart(
        name=f"course-{slug(names[1])}" if cases > 2 else "course",
        title=f"How sure it became: {fmt.safe(names[0], 40)} against {fmt.safe(names[1], 40)}",
        note=(
            "Line: the ratio after each block; shaded: its 95 % interval, which allows for looking after "
            "every block, once there is one to draw. A shade that leaves the dashed line shows a difference."
        ),
        draw=lambda width: plot(drawn, frame, width),
        heads=("blocks", "ratio", "low", "high"),
        rows=as_rows(
            (str(at), *(fmt.UNKNOWN if one is None else fmt.times(one) for one in (r.value, r.low, r.high)))
            for at, r in known
        ),
    )


def _ends(ratio: Estimate) -> tuple[float, float] | None:
    if ratio.low is None or ratio.high is None or ratio.high > _WIDEST * ratio.low:
        return None
    return ratio.low, ratio.high
