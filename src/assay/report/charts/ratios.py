"""Ratios side by side: published against measured, and one run against another."""

from __future__ import annotations

from assay.core import units as fmt
from assay.model.run import Run
from assay.report.charts.chart import Chart, as_rows
from assay.report.charts.data import hues
from assay.report.charts.scale import logarithmic
from assay.report.charts.strips import Axis, Strip, draw
from assay.report.model import compared as told
from assay.report.model import results
from assay.report.model.rows import short_name
from assay.verdict.compare import RunComparison


def claims(run: Run) -> Chart | None:
    """A strip a claim: the published ratio beside the measured one with its interval."""
    found = run.judgement.claims if run.judgement else ()
    known = [one for claim in found for one in (claim, *claim.parts) if one.published_ratio]
    if not any(one.measured for one in known):
        return None
    strips = []
    for claim in known:
        measured = claim.measured
        strips.append(
            Strip(
                fmt.safe(f"({claim.claim}) {claim.statement}", 120),
                None,
                results.verdict_words(claim),
                value=measured.value if measured else None,
                low=measured.low if measured else None,
                high=measured.high if measured else None,
                below=measured is not None and measured.low is None and measured.high is not None,
                above=measured is not None and measured.high is None and measured.low is not None,
                other=claim.published_ratio,
            )
        )
    axis = Axis(logarithmic, lambda value: fmt.significant(value), "ratio", ((1.0, "equal"),), names=0.45)
    return Chart(
        name="claims",
        title="Published against measured",
        note="Hollow diamond: the published ratio. Filled mark: the measured one, bar: its 95 % interval.",
        draw=lambda width: draw(strips, axis, width),
        heads=("claim", "published", "measured", "verdict"),
        rows=as_rows(
            (
                fmt.safe(f"({claim.claim}) {claim.statement}"),
                fmt.times(claim.published_ratio or 0),
                fmt.ratio(claim.measured),
                results.verdict_words(claim),
            )
            for claim in known
        ),
    )


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
