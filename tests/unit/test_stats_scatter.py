"""Blocks that depend on each other, several servers of one scatter, and a case with its A/A control."""

from __future__ import annotations

import math
import statistics
from itertools import pairwise

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from assay.stats import scatter
from assay.stats.pairing import PairedRatio, pair
from assay.stats.scatter import ASSUMED, Pool, allowed_correlation, pool, widening
from assay.stats.sequential import SPENT_ERROR
from assay.stats.sides import ABOVE, EXACT, Side, Slack, paired_logs

logs = st.floats(-0.2, 0.2)
series = st.lists(logs, min_size=3, max_size=12)
tables = st.integers(3, 8).flatmap(
    lambda n: st.lists(st.lists(logs, min_size=n, max_size=n), min_size=2, max_size=6)
)


def side(values: list[float]) -> Side:
    """A case with these log rates, one a block."""
    return Side({block: math.exp(value) for block, value in enumerate(values)})


def by_block(*rows: list[float]) -> list[dict[int, float]]:
    return [dict(enumerate(row)) for row in rows]


def even(blocks: int) -> Side:
    return side([0.0] * blocks)


@given(tables)
def test_what_is_allowed_for_is_what_rows_show_or_at_most_a_third(rows: list[list[float]]) -> None:
    allowed = allowed_correlation(rows)
    assert allowed <= max(ASSUMED, 1.0) and 1.0 <= widening(allowed) < 4.4
    assert allowed <= ASSUMED or allowed == pytest.approx(allowed_correlation(rows, 1e6))
    assert allowed_correlation(rows, len(rows[0]) - 1) >= allowed - 1e-12  # fewer values leave more possible


@pytest.mark.parametrize(("correlation", "expected"), [(-0.5, 1.0), (0.0, 1.0), (ASSUMED, math.sqrt(2))])
def test_a_correlation_of_a_third_doubles_the_variance_of_a_mean(correlation: float, expected: float) -> None:
    assert widening(correlation) == pytest.approx(expected)
    grid = [widening(step / 20) for step in range(21)]
    assert all(one <= other for one, other in pairwise(grid))


def test_many_blocks_that_alternate_are_allowed_nothing_and_few_all() -> None:
    assert widening(allowed_correlation([[0.01, -0.01] * 20])) == 1.0
    assert allowed_correlation([[0.01, 0.02, 0.01]]) == ASSUMED
    assert allowed_correlation([[float(block) for block in range(12)]]) > ASSUMED


def excluded(noise: np.ndarray, manner: str, alpha: float) -> float:
    """The share of runs whose interval, of any look, excludes the truth of 1."""
    wrong, blocks = 0, noise.shape[1]
    looks = [(block + 1) / blocks for block in range(blocks)]
    for run in noise.tolist():
        seen = (
            [pair(side(run), even(blocks))]
            if manner == "paired"
            else [
                pair(side(run[:n]), even(n), manner="looked at", alpha=alpha, looks=looks[:n])
                for n in range(3, blocks + 1)
            ]
        )
        wrong += any(one and one.low and one.high and not one.low <= 1 <= one.high for one in seen)
    return wrong / len(noise)


def correlated(runs: int, blocks: int) -> np.ndarray:
    """Log ratios of runs, neighbouring blocks correlated by 0.3."""
    noise = np.random.default_rng(7).normal(0, 0.02, (runs, blocks))
    for block in range(1, blocks):
        noise[:, block] = 0.3 * noise[:, block - 1] + noise[:, block] * math.sqrt(0.91)
    return noise


@pytest.mark.parametrize(("manner", "share"), [("paired", 0.07), ("looked at", 0.03)])
def test_intervals_of_blocks_that_correlate_keep_what_they_promise(manner: str, share: float) -> None:
    assert excluded(correlated(600, 10), manner, SPENT_ERROR) <= share + 2 * math.sqrt(share / 600)


@given(tables, st.lists(logs, min_size=6, max_size=6), st.lists(logs, min_size=8, max_size=8))
def test_a_pool_asks_neither_what_a_block_has_in_common_nor_who_is_faster(
    rows: list[list[float]], levels: list[float], moods: list[float]
) -> None:
    plain = pool(by_block(*rows), alike=True)
    moved = [{at: x + levels[row] + moods[at] for at, x in enumerate(row_)} for row, row_ in enumerate(rows)]
    found = pool(moved, alike=True)
    assert plain and found and plain.variance is not None and found.variance is not None
    assert found.variance == pytest.approx(plain.variance, abs=1e-12)
    assert found.degrees == (len(rows) - 1) * (len(rows[0]) - 1)


