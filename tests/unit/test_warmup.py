"""When a server counts as warm, asked of every window as it comes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from made_runs import made_slice
from numpy.typing import NDArray

from assay.model.design import WarmUp
from assay.model.measurement import Window
from assay.model.trial import WarmUpSeen
from assay.plan.next.warming import NO_WARM_UP, warmed_up
from assay.runner.steering import OwnTime

MS = 1_000_000
RULE = WarmUp(min_ns=2_000 * MS, max_ns=30_000 * MS)
SECONDS = np.arange(300) / 10


def windows(counts: Sequence[float] | NDArray[np.float64], length_ns: int = 100 * MS) -> list[Window]:
    return [
        Window(
            start_ns=place * length_ns,
            length_ns=length_ns,
            phase="warmup",
            started=round(count),
            completed=round(count),
            failed=0,
            bytes_read=0,
        )
        for place, count in enumerate(counts)
    ]


def ended(
    level: Sequence[float] | NDArray[np.float64], seed: int = 1, rule: WarmUp = RULE, noise: float = 0.03
) -> tuple[float, WarmUpSeen | None]:
    """Seconds until it is let go, and how."""
    drawn = np.random.default_rng(seed).normal(0, noise, len(level))
    series = windows(np.asarray(level) * (1 + drawn))
    for count in range(len(series) + 1):
        seen = warmed_up(series[:count], rule)
        if seen is not None:
            return count / 10, seen
    return float("inf"), None


def test_a_arm_that_is_never_steady_is_warm_at_its_bound_however_few_of_its_slices_are_shown() -> None:
    bound = WarmUp(min_ns=2_000 * MS, max_ns=130_000 * MS)
    slices = [
        made_slice(2 * round_number, round_number, 0, 1000.0 + 10 * round_number)
        for round_number in range(1300)
    ]
    own = OwnTime()
    for round_number in range(100, 1300, 100):
        own.of(slices[:round_number][-1200:])  # as many as a live view shows
    assert warmed_up(own.of(slices[:1299][-1200:]), bound) is None
    seen = warmed_up(own.of(slices[-1200:]), bound)
    assert seen is not None and not seen.steady and seen.took_ns == bound.max_ns


def test_a_warm_server_is_not_warmed_for_nothing() -> None:
    assert np.median([ended(np.full(300, 7000.0), seed)[0] for seed in range(20)]) <= 2.5


def test_a_jit_gets_what_it_needs() -> None:
    warming = 7000 * (1 - 0.7 * np.exp(-SECONDS / 1.5))
    ends = [ended(warming, seed) for seed in range(20)]
    assert min(seconds for seconds, _ in ends) >= 4  # at 4 s the trace is at 95 % of its level
    assert max(seconds for seconds, _ in ends) < 25
    assert all(seen is not None and seen.steady for _, seen in ends)


def test_a_step_is_watched_for_twice_as_long_again_and_told() -> None:
    stepped = np.where(SECONDS < 1.5, 3000.0, 9000.0)
    seconds, seen = ended(stepped, noise=0.01)
    assert 4.5 <= seconds < 7
    assert seen is not None and seen.steady and seen.changes_ns == (1_500 * MS,)


def test_the_bound_ends_what_never_settles_and_says_why() -> None:
    seconds, seen = ended(7000 * (1 + SECONDS / 5), rule=WarmUp(min_ns=0, max_ns=12_000 * MS))
    assert seconds == 12
    assert seen is not None and not seen.steady and seen.reason and seen.bound_ns == 12_000 * MS


def test_the_least_time_is_kept() -> None:
    assert ended(np.full(300, 7000.0), rule=WarmUp(min_ns=8_000 * MS, max_ns=20_000 * MS))[0] >= 8


def test_a_server_that_answers_nothing_is_not_warm_before_the_bound() -> None:
    seconds, seen = ended(np.zeros(300), rule=WarmUp(min_ns=0, max_ns=6_000 * MS))
    assert seconds == 6
    assert seen is not None and not seen.steady and "nothing was answered" in seen.reason


QUICK = WarmUp(min_ns=100 * MS, max_ns=10_000 * MS)
AGES_S = np.arange(100) / 100


def ended_quick(per_s: float, course: NDArray[np.float64], seed: int, noise: float = 0.05) -> float:
    """Seconds of windows of 10 ms until a server that comes to so many requests a second is let go, if that
    is in the first one."""
    drawn = np.random.default_rng(seed).normal(0, noise, len(course))
    series = windows(per_s / 100 * course * (1 + drawn), 10 * MS)
    for count in range(10, len(series), 3):
        if warmed_up(series[:count], QUICK) is not None:
            return count / 100
    return float("inf")


def test_a_fast_server_at_its_level_at_once_is_warm_within_some_windows_of_ten_milliseconds() -> None:
    level = np.where(AGES_S < 0.03, 0.5, 1.0)  # its connections are opened in the first ones
    ends = [ended_quick(60_000, level, seed) for seed in range(8)]
    assert min(ends) >= 0.33 and np.median(ends) <= 0.6
    assert min(ended_quick(25_000, level, seed) for seed in range(8)) >= 0.8  # 20,000 answers


@pytest.mark.parametrize(
    "course",
    [
        np.where(AGES_S < 0.2, 1.0, 0.75),
        np.where(AGES_S < 0.12, 1.0, np.where(AGES_S < 0.3, 0.6, 0.95)),
        np.where((AGES_S > 0.1) & (AGES_S % 0.1 < 0.05), 0.6, 1.0),
    ],
)
def test_a_machine_that_takes_from_a_warm_server_does_not_keep_it_in_its_warm_up(
    course: NDArray[np.float64],
) -> None:
    course = np.where(AGES_S < 0.03, 0.5 * course, course)
    assert np.median([ended_quick(60_000, course, seed, 0.12) for seed in range(8)]) <= 0.9


@pytest.mark.parametrize("noise", [0.05, 0.12])
@pytest.mark.parametrize(
    "course",
    [
        1 - 0.9 * np.exp(-AGES_S / 0.15),
        1 - 0.7 * np.exp(-AGES_S / 0.5),
        1 - 0.7 * np.exp(-AGES_S / 1.5),
        np.where(AGES_S < 0.15, 0.5, 1.0),
        np.where(AGES_S < 0.3, 0.4, 1.0),
        np.where(AGES_S < 0.1, 0.2, np.where(AGES_S < 0.4, 0.6, 1.0)),
    ],
)
def test_a_server_that_warms_up_is_judged_in_windows_of_a_hundred_milliseconds(
    course: NDArray[np.float64], noise: float
) -> None:
    assert min(ended_quick(80_000, course, seed, noise) for seed in range(8)) == float("inf")


def test_windows_of_ten_milliseconds_that_hold_few_requests_are_joined() -> None:
    assert min(ended_quick(15_000, np.ones(100), seed) for seed in range(8)) == float("inf")


def test_without_a_warm_up_all_is_measured() -> None:
    assert ended([1000.0], rule=WarmUp(min_ns=0, max_ns=0)) == (0, NO_WARM_UP)
