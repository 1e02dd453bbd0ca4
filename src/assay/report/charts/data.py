"""The data that charts of runs draw: courses over time, curves of latencies."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay import stats
from assay.model.estimate import Estimate
from assay.model.measurement import Histogram, Measurement
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.model.rows import LoadRows, Row, hues, times_limited
from assay.report.picture import slug
from assay.stats.steady import steady_state

MOST_STEPS = 60
"""Points of a course over time: more would not be told apart on a page."""
FEWEST_STEPS = 10
_WHOLE = 0.6
"""Share of the usual load of a slice of time that one must have to be drawn: the last is often cut off."""
ALL_STEPS = 12_000
"""Points of all trials of a run together: a page holds them all twice, and it is to stay small."""

# Dense enough for a smooth curve; those without enough requests behind them are left out later.
CURVE = (0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999)


class RateStep(NamedTuple):
    """Throughput in one slice of time: the mean of the trials, their lowest and their highest."""

    at_s: float
    mean_per_s: float
    low_per_s: float
    high_per_s: float


def steps_for(trials: int) -> int:
    """How many points each of so many trials may have."""
    return min(MOST_STEPS, max(FEWEST_STEPS, ALL_STEPS // max(1, trials)))


def course(trials: Sequence[Trial], most_steps: int = MOST_STEPS) -> tuple[RateStep, ...]:
    """Throughput over time since the end of the warm-up (negative before), over all trials."""
    measured = [trial.measurement for trial in trials if trial.measurement and trial.measurement.windows]
    if not measured:
        return ()
    step_ns = _step_ns(measured, most_steps)
    sums: dict[int, list[float]] = defaultdict(list)
    for measurement in measured:
        for index, per_s in _binned(measurement, step_ns):
            sums[index].append(per_s)
    # A slice that only some trials reached would show the others' absence as a change.
    return tuple(
        RateStep(index * step_ns / 1e9, sum(values) / len(values), min(values), max(values))
        for index, values in sorted(sums.items())
        if len(values) * 2 > len(measured)
    )


def alone(trials: Sequence[Trial], most_steps: int = MOST_STEPS) -> Iterator[tuple[tuple[float, float], ...]]:
    """Each trial's own course, as (second, throughput), in the steps of `course`."""
    measured = [trial.measurement for trial in trials if trial.measurement and trial.measurement.windows]
    if len(measured) < 2:  # it is the mean
        return
    step_ns = _step_ns(measured, most_steps)
    for measurement in measured:
        yield tuple((index * step_ns / 1e9, per_s) for index, per_s in sorted(_binned(measurement, step_ns)))


def changes(trials: Sequence[Trial], steps: Sequence[RateStep]) -> tuple[tuple[float, float], ...]:
    """Each change of level that the steady-state rule counts: (second, throughput drawn there)."""
    found = []
    for trial in trials:
        if trial.measurement is None or not steps:
            continue
        warmup_ns = trial.measurement.warmup_ns
        measured = [window for window in trial.measurement.windows if window.phase == "measured"]
        at = [*(trial.warm_up.changes_ns if trial.warm_up else ()), *steady_state(measured).changes_ns]
        for second in ((ns - warmup_ns) / 1e9 for ns in at):
            nearest = min(steps, key=lambda step: abs(step.at_s - second))
            found.append((second, nearest.mean_per_s))
    return tuple(found)


def _step_ns(measured: Sequence[Measurement], most_steps: int) -> int:
    longest = max(seen.windows[-1].start_ns + seen.windows[-1].length_ns for seen in measured)
    window = max(max(seen.windows[0].length_ns, 1) for seen in measured)
    return window * max(1, -(-longest // (window * most_steps)))


def _binned(measurement: Measurement, step_ns: int) -> Iterable[tuple[int, float]]:
    """Whole slices of one trial: their number from the start of measuring, and answers a second."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for window in measurement.windows:
        slot = counts[(window.start_ns - measurement.warmup_ns) // step_ns]
        slot[0] += window.completed
        slot[1] += window.length_ns
    usual_ns = statistics.median(length_ns for _, length_ns in counts.values())
    for index, (completed, length_ns) in counts.items():
        if length_ns >= usual_ns * _WHOLE:  # interleaved servers rest in between
            yield index, completed / (length_ns / 1e9)


def curve(histograms: Sequence[Histogram]) -> tuple[tuple[float, Estimate], ...]:
    """Quantiles of a case over its trials; those without enough requests are left out."""
    by_trial = [stats.quantiles(histogram, CURVE) for histogram in histograms]
    points = []
    for place, p in enumerate(CURVE):
        values = [found[place] for found in by_trial]
        known = [value.value_ns for value in values if value is not None]
        estimate = stats.positive_mean(known, "ns") if known and len(known) == len(values) else None
        if estimate is not None:
            points.append((p, estimate))
    return tuple(points)


class Placed:
    """One section; its charts bear its title where the run has `several`."""

    def __init__(self, run: Run, section: LoadRows, several: bool) -> None:
        """Look up what is shared, once."""
        self.section = section
        self.where = f": {section.title}" if section.title else ""
        self.suffix = f"-{slug(section.title)}" if several else ""
        self.colours = hues(run.header.cases)
        self.steps = steps_for(len(run.trials))
        self._trials = trials_by_case(run.trials)

    def trials(self, row: Row) -> list[Trial]:
        """The row's measured trials."""
        return self._trials.get(row.case.id, [])


def why_bounds(rows: Iterable[Row]) -> str:
    """What a chart's note adds where times in it are bounds."""
    limited = times_limited(rows)
    return f" {limited[:1].upper()}{limited[1:]}." if limited else ""


def trials_by_case(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """The measured trials of each case."""
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.measurement:
            found.setdefault(trial.case, []).append(trial)
    return found