def test_the_pool_of_two_is_their_ratio_s_own() -> None:
    a, b = [0.01, 0.03, -0.02, 0.0], [0.0, 0.01, 0.02, -0.01]
    found = pool(by_block(a, b), alike=True)
    ratios = [x - y for x, y in zip(a, b, strict=True)]
    assert found and found.variance and 2 * found.variance == pytest.approx(statistics.variance(ratios))
    assert found.correlation == pytest.approx(allowed_correlation([ratios]))
    assert pool(by_block(a), alike=True) is None and pool(by_block(a, b[:1]), alike=True) is None
    unlike = pool(by_block(a, b), alike=False)
    assert unlike is not None and unlike.variance is None


def width(one: PairedRatio | None) -> float:
    assert one is not None and one.low and one.high
    return math.log(one.high / one.low)


@given(series)
def test_a_pool_never_makes_a_pair_s_own_scatter_smaller(values: list[float]) -> None:
    n = len(values)
    sides = side(values), even(n)
    alone = pair(*sides, pooled=Pool(ASSUMED, None, 0.0, alike=False))
    small, large = (pair(*sides, pooled=Pool(ASSUMED, much, n - 1.0, alike=True)) for much in (1e-12, 1.0))
    if statistics.stdev(values) > 1e-5:
        assert width(small) == pytest.approx(width(alone))
        assert width(large) > width(alone)


def test_three_builds_that_scatter_alike_are_told_apart_where_two_are_not() -> None:
    a, b = [0.05, 0.09, 0.04], [0.0, 0.005, -0.005]
    plain = pair(side(a), side(b))
    assert plain is not None and plain.p_above > 0.05
    shared = pool(by_block(a, b, [0.0, 0.002, 0.02], [0.01, 0.0, 0.0]), alike=True)
    pooled = pair(side(a), side(b), pooled=shared)
    assert pooled is not None and pooled.p_above < 0.05 and pooled.ratio.value == plain.ratio.value


@given(series, st.data())
def test_a_case_with_its_control_is_the_mean_of_both(values: list[float], data: st.DataObject) -> None:
    again = data.draw(st.lists(logs, min_size=len(values), max_size=len(values)))
    both = side(values).with_control(side(again))
    found = paired_logs(both, even(len(values)))
    assert found == pytest.approx([(x + y) / 2 for x, y in zip(values, again, strict=True)])
    assert both.arms == 2


def test_a_control_counts_by_round_and_brings_its_bounds() -> None:
    rounds = {0: {0: 90.0, 1: 110.0}, 1: {0: 100.0}}
    own = Side({0: 100.0, 1: 100.0}, EXACT, rounds=rounds, delays={0: {0: 0.1}})
    again = Side({0: 110.0}, ABOVE, rounds={0: {1: 130.0}}, delays={0: {0: 0.3}})
    both = own.with_control(again)
    assert both.rounds == {0: {1: 120.0}, 1: {0: 100.0}}
    assert both.delays == {0: {0: 0.3}} and both.slack == Slack(1.0, math.inf)
    assert both.values == {0: pytest.approx(math.sqrt(11_000)), 1: 100.0}


@given(st.floats(0.05, 200))
def test_the_derivatives_of_the_gamma_function_are_scipy_s(x: float) -> None:
    assert scatter._digamma(x) == pytest.approx(scipy.special.digamma(x), rel=1e-6, abs=1e-6)
    assert scatter._trigamma(x) == pytest.approx(scipy.special.polygamma(1, x), rel=1e-5)


def spread_by(deviations: list[float], blocks: int) -> Pool:
    rng = np.random.default_rng(3)
    rows = [rng.normal(0, deviation, blocks).tolist() for deviation in deviations]
    found = pool(by_block(*rows), alike=False)
    assert found is not None and found.variance is not None
    return found


def test_servers_that_scatter_alike_say_much_of_each_other_and_others_little() -> None:
    alike, unlike = spread_by([0.02] * 12, 6), spread_by([0.001 * 2**step for step in range(12)], 6)
    assert alike.variance == pytest.approx(0.0004, rel=0.4) and alike.degrees > 10 > 3 > unlike.degrees
    own = 0.0002
    joined, degrees = alike.joined(own, 6, 2)
    assert own < joined < 2 * 0.0006 and degrees == alike.degrees + 5
    assert alike.joined(1.0, 6, 2)[0] == 1.0  # its own is the larger
    few = pool(by_block([0.0, 0.1, 0.2], [0.1, 0.0, 0.1], [0.1, 0.2, 0.1]), alike=False)
    assert few is not None and few.variance is None and few.joined(own, 3, 2) == (own, 2)
