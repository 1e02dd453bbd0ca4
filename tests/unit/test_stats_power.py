"""What a run of a given size can show, against the figures the methodology promises."""

from __future__ import annotations

import math

import numpy as np
import pytest

import assay.stats as stats
from assay.stats.sequential import power_of_paired_test


@pytest.mark.parametrize(("ratio", "trial_deviation", "trials"), [(1.02, 0.01, 7), (1.05, 0.02, 5)])
def test_the_promised_numbers_of_trials_do(ratio: float, trial_deviation: float, trials: int) -> None:
    needed = stats.trials_for_effect(ratio, math.sqrt(2) * trial_deviation)
    assert needed is not None and needed <= trials + 1
    assert power_of_paired_test(math.log(ratio) / (math.sqrt(2) * trial_deviation), trials) > 0.75


def test_power_agrees_with_simulation() -> None:
    rng = np.random.default_rng(7)
    n, effect, runs = 8, 1.0, 4000
    pairs = rng.normal(effect, 1.0, (runs, n))
    t = pairs.mean(axis=1) / (pairs.std(axis=1, ddof=1) / math.sqrt(n))
    assert power_of_paired_test(effect, n) == pytest.approx((t > 2.3646).mean(), abs=0.02)


def test_more_trials_are_asked_for_narrower_intervals() -> None:
    # t(0.975; n-1) x 2 / sqrt(n) <= 1 first holds at n = 18 (t = 2.110, half-width 0.995).
    assert stats.trials_for_half_width(0.02, 0.01) == 18
    assert stats.trials_for_half_width(0.02, 0.0) is None


def test_an_effect_of_nothing_needs_no_number() -> None:
    assert stats.trials_for_effect(1.0, 0.01) is None
    assert stats.trials_for_effect(1.1, 0.0) == 2
