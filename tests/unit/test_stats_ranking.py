"""Ranks and Holm's correction."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

import assay.stats as stats
from assay.stats.pairing import PairedRatio, pair, settled
from assay.stats.sides import ABOVE, Side, Slack

BLOCKS = range(8)
NOISE = (0.004, -0.006, 0.009, -0.008, 0.003, -0.002, 0.007, -0.005)


def case(level: float, shift: int, spread: float = 1.0) -> dict[int, float]:
    return {block: level * (1 + spread * NOISE[(block * 3 + shift) % 8]) for block in BLOCKS}


Cases = dict[str, dict[int, float]]


def pairs(cases: Cases, bias: float = 0.0) -> dict[tuple[str, str], PairedRatio]:
    """Every two cases against each other, as a ranking does it."""
    made = {
        (a, b): pair(Side(cases[a]), Side(cases[b]), bias=bias) for a, b in itertools.combinations(cases, 2)
    }
    return {names: one for names, one in made.items() if one is not None}


def ranks(cases: Cases, minimum_effect: float = 0.01) -> dict[str, int]:
    return stats.ranks(cases, stats.shown_faster(pairs(cases), minimum_effect))


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


def test_different_servers_get_different_ranks_and_equal_ones_share() -> None:
    cases = {"slow": case(50, 0), "fast": case(100, 1), "fast too": case(100.2, 2)}
    assert ranks(cases) == {"fast": 1, "fast too": 1, "slow": 2}


def test_a_difference_below_the_noise_floor_is_a_tie_however_sure() -> None:
    sure = {"a": case(100, 0, 0.01), "b": case(100.5, 0, 0.01)}
    assert ranks(sure) == {"a": 1, "b": 1}
    apart = {"a": case(100, 0, 0.01), "b": case(102, 0, 0.01)}
    assert ranks(apart) == {"a": 2, "b": 1}
    assert ranks(apart, minimum_effect=0.05) == {"a": 1, "b": 1}


def test_nothing_shown_faster_shares_a_rank_or_stands_below() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        cases = {
            f"c{i}": {b: float(rng.normal(100 + i, 2)) for b in BLOCKS} for i in range(rng.integers(2, 7))
        }
        places = ranks(cases)
        shown = stats.shown_faster(pairs(cases))
        assert all(places[fast] < places[slow] for fast, slow in shown)
        for name, rank in places.items():
            if rank > 1:
                assert any(slow == name and places[fast] == rank - 1 for fast, slow in shown)


def test_many_equal_servers_are_rarely_told_apart() -> None:
    rng = np.random.default_rng(11)
    false_alarms = 0
    for _ in range(300):
        cases = {f"c{i}": {b: float(rng.normal(100, 3)) for b in BLOCKS} for i in range(5)}
        false_alarms += bool(stats.shown_faster(pairs(cases)))
    assert false_alarms / 300 <= 0.05 + 0.03  # Holm: 5 % over all ten pairs; three standard errors


def test_two_blocks_show_nothing_and_three_show_what_is_large() -> None:
    few = {"a": {0: 100.0, 1: 101.0}, "b": {0: 10.0, 1: 10.1}}
    assert ranks(few) == {"a": 1, "b": 1}
    assert ranks({"a": few["a"] | {2: 99.0}, "b": few["b"] | {2: 10.2}}) == {"a": 1, "b": 2}


def test_the_p_value_is_scipy_s() -> None:
    a = {0: 105.0, 1: 99.0, 2: 110.0, 3: 104.0}
    b = {0: 100.0, 1: 98.0, 2: 103.0, 3: 101.0, 4: 7.0}
    one = pair(Side(a), Side(b))
    logs = np.array([math.log(a[block] / b[block]) for block in range(4)])
    expected = scipy.stats.ttest_1samp(logs.mean() + math.sqrt(2) * (logs - logs.mean()), 0.0)
    assert one is not None
    assert one.p_above == pytest.approx(expected.pvalue) and one.p_below == 1.0


def test_a_side_known_from_below_can_win_and_cannot_lose() -> None:
    low, high = case(100, 0), case(120, 1)
    won = pair(Side(high, ABOVE), Side(low))
    assert won is not None and won.low is not None and won.low > 1.15 and won.high is None
    assert stats.shown_faster({("high", "low"): won}) == {("high", "low")}
    lost = pair(Side(low, ABOVE), Side(high))
    assert lost is not None and lost.high is None
    assert stats.shown_faster({("low", "high"): lost}) == set()


@given(st.floats(1.0, 1.5), st.floats(1.0, 1.5))
def test_slack_opens_a_ratio_by_the_factors_of_both_sides(up_a: float, up_b: float) -> None:
    plain = pair(Side(case(120, 0)), Side(case(100, 1)))
    one = pair(Side(case(120, 0), Slack(1.0, up_a)), Side(case(100, 1), Slack(1.0, up_b)))
    assert plain and one and plain.low and plain.high and one.low and one.high
    assert one.low == pytest.approx(plain.low / up_b) and one.high == pytest.approx(plain.high * up_a)
    shown = stats.shown_faster({("a", "b"): one})
    assert (("a", "b") in shown) == (one.p_above < 0.05 and one.least > 1.01)


def test_a_bias_takes_its_share_of_every_difference() -> None:
    cases = {"a": case(103, 0, 0.1), "b": case(100, 1, 0.1)}
    assert stats.shown_faster(pairs(cases)) == {("a", "b")}
    assert stats.shown_faster(pairs(cases, bias=0.04)) == set()


def test_a_bias_is_taken_off_once_at_both_ends_of_all_that_is_known() -> None:
    sides = Side(case(107, 0, 0.1)), Side(case(100, 1, 0.1))
    plain, wider = pair(*sides), pair(*sides, bias=0.045)
    assert plain and wider and plain.low and plain.high
    assert wider.low == pytest.approx(plain.low / 1.045) and wider.high == pytest.approx(plain.high * 1.045)
    assert wider.least == pytest.approx(1.07 / 1.045, rel=1e-3) and wider.ratio == plain.ratio
    assert stats.shown_faster({("a", "b"): wider}) == {("a", "b")}  # 2.4 % are left, and 1 % is the floor


def test_a_bias_larger_than_the_margin_excludes_no_difference_as_large() -> None:
    sides = Side(case(100, 0, 0.1)), Side(case(100, 1, 0.1))
    for bias, expected in ((0.0, "alike"), (0.05, None)):
        assert settled(pair(*sides, bias=bias), 0.02) == expected


def test_a_squeezed_ratio_is_open_away_from_one() -> None:
    one = pair(Side(case(120, 0)), Side(case(100, 1)), squeezed=1.0)
    assert one is not None and one.low is not None and one.low > 1.15 and one.high is None
    back = pair(Side(case(100, 1)), Side(case(120, 0)), squeezed=1.0)
    assert back is not None and back.low is None and back.high is not None and back.high < 0.87
