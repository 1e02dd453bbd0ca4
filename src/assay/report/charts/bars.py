"""Bars with their intervals: throughput, memory, start time, CPU."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt

from assay.report import format as fmt
from assay.report.charts.chart import DATA, Chart, Spec, as_rows, finish
from assay.report.model.rows import Row
from assay.values.estimate import Estimate

ROW_HEIGHT = 34


def bars(
    name: str,
    title: str,
    note: str,
    rows: Sequence[Row],
    of: Callable[[Row], Estimate | None],
    write: Callable[[float | None], str],
    scale: float = 1.0,
    unit: str = "",
) -> Chart | None:
    """One horizontal bar a case from zero, with its 95 % interval; None where nothing is known.

    Values are drawn divided by `scale`, in `unit`.
    """
    known = [(row, estimate) for row in rows if (estimate := of(row)) is not None]
    if not known:
        return None
    values = [_value(row, estimate, write, scale) for row, estimate in known]
    thousands = max(value["edge"] for value in values) >= 10_000
    whiskers = any(value["low"] is not None for value in values)
    table = [
        (row.name, write(estimate.value), write(estimate.low), write(estimate.high), str(estimate.n))
        for row, estimate in known
    ]
    return Chart(
        name=name,
        title=title,
        note=note,
        spec=finish(_layers(unit, thousands, whiskers), values, ROW_HEIGHT * len(values) + 10),
        heads=("server", "value", "low", "high", "trials"),
        rows=as_rows(table),
    )


def _value(
    row: Row, estimate: Estimate, write: Callable[[float | None], str], scale: float
) -> dict[str, Any]:
    known = estimate.low is not None and estimate.high is not None
    return {
        "server": fmt.safe(row.name, 60),
        "role": row.case.role,
        "value": estimate.value / scale,
        # Null draws no whisker: no interval is known.
        "low": None if estimate.low is None else max(0.0, estimate.low) / scale,
        "high": None if estimate.high is None else estimate.high / scale,
        "edge": (estimate.high or estimate.value) / scale,
        "text": write(estimate.value),
        "interval": f"{write(estimate.low)} to {write(estimate.high)}" if known else fmt.UNKNOWN,
    }


@functools.cache
def _layers(unit: str, thousands: bool, whiskers: bool) -> Spec:
    """The specification without data: Altair checks it against Vega-Lite's schema, so it is made once."""
    base = alt.Chart(alt.NamedData(name=DATA)).encode(
        y=alt.Y("server:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False)),
        tooltip=[
            alt.Tooltip("server:N"),
            alt.Tooltip("text:N", title="value"),
            alt.Tooltip("interval:N", title="95 %"),
        ],
    )
    axis = alt.Axis(format="~s" if thousands else ",~f", tickCount=8)
    x = alt.X("value:Q", title=unit, axis=axis, scale=alt.Scale(zero=True, nice=True))
    ranked = alt.condition("datum.role == 'candidate'", alt.value("#0072B2"), alt.value("#8a8f98"))
    bar = base.mark_bar(height={"band": 0.62}).encode(x=x, color=ranked)
    span = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q")
    ends = base.mark_tick(thickness=2, size=10)
    label = base.mark_text(align="left", dx=6).encode(x="edge:Q", text="text:N")
    drawn = [span, ends.encode(x="low:Q"), ends.encode(x="high:Q")] if whiskers else []
    return alt.layer(bar, *drawn, label).to_dict()
