"""What each server reached, and what it took: throughput, capacity, CPU, memory, time to start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from assay import stats
from assay.core import units as fmt
from assay.model.estimate import Estimate
from assay.model.trial import Trial
from assay.report.charts.answer import badge
from assay.report.charts.chart import Chart, as_rows
from assay.report.charts.data import Placed
from assay.report.charts.scale import linear
from assay.report.charts.strips import Axis, Strip, draw
from assay.report.model.rows import Row, failure_words, throughput_words

_FAR = 6.0
"""How many times the fastest a ceiling may serve and have its line on the scale."""

_HOW = "Small dots: the trials; mark: their mean; bar: its 95 % interval; hatched: what is possible beyond."


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
        note=_how(name, place) + dashed + beyond,
        draw=lambda width: draw(strips, axis, width),
        heads=("server", "value", "95 %", "trials"),
        rows=as_rows(
            (row.name, throughput_words(row), _between(row.throughput, fmt.rate), str(row.trials))
            for row in place.section.rows
        ),
    )


def _how(name: str, place: Placed) -> str:
    """What the marks mean; of a single trial there is no mean and no interval."""
    if name == "capacity":
        return "Bar: 95 % sure; hatched: known from one side."
    if max(row.trials for row in place.section.rows) == 1:
        return "Mark: the one trial; hatched: what is possible beyond."
    return _HOW


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
        else tuple(stats.rate_per_s(one.measurement) for one in place.trials(row) if one.measurement)
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
            trials=tuple(_known(taken.of_trial(one) for one in place.trials(row))),
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
        note=_HOW,
        draw=lambda width: draw(strips, axis, width),
        heads=("server", "value", "95 %", "trials"),
        rows=as_rows(
            (row.name, strip.label, _between(taken.of_row(row), taken.write), str(row.trials))
            for row, strip in zip(rows, strips, strict=True)
        ),
        small=True,
    )


def _known(values: Iterable[float | None]) -> Iterator[float]:
    return (value for value in values if value is not None)


def _between(found: Estimate | None, write: Callable[[float | None], str]) -> str:
    if found is None or found.low is None or found.high is None:
        return fmt.UNKNOWN
    return f"{write(found.low)} to {write(found.high)}"
