"""Steady state on traces whose truth is known: seeded, with white and correlated noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from assay.model.measurement import Window
from assay.stats.changepoints import partition
from assay.stats.steady import SteadyState, steady_state, warm_up_state

WIDTH = 100_000_000
Trace = NDArray[np.float64]


def windows(per_window: Sequence[float] | Trace, width: int = WIDTH) -> list[Window]:
    return [
        Window(
            start_ns=5_000_000_000 + place * width,
            length_ns=width,
            phase="measured",
            started=round(count),
            completed=round(count),
            failed=0,
            bytes_read=0,
        )
        for place, count in enumerate(per_window)
    ]


def noisy(level: Trace, rng: np.random.Generator, deviation: float, correlation: float) -> Trace:
    noise = np.zeros(len(level))
    for place in range(1, len(level)):
        fresh = rng.normal(0, deviation * np.sqrt(1 - correlation**2))
        noise[place] = correlation * noise[place - 1] + fresh
    trace: Trace = level * (1 + noise)
    return trace


def flat(rng: np.random.Generator) -> tuple[Trace, int]:
    return np.full(100, 7000.0), 0


def warm_up(rng: np.random.Generator) -> tuple[Trace, int]:
    change = int(rng.integers(8, 30))
    level = np.full(100, 7000.0)
    level[:change] *= rng.uniform(0.3, 0.8)
    return level, change


def slow_down(rng: np.random.Generator) -> tuple[Trace, int]:
    change = int(rng.integers(8, 30))
    level = np.full(100, 7000.0)
    level[change:] *= rng.uniform(0.4, 0.85)
    return level, change


def late(rng: np.random.Generator) -> tuple[Trace, int]:
    change = int(rng.integers(45, 85))
    level = np.full(100, 7000.0)
    level[change:] *= rng.uniform(0.5, 0.85)
    return level, change


def never(rng: np.random.Generator) -> tuple[Trace, int]:
    waves, shift = rng.uniform(1, 3), rng.uniform(0, 6)
    return 7000.0 * (1 + 0.3 * np.sin(np.arange(100) / 100 * 2 * np.pi * waves + shift)), 0


def growing(rng: np.random.Generator) -> tuple[Trace, int]:
    return 7000.0 * np.linspace(1, 1.4, 100), 0


def judged(
    shape: Callable[[np.random.Generator], tuple[Trace, int]], deviation: float, correlation: float
) -> list[tuple[SteadyState, int]]:
    rng = np.random.default_rng(17)
    results = []
    for _ in range(40):
        level, change = shape(rng)
        results.append((steady_state(windows(noisy(level, rng, deviation, correlation))), change))
    return results


NOISES = [(0.01, 0.0), (0.03, 0.0), (0.03, 0.3), (0.03, 0.6), (0.08, 0.0)]


@pytest.mark.parametrize(("deviation", "correlation"), NOISES)
@pytest.mark.parametrize("shape", [flat, warm_up, slow_down])
def test_settled_traces_are_cut_where_they_settled(
    shape: Callable[[np.random.Generator], tuple[Trace, int]], deviation: float, correlation: float
) -> None:
    results = judged(shape, deviation, correlation)
    # Within one window where the change stands out of the noise; the noise itself moves it otherwise.
    allowed = 1 if deviation <= 0.03 and not correlation else 3
    near = [
        state.steady and abs(state.from_ns - 5_000_000_000 - change * WIDTH) <= allowed * state.window_ns
        for state, change in results
    ]
    assert sum(near) / len(near) >= 0.9


@pytest.mark.parametrize(("deviation", "correlation"), NOISES)
@pytest.mark.parametrize("shape", [late, never, growing])
def test_unsettled_traces_are_called_so(
    shape: Callable[[np.random.Generator], tuple[Trace, int]], deviation: float, correlation: float
) -> None:
    results = judged(shape, deviation, correlation)
    assert sum(state.steady for state, _ in results) / len(results) <= 0.05
    assert all(state.reason for state, _ in results if not state.steady)


def test_a_short_dip_is_an_episode_not_a_new_level() -> None:
    trace = noisy(np.full(100, 7000.0), np.random.default_rng(3), 0.02, 0.0)
    trace[50:53] *= 0.4
    state = steady_state(windows(trace))
    assert state.steady and state.changes_ns == ()


def test_a_swing_about_a_level_that_holds_is_no_change() -> None:
    # A collector that runs for a second every two: half the time 6 % slower, to the end.
    trace = noisy(7000.0 * np.tile(np.repeat([1.0, 0.94], 10), 5), np.random.default_rng(4), 0.005, 0.0)
    seen = steady_state(windows(trace))
    assert seen.steady, seen.reason
    assert seen.level_per_s == pytest.approx(67_900, rel=0.01)
    seen = steady_state(windows(np.concatenate([trace[:80], trace[80:] * 0.9])))
    assert not seen.steady and "level still changed" in seen.reason


def test_windows_of_several_lengths_are_judged_at_the_longest_and_changes_told_in_their_time() -> None:
    """As of slices that get longer while a warm-up goes on: 22 s, the first 6 at half of the level."""
    lengths = [100] * 4 + [200] * 4 + [400] * 4 + [800] * 24
    noise = np.random.default_rng(5).normal(1, 0.01, len(lengths))
    made: list[Window] = []
    at_ms = 0
    for length, off in zip(lengths, noise, strict=True):
        slow_ms = min(length, max(0, 6000 - at_ms))
        completed = round((slow_ms + 2 * (length - slow_ms)) * off)
        start = at_ms * 1_000_000
        [window] = windows([completed], length * 1_000_000)
        made.append(replace(window, start_ns=start))
        at_ms += length
    state = steady_state(made)
    assert state.steady and state.window_ns == 800_000_000
    [change_ns] = state.changes_ns
    assert change_ns == 6_000_000_000
    assert state.level_per_s == pytest.approx(2000, rel=0.02)
    soon = steady_state(made[:22])
    assert not soon.steady and soon.reason.endswith("of 10.4 s")


def test_a_last_window_cut_short_is_no_collapse() -> None:
    series = windows(noisy(np.full(40, 7000.0), np.random.default_rng(3), 0.01, 0.0))
    cut = windows([20.0], width=WIDTH // 50)[0]
    assert steady_state([*series, cut]).steady


def test_too_few_windows_settle_nothing() -> None:
    state = steady_state(windows([7000.0] * 9))
    assert not state.steady and "9 windows" in state.reason
    assert not steady_state([]).steady


def test_constant_and_silent_servers_do_not_break_it() -> None:
    assert steady_state(windows([100.0] * 50)).steady
    assert steady_state(windows([0.0] * 50)).level_per_s == 0


def test_changes_lie_where_pelt_finds_them() -> None:
    import ruptures  # late, as it takes a second: every worker reads every file

    rng = np.random.default_rng(8)
    trace = np.concatenate([rng.normal(50, 1, 30), rng.normal(60, 1, 50), rng.normal(45, 1, 40)])
    state = steady_state(windows(trace * 100))
    scaled = trace / np.std(np.diff(trace)) * np.sqrt(2)
    pelt = ruptures.Pelt(model="l2", min_size=2, jump=1).fit(scaled).predict(pen=6 * np.log(len(trace)))
    assert [(at - 5_000_000_000) // WIDTH for at in state.changes_ns] == [int(end) for end in pelt[:-1]]


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=40)
    | st.lists(st.integers(0, 3), min_size=4, max_size=40),
    st.floats(0.01, 1e3),
)
def test_no_cut_is_better_than_the_partition(values: list[float], penalty: float) -> None:
    """Cuts of equal worth may differ from the library's, so their worth is compared."""
    import ruptures

    series = np.array(values, dtype=float)

    def worth(ends: Sequence[int]) -> float:
        starts = [0, *ends[:-1]]
        parts = [series[start:end] for start, end in zip(starts, ends, strict=True)]
        return float(sum(((part - part.mean()) ** 2).sum() + penalty for part in parts))

    ours = partition(values, penalty)
    library = ruptures.KernelCPD(kernel="linear", min_size=2).fit(series.reshape(-1, 1)).predict(pen=penalty)
    assert ours[-1] == len(series)
    assert all(b - a >= 2 for a, b in zip([0, *ours], ours, strict=False))
    slack = 1e-6 * (1 + float((series**2).sum()))
    assert worth(ours) <= worth([int(end) for end in library]) + slack


@pytest.mark.parametrize(
    ("count", "said"), [(1, "1 window is too few to tell"), (2, "2 windows are too few to tell")]
)
def test_windows_that_are_too_few_are_counted(count: int, said: str) -> None:
    assert steady_state(windows([100.0] * count)).reason == said


def test_a_climb_without_a_step_is_told_from_a_level() -> None:
    """Twenty slices of a JVM that warms up beside others: too restless for a change of level to be found."""
    drawn = np.random.default_rng(3)
    climbs, levels = 0, 0
    for _ in range(40):
        noise = drawn.uniform(0.5, 1.5, 20)
        climb = warm_up_state(windows((400 + 40 * np.arange(20)) * noise, 750_000_000))
        fall = warm_up_state(windows((1200 - 40 * np.arange(20)) * noise, 750_000_000))
        climbs += climb.rising or bool(climb.changes_ns)
        levels += warm_up_state(windows(1000 * noise, 750_000_000)).rising or fall.rising
    assert climbs >= 30 and levels == 0
