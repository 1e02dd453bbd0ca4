"""The common course of a case's trials: silent about the machine, sure about the server. Simulated."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from judged import windowed
from numpy.typing import NDArray

from assay.model.measurement import Window
from assay.stats.ageing import ageing

Numbers = NDArray[np.float64]
LEVEL = 7000.0


def restless(rng: np.random.Generator, n: int = 100) -> Numbers:
    """What a preempted core does to 10 s of windows: correlated noise, and for seconds another level."""
    noise = np.zeros(n)
    for place in range(1, n):
        noise[place] = 0.6 * noise[place - 1] + rng.normal(0, 0.03 * 0.8)
    course = 1 + noise
    for _ in range(rng.poisson(1.0)):
        begin, length = rng.integers(0, n), rng.integers(10, 50)
        course[begin : begin + length] *= rng.uniform(0.75, 1.05)
    return course


def trials(
    rng: np.random.Generator, server: Callable[[Numbers], Numbers], count: int = 6
) -> list[tuple[Window, ...]]:
    """So many trials of a server that does `server(seconds)` by itself, each on a machine of its own mood."""
    age = np.arange(100) / 10
    return [
        windowed([round(x) for x in LEVEL * rng.uniform(0.9, 1.1) * server(age) * restless(rng)])
        for _ in range(count)
    ]


def speaks(made: list[tuple[Window, ...]]) -> bool:
    found = ageing(made)
    return found is not None and found.shared and (not found.state.steady or found.state.from_ns > 0)


@pytest.mark.parametrize("count", [3, 6, 10])
def test_a_restless_machine_is_not_blamed_on_its_servers(count: int) -> None:
    rng = np.random.default_rng(count)
    cases = 150
    spoke = sum(speaks(trials(rng, np.ones_like, count)) for _ in range(cases))
    assert spoke / cases <= 0.05 / 3 + 0.01  # a run of three servers: at most one of twenty


def warms(age: Numbers) -> Numbers:
    return np.where(age < 8, 0.6 + 0.05 * age, 1.0)


def tires(age: Numbers) -> Numbers:
    return np.where(age < 2, 1.0, 0.7)


@pytest.mark.parametrize(("server", "rises"), [(warms, True), (tires, False)])
@pytest.mark.parametrize("count", [5, 8])
def test_a_server_that_warms_or_tires_is_seen_with_its_direction(
    server: Callable[[Numbers], Numbers], rises: bool, count: int
) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        found = ageing(trials(rng, server, count))
        assert found is not None and found.shared
        assert (found.added > 0) == rises and abs(found.added) > 0.01


def test_the_error_shrinks_with_the_trials() -> None:
    """A slow rise of 12 % is lost in three restless trials and seen in sixteen."""
    rng = np.random.default_rng(3)

    def rise(age: Numbers) -> Numbers:
        return 0.94 + 0.012 * age

    few = sum(speaks(trials(rng, rise, 3)) for _ in range(40))
    many = sum(speaks(trials(rng, rise, 16)) for _ in range(40))
    assert many > few + 10


def test_too_few_trials_or_windows_tell_nothing() -> None:
    rng = np.random.default_rng(1)
    assert ageing(trials(rng, np.ones_like, 2)) is None
    assert ageing([one[:3] for one in trials(rng, np.ones_like, 3)]) is None
    assert ageing([windowed([0] * 20)] * 3) is None
    assert math.isfinite(getattr(ageing(trials(rng, np.ones_like, 3)), "added", math.nan))


def rises_and_falls(age: Numbers) -> Numbers:
    return np.select([age < 2, age < 8], [0.7, 1.15], 0.85)


def test_the_last_level_tells_the_direction_and_not_the_surest_change() -> None:
    found = ageing(trials(np.random.default_rng(11), rises_and_falls, 8))
    assert found is not None and found.shared and not found.state.steady
    assert found.added < -0.05  # it is falling, though by far the most of it lies above where it began


def test_a_dip_at_one_age_has_no_direction() -> None:
    dip = [round(LEVEL * (0.8 if 40 <= place < 50 else 1.0)) for place in range(100)]
    found = ageing([windowed([one + 3 * trial for one in dip]) for trial in range(4)])
    assert found is not None and found.shared and found.added == 0.0


def slices(
    rng: np.random.Generator, server: Callable[[Numbers], Numbers], count: int, windows: int, swing: float
) -> list[tuple[Window, ...]]:
    """Trials of few windows, each of which swings by itself."""
    age = np.arange(windows) / (windows - 1)
    return [
        windowed([round(x) for x in LEVEL * server(age) * np.exp(rng.normal(0, swing, windows))])
        for _ in range(count)
    ]


@pytest.mark.parametrize(("count", "windows"), [(3, 8), (6, 8), (6, 6), (5, 4)])
def test_swings_of_forty_percent_from_slice_to_slice_are_no_server_s(count: int, windows: int) -> None:
    rng = np.random.default_rng(100 * count + windows)
    runs = 400
    spoke = sum(
        any(speaks(slices(rng, np.ones_like, count, windows, 0.4)) for _ in range(3)) for _ in range(runs)
    )
    assert spoke / runs <= 1 / 40


@pytest.mark.parametrize(
    ("server", "rises"),
    [(lambda age: 0.7 + 0.6 * age, True), (lambda age: np.where(age < 0.3, 1, 0.7), False)],
)
@pytest.mark.parametrize(("count", "windows", "swing"), [(3, 8, 0.02), (5, 8, 0.05), (6, 6, 0.05)])
def test_a_server_that_warms_all_the_time_or_tires_is_seen_in_few_slices(
    server: Callable[[Numbers], Numbers], rises: bool, count: int, windows: int, swing: float
) -> None:
    rng = np.random.default_rng(13)
    for _ in range(20):
        made = slices(rng, server, count, windows, swing)
        found = ageing(made)
        assert found is not None and speaks(made)
        assert (found.added > 0) == rises and abs(found.added) > 0.05


def test_few_slices_that_rise_and_fall_again_are_a_swing() -> None:
    course = [700, 750, 1150, 1150, 1150, 1150, 900, 900]
    found = ageing([windowed([one + trial for one in course]) for trial in range(4)])
    assert found is not None and found.shared and not found.state.steady
    assert (found.state.reason, found.added) == ("its level rose and fell again", 0.0)


def test_what_the_servers_beside_it_do_too_is_not_its_own() -> None:
    rng = np.random.default_rng(17)
    fall = np.linspace(1.2, 0.8, 8)
    made = slices(rng, lambda age: fall, 5, 8, 0.02)
    like = [list(fall * np.exp(rng.normal(0, 0.02, 8))) for _ in made]
    level = [list(np.exp(rng.normal(0, 0.02, 8))) for _ in made]
    told = [ageing(made, beside) for beside in (like, level, [])]
    assert [one is not None and (one.shared, one.alike) for one in told] == [
        (True, True),
        (True, False),
        (True, False),
    ]
    steady = ageing(slices(rng, np.ones_like, 5, 8, 0.02), like)
    assert steady is not None and not steady.shared  # what others do is not put down to it
