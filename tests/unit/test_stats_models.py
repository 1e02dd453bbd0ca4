"""The scalability law and the test of arrivals, on data whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from assay.stats.capacity import usl_fit
from assay.stats.quantiles import CRITICAL_1_PERCENT, constant_fit, poisson_fit

SWEEP = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def law(n: int, scale: float = 1000, sigma: float = 0.03, kappa: float = 1e-4) -> float:
    return scale * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


def test_the_law_is_found_again_under_noise() -> None:
    rng = np.random.default_rng(1)
    fit = usl_fit({n: law(n) * (1 + rng.normal(0, 0.01)) for n in SWEEP})
    assert fit is not None
    assert fit.contention == pytest.approx(0.03, rel=0.15)
    assert fit.coherency == pytest.approx(1e-4, rel=0.15)
    assert fit.peak_connections == pytest.approx(math.sqrt(0.97 / 1e-4), rel=0.1)
    assert fit.residual < 0.02


def test_a_server_without_coherency_cost_has_no_peak() -> None:
    fit = usl_fit({n: law(n, kappa=0) for n in SWEEP})
    assert fit is not None and fit.peak_connections is None
    assert fit.throughput_per_s(64) == pytest.approx(law(64, kappa=0), rel=1e-3)


def test_a_flat_sweep_has_no_peak_below_its_first_point() -> None:
    fit = usl_fit({10: 1001, 50: 999, 100: 1002, 250: 1000, 500: 998})
    assert fit is not None and fit.peak_connections is None


def test_it_is_silent_where_it_does_not_fit_or_cannot_be_checked() -> None:
    assert usl_fit({n: 1000 + 500 * (place % 2) for place, n in enumerate(SWEEP)}) is None
    assert usl_fit({n: law(n) for n in SWEEP[:4]}) is None


def test_poisson_arrivals_pass_and_others_do_not() -> None:
    rng = np.random.default_rng(1)
    steady = [100.0] * 100
    alarms = [not _fits(rng.poisson(100, 100), steady) for _ in range(200)]
    assert sum(alarms) <= 6  # 1 %, and three standard errors
    assert not _fits(np.full(100, 100), steady)  # constant arrivals are no Poisson process
    bursty = rng.poisson(100 * rng.gamma(10, 0.1, 100))
    assert not _fits(bursty, steady)
    rising = np.linspace(20, 180, 100)
    assert _fits(rng.poisson(rising), list(rising))
    assert not _fits(rng.poisson(rising), steady)


def _fits(counts: np.ndarray[tuple[int, ...], np.dtype[np.int64]], intended: list[float]) -> bool:
    fit = poisson_fit([int(count) for count in counts], intended)
    assert fit is not None
    return fit.fits


def test_the_critical_value_is_the_published_one() -> None:
    """1 % of uniform samples exceed 3.857 (Stephens); our statistic on exact uniforms agrees."""
    rng = np.random.default_rng(3)
    exceed = 0
    for _ in range(2000):
        u = np.sort(rng.uniform(size=50))
        odd = 2 * np.arange(1, 51) - 1
        exceed += -50 - np.mean(odd * (np.log(u) + np.log1p(-u[::-1]))) > CRITICAL_1_PERCENT
    assert exceed / 2000 == pytest.approx(0.01, abs=0.007)
    assert scipy.stats.chi2.ppf(0.99, 1) > CRITICAL_1_PERCENT  # it is not the chi-square value


def test_constant_arrivals_scatter_less_than_poisson_ones() -> None:
    steady = constant_fit([100, 101, 99, 100] * 10, [100.0] * 40)
    assert steady is not None and steady.fits and steady.statistic < 0.1
    stalled = constant_fit([100] * 20 + [0, 200] + [100] * 20, [100.0] * 42)
    assert stalled is not None and not stalled.fits
    assert constant_fit([100] * 10, [100.0] * 10) is None
