"""What a server does by itself, over its age: the course that the trials of a case have in common.

Fresh processes have the same age axis. What a server does (compiling, filling a cache, tiring) happens at the
same age in every trial; what the machine does happens at any age. So each trial's windows are divided
by the trial's own level and averaged over the trials by age. The error of that course comes from the
spread between the trials and shrinks with the root of their number.

The tests for a steady state (`assay.stats.steady`) run on the course with that error. What they find
counts only where the trials agree: the level after some age against that before it, taken in each trial by
itself, must differ by 5 % and from 0 by a t test over the trials. So nothing is assumed of how the windows
within a trial depend on each other.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.stats.special import student_t_cdf
from assay.stats.steady import FEWEST_WINDOWS, LEVEL_CHANGE, TENTHS_DEVIATE, SteadyState, judge_course
from assay.values.measurement import Window

Courses = list[list[float]]
"""A row for each trial, a column for each age."""

FEWEST_TRIALS = 3
"""With two trials a disturbance that met one of them cannot be told from what both do."""

AGREE = 0.995
"""Confidence of the t test over the trials. It is made at nine ages; on a machine that takes a quarter of the
core away for seconds in two trials of three, it is wrong in one case of a hundred (tests)."""

_PARTS = 10
"""Ages at which the trials are asked whether they agree: a course may change at each tenth."""


class Ageing(NamedTuple):
    """What the trials share. `added` is the level after the change against the mean, as a share: above 0 the
    server was still getting faster. `state` is the course's; `shared` whether the trials agree on it."""

    state: SteadyState
    shared: bool
    added: float
    trials: int


def ageing(trials: Sequence[Sequence[Window]]) -> Ageing | None:
    """Judge the common course of a case's trials; None with too few trials or windows to tell."""
    courses = _courses(trials)
    if courses is None:
        return None
    n, windows = len(courses), len(courses[0])
    width = trials[0][0].length_ns
    by_age = list(zip(*courses, strict=True))
    error = statistics.fmean(_deviation(at) for at in by_age) / math.sqrt(n)
    state = judge_course([statistics.fmean(at) for at in by_age], width, error)
    ages = [part * windows // _PARTS for part in range(1, _PARTS)]
    steps = {age: _confidence(_after(courses, age), LEVEL_CHANGE) for age in ages}
    surest = max(steps, key=lambda age: steps[age])
    tenths = [_confidence(_apart(courses, a, b), TENTHS_DEVIATE) for a, b in pairwise([0, *ages, windows])]
    began = state.from_ns // width if state.steady and state.from_ns else surest
    shared = max(steps[surest], *tenths) > AGREE
    return Ageing(state, shared, statistics.fmean(_levels(courses, began, windows)) - 1, n)


def _courses(trials: Sequence[Sequence[Window]]) -> Courses | None:
    """A row for each trial: its windows as multiples of its own mean, cut to the shortest trial."""
    lengths = {windows[0].length_ns for windows in trials if windows}
    if len(trials) < FEWEST_TRIALS or len(lengths) != 1 or not all(trials):
        return None
    width = lengths.pop()
    whole = [[w.completed for w in windows if w.length_ns >= 0.9 * width] for windows in trials]
    shortest = min(len(counts) for counts in whole)
    if shortest < FEWEST_WINDOWS:
        return None
    levels = [statistics.fmean(counts[:shortest]) for counts in whole]
    if min(levels) <= 0:
        return None
    return [
        [count / level for count in counts[:shortest]] for counts, level in zip(whole, levels, strict=True)
    ]


def _levels(courses: Courses, begin: int, end: int) -> list[float]:
    return [statistics.fmean(course[begin:end]) for course in courses]


def _deviation(values: Sequence[float]) -> float:
    """The sample standard deviation; statistics.stdev is exact to the last digit and fifty times slower."""
    mean = statistics.fmean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _after(courses: Courses, begin: int) -> list[float]:
    """By how much each trial's level after a change exceeds that before it."""
    after, before = _levels(courses, begin, len(courses[0])), _levels(courses, 0, begin)
    return [a - b for a, b in zip(after, before, strict=True)]


def _apart(courses: Courses, begin: int, end: int) -> list[float]:
    """By how much each trial's level between two ages exceeds its mean."""
    return [level - 1 for level in _levels(courses, begin, end)]


def _confidence(contrast: Sequence[float], least: float) -> float:
    """How sure the trials are together that a contrast is not 0; 0 where it is not as large as `least`."""
    n, mean, deviation = len(contrast), abs(statistics.fmean(contrast)), _deviation(contrast)
    if mean <= least:
        return 0.0
    if deviation == 0:  # only constructed data get here
        return 1.0
    return 1 - 2 * student_t_cdf(n - 1, -mean / deviation * math.sqrt(n))
