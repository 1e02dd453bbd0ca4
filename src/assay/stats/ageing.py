"""What a server does by itself, over its age: the course that the trials of a case have in common.

Fresh processes have the same age axis. What a server does (compiling, filling a cache, tiring) happens at the
same age in every trial; what the machine does happens at any age. So each trial's windows are divided
by the trial's own level and averaged over the trials by age. The error of that course comes from the
spread between the trials and shrinks with the root of their number.

The tests for a steady state (`assay.stats.steady`) run on the course with that error. What they find
counts only where the trials agree: the level after some age against that before it, taken in each trial by
itself, must differ by 5 % and from 0 by a t test over the trials. So nothing is assumed of how the windows
within a trial depend on each other.

An interleaved block has few windows: the slices of its turns. Four to nine are too few for changes of level,
quartiles and tenths, and nine ages are too many questions for them. There the trials are asked one thing,
whether the straight line through their windows rises or falls; a change at any age tilts it, and so does a
slow one.

Servers that are interleaved meet one machine. What those beside a server did at the same time is divided out,
too: a change that is gone then is the machine's, or that of all of them. It must show with and without, so
that no server is blamed for what another one does.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from assay.core.units import share, time
from assay.model.measurement import Window
from assay.stats.estimates import student_t_cdf
from assay.stats.steady import (
    FEWEST_WINDOWS,
    LEVEL_CHANGE,
    TENTHS_DEVIATE,
    SteadyState,
    deviation,
    judge_course,
)

Course = list[float]
Courses = list[Course]
"""A row for each trial, a column for each age."""

FEWEST_TRIALS = 3
"""With two trials a disturbance that met one of them cannot be told from what both do."""

FEWEST_AGES = 4
"""Windows of a trial through which a line is laid: as many as the shortest block has slices."""

AGREE = 0.995
"""Confidence of the t test over the trials. It is made at nine ages; on a machine that takes a quarter of the
core away for seconds in two trials of three, it is wrong in one case of a hundred (tests)."""

_PARTS = 10
"""Ages at which the trials are asked whether they agree: a course may change at each tenth."""

_LAST = 4
"""Where a course has no last level, the last fourth of a few windows stands for it."""


class Ageing(NamedTuple):
    """What the trials share. `state` is that of their common course; `shared` whether they agree on it.

    `added` is the last level against the mean, as a share: above 0 the server was still getting faster. It is
    0 where only single ages stand out, which is a swing. `alike`: the servers beside it did the same.
    """

    state: SteadyState
    shared: bool
    added: float
    trials: int
    alike: bool = False


class _Contrast(NamedTuple):
    """A contrast that is taken of each trial's course, the `least` of it that counts, and whether it sets the
    level later against that before (and not a single age against the whole)."""

    of: Callable[[Course], float]
    least: float
    lasting: bool

    def sure(self, courses: Courses, sign: float = 0.0) -> float:
        """How sure the trials are together that it is not 0; 0 where it is not as large as the least of it,
        or has another sign than it should."""
        contrast = [self.of(course) for course in courses]
        n, mean, scatter = len(contrast), statistics.fmean(contrast), deviation(contrast)
        if abs(mean) <= self.least or mean * sign < 0:
            return 0.0
        if scatter == 0:  # only constructed data get here
            return 1.0
        return 1 - 2 * student_t_cdf(n - 1, -abs(mean) / scatter * math.sqrt(n))


def ageing(trials: Sequence[Sequence[Window]], beside: Sequence[Sequence[float]] = ()) -> Ageing | None:
    """Judge the common course of a case's trials; None with too few trials or windows to tell.

    `beside` is, for each window of each trial, what the servers beside it did then, as a share of their mean;
    empty where there were none.
    """
    courses = _courses(trials)
    if courses is None:
        return None
    looks = _contrasts(len(courses[0]))
    sure = [look for look in looks if look.sure(courses) > AGREE]
    lasting = [look for look in sure if look.lasting]
    few = len(courses[0]) < FEWEST_WINDOWS
    state, added = (_of_few if few else _of_many)(courses, trials[0][0].length_ns, bool(lasting))
    return Ageing(
        state, bool(sure), added, len(courses), bool(sure) and _alike(sure, courses, trials, beside)
    )


def _contrasts(windows: int) -> list[_Contrast]:
    if windows < FEWEST_WINDOWS:
        return [_Contrast(_rise, LEVEL_CHANGE, lasting=True)]
    ages = [part * windows // _PARTS for part in range(1, _PARTS)]
    lasting = [_Contrast(partial(_after, age), LEVEL_CHANGE, lasting=True) for age in ages]
    tenths = pairwise([0, *ages, windows])
    return lasting + [_Contrast(partial(_apart, a, b), TENTHS_DEVIATE, lasting=False) for a, b in tenths]


def _of_many(courses: Courses, width: int, lasting: bool) -> tuple[SteadyState, float]:
    """The state of the common course, and its last level against the mean."""
    by_age = list(zip(*courses, strict=True))
    error = statistics.fmean(deviation(at) for at in by_age) / math.sqrt(len(courses))
    course = [statistics.fmean(at) for at in by_age]
    state = judge_course(course, width, error)
    if not lasting:
        return state, 0.0
    last = course[(_PARTS - 1) * len(course) // _PARTS :]
    return state, (state.level_per_s if state.changes_ns else statistics.fmean(last)) - 1


def _of_few(courses: Courses, width: int, lasting: bool) -> tuple[SteadyState, float]:
    """The same of a few windows: a change of level where that is nearer to the course than a line is."""
    course = [statistics.fmean(at) for at in zip(*courses, strict=True)]
    n = len(course)
    age = min(range(1, n), key=lambda at: _squares(course[:at]) + _squares(course[at:]))
    first, second = statistics.fmean(course[: n // 2]), statistics.fmean(course[n - n // 2 :])
    state = SteadyState(True, "", 0, (), width, 1.0, abs(second - first))
    if not lasting:
        return state, 0.0
    rise, last = _rise(course), statistics.fmean(course[-(n // _LAST) :])
    if (last - 1) * rise <= 0:
        there, back = ("rose", "fell") if rise > 0 else ("fell", "rose")
        return state._replace(steady=False, reason=f"its level {there} and {back} again"), 0.0
    line = [value - rise * (place / (n - 1) - 0.5) for place, value in enumerate(course)]
    if _squares(line) < _squares(course[:age]) + _squares(course[age:]):
        reason = f"its level {'rose' if rise > 0 else 'fell'} by {share(abs(rise))}"
        return state._replace(steady=False, reason=reason, level_per_s=last), last - 1
    level, since_ns, early = statistics.fmean(course[age:]), age * width, age * 3 <= n
    reason = "" if early else f"the level still changed after {time(since_ns)} of {time(n * width)}"
    changed = state._replace(
        steady=early, reason=reason, from_ns=since_ns, changes_ns=(since_ns,), level_per_s=level
    )
    return changed, level - 1


def _alike(
    sure: Sequence[_Contrast],
    courses: Courses,
    trials: Sequence[Sequence[Window]],
    beside: Sequence[Sequence[float]],
) -> bool:
    """Whether what the trials agree on is gone once the course of the servers beside it is divided out."""
    divided = _courses(trials, beside) if beside else None
    if divided is None:
        return False
    signs = [statistics.fmean(look.of(course) for course in courses) for look in sure]
    return not any(look.sure(divided, sign) > AGREE for look, sign in zip(sure, signs, strict=True))


def _courses(trials: Sequence[Sequence[Window]], beside: Sequence[Sequence[float]] = ()) -> Courses | None:
    """A row for each trial: its windows as multiples of its own mean, cut to the shortest trial; each divided
    by what was `beside` it."""
    lengths = {windows[0].length_ns for windows in trials if windows}
    if len(trials) < FEWEST_TRIALS or len(lengths) != 1 or not all(trials):
        return None
    least = 0.9 * lengths.pop()
    moods = beside or [[1.0] * len(windows) for windows in trials]
    if [len(mood) for mood in moods] != [len(windows) for windows in trials] or min(map(min, moods)) <= 0:
        return None
    whole = [
        [window.completed / mood for window, mood in zip(*each, strict=True) if window.length_ns >= least]
        for each in zip(trials, moods, strict=True)
    ]
    shortest = min(len(counts) for counts in whole)
    if shortest < FEWEST_AGES:
        return None
    levels = [statistics.fmean(counts[:shortest]) for counts in whole]
    if min(levels) <= 0:
        return None
    return [
        [count / level for count in counts[:shortest]] for counts, level in zip(whole, levels, strict=True)
    ]


def _rise(course: Course) -> float:
    """By how much the straight line through it rises from the first window to the last."""
    middle = (len(course) - 1) / 2
    tilt = math.fsum((place - middle) * value for place, value in enumerate(course))
    return tilt / math.fsum((place - middle) ** 2 for place in range(len(course))) * 2 * middle


def _after(age: int, course: Course) -> float:
    """By how much the level from an age on exceeds that before it."""
    return statistics.fmean(course[age:]) - statistics.fmean(course[:age])


def _apart(begin: int, end: int, course: Course) -> float:
    """By how much the level between two ages exceeds the mean."""
    return statistics.fmean(course[begin:end]) - 1


def _squares(values: Sequence[float]) -> float:
    """The squared deviations from the mean, summed."""
    mean = statistics.fmean(values)
    return math.fsum((value - mean) ** 2 for value in values)
