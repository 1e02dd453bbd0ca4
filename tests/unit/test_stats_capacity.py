"""The capacity search against simulated servers whose capacity is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.stats.capacity import CapacitySearch

LOW, HIGH = 100.0, 100_000.0


def search(
    capacity: float, spread: float, lapse: float, rng: np.random.Generator, resolution: float = 0.1
) -> CapacitySearch:
    """A whole search of a server that holds with logistic probability and sometimes hiccups."""
    state = CapacitySearch(LOW, HIGH, resolution)
    while (rate := state.ask()) is not None and len(state.answers) < 80:
        holds = rng.random() < 1 / (1 + math.exp(min(50, max(-50, math.log(rate / capacity) / spread))))
        state = state.tell(rate, bool(holds != (rng.random() < lapse)))
    return state


@pytest.mark.parametrize(("spread", "lapse"), [(0.002, 0.0), (0.01, 0.02), (0.03, 0.0), (0.03, 0.02)])
def test_the_interval_holds_the_truth(spread: float, lapse: float) -> None:
    rng = np.random.default_rng(4)
    covered, trials = 0, []
    for _ in range(60):
        capacity = math.exp(rng.uniform(math.log(2 * LOW), math.log(HIGH / 2)))
        state = search(capacity, spread, lapse, rng)
        found = state.capacity
        assert found is not None and found.low is not None and found.high is not None
        covered += found.low <= capacity <= found.high
        trials.append(len(state.answers))
        if state.state == "found":
            assert found.high / found.low <= 1.1**2 * 1.05**2 + 1e-9
    assert covered / 60 >= 0.93 - 0.05  # 93 %, and what sixty searches may lack by chance
    assert np.median(trials) <= 30


def test_one_unlucky_trial_does_not_lead_astray() -> None:
    state = CapacitySearch(LOW, HIGH, first_per_s=1000)
    state = state.tell(1000, False)  # the capacity is 20,000: a hiccup
    while (rate := state.ask()) is not None and len(state.answers) < 80:
        state = state.tell(rate, rate <= 20_000)
    assert state.state == "found" and state.capacity is not None
    assert state.capacity.value == pytest.approx(20_000, rel=0.05)


@pytest.mark.parametrize(("held", "outcome"), [(True, "above the range"), (False, "below the range")])
def test_a_capacity_beyond_the_range_is_said(held: bool, outcome: str) -> None:
    state = CapacitySearch(LOW, HIGH)
    while (rate := state.ask()) is not None:
        assert LOW <= rate <= HIGH
        state = state.tell(rate, held)
    assert state.state == outcome and len(state.answers) < 20


@given(st.floats(1.05, 1000), st.floats(0.05, 1.0), st.floats(-0.5, 1.5), st.booleans())
@example(450.0, 0.3125, 1.0, False)
@example(450.0, 0.3125, 0.0001, False)
@settings(deadline=None, max_examples=40)
def test_every_search_of_a_sharp_server_ends(
    span: float, resolution: float, place: float, first: bool
) -> None:
    """Whatever the range, the resolution, and the truth in it or beyond it."""
    truth = LOW * span**place
    state = CapacitySearch(LOW, LOW * span, resolution, first_per_s=LOW * span**0.6 if first else None)
    while (rate := state.ask()) is not None:
        assert len(state.answers) < 120
        state = state.tell(rate, rate < truth)
    assert state.capacity is not None


def test_it_starts_where_it_is_told_and_refuses_no_range() -> None:
    assert CapacitySearch(LOW, HIGH, first_per_s=5000).ask() == 5000
    assert CapacitySearch(LOW, HIGH, first_per_s=1e9).ask() == HIGH
    with pytest.raises(ValueError, match="lowest"):
        CapacitySearch(10, 10)
