"""Quantiles from stored histograms, against the raw values they were made of."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from made_runs import histogram, uniform_histogram

import assay.stats as stats


@pytest.mark.parametrize(
    ("p", "needed"), [(0.9, 44), (0.95, 90), (0.99, 459), (0.999, 4603), (0.9999, 46050), (0.5, 7), (0.1, 44)]
)
def test_requests_needed_is_the_published_table(p: float, needed: int) -> None:
    assert stats.requests_needed(p) == needed


@pytest.mark.parametrize("requests", [458, 459])
def test_a_percentile_without_enough_requests_is_none(requests: int) -> None:
    (p99,) = stats.quantiles(uniform_histogram(requests, 1e6), (0.99,))
    assert (p99 is not None) == (requests == 459)


def test_quantiles_are_those_of_the_raw_values() -> None:
    times = np.random.default_rng(5).lognormal(13, 0.8, 20_000)
    ordered = np.sort(times)
    ps = (0.5, 0.9, 0.99, 0.999)
    for p, quantile in zip(ps, stats.quantiles(histogram(times), ps), strict=True):
        assert quantile is not None
        assert quantile.value_ns == pytest.approx(ordered[int(np.ceil(p * len(times))) - 1], rel=2e-3)
        assert quantile.p == p


def test_a_case_s_quantile_counts_trials_never_pooled_requests() -> None:
    fast, slow = uniform_histogram(100_000, 1e6), uniform_histogram(1_000, 4e6)
    estimate = stats.case_quantile([fast, slow], 0.99)
    assert estimate is not None and estimate.n == 2
    assert estimate.value == pytest.approx(2e6, rel=2e-3)  # geometric mean of two trials; pooled would be 1e6
    assert stats.case_quantile([fast, uniform_histogram(10, 1e6)], 0.99) is None


def test_a_damaged_histogram_is_a_value_error() -> None:
    broken = msgspec.structs.replace(uniform_histogram(1000, 1e6), data="AAAA")
    with pytest.raises(ValueError, match="damaged"):
        stats.quantiles(broken, (0.5,))
