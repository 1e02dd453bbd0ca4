"""How a comparison came to its answer: a ratio after every block, and how its interval narrows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay import verdict
from assay.core import units as fmt
from assay.model.design import ComparisonDesign
from assay.model.estimate import Estimate
from assay.model.run import Run
from assay.report.charts.chart import Chart, as_rows
from assay.report.charts.data import hues, slug
from assay.report.charts.lines import Curve, Frame, plot
from assay.report.charts.scale import Scale, logarithmic
from assay.report.model import interleaved
from assay.report.model.rows import Section, short_name
from assay.stats.pairing import LOOKING, course, paired_logs
from assay.verdict.answer import answer
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.pairs import sides as sides_of

_WIDEST = 8.0
"""Intervals that reach further from 1 than so many times are of too few blocks to draw."""
_MOST_CANDIDATES = 3
"""Of a study so many are drawn against the best: those next to it, of which the order was longest open."""


def courses(run: Run, found: Sequence[Section] = ()) -> Iterator[Chart | None]:
    """A chart for each candidate against the best of a comparison; of an interleaved study, for those next to
    the best."""
    seen = verdict.see_run(run)
    if isinstance(run.header.design, ComparisonDesign):
        told = answer(run)
        best = seen.find(told.best.id) if told.best else None
        others = [seen.find(one.other.id) for one in told.pairs if not one.void]
        yield from _against(run, seen, best, others)
    elif run.blocks:
        for section in found:
            rows = [seen.find(row.case.id) for row in section.candidates if row.rank is not None]
            if len(rows) > 1:
                yield from _against(run, seen, rows[0], rows[1 : 1 + _MOST_CANDIDATES])


def _against(
    run: Run, seen: RunSeen, best: CaseSeen | None, others: Sequence[CaseSeen | None]
) -> Iterator[Chart | None]:
    for other in others:
        if best is not None and other is not None:
            yield _course(run, seen, best, other, alone=len(others) == 1)


def _course(run: Run, seen: RunSeen, best: CaseSeen, other: CaseSeen, *, alone: bool) -> Chart | None:
    findings = run.judgement.findings if run.judgement else ()
    pair = best.case.id, other.case.id
    sides = sides_of(findings, best, other)
    logs = paired_logs(*sides)
    wider = verdict.bias(findings, *pair), verdict.one_sided(findings, *pair)
    went = course(*sides, manner=seen.manner, alpha=seen.alpha, bias=wider[0], extra=wider[1])
    known = list(enumerate(went, start=1))
    if len(known) < 2:
        return None
    names = short_name(best.case), short_name(other.case)
    colours, unit = hues(run.header.cases), interleaved.unit_of(*sides)
    units = "batches" if unit == "batch" else f"{unit}s"
    drawn = (
        Curve(
            f"{names[0]} / {names[1]}",
            colours[names[0]],
            tuple((float(at), ratio.value) for at, ratio in known),
            tuple((float(at), *ends) for at, ratio in known if (ends := _ends(ratio)) is not None),
            band=True,
        ),
        Curve(
            f"each {unit} alone",
            None,
            tuple((float(at), math.exp(log)) for at, log in enumerate(logs, start=1)),
            joined=False,
        ),
    )
    return Chart(
        name="course" if alone else f"course-{slug(other.case.id)}",
        title=f"How sure it became: {fmt.safe(names[0], 40)} against {fmt.safe(names[1], 40)}",
        note=_note(unit, looked_at=seen.manner in LOOKING),
        draw=lambda width: plot(drawn, _frame(drawn, len(logs), units), width),
        heads=(units, "ratio", "low", "high"),
        rows=as_rows(
            (str(at), *(fmt.UNKNOWN if one is None else fmt.times(one) for one in (r.value, r.low, r.high)))
            for at, r in known
        ),
    )


def _frame(drawn: Sequence[Curve], steps: int, units: str) -> Frame:
    values = [1.0, *(value for curve in drawn for _, *ys in (*curve.points, *curve.ends) for value in ys)]
    return Frame(
        x=lambda start, end: Scale(1.0, float(steps), start, end),
        y=lambda start, end: logarithmic(values, start, end),
        write_x=lambda value: f"{value:g}",
        write_y=lambda value: fmt.significant(value, 3),
        x_title=f"{units} so far",
        y_title="ratio of throughputs",
        x_ticks=tuple(float(at) for at in range(1, steps + 1, max(1, steps // 8))),
        level=(1.0, "equal"),
    )


def _note(unit: str, *, looked_at: bool) -> str:
    interval = "its 95 % interval"
    if looked_at:
        interval += f", which allows for looking after every {unit}, once there is one to draw"
    return (
        f"Line: the ratio after each {unit}; shaded: {interval}. A shade that leaves the dashed line shows a "
        "difference."
    )


def _ends(ratio: Estimate) -> tuple[float, float] | None:
    if ratio.low is None or ratio.high is None or ratio.high > _WIDEST * ratio.low:
        return None
    return ratio.low, ratio.high
