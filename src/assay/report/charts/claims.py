"""Published ratios against measured ones, on a scale where twice and half are equally far from 1."""

from __future__ import annotations

from assay.core import format as fmt
from assay.model.run import Run
from assay.report.charts.chart import Chart, as_rows
from assay.report.charts.scale import logarithmic
from assay.report.charts.strips import Axis, Strip, draw
from assay.report.model import results


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
