"""Tiers and Holm's correction."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import assay.stats as stats

BLOCKS = range(8)
NOISE = (0.004, -0.006, 0.009, -0.008, 0.003, -0.002, 0.007, -0.005)


def case(level: float, shift: int, spread: float = 1.0) -> dict[int, float]:
    return {block: level * (1 + spread * NOISE[(block * 3 + shift) % 8]) for block in BLOCKS}


def test_holm_is_the_textbook_s() -> None:
    # Holm (1979): multiply by the number of hypotheses left, never decreasing, never above 1.
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == [0.03, 0.06, 0.06, 0.02]
    assert stats.holm([0.6, 0.7]) == [1.0, 1.0]
    assert stats.holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_order_and_never_helps(p_values: list[float]) -> None:
    adjusted = stats.holm(p_values)
    assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
    for i, j in itertools.combinations(range(len(p_values)), 2):
        if p_values[i] < p_values[j]:
            assert adjusted[i] <= adjusted[j]


def test_different_servers_get_different_tiers_and_equal_ones_share() -> None:
    cases = {"slow": case(50, 0), "fast": case(100, 1), "fast too": case(100.2, 2)}
    assert stats.tiers(cases) == {"fast": 1, "fast too": 1, "slow": 2}


def test_a_difference_below_the_noise_floor_is_a_tie_however_sure() -> None:
    sure = {"a": case(100, 0, 0.01), "b": case(100.5, 0, 0.01)}
    assert stats.tiers(sure) == {"a": 1, "b": 1}
    apart = {"a": case(100, 0, 0.01), "b": case(102, 0, 0.01)}
    assert stats.tiers(apart) == {"a": 2, "b": 1}
    assert stats.tiers(apart, noise_floor=0.05) == {"a": 1, "b": 1}


def test_nothing_shown_faster_shares_a_tier_or_stands_below() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        cases = {
            f"c{i}": {b: float(rng.normal(100 + i, 2)) for b in BLOCKS} for i in range(rng.integers(2, 7))
        }
        places = stats.tiers(cases)
        shown = stats.shown_faster(cases)
        assert all(places[fast] < places[slow] for fast, slow in shown)
        for name, tier in places.items():
            if tier > 1:
                assert any(slow == name and places[fast] == tier - 1 for fast, slow in shown)


def test_many_equal_servers_are_rarely_told_apart() -> None:
    rng = np.random.default_rng(11)
    false_alarms = 0
    for _ in range(300):
        cases = {f"c{i}": {b: float(rng.normal(100, 3)) for b in BLOCKS} for i in range(5)}
        false_alarms += bool(stats.shown_faster(cases))
    assert false_alarms / 300 <= 0.05 + 0.03  # Holm: 5 % over all ten pairs; three standard errors
