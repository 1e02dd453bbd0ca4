"""Published ratios against measured ones, on a scale where twice and half are equally far from 1."""

from __future__ import annotations

import functools

import altair as alt

from assay.report import format as fmt
from assay.report.charts.chart import DATA, PALETTE, Chart, Spec, as_rows, finish
from assay.values.run import Run

ROW_HEIGHT = 40
_NAME_LENGTH = 48


def claims(run: Run) -> Chart | None:
    """A line a claim: the published ratio beside the measured one with its interval."""
    known = [claim for claim in (run.judgement.claims if run.judgement else ()) if claim.published_ratio]
    if not known:
        return None
    values: list[dict[str, object]] = []
    for claim in known:
        name = fmt.safe(f"({claim.claim}) {claim.statement}", _NAME_LENGTH)
        values.append({"claim": name, "kind": "published", "ratio": claim.published_ratio})
        measured = claim.measured
        if measured is not None and measured.value > 0:
            low = measured.low if measured.low and measured.low > 0 else None
            high = measured.high if low else None
            values.append(
                {"claim": name, "kind": "measured", "ratio": measured.value, "low": low, "high": high}
            )
    rows = [
        (
            f"({claim.claim}) {claim.statement}",
            fmt.times(claim.published_ratio or 0),
            fmt.ratio(claim.measured),
            claim.verdict,
        )
        for claim in known
    ]
    return Chart(
        name="claims",
        title="Published against measured",
        note="Ratios of the two servers that each claim compares; a whisker is the 95 % interval.",
        spec=finish(_spec(), values, ROW_HEIGHT * len(known) + 20),
        heads=("claim", "published", "measured", "verdict"),
        rows=as_rows(rows),
    )


@functools.cache
def _spec() -> Spec:
    axis = alt.Axis(ticks=False, domain=False, labelLimit=360)
    base = alt.Chart(alt.NamedData(name=DATA)).encode(y=alt.Y("claim:N", sort=None, title=None, axis=axis))
    kinds = ["published", "measured"]
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[PALETTE[1], PALETTE[0]]))
    shape = alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds, range=["diamond", "circle"]))
    x = alt.X("ratio:Q", title="ratio", scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", tickCount=6))
    span = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", color=colour)
    tip = [alt.Tooltip("claim:N"), alt.Tooltip("kind:N"), alt.Tooltip("ratio:Q", format=".3~g")]
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=x, color=colour, shape=shape, tooltip=tip
    )
    return alt.layer(span, dots).to_dict()
