"""The interval that may be looked at after every block: its promise, simulated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from assay.stats import sequential, shown_faster
from assay.stats.pairing import PairedRatio, half_width, pair
from assay.stats.pairing import settled as settled_pair
from assay.stats.sequential import SPENT_ERROR, blocks_to_settle, detectable_by_now, last_level, per_pair
from assay.stats.sides import Side

MOST_BLOCKS = 40


def shares(blocks: int, most: int = MOST_BLOCKS) -> tuple[float, ...]:
    """Of the budget, after each of so many blocks."""
    return tuple(block / most for block in range(1, blocks + 1))


def spending(used: Sequence[float], blocks: int) -> float:
    """The share of the error that is spent after so many blocks: of the first look a seventh at most."""
    if not 0 < used[2] < 1:
        return math.pow(used[blocks - 1], 1.5)
    return math.pow(used[blocks - 1], min(1.5, math.log(0.14) / math.log(used[2])))


def test_an_ordinary_t_interval_looked_at_as_often_fails_that_promise() -> None:
    """Why this module exists."""
    rng = np.random.default_rng(2)
    runs, wrong = 400, 0
    for _ in range(runs):
        logs, n = rng.normal(0, 0.02, MOST_BLOCKS), np.arange(1, MOST_BLOCKS + 1)
        means, squares = np.cumsum(logs) / n, np.cumsum(logs**2)
        errors = np.sqrt((squares[2:] - n[2:] * means[2:] ** 2) / (n[2:] - 1) / n[2:])
        wrong += bool(np.any(np.abs(means[2:]) > scipy.stats.t.ppf(0.975, n[2:] - 1) * errors))
    assert wrong / runs > 0.15


@pytest.mark.parametrize("used", [(0.0, 0.0, 0.2, 0.3, 0.7, 0.71, 1.0), shares(12, 12), (0.5, 0.6, 1.0)])
def test_looks_spend_what_is_due_of_sums_of_normal_blocks(used: tuple[float, ...]) -> None:
    rng, runs = np.random.default_rng(3), 100_000
    sums = np.cumsum(rng.normal(0, 1, (runs, len(used))), axis=1) / np.sqrt(np.arange(1, len(used) + 1))
    ended = np.zeros(runs, dtype=bool)
    for blocks in range(3, len(used) + 1):
        found = sequential.level(used[:blocks], 0.1)
        assert found is not None
        ended |= np.abs(sums[:, blocks - 1]) > scipy.stats.norm.isf(found / 2)
        due = 0.1 * spending(used, blocks)
        assert due - 0.02 <= ended.mean() <= due + 0.004  # of few blocks a little less


@given(st.lists(st.floats(0, 1), min_size=3, max_size=12), st.floats(0.0001, 0.1))
def test_no_look_has_more_than_what_is_due(steps: list[float], alpha: float) -> None:
    used = sorted(steps)
    levels = [sequential.level(used[:blocks], alpha) for blocks in range(1, len(used) + 1)]
    assert levels[:2] == [None, None]
    spent = [0.0, *(alpha * spending(used, blocks) for blocks in range(3, len(used) + 1))]
    for before, after, found in zip(spent[:-1], spent[1:], levels[2:], strict=True):
        if after - before > 1e-9:
            assert found is not None and 0.99 * (after - before) - 1e-9 <= found <= 1.01 * alpha


def looked_at(logs: list[float], alpha: float = SPENT_ERROR, most: int = MOST_BLOCKS) -> PairedRatio | None:
    """These log ratios as a comparison that is looked at after every block, of which there are so many."""
    values = {block: math.exp(value) for block, value in enumerate(logs)}
    even = Side(dict.fromkeys(values, 1.0))
    return pair(Side(values), even, manner="looked at", alpha=alpha, looks=shares(len(logs), most))


def settled(
    logs: list[float], margin: float, minimum_effect: float = 0.01, most: int = MOST_BLOCKS
) -> str | None:
    return settled_pair(looked_at(logs, most=most), margin, minimum_effect)


@pytest.mark.parametrize("most", [3, 4, 8, MOST_BLOCKS])
def test_all_looks_together_exclude_the_truth_in_at_most_three_runs_of_a_hundred(most: int) -> None:
    rng, runs, wrong = np.random.default_rng(3), 1000, 0
    for logs in rng.normal(0.01, 0.02, (runs, most)).tolist():
        seen = [looked_at(logs[:n], most=most) for n in range(2, most + 1)]
        ends = [(one.low, one.high) for one in seen if one and one.low and one.high]
        wrong += any(not low <= math.exp(0.01) <= high for low, high in ends)
    assert wrong / runs <= 0.03 + 2 * math.sqrt(0.03 * 0.97 / runs)
    assert wrong / runs >= 0.004  # it is not bought by an interval that is never wrong


def test_two_blocks_settle_nothing() -> None:
    known = looked_at([0.05, 0.051], most=3)
    assert known is not None and known.low is None and known.high is None
    assert settled([0.05, 0.051], 0.02, most=2) is None


def test_a_difference_of_many_deviations_is_shown_by_three_blocks() -> None:
    rng = np.random.default_rng(5)
    taken = [
        next(n for n in range(1, 12) if settled(logs[:n], 0.02, most=11))
        for logs in rng.normal(math.log(1.05), 0.008, (300, 11)).tolist()
    ]
    assert np.mean(taken) < 4.5 and min(taken) == 3


def run_until_settled(rng: np.random.Generator, effect: float, deviation: float) -> tuple[str | None, int]:
    logs: list[float] = []
    while len(logs) < MOST_BLOCKS:
        logs.append(float(rng.normal(effect, deviation)))
        answer = settled(logs, margin=0.02)
        if answer:
            return answer, len(logs)
    return None, len(logs)


def test_five_percent_is_found_quickly_and_nothing_is_found_in_nothing() -> None:
    rng = np.random.default_rng(6)
    found = [run_until_settled(rng, math.log(1.05), 0.028) for _ in range(100)]
    assert sum(answer == "different" for answer, _ in found) >= 95
    assert np.median([blocks for _, blocks in found]) <= 11
    same = [run_until_settled(rng, 0.0, 0.02) for _ in range(200)]
    assert sum(answer == "different" for answer, _ in same) <= 10
    assert sum(answer == "alike" for answer, _ in same) >= 150


def test_a_sure_but_tiny_difference_is_none() -> None:
    logs = [0.004, 0.0041, 0.0039, 0.004, 0.0042]
    assert settled(logs, margin=0.02) == "alike"


@given(st.lists(st.floats(-0.2, 0.2), min_size=3, max_size=30))
def test_it_is_wider_than_the_t_interval_and_mirrors(logs: list[float]) -> None:
    made, back = looked_at(logs), looked_at([-value for value in logs])
    assert made is not None and back is not None
    if made.low is None or made.high is None or back.high is None:
        return
    half = scipy.stats.t.ppf(1 - SPENT_ERROR / 2, len(logs) - 1) * np.std(logs, ddof=1) / math.sqrt(len(logs))
    assert math.log(made.high / made.low) / 2 >= half * (1 - 1e-9) - 1e-12
    assert math.log(made.low) == pytest.approx(-math.log(back.high), abs=1e-9)


def worth(logs: list[float]) -> tuple[float, ...]:
    """The values as a pair holds them: as far apart as dependent blocks make them worth."""
    found = looked_at(logs)
    assert found is not None
    return found.logs


def at_end(n: int) -> float | None:
    """The half-width of n blocks where they are the last."""
    return half_width(n, last_level(n, SPENT_ERROR))


@pytest.mark.parametrize(("n", "deviation"), [(4, 0.008), (6, 0.02), (10, 0.04)])
def test_what_a_run_would_have_seen_four_of_five_show(n: int, deviation: float) -> None:
    rng, runs, shown = np.random.default_rng(8), 400, 0
    for _ in range(runs):
        told = detectable_by_now(worth(list(rng.normal(0, deviation, n))), at_end(n))
        assert told is not None
        shown += settled(list(rng.normal(math.log(told), deviation, n)), 0.0, most=n) == "different"
    assert shown / runs >= 0.8 - 2 * math.sqrt(0.16 / runs)


@pytest.mark.parametrize(("n", "deviation"), [(4, 0.02), (6, 0.04)])
def test_so_many_blocks_settle_it_in_four_runs_of_five(n: int, deviation: float) -> None:
    rng, came_true = np.random.default_rng(9), list[bool]()
    while len(came_true) < 60:
        effect = rng.uniform(0, 0.05)
        logs = list(rng.normal(effect, deviation, n))
        told = blocks_to_settle(worth(logs), 0.02, at_end)
        if settled(logs, 0.02, most=n) is None and told is not None and told <= 150:
            again = list(rng.normal(effect, deviation, told))
            came_true.append(any(settled(again[:at], 0.02, most=told) for at in range(3, told + 1)))
    assert np.mean(came_true) >= 0.8 - 2 * math.sqrt(0.16 / 60)
    assert blocks_to_settle([0.1], 0.02, at_end) is None


def shown_faster_by_now(cases: dict[str, dict[int, float]]) -> set[tuple[str, str]]:
    alpha = per_pair(len(cases))
    pairs = {
        (a, b): pair(
            Side(cases[a]), Side(cases[b]), manner="looked at", alpha=alpha, looks=shares(len(cases[a]), 20)
        )
        for a, b in itertools.combinations(cases, 2)
    }
    return shown_faster({names: one for names, one in pairs.items() if one is not None})


def test_all_pairs_together_keep_the_error() -> None:
    rng = np.random.default_rng(10)
    alarms = 0
    for _ in range(200):
        logs = rng.normal(0, 0.02, (4, 20))
        cases = {str(case): dict(enumerate(np.exp(logs[case]).tolist())) for case in range(4)}
        alarms += bool(shown_faster_by_now(cases))
    assert alarms <= 15
    assert per_pair(2) == pytest.approx(0.03) and per_pair(4) == pytest.approx(0.03 / 6)


def test_a_clear_pair_is_shown_in_its_direction() -> None:
    slow = {block: 100.0 + block % 3 for block in range(8)}
    fast = {block: 120.0 + block % 2 for block in range(8)}
    assert shown_faster_by_now({"slow": slow, "fast": fast}) == {("fast", "slow")}


def with_control(rng: np.random.Generator, effect: float, deviation: float, blocks: int = 11) -> str | None:
    """A comparison with its A/A control, looked at after every block: 90 s of load hold eleven."""
    a, b, again = (rng.normal(centre, deviation, blocks) for centre in (0.0, -effect, 0.0))
    for n in range(1, blocks + 1):
        control = looked_at(list(again[:n] - a[:n]), 0.05, blocks)
        assert control is not None
        far = 0.01  # the control's far end, where its interval excludes 1
        if n > 2 and control.low and control.high and not control.low <= 1 <= control.high:
            far = max(far, max(control.high, 1 / control.low) - 1)
        answer = settled(list(a[:n] - b[:n]), 0.02, far, most=blocks)
        if answer:
            return answer
    return None


def test_five_percent_is_told_apart_within_the_default_budget_beside_its_control() -> None:
    rng = np.random.default_rng(11)
    found = [with_control(rng, math.log(1.05), 0.02) for _ in range(200)]
    assert sum(answer == "different" for answer in found) >= 175
    same = [with_control(rng, 0.0, 0.02) for _ in range(200)]
    assert sum(answer == "different" for answer in same) <= 6
