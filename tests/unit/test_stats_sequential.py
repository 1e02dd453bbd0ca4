"""The interval that may be looked at after every block: its promise, simulated."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate
from scipy import stats as scipy_stats

from assay.model.estimate import Estimate
from assay.stats import sequential, shown_faster
from assay.stats.pairing import Manner, PairedRatio, Side, half_width, pair
from assay.stats.pairing import settled as settled_pair
from assay.stats.sequential import blocks_to_settle, detectable_by_now, per_pair, ratio_within

MOST_BLOCKS = 40


def always_valid_ratio(logs: list[float]) -> Estimate | None:
    """With an interval that errs in one run of twenty, however often it is looked at."""
    return ratio_within(logs, sequential.half_width(len(logs), 0.05), "always valid")


def looking(n: int) -> float | None:
    """The half-width of n blocks while more may come."""
    return half_width("looked at", n)


def ever_excludes(logs: NDArray[np.float64], truth: float) -> bool:
    for n in range(2, len(logs) + 1):
        ratio = always_valid_ratio(list(logs[:n]))
        assert ratio is not None
        if (
            ratio.low is not None
            and ratio.high is not None
            and not ratio.low <= math.exp(truth) <= ratio.high
        ):
            return True
    return False


@pytest.mark.parametrize("truth", [0.0, 0.05])
def test_the_truth_is_ever_excluded_in_at_most_one_run_of_twenty(truth: float) -> None:
    rng = np.random.default_rng(2)
    runs = 400
    excluded = sum(ever_excludes(rng.normal(truth, 0.02, MOST_BLOCKS), truth) for _ in range(runs))
    assert excluded / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


def test_an_ordinary_t_interval_looked_at_as_often_fails_that_promise() -> None:
    """Why this module exists."""
    rng = np.random.default_rng(2)
    runs, wrong = 400, 0
    for _ in range(runs):
        logs, n = rng.normal(0, 0.02, MOST_BLOCKS), np.arange(1, MOST_BLOCKS + 1)
        means, squares = np.cumsum(logs) / n, np.cumsum(logs**2)
        errors = np.sqrt((squares[2:] - n[2:] * means[2:] ** 2) / (n[2:] - 1) / n[2:])
        wrong += bool(np.any(np.abs(means[2:]) > scipy_stats.t.ppf(0.975, n[2:] - 1) * errors))
    assert wrong / runs > 0.15


def test_the_likelihood_ratio_is_the_integral_it_claims_to_be() -> None:
    """At the interval's edge the mixture of noncentral t densities is 20 times the central one."""
    logs = [0.03, 0.05, 0.01, 0.06, 0.04, 0.02]
    ratio = always_valid_ratio(logs)
    assert ratio is not None and ratio.low is not None
    n, g = len(logs), sequential.PRIOR_VARIANCE
    t = (np.mean(logs) - math.log(ratio.low)) / (np.std(logs, ddof=1) / math.sqrt(n))

    def weighted(effect: float) -> float:
        density = scipy_stats.nct.pdf(t, n - 1, effect * math.sqrt(n))
        return float(density * scipy_stats.norm.pdf(effect, 0, math.sqrt(g)))

    mixture, _ = integrate.quad(weighted, -12, 12, limit=400)
    assert mixture / scipy_stats.t.pdf(t, n - 1) == pytest.approx(20, rel=1e-4)


def looked_at(logs: list[float], alpha: float = 0.05, most: int = MOST_BLOCKS) -> PairedRatio | None:
    """These log ratios as a comparison that is looked at after every block, of which there are so many."""
    values = {block: math.exp(value) for block, value in enumerate(logs)}
    manner: Manner = "last look" if len(logs) == most else "looked at"
    return pair(Side(values), Side(dict.fromkeys(values, 1.0)), manner=manner, alpha=alpha)


def settled(
    logs: list[float], margin: float, minimum_effect: float = 0.01, most: int = MOST_BLOCKS
) -> str | None:
    return settled_pair(looked_at(logs, most=most), margin, minimum_effect)


@pytest.mark.parametrize("most", [4, 8, MOST_BLOCKS])
def test_all_looks_with_the_last_one_exclude_the_truth_in_at_most_one_run_of_twenty(most: int) -> None:
    rng, runs, wrong = np.random.default_rng(3), 1000, 0
    for logs in rng.normal(0.01, 0.02, (runs, most)).tolist():
        seen = [looked_at(logs[:n], most=most) for n in range(2, most + 1)]
        ends = [(one.low, one.high) for one in seen if one and one.low and one.high]
        wrong += any(not low <= math.exp(0.01) <= high for low, high in ends)
    assert wrong / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
    assert wrong / runs >= 0.01  # it is not bought by an interval that is never wrong


