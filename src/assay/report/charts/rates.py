"""What each server reached and took, and charts over several loads: response times, sweeps, objectives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from assay import stats
from assay.core import units as fmt
from assay.core.errors import InputError
from assay.model.estimate import Estimate
from assay.model.plan import Closed
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.charts.answer import badge
from assay.report.charts.data import Placed, trials_by_case, why_bounds
from assay.report.charts.drawings import Axis, Curve, Frame, Strip, draw, plot
from assay.report.document import Chart
from assay.report.model.rows import (
    LoadRows,
    Row,
    failure_words,
    hues,
    response_words,
    short_name,
    throughput_words,
)
from assay.report.picture import as_rows, slug
from assay.report.svg import Scale, linear, proportional
from assay.verdict.objective import ObjectiveLimit, figure_of, rate_of
from assay.verdict.objective import objectives as readable

_FAR = 6.0
"""How many times the fastest a ceiling may serve and have its line on the scale."""


def throughput(place: Placed, name: str, title: str, unit: str) -> Chart | None:
    """Each candidate's trials under their interval, and the null server's as a line."""
    rows = place.section.candidates
    strips = [_served(place, row, searched=name == "capacity") for row in rows]
    if not any(strip.drawn for strip in strips):
        return None
    fastest = max((value for strip in strips for value in strip.values()), default=0.0)
    others = [(row, row.throughput.value) for row in place.section.shown_apart if row.throughput]
    lines = tuple(
        (value, f"{row.name}, {fmt.rate(value)}") for row, value in others if row.case.role == "ceiling"
    )
    near = tuple(one for one in lines if one[0] <= _FAR * fastest)
    beyond = "".join(f" Beyond the scale: {words}." for value, words in lines if (value, words) not in near)
    strips += [
        _served(place, row, searched=False) for row in place.section.shown_apart if row.case.role != "ceiling"
    ]
    axis = Axis(linear, fmt.rate, unit, near)
    dashed = " Dashed: the null server, which is as far as the generator gets." if near else ""
    return Chart(
        name=f"{name}{place.suffix}",
        title=f"{title}{place.where}",
        note=_how(strips, searched=name == "capacity") + dashed + beyond,
        draw=lambda width: draw(strips, axis, width),
        heads=("server", "value", "95 %", "trials"),
        rows=as_rows(
            (row.name, throughput_words(row), _between(row.throughput, fmt.rate), str(row.trials))
            for row in place.section.rows
        ),
    )


def _how(strips: Sequence[Strip], *, searched: bool = False) -> str:
    """What the marks mean, of those that are there; a single trial has no mean and no interval."""
    several = any(len(strip.trials) > 1 for strip in strips)
    said = [
        ("small dots: the trials", several),
        ("mark: their mean" if several else "mark: the one trial", not searched),
        ("bar: 95 % interval", any(None is not strip.low != strip.high for strip in strips)),
        ("hatched with an arrow: what is possible beyond", any(one.below or one.above for one in strips)),
        ("hatched throughout: measured, but no figure can be shown", any(one.hidden for one in strips)),
    ]
    words = "; ".join(words for words, there in said if there)
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _served(place: Placed, row: Row, *, searched: bool) -> Strip:
    name, hue = row.name, place.colours[row.name]
    if row.invalid or row.throughput is None:
        return Strip(
            name, hue, throughput_words(row), badge=badge(row) or failure_words(row), hidden=row.invalid
        )
    found, known = row.throughput, row.known
    trials = (
        ()
        if searched
        else _each([stats.rate_per_s(one.measurement) for one in place.trials(row) if one.measurement])
    )
    if known is not None and known.limits:
        return Strip(
            name, hue, throughput_words(row), found.value, known.low, known.high,
            below=known.low is None, above=known.high is None, trials=trials, badge=badge(row),
        )  # fmt: skip
    said = f"{throughput_words(row)} {fmt.plus_minus(found)}".strip()
    return Strip(
        name, hue, said, found.value, found.low, found.high,
        below=searched and found.low is None, above=searched and found.high is None, trials=trials,
    )  # fmt: skip


class _Taken(NamedTuple):
    """A figure of what a server took: its title, its value a trial, its estimate, its words."""

    name: str
    title: str
    unit: str
    write: Callable[[float | None], str]
    of_row: Callable[[Row], Estimate | None]
    of_trial: Callable[[Trial], float | None]


def _cpu(row: Row) -> Estimate | None:
    if row.cpu_share is None:
        return None
    return Estimate(
        value=row.cpu_share, low=None, high=None, n=row.trials, unit="share", method="mean of the trials"
    )


_TAKEN = (
    _Taken("cpu", "CPU of the server", "share of its cores", fmt.share, _cpu,
           lambda trial: trial.server.cpu_share if trial.server else None),
    _Taken("memory", "Peak memory", "resident, all processes", fmt.size, lambda row: row.peak_memory_bytes,
           lambda trial: stats.value_of(trial, "peak_memory")),
    _Taken("start", "Start to the first right answer", "time", fmt.time, lambda row: row.start_ns,
           lambda trial: stats.value_of(trial, "start_time")),
)  # fmt: skip


def resources(place: Placed) -> Iterator[Chart | None]:
    """What each server took, side by side; no finding about a throughput touches these."""
    for taken in _TAKEN:
        yield _resource(place, taken)


def _resource(place: Placed, taken: _Taken) -> Chart | None:
    rows = [row for row in (*place.section.candidates, *place.section.shown_apart) if taken.of_row(row)]
    strips = [
        Strip(
            row.name, place.colours[row.name], taken.write(found.value), found.value, found.low, found.high,
            trials=_each([value for one in place.trials(row) if (value := taken.of_trial(one)) is not None]),
        )
        for row in rows
        if (found := taken.of_row(row)) is not None
    ]  # fmt: skip
    if not strips:
        return None
    axis = Axis(linear, taken.write, taken.unit)
    return Chart(
        name=f"{taken.name}{place.suffix}",
        title=f"{taken.title}{place.where}",
        note=_how(strips),
        draw=lambda width: draw(strips, axis, width),
        heads=("server", "value", "95 %", "trials"),
        rows=as_rows(
            (row.name, strip.label, _between(taken.of_row(row), taken.write), str(row.trials))
            for row, strip in zip(rows, strips, strict=True)
        ),
        small=True,
    )


def _each(values: Sequence[float]) -> tuple[float, ...]:
    """The trials' values; a single one is the mark itself."""
    return tuple(values) if len(values) > 1 else ()


def _between(found: Estimate | None, write: Callable[[float | None], str]) -> str:
    if found is None or found.low is None or found.high is None:
        return fmt.UNKNOWN
    return f"{write(found.low)} to {write(found.high)}"


class LoadPoint(NamedTuple):
    """Where a server was loaded, what was measured there, and that in words, as the bound that it may be."""

    at: float
    estimate: Estimate
    label: str


def across(run: Run, found: Sequence[LoadRows]) -> Iterator[Chart | None]:
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
            waits, proportional, ("answers a second", fmt.rate), ("p99 response time", fmt.time),
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
            places, proportional, ("rate that was offered", fmt.rate), (limit.figure, fmt.time),
            level=(limit.edge, limit.text),
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
    values = [value for curve in curves for value in curve.heights]
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
