"""Our own distributions against scipy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.capacity import UslFit, usl_fit
from assay.stats.estimates import noncentral_t_cdf, poisson_cdf, student_t_cdf, student_t_quantile

Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]
DEGREES = st.one_of(st.integers(1, 100_000), st.floats(1, 100_000))


@given(DEGREES, st.floats(-50, 50))
def test_students_t(degrees: float, t: float) -> None:
    assert student_t_cdf(degrees, t) == pytest.approx(scipy.special.stdtr(degrees, t), rel=1e-8, abs=1e-14)


@given(DEGREES, st.floats(0.001, 0.9999))
def test_the_quantile_of_students_t(degrees: float, p: float) -> None:
    assert student_t_quantile(degrees, p) == pytest.approx(
        scipy.special.stdtrit(degrees, p), rel=1e-8, abs=1e-9
    )


@given(st.integers(1, 3000), st.floats(0, 30))
@settings(deadline=None)
def test_the_noncentral_t(degrees: int, shift: float) -> None:
    t = student_t_quantile(degrees, 0.975)
    expected = scipy.special.nctdtr(degrees, shift, t)
    assert noncentral_t_cdf(degrees, shift, t) == pytest.approx(expected, abs=1e-9)


@given(st.floats(0.001, 200_000), st.floats(-8, 8))
@settings(deadline=None)
def test_poisson(mean: float, away: float) -> None:
    k = max(0, round(mean + away * math.sqrt(mean)))
    assert poisson_cdf(k, mean) == pytest.approx(scipy.special.pdtr(k, mean), abs=1e-9)
    assert poisson_cdf(-1, mean) == 0


@given(
    st.lists(st.integers(1, 2000), min_size=5, max_size=9, unique=True),
    st.sampled_from([0.0, 0.01, 0.1, 0.6]),
    st.sampled_from([0.0, 1e-6, 1e-4, 1e-2]),
    st.lists(st.floats(-0.04, 0.04), min_size=9, max_size=9),
)
@settings(deadline=None)
def test_no_fit_of_the_scalability_law_is_better(
    connections: list[int], contention: float, coherency: float, noise: list[float]
) -> None:
    true = UslFit(1000, contention, coherency, None, None, 0)
    points = {
        n: true.throughput_per_s(n) * math.exp(e) for n, e in zip(sorted(connections), noise, strict=False)
    }
    fit = usl_fit(points)
    if fit is None:  # it deviates too much to be this law
        return
    ns, logs = np.array(list(points), dtype=float), np.log(list(points.values()))

    def law(n: Numbers, a: float, b: float, c: float) -> Numbers:
        return np.log(a * n / (1 + b * (n - 1) + c * n * (n - 1)))

    bounds = ((1e-9, 0.0, 0.0), (math.inf, 1.0, 1.0))
    other, _ = scipy.optimize.curve_fit(law, ns, logs, p0=(1000, 0.05, 1e-5), bounds=bounds, maxfev=20_000)
    ours = (fit.per_connection_per_s, fit.contention, fit.coherency)
    squares = [float(np.sum((law(ns, *found) - logs) ** 2)) for found in (ours, other)]
    assert squares[0] <= squares[1] * (1 + 1e-6) + 1e-12
