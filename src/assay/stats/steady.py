"""Steady state: where the warm-up of a load ended, shown from its throughput over time.

1. Changepoints of the throughput per window: optimal partitioning with a squared-error cost and a
   penalty of 6 ln n noise variances (PELT's objective). Where neighbouring windows correlate, an
   independent-noise penalty finds changes that are none: windows are widened up to 1 s, and if they
   still correlate the penalty is 10 ln n.
2. A change counts if the level moves by more than 5 %. A short episode (a collection, a flush)
   after which the old level returns is part of the steady state, not a change of it; so is a swing
   about a level that holds: the mean after the last change must differ by 5 % from that before it.
3. The last change cuts the series there if it lies in the first third; later means no steady state.
4. What is left is checked: halves differ by less than 10 % in mean, quartiles by less than 5 %
   (pyperf), each beyond what its own noise explains; tenths deviate by less than 15 % (a slow wave
   has neither changepoints nor unequal halves).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import fmean, median
from typing import NamedTuple

from assay.core.units import counted, share, time
from assay.model.measurement import Window
from assay.stats.changepoints import MAD_TO_DEVIATION, partition

Series = list[float]

WIDEST_NS = 1_000_000_000
FEWEST_WINDOWS = 10
FEWEST_TO_WIDEN = 20
LEVEL_CHANGE = 0.05
EPISODE_SHARE = 0.1
HALVES_DIFFER = 0.10
QUARTILES_DRIFT = 0.05
STANDARD_ERRORS = 2.5
"""What noise explains: four comparisons are made (two quartiles, two directions)."""
TENTHS_DEVIATE = 0.15
WARM_HALVES_DIFFER = 0.03
WARM_STANDARD_ERRORS = 1.0
"""While warming up, growth must have slowed to 3 %, and noise excuses less: to wait is cheap."""
RELATIVE_MINIMUM_EFFECT = 0.002
"""A series without noise has no scale for a change; nothing below this share of its level is one."""


class SteadyState(NamedTuple):
    """Whether, and from when on, a series was steady. Times count as the windows' own do.

    `reason` says why not where `steady` is False. `changes_ns` are all changes of level that
    count. `window_ns` is the width at which the series was judged. `rising`: behind the last of them the
    second half served more than the first, by more than that of a steady series may.
    """

    steady: bool
    reason: str
    from_ns: int
    changes_ns: tuple[int, ...]
    window_ns: int
    level_per_s: float
    halves_difference: float
    rising: bool = False


class _Segment(NamedTuple):
    """A stretch of windows; `lowest` and `highest` are the levels of the stretches it was joined from."""

    start: int
    end: int
    lowest: float
    highest: float


def steady_state(windows: Sequence[Window]) -> SteadyState:
    """Judge one uninterrupted series of windows. A last, partial one is ignored; of several lengths they are
    judged at the longest."""
    return _judge(windows, HALVES_DIFFER, STANDARD_ERRORS)


def _judge(windows: Sequence[Window], halves_differ: float, errors: float, least_ns: int = 0) -> SteadyState:
    series, width, start = _rates(_whole(windows), least_ns)
    if len(series) < FEWEST_WINDOWS:
        reason = f"{counted(len(series), 'window')} {'is' if len(series) == 1 else 'are'} too few to tell"
        return SteadyState(False, reason, start, (), 0, 0.0, 0.0)
    return _judge_series(series, width, start, halves_differ, errors, None)


def judge_course(course: Series, width_ns: int, error: float) -> SteadyState:
    """Judge the common course of several trials, whose windows have that standard error; times begin at 0."""
    return _judge_series(course, width_ns, 0, HALVES_DIFFER, STANDARD_ERRORS, error)


def _judge_series(
    series: Series, width: int, origin: int, halves_differ: float, errors: float, error: float | None
) -> SteadyState:
    """`error` is the noise of a window where it is known; otherwise the series tells it."""
    series, factor, boundaries = _changepoints(series, width, error)
    segments = _segments(series, boundaries)
    window_ns = width * factor
    changes = tuple(origin + segment.start * window_ns for segment in segments[1:])
    last = segments[-1].start
    settled = series[last:]
    drift = _drift(settled, errors) if last * 3 <= len(series) else _Drift(0.0, 0.0, 0.0, 0.0)
    if last * 3 > len(series):
        since_ns, of_ns = changes[-1] - origin, len(series) * window_ns
        reason = f"the level still changed after {time(since_ns)} of {time(of_ns)}"
    elif drift.halves > max(halves_differ, drift.halves_noise):
        reason = f"its halves differ by {share(drift.halves)}"
    elif drift.quartiles > max(QUARTILES_DRIFT, drift.quartiles_noise):
        reason = f"its quartiles drift by {share(drift.quartiles)}"
    elif (tenths := _tenths_deviation(settled)) > TENTHS_DEVIATE:
        reason = f"it swings: its tenths deviate by {share(tenths)}"
    else:
        reason = ""
    return SteadyState(
        steady=not reason,
        reason=reason,
        from_ns=origin + last * window_ns,
        changes_ns=changes,
        window_ns=window_ns,
        level_per_s=fmean(settled),
        halves_difference=drift.halves,
        rising=drift.halves > max(HALVES_DIFFER, drift.halves_noise * STANDARD_ERRORS / errors)
        and fmean(settled[len(settled) // 2 :]) > fmean(settled[: len(settled) // 2]),
    )


def warm_up_state(windows: Sequence[Window], least_ns: int = 0) -> SteadyState:
    """Judge a warm-up by what it has shown so far: steady means that measuring may begin.

    Asked while the load runs, as often as new windows come; shorter ones are joined to `least_ns`. Because
    the last change of level must lie in the first third, a server that changed its level is watched for twice
    as long again after that.
    """
    return _judge(windows, WARM_HALVES_DIFFER, WARM_STANDARD_ERRORS, least_ns)


def warm_at_once(windows: Sequence[Window]) -> bool:
    """Whether a server was never faster than it was within the first tenth: it had warmed up by then.

    Other programs only take from a server: a level that falls, or comes back to what it was, is the
    machine's. One that is still getting faster shows a later level above its early ones, or a second half
    above its first.
    """
    series, width, _ = _rates(_whole(windows), 0)
    if len(series) < FEWEST_WINDOWS:
        return False
    wide, _, ends = _changepoints(series, width, None)
    early, highest, later = max(1, len(wide) // 10), 0.0, 0.0
    for segment in _segments(wide, ends):
        level = fmean(wide[segment.start : segment.end])
        if segment.start <= early:
            highest = max(highest, level)
        else:
            later = max(later, level)
    settled = series[len(series) // 10 :]
    half, drift = len(settled) // 2, _drift(settled, WARM_STANDARD_ERRORS)
    grew = fmean(settled[half:]) > fmean(settled[:half])
    grows = grew and drift.halves > max(WARM_HALVES_DIFFER, drift.halves_noise)
    return later <= (1 + LEVEL_CHANGE) * highest and not grows


def _whole(windows: Sequence[Window]) -> Sequence[Window]:
    """Without a last window that was cut short, which would look like a collapse."""
    if len(windows) > 1 and windows[-1].length_ns < 0.9 * windows[0].length_ns:
        return windows[:-1]
    return windows


def _rates(windows: Sequence[Window], least_ns: int) -> tuple[Series, int, int]:
    """Answers a second in windows of one length, that length (the longest of them, or the least), and when
    they begin.

    Slices get longer while a warm-up finds how long they have to be. So windows are counted back from the
    end, where they are those that were seen; what was answered in one that lies across two is shared between
    them by time, and what fills no window at the begin is left out.
    """
    if not windows:
        return [], 0, 0
    width, start = max(least_ns, *(one.length_ns for one in windows)), windows[0].start_ns
    if all(one.length_ns >= 0.9 * width for one in windows):
        return [one.completed / (one.length_ns / 1e9) for one in windows], windows[0].length_ns, start
    ends = list(accumulate((one.length_ns for one in windows), initial=0))
    answered = list(accumulate((one.completed for one in windows), initial=0))

    def until(time_ns: int) -> float:
        place = bisect_right(ends, time_ns, hi=len(windows)) - 1
        share_of_it = (time_ns - ends[place]) / windows[place].length_ns
        return answered[place] + share_of_it * windows[place].completed

    edges = range(ends[-1] % width, ends[-1] + 1, width)
    series = [(until(after) - until(before)) / (width / 1e9) for before, after in pairwise(edges)]
    return series, width, start + edges[0]


def _changepoints(series: Series, width_ns: int, error: float | None) -> tuple[Series, int, list[int]]:
    """The series at the width it can be judged at, how many windows that is, and its segments' ends."""
    factor = 1
    wide = series
    while True:
        noise = None if error is None else error / math.sqrt(factor)
        ends = _partition(wide, 6.0, noise)
        if not _correlated(wide, ends):
            return wide, factor, ends
        longer = factor * 2
        if longer * width_ns > WIDEST_NS or len(series) // longer < FEWEST_TO_WIDEN:
            return wide, factor, _partition(wide, 10.0, noise)
        factor = longer
        whole = range(0, len(series) // factor * factor, factor)
        wide = [fmean(series[start : start + factor]) for start in whole]


def _partition(series: Series, weight: float, noise: float | None) -> list[int]:
    """Ends of the segments that minimise squared error + weight * ln n * segments, in noise units."""
    scale = max(noise or 0.0, _noise(series))
    return partition([value / scale for value in series], weight * math.log(len(series)))


def _noise(series: Series) -> float:
    """Deviation of the windows' noise from neighbours' differences, which changes of level do not blow up."""
    differences = [after - before for before, after in pairwise(series)]
    middle = median(differences)
    noise = MAD_TO_DEVIATION * median(abs(difference - middle) for difference in differences) / math.sqrt(2)
    return max(noise, RELATIVE_MINIMUM_EFFECT * fmean(map(abs, series)), 1e-12)


def _correlated(series: Series, ends: Sequence[int]) -> bool:
    """Whether neighbouring residuals about the segments' levels correlate.

    1.28 / sqrt n is exceeded by one white series in ten: to widen for nothing costs but resolution.
    """
    starts = [0, *ends[:-1]]
    residuals = [x for start, end in zip(starts, ends, strict=True) for x in _about_mean(series[start:end])]
    return _lag_one(residuals) > 1.28 / math.sqrt(len(series))


def _segments(series: Series, ends: Sequence[int]) -> list[_Segment]:
    """The segments whose levels really differ: like ones joined, episodes absorbed."""
    starts = [0, *ends[:-1]]
    levels = [fmean(series[start:end]) for start, end in zip(starts, ends, strict=True)]
    segments = [_Segment(s, e, x, x) for s, e, x in zip(starts, ends, levels, strict=True)]
    while True:
        joint = _next_joint(segments, len(series)) or _swing(series, segments)
        if joint is None:
            return segments
        first, last = joint
        joined = segments[first : last + 1]
        longest = [part for part in joined if part.end - part.start >= EPISODE_SHARE * len(series)] or joined
        lowest, highest = min(part.lowest for part in longest), max(part.highest for part in longest)
        segments[first : last + 1] = [_Segment(joined[0].start, joined[-1].end, lowest, highest)]


def _next_joint(segments: Sequence[_Segment], n: int) -> tuple[int, int] | None:
    """The next run of segments to join into one, by first and last index; None when done."""
    pairs = [(_apart(a, b), index) for index, (a, b) in enumerate(zip(segments, segments[1:], strict=False))]
    if pairs and min(pairs)[0] <= LEVEL_CHANGE:
        index = min(pairs)[1]
        return index, index + 1
    for index in range(1, len(segments)):
        if segments[index].end - segments[index].start >= EPISODE_SHARE * n:
            continue
        if index == len(segments) - 1:
            return index - 1, index  # too short to be called a new level
        if _apart(segments[index - 1], segments[index + 1]) <= LEVEL_CHANGE:
            return index - 1, index + 1
    return None


def _swing(series: Series, segments: Sequence[_Segment]) -> tuple[int, int] | None:
    """The last two segments, where the level after them is the level that was there all along."""
    if len(segments) < 2:
        return None
    last = segments[-1].start
    before, after = fmean(series[:last]), fmean(series[last:])
    if abs(before - after) > LEVEL_CHANGE * max(before, after):
        return None
    return len(segments) - 2, len(segments) - 1


def _apart(a: _Segment, b: _Segment) -> float:
    """The whole span of levels of two segments: many small steps are one large change."""
    highest = max(a.highest, b.highest)
    return (highest - min(a.lowest, b.lowest)) / highest if highest else 0.0


class _Drift(NamedTuple):
    """How far the halves' means and quartiles lie apart, as shares of the level, each with its noise."""

    halves: float
    halves_noise: float
    quartiles: float
    quartiles_noise: float


def _drift(series: Series, errors: float) -> _Drift:
    """The two halves against each other.

    The noise is so many standard errors of samples that may correlate with their neighbours by r,
    which widens errors by sqrt((1+r)/(1-r)). A normal quartile's standard error is 1.36 deviations / sqrt n.
    """
    level = abs(fmean(series)) if series else 0.0
    if not level or len(series) < 4:
        return _Drift(0.0, 0.0, 0.0, 0.0)
    first, second = series[: len(series) // 2], series[len(series) // 2 :]
    halves = abs(fmean(first) - fmean(second)) / level
    quartiles = max(abs(a - b) for a, b in zip(_quartiles(first), _quartiles(second), strict=True))
    r = min(0.9, max(0.0, _lag_one([*_about_mean(first), *_about_mean(second)])))
    error = math.hypot(deviation(first), deviation(second)) / math.sqrt(len(first)) / level
    noise = errors * error * math.sqrt((1 + r) / (1 - r))
    return _Drift(halves, noise, quartiles / level, 1.36 * noise)


def _tenths_deviation(series: Series) -> float:
    """Deviation of the means of ten successive parts, as a share of the level."""
    level = abs(fmean(series)) if series else 0.0
    if not level or len(series) < 2:
        return 0.0
    parts = min(10, len(series))
    longer, length = len(series) % parts, len(series) // parts  # the first ones are longer by one
    bounds = [part * length + min(part, longer) for part in range(parts + 1)]
    return deviation([fmean(series[start:end]) for start, end in pairwise(bounds)]) / level


def _lag_one(residuals: Series) -> float:
    """Correlation of neighbours."""
    power = math.fsum(one * one for one in residuals)
    return math.fsum(a * b for a, b in pairwise(residuals)) / power if power > 0 else 0.0


def _about_mean(series: Sequence[float]) -> Series:
    mean = fmean(series)
    return [value - mean for value in series]


def deviation(series: Sequence[float]) -> float:
    """Of a sample. statistics.stdev counts in fractions: exact, and a hundred times slower."""
    return math.sqrt(math.fsum(one * one for one in _about_mean(series)) / (len(series) - 1))


def _quartiles(series: Series) -> tuple[float, float]:
    """Straight between the ordered values, where the first is at 0 and the last at 1."""
    ordered = sorted(series)
    low, high = ((len(ordered) - 1) * share for share in (0.25, 0.75))
    return _between(ordered, low), _between(ordered, high)


def _between(ordered: Series, place: float) -> float:
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
