"""Charts over several loads: response time against throughput, a sweep of connections, an objective."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from assay.core import units as fmt
from assay.core.errors import InputError
from assay.model.estimate import Estimate
from assay.model.plan import Closed
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.charts.chart import Chart, as_rows
from assay.report.charts.data import hues, slug, trials_by_case, why_bounds
from assay.report.charts.lines import Curve, Frame, plot
from assay.report.charts.scale import Scale, linear, logarithmic
from assay.report.model.rows import Section, response_words, short_name, throughput_words
from assay.verdict.objective import ObjectiveLimit, figure_of, rate_of
from assay.verdict.objective import objectives as readable


class LoadPoint(NamedTuple):
    """Where a server was loaded, what was measured there, and that in words, as the bound that it may be."""

    at: float
    estimate: Estimate
    label: str


def across(run: Run, found: Sequence[Section]) -> Iterator[Chart | None]:
    """What several loads of one workload say together."""
    workloads = dict.fromkeys(case.workload for case in run.header.cases)
    connections = {trial.case: trial.plan.load for trial in run.trials}
    for workload in workloads:
        rows = [row for section in found for row in section.rows if row.case.workload == workload]
        rows = [row for row in rows if not row.invalid and row.case.role != "control" and not row.case.search]
        suffix, where = (f"-{slug(workload)}", f": {workload}") if len(workloads) > 1 else ("", "")
        waits: dict[str, list[LoadPoint]] = {}
        sweep: dict[str, list[LoadPoint]] = {}
        bounded = []
        for row in rows:
            load = connections.get(row.case.id)
            if not row.closed_loop and row.response_p99_ns is not None and row.throughput is not None:
                p99 = row.response_p99_ns
                waits.setdefault(row.name, []).append(
                    LoadPoint(row.throughput.value, p99, response_words(row)[1])
                )
                bounded.append(row)
            if isinstance(load, Closed) and row.throughput is not None:
                place = LoadPoint(load.connections, row.throughput, throughput_words(row))
                sweep.setdefault(row.name, []).append(place)
        yield _against(
            run, f"latency{suffix}", f"Response time against throughput{where}",
            "Open loop: p99 response time at each offered rate; a curve that turns up has reached its knee."
            + why_bounds(bounded),
            waits, logarithmic, ("answers a second", fmt.rate), ("p99 response time", fmt.time),
        )  # fmt: skip
        yield _against(
            run, f"connections{suffix}", f"Throughput against connections{where}",
            "Closed loop; thin bars are 95 % intervals over the trials.",
            sweep, linear, ("connections", lambda value: f"{value or 0:g}"), ("answers a second", fmt.rate),
        )  # fmt: skip


def objectives(run: Run) -> Iterator[Chart | None]:
    """Each figure that an objective limits, at every rate that was tried, with its limit as a line."""
    try:
        wanted = readable(run.header)
    except InputError:  # said elsewhere in the report
        return
    limits: dict[tuple[str, ObjectiveLimit], dict[str, list[LoadPoint]]] = {}
    trials = trials_by_case(run.trials)
    for case in (case for case in run.header.cases if case.id in wanted):
        for limit in wanted[case.id].limits:
            if limit.figure == "errors":
                continue
            places = limits.setdefault((case.workload, limit), {})
            places.setdefault(short_name(case), []).extend(_tried(trials.get(case.id, []), limit))
    several = len({workload for workload, _ in limits}) > 1
    for (workload, limit), places in limits.items():
        where, suffix = (f": {workload}", f"-{slug(workload)}") if several else ("", "")
        yield _against(
            run, f"objective-{slug(limit.figure)}{suffix}", f"{limit.figure} at each rate tried{where}",
            f"A mark a trial, response time from the intended start. Dashed: the objective, {limit.text}.",
            places, logarithmic, ("rate that was offered", fmt.rate), (limit.figure, fmt.time),
            level=(limit.most, limit.text),
        )  # fmt: skip


def _tried(trials: Iterable[Trial], limit: ObjectiveLimit) -> Iterator[LoadPoint]:
    for trial in trials:
        seen = trial.measurement
        value = figure_of(limit, seen, seen.response_time or seen.service_time) if seen else None
        if value:
            found = Estimate(value=value, low=None, high=None, n=1, unit="ns", method="one trial")
            yield LoadPoint(rate_of(trial.plan), found, fmt.time(value))


def _against(
    run: Run,
    name: str,
    title: str,
    note: str,
    places: dict[str, list[LoadPoint]],
    scale: Callable[[Iterable[float], float, float], Scale],
    x: tuple[str, Callable[[float | None], str]],
    y: tuple[str, Callable[[float | None], str]],
    level: tuple[float, str] | None = None,
) -> Chart | None:
    """Something against load; None where there are not two loads."""
    if len({place.at for each in places.values() for place in each}) < 2:
        return None
    colours = hues(run.header.cases)
    curves = []
    for server, unsorted in places.items():
        each = sorted(unsorted, key=lambda place: place.at)
        ends = tuple(
            (at, one.low, one.high) for at, one, _ in each if one.low is not None and one.high is not None
        )
        points = tuple((at, one.value) for at, one, _ in each)
        curves.append(Curve(server, colours[server], points, ends, joined=level is None))
    across_x = [at for curve in curves for at, _ in curve.points]
    values = [value for curve in curves for _, *ys in (*curve.points, *curve.ends) for value in ys]
    values += [level[0]] if level else []
    frame = Frame(
        x=lambda start, end: scale(across_x, start, end),
        y=lambda start, end: scale(values, start, end),
        write_x=x[1],
        write_y=y[1],
        x_title=x[0],
        y_title=y[0],
        level=level,
    )
    return Chart(
        name=name,
        title=title,
        note=note,
        draw=lambda width: plot(curves, frame, width),
        heads=("server", x[0], y[0]),
        rows=as_rows(
            (server, x[1](place.at), place.label)
            for server, each in places.items()
            for place in sorted(each, key=lambda place: place.at)
        ),
    )
