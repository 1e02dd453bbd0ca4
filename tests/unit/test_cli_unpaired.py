"""Statistics of two runs that share no blocks."""

from __future__ import annotations

import math
import random

import pytest

from assay.stats.sequential import unpaired_difference, unpaired_ratio


def test_welch_agrees_with_scipy() -> None:
    from scipy import stats as scipy_stats

    a, b = [101.0, 99.0, 104.0, 97.0], [90.0, 93.0, 91.0, 92.0, 88.0]
    expected = scipy_stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    found = unpaired_difference(a, b, "req/s")
    assert found is not None
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)


def test_the_interval_of_a_ratio_holds_the_truth_95_times_of_100() -> None:
    draw = random.Random(7)
    held = 0
    for _ in range(2000):
        a = [110 * math.exp(draw.gauss(0, 0.03)) for _ in range(6)]
        b = [100 * math.exp(draw.gauss(0, 0.01)) for _ in range(5)]
        found = unpaired_ratio(a, b)
        assert found is not None and found.low is not None and found.high is not None
        held += found.low <= 1.1 <= found.high
    assert 0.93 <= held / 2000 <= 0.97


def test_one_trial_has_no_interval_and_none_no_ratio() -> None:
    single = unpaired_ratio([2.0], [1.0])
    assert single is not None
    assert (single.value, single.low, single.high) == (2.0, None, None)
    assert unpaired_ratio([], [1.0]) is None
    assert unpaired_ratio([0.0], [1.0]) is None
