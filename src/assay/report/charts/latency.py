"""Latency over time: percentiles and the longest time of each step, as lines of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.core import units as fmt
from assay.model.measurement import Measurement, WindowTimes
from assay.report.charts.data import Placed, why_bounds
from assay.report.charts.drawings import Curve, Frame, plot
from assay.report.document import Chart
from assay.report.model.rows import Row
from assay.report.picture import as_rows, slug
from assay.report.svg import Scale, proportional
from assay.stats import quantiles
from assay.stats.quantiles import of_windows

PERCENTILES = (0.5, 0.9, 0.99)
_MOST_STEPS = 120
_FEWEST_STEPS = 4
"""Fewer are no course; a table says them better."""
_MOST_CHARTS = 6
"""So many servers of a load, the best ones, have a chart of their own."""
_NAMES = (*(f"p{100 * p:g}" for p in PERCENTILES), "max")


def over_time(place: Placed) -> Iterator[Chart]:
    """A chart for each of the best servers of the section whose windows hold times."""
    drawn = 0
    for row in place.section.candidates:
        trials = [trial.measurement for trial in place.trials(row) if trial.measurement]
        found = list(steps(trials, _MOST_STEPS))
        if len(found) >= _FEWEST_STEPS and not row.invalid and drawn < _MOST_CHARTS:
            drawn += 1
            yield _chart(place, row, found)


def _chart(place: Placed, row: Row, found: list[TimesStep]) -> Chart:
    curves = [curve for curve in _curves(found) if curve.slices]
    values = [value for curve in curves for _, _, value in curve.slices]
    end_s = (found[-1].from_ns + found[-1].length_ns) / 1e9
    clock = "Service time, from the send" if row.closed_loop else "Response time, from the intended start"
    several = len(place.section.candidates) > 1
    frame = Frame(
        x=lambda start, end: Scale(0.0, end_s, start, end),
        y=lambda start, end: proportional(values, start, end),
        write_x=lambda value: fmt.significant(value, 3),
        write_y=lambda value: fmt.time(value * 1e6),
        x_title="seconds since measuring began",
        y_title="time",
    )
    return Chart(
        name=f"latency-over-time{place.suffix}{f'-{slug(row.case.id)}' if several else ''}",
        title=f"Latency over time{place.where}{f': {row.name}' if several else ''}",
        note=(
            f"{clock}, of the answers of each {fmt.time(found[0].length_ns)}: a peak of the longest alone is "
            "a pause that few requests met; a gap is time without an answer." + why_bounds([row])
        ),
        draw=lambda width: plot(curves, frame, width),
        heads=("second", "answers", *_NAMES),
        rows=as_rows(
            (f"{one.from_ns / 1e9:g}", fmt.count(one.answers), *map(fmt.time, (*one.percentiles, one.max_ns)))
            for one in found
        ),
    )


def _curves(found: list[TimesStep]) -> Iterator[Curve]:
    for number, name in enumerate(_NAMES):
        slices = tuple(
            (one.from_ns / 1e9, (one.from_ns + one.length_ns) / 1e9, value / 1e6)
            for one in found
            if (value := (*one.percentiles, one.max_ns)[number])
        )
        yield Curve(name, number, (), joined=False, slices=slices)


class TimesStep(NamedTuple):
    """The times (ns) of the answers in a piece of the measured phase, whose begin `from_ns` counts from. A
    percentile with too few answers behind it is None, and the longest of none."""

    from_ns: int
    length_ns: int
    answers: int
    percentiles: tuple[float | None, ...]
    max_ns: int | None


def steps(trials: Sequence[Measurement], most: int) -> Iterator[TimesStep]:
    """The measured phase in at most so many steps, all trials' times of a step together."""
    windows = [(one.start_ns - trial.warmup_ns, one) for trial in trials for one in trial.window_times]
    if not windows:
        return
    window_ns = max(1, *(trial.window_times[0].length_ns for trial in trials if trial.window_times))
    end_ns = max(from_ns + one.length_ns for from_ns, one in windows)
    step_ns = window_ns * -(-end_ns // (window_ns * most))
    found: dict[int, list[WindowTimes]] = {}
    for from_ns, one in windows:
        found.setdefault(max(0, from_ns + one.length_ns // 2) // step_ns, []).append(one)
    for place, same in sorted(found.items()):
        times = of_windows(same)
        percentiles = tuple(one and one.value_ns for one in quantiles(times, PERCENTILES))
        length_ns = min(step_ns, end_ns - place * step_ns)
        yield TimesStep(place * step_ns, length_ns, times.count, percentiles, times.max_ns or None)