def test_the_last_look_shows_what_looks_on_the_way_could_not() -> None:
    rng = np.random.default_rng(4)
    runs = rng.normal(math.log(1.05), 0.046, (300, 11)).tolist()
    on_the_way, with_last = (
        sum(settled(logs, 0.0, most=most) == "different" for logs in runs) for most in (12, 11)
    )
    assert with_last > 210 > 150 > on_the_way


def test_of_so_few_blocks_that_nothing_is_settled_there_is_no_last_look() -> None:
    known = looked_at([0.05, 0.051, 0.052], most=3)
    assert known is not None and known.low is None and known.high is None


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
    assert np.median([blocks for _, blocks in found]) <= 9
    same = [run_until_settled(rng, 0.0, 0.02) for _ in range(200)]
    assert sum(answer == "different" for answer, _ in same) <= 10
    assert sum(answer == "alike" for answer, _ in same) >= 150


def test_a_sure_but_tiny_difference_is_none() -> None:
    logs = [0.004, 0.0041, 0.0039, 0.004, 0.0042]
    assert settled(logs, margin=0.02) == "alike"
    assert settled([0.05] * 3, margin=0.02) is None  # three blocks settle nothing


@given(st.lists(st.floats(-0.2, 0.2), min_size=4, max_size=30))
def test_it_is_wider_than_the_t_interval_and_mirrors(logs: list[float]) -> None:
    ratio, back = always_valid_ratio(logs), always_valid_ratio([-value for value in logs])
    assert ratio is not None and back is not None
    if ratio.low is None or ratio.high is None or back.high is None:
        return
    half = scipy_stats.t.ppf(0.975, len(logs) - 1) * np.std(logs, ddof=1) / math.sqrt(len(logs))
    assert math.log(ratio.high / ratio.low) / 2 >= half * (1 - 1e-9) - 1e-12
    assert math.log(ratio.low) == pytest.approx(-math.log(back.high), abs=1e-9)


def test_one_block_has_no_interval() -> None:
    one = always_valid_ratio([0.1])
    assert one is not None and one.low is None
    assert always_valid_ratio([]) is None


def test_what_a_run_would_have_seen_is_seen_four_times_of_five() -> None:
    rng = np.random.default_rng(8)
    n, deviation, seen, told = 10, 0.02, 0, []
    for _ in range(400):
        found = detectable_by_now(list(rng.normal(0, deviation, n)), looking(n), minimum_effect=0.0)
        assert found is not None
        told.append(math.log(found))
    effect = float(np.median(told))
    for _ in range(1000):
        seen += settled(list(rng.normal(effect, deviation, n)), 0.0, minimum_effect=0.0) == "different"
    assert 700 <= seen <= 900


def test_blocks_to_settle_is_what_it_takes() -> None:
    rng = np.random.default_rng(9)
    effect, deviation = math.log(1.03), 0.02
    told = blocks_to_settle(list(rng.normal(effect, deviation, 400)), 0.02, looking)
    assert told is not None
    taken = [run_until_settled(rng, effect, deviation)[1] for _ in range(200)]
    assert np.median(taken) == pytest.approx(told, rel=0.4)
    assert blocks_to_settle([0.1], 0.02, looking) is None


def shown_faster_by_now(cases: dict[str, dict[int, float]]) -> set[tuple[str, str]]:
    alpha = per_pair(len(cases))
    pairs = {
        (a, b): pair(Side(cases[a]), Side(cases[b]), manner="looked at", alpha=alpha)
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
    assert per_pair(2) == pytest.approx(0.05) and per_pair(4) == pytest.approx(0.05 / 6)


def test_a_clear_pair_is_shown_in_its_direction() -> None:
    slow = {block: 100.0 + block % 3 for block in range(8)}
    fast = {block: 120.0 + block % 2 for block in range(8)}
    assert shown_faster_by_now({"slow": slow, "fast": fast}) == {("fast", "slow")}


def with_control(rng: np.random.Generator, effect: float, deviation: float, blocks: int = 11) -> str | None:
    """A comparison with its A/A control, looked at after every block: 90 s of load hold eleven."""
    a, b, again = (rng.normal(centre, deviation, blocks) for centre in (0.0, -effect, 0.0))
    for n in range(1, blocks + 1):
        control = always_valid_ratio(list(again[:n] - a[:n]))
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
