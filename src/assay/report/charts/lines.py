"""Lines: throughput over time, percentile curves, response time and throughput against load."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import altair as alt

from assay.report import format as fmt
from assay.report.charts.chart import DATA, Chart, Spec, as_rows, finish
from assay.report.charts.data import Step
from assay.values.estimate import Estimate

HEIGHT = 300
_FAR = 0.12
"""Opacity of the series that the legend has turned off."""


Changes = tuple[tuple[float, float], ...]
"""Where the level of a trial changed: (second, throughput drawn there)."""


def over_time(name: str, title: str, series: Sequence[tuple[str, tuple[Step, ...], Changes]]) -> Chart | None:
    """Throughput over time, the warm-up shaded left of zero, changes of level marked; the band spans the
    trials."""
    values: list[dict[str, Any]] = [
        {
            "server": fmt.safe(server, 60),
            "at": round(step.at_s, 3),
            "rate": round(step.mean_per_s),
            "low": round(step.low_per_s),
            "high": round(step.high_per_s),
        }
        for server, steps, _ in series
        for step in steps
    ]
    if not values:
        return None
    marks: list[dict[str, Any]] = [
        {"server": fmt.safe(server, 60), "at": round(second, 3), "change": round(per_s)}
        for server, _, changes in series
        for second, per_s in changes
    ]
    rows = [
        (one["server"], f"{one['at']:g}", fmt.rate(one["rate"]), fmt.rate(one["low"]), fmt.rate(one["high"]))
        for one in values
    ]
    return Chart(
        name=name,
        title=title,
        note=(
            "Mean of the trials; the band spans their lowest and highest. Shaded: warm-up. "
            "Triangles: a trial's level changed there."
        ),
        spec=finish(_over_time(any(one["at"] < 0 for one in values)), values + marks, HEIGHT),
        heads=("server", "second", "mean", "lowest", "highest"),
        rows=as_rows(rows),
    )


def percentiles(
    name: str, title: str, note: str, series: Sequence[tuple[str, str, tuple[tuple[float, Estimate], ...]]]
) -> Chart | None:
    """Percentile curves: (server, clock, points). The horizontal axis stretches the tail."""
    values: list[dict[str, Any]] = [
        {
            "server": fmt.safe(server, 60),
            "clock": clock,
            "x": round(1 / (1 - p), 3),
            "p": f"p{100 * p:.10g}",
            "ms": estimate.value / 1e6,
            "low": (estimate.low or estimate.value) / 1e6,
            "high": (estimate.high or estimate.value) / 1e6,
            "text": fmt.time(estimate.value),
        }
        for server, clock, points in series
        for p, estimate in points
    ]
    if not values:
        return None
    rows = [
        (
            *(one[key] for key in ("server", "clock", "p", "text")),
            fmt.time(one["low"] * 1e6),
            fmt.time(one["high"] * 1e6),
        )
        for one in values
    ]
    return Chart(
        name=name,
        title=title,
        note=note,
        spec=finish(_percentiles(len({clock for _, clock, _ in series}) > 1), values, HEIGHT),
        heads=("server", "clock", "percentile", "time", "low", "high"),
        rows=as_rows(rows),
    )


def against(
    name: str,
    title: str,
    note: str,
    x_title: str,
    y_title: str,
    points: Sequence[dict[str, Any]],
    *,
    log: bool,
) -> Chart | None:
    """Something against load. Points hold server, x, y, low, high and their `text`."""
    if len({point["x"] for point in points}) < 2:
        return None
    values = [dict(point, server=fmt.safe(str(point["server"]), 60)) for point in points]
    rows = [(str(one["server"]), f"{one['x']:g}", str(one["text"])) for one in values]
    return Chart(
        name=name,
        title=title,
        note=note,
        spec=finish(_against(x_title, y_title, log), values, HEIGHT),
        heads=("server", x_title, y_title),
        rows=as_rows(rows),
    )


# --- the specifications, without data: Altair checks each against Vega-Lite's schema, which costs
# a tenth of a second, so each is made once ----------------------------------------------


@functools.cache
def _over_time(warm_up: bool) -> Spec:
    every, pick = _base()
    base = every.transform_filter("isValid(datum.rate)")
    x = alt.X(
        "at:Q",
        title="seconds since measuring began",
        axis=alt.Axis(format=",~f", tickCount=12),
        scale=alt.Scale(nice=False),
    )
    low = alt.Y("low:Q", title="answers a second", axis=alt.Axis(format="~s"), scale=alt.Scale(zero=True))
    band = base.mark_area().encode(
        x=x, y=low, y2="high:Q", opacity=alt.condition(pick, alt.value(0.18), alt.value(0.03))
    )
    tip = [alt.Tooltip("server:N"), alt.Tooltip("at:Q", title="second")]
    line = (
        base.mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y("rate:Q", scale=alt.Scale(zero=True)),
            opacity=_near(pick),
            tooltip=[*tip, alt.Tooltip("rate:Q", title="answers a second", format=",.0f")],
        )
        .add_params(pick)
    )
    changed = (
        every.transform_filter("isValid(datum.change)")
        .mark_point(shape="triangle-down", filled=True, size=70, yOffset=-8)
        .encode(x=x, y="change:Q", opacity=_near(pick), tooltip=tip)
    )
    return alt.layer(*(_warm_up_shade() if warm_up else []), band, line, changed).to_dict()


def _warm_up_shade() -> list[alt.Chart]:
    """From the first moment drawn to zero, where measuring began."""
    before = alt.Chart(alt.NamedData(name=DATA)).transform_filter("datum.at < 0")
    shade = (
        before.transform_aggregate(begin="min(at)")
        .transform_calculate(end="0")
        .mark_rect(color="gray", opacity=0.15)
        .encode(x="begin:Q", x2="end:Q")
    )
    start = alt.Chart(alt.InlineData(values=[{"at": 0}])).mark_rule(strokeDash=[4, 4]).encode(x="at:Q")
    return [shade, start]


@functools.cache
def _percentiles(two_clocks: bool) -> Spec:
    base, pick = _base()
    names = "{'2':'p50','10':'p90','100':'p99','1000':'p99.9','10000':'p99.99','100000':'p99.999'}"
    axis = alt.Axis(values=[2, 10, 100, 1000, 10000, 100000], labelExpr=f"{names}[datum.value]", grid=True)
    x = alt.X("x:Q", scale=alt.Scale(type="log", nice=False), axis=axis, title="percentile")
    y = alt.Y("ms:Q", scale=alt.Scale(type="log"), title="milliseconds", axis=alt.Axis(format="~g"))
    near = _near(pick)
    tip = [alt.Tooltip(f"{field}:N") for field in ("server", "clock", "p")] + [
        alt.Tooltip("text:N", title="time")
    ]
    dash = {"strokeDash": alt.StrokeDash("clock:N", title=None)} if two_clocks else {}
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, opacity=near, **dash).add_params(pick)
    by_clock = {"detail": "clock:N"}
    span = base.mark_rule(strokeWidth=1).encode(x=x, y="low:Q", y2="high:Q", opacity=near, **by_clock)
    dots = base.mark_point(filled=True, size=50).encode(
        x=x, y=y, opacity=near, tooltip=tip, shape=_shape(), **by_clock
    )
    return alt.layer(span, line, dots).to_dict()


@functools.cache
def _against(x_title: str, y_title: str, log: bool) -> Spec:
    base, pick = _base()
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    y = alt.Y("y:Q", title=y_title, scale=scale, axis=alt.Axis(format="~g" if log else "~s"))
    x = alt.X(
        "x:Q",
        title=x_title,
        axis=alt.Axis(format="~s"),
        scale=alt.Scale(type="log") if log else alt.Scale(zero=True),
    )
    tip = [alt.Tooltip("server:N"), alt.Tooltip("x:Q", title=x_title), alt.Tooltip("text:N", title=y_title)]
    near = _near(pick)
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, opacity=near).add_params(pick)
    span = base.mark_rule(strokeWidth=2).encode(x=x, y="low:Q", y2="high:Q", opacity=near)
    dots = base.mark_point(filled=True, size=60).encode(x=x, y=y, opacity=near, tooltip=tip, shape=_shape())
    return alt.layer(span, line, dots).to_dict()


def _base() -> tuple[alt.Chart, alt.Parameter]:
    """A chart coloured by server, in the order of the data, whose legend turns servers on and off."""
    pick = alt.selection_point(fields=["server"], bind="legend", name="pick")
    empty = alt.Chart(alt.NamedData(name=DATA))
    return empty.encode(color=alt.Color("server:N", sort=None, title=None)), pick


def _near(pick: alt.Parameter) -> Any:  # noqa: ANN401 - Altair's own type of a condition is private
    return alt.condition(pick, alt.value(1), alt.value(_FAR))


def _shape() -> alt.Shape:
    return alt.Shape("server:N", sort=None, title=None, legend=None)
