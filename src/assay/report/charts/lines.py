"""Lines: throughput over time, percentile curves, response time and throughput against load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from assay.report import format as fmt
from assay.report.charts.chart import Chart, as_rows, finish
from assay.report.charts.data import Step
from assay.values.estimate import Estimate

HEIGHT = 300


def over_time(name: str, title: str, series: Sequence[tuple[str, tuple[Step, ...]]]) -> Chart | None:
    """Throughput over time with the warm-up left of zero; the band spans the trials."""
    values: list[dict[str, Any]] = [
        {
            "server": fmt.safe(server, 60),
            "at": round(step.at_s, 3),
            "rate": round(step.mean_per_s, 1),
            "low": round(step.low_per_s, 1),
            "high": round(step.high_per_s, 1),
            "text": fmt.rate(step.mean_per_s),
        }
        for server, steps in series
        for step in steps
    ]
    if not values:
        return None
    base, pick = _base(values)
    tip = [alt.Tooltip("server:N"), alt.Tooltip("at:Q", title="second")]
    x = alt.X(
        "at:Q",
        title="seconds since measuring began",
        axis=alt.Axis(format=",~f", tickCount=12),
        scale=alt.Scale(nice=False),
    )
    y_scale = alt.Scale(zero=True)
    band = base.mark_area(opacity=0.18).encode(
        x=x, y=alt.Y("low:Q", title="answers a second", axis=alt.Axis(format="~s"), scale=y_scale),
        y2="high:Q",
        opacity=alt.condition(pick, alt.value(0.18), alt.value(0.03)),
    )  # fmt: skip
    line = base.mark_line(strokeWidth=2).encode(
        x=x, y=alt.Y("rate:Q", scale=y_scale),
        opacity=alt.condition(pick, alt.value(1), alt.value(0.12)),
        tooltip=[*tip, alt.Tooltip("text:N", title="throughput")],
    ).add_params(pick)  # fmt: skip
    start = alt.Chart(alt.InlineData(values=[{"at": 0}])).mark_rule(strokeDash=[4, 4]).encode(x="at:Q")
    layers = [band, line] + ([start] if any(value["at"] < 0 for value in values) else [])
    rows = [
        (
            value["server"],
            f"{value['at']:g}",
            fmt.rate(value["rate"]),
            fmt.rate(value["low"]),
            fmt.rate(value["high"]),
        )
        for value in values
    ]
    return Chart(
        name=name,
        title=title,
        note="Mean of the trials; the band spans their lowest and highest. Left of the dashed line: warm-up.",
        spec=finish(alt.layer(*layers).to_dict(), HEIGHT),
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
    base, pick = _base(values)
    names = "{'2':'p50','10':'p90','100':'p99','1000':'p99.9','10000':'p99.99','100000':'p99.999'}"
    axis = alt.Axis(values=[2, 10, 100, 1000, 10000, 100000], labelExpr=f"{names}[datum.value]", grid=True)
    encode = {
        "x": alt.X("x:Q", scale=alt.Scale(type="log", nice=False), axis=axis, title="percentile"),
        "opacity": alt.condition(pick, alt.value(1), alt.value(0.12)),
    }
    y = alt.Y("ms:Q", scale=alt.Scale(type="log"), title="milliseconds", axis=alt.Axis(format="~g"))
    if len({clock for _, clock, _ in series}) > 1:
        encode["strokeDash"] = alt.StrokeDash("clock:N", title=None)
    tip = [alt.Tooltip(f"{field}:N") for field in ("server", "clock", "p")] + [
        alt.Tooltip("text:N", title="time")
    ]
    line = base.mark_line(strokeWidth=2).encode(y=y, **encode).add_params(pick)
    span = base.mark_rule(strokeWidth=1).encode(y="low:Q", y2="high:Q", **_without(encode, "strokeDash"))
    dots = base.mark_point(filled=True, size=50).encode(
        y=y, tooltip=tip, shape=_shape(), **_without(encode, "strokeDash")
    )
    rows = [
        (
            value["server"],
            value["clock"],
            value["p"],
            value["text"],
            fmt.time(value["low"] * 1e6),
            fmt.time(value["high"] * 1e6),
        )
        for value in values
    ]
    return Chart(
        name=name,
        title=title,
        note=note,
        spec=finish(alt.layer(span, line, dots).to_dict(), HEIGHT),
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
    log_y: bool,
) -> Chart | None:
    """Something against load. Points hold server, x, y, low, high and their `text`."""
    if len({point["x"] for point in points}) < 2:
        return None
    values = [dict(point, server=fmt.safe(str(point["server"]), 60)) for point in points]
    base, pick = _base(values)
    scale = alt.Scale(type="log") if log_y else alt.Scale(zero=True)
    y = alt.Y("y:Q", title=y_title, scale=scale, axis=alt.Axis(format="~s" if not log_y else "~g"))
    x = alt.X("x:Q", title=x_title, axis=alt.Axis(format="~s"), scale=alt.Scale(zero=True))
    shown: dict[str, Any] = {"x": x, "opacity": alt.condition(pick, alt.value(1), alt.value(0.12))}
    tip = [alt.Tooltip("server:N"), alt.Tooltip("x:Q", title=x_title), alt.Tooltip("text:N", title=y_title)]
    line = base.mark_line(strokeWidth=2).encode(y=y, **shown).add_params(pick)
    span = base.mark_rule(strokeWidth=2).encode(y="low:Q", y2="high:Q", **shown)
    dots = base.mark_point(filled=True, size=60).encode(y=y, tooltip=tip, shape=_shape(), **shown)
    rows = [(value["server"], f"{value['x']:g}", str(value["text"])) for value in values]
    return Chart(
        name=name,
        title=title,
        note=note,
        spec=finish(alt.layer(span, line, dots).to_dict(), HEIGHT),
        heads=("server", x_title, y_title),
        rows=as_rows(rows),
    )


def _base(values: list[dict[str, Any]]) -> tuple[alt.Chart, alt.Parameter]:
    """A chart coloured by server whose legend turns servers on and off."""
    pick = alt.selection_point(fields=["server"], bind="legend", name="pick")
    servers = list(dict.fromkeys(value["server"] for value in values))
    base = alt.Chart(alt.InlineData(values=values)).encode(
        color=alt.Color("server:N", sort=servers, title=None)
    )
    return base, pick


def _shape() -> alt.Shape:
    return alt.Shape("server:N", sort=None, title=None, legend=None)


def _without(encode: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in encode.items() if name != key}
