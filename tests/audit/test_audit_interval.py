"""Printed numbers are intervals, in every locale, and arithmetic keeps the truth inside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.audit.interval import Interval, is_european, printed, size_in, time_in


@pytest.mark.parametrize(
    ("text", "multiple", "low", "high"),
    [
        ("1.2", "k", 1150, 1250),
        ("748868.53", "", 748868.525, 748868.535),
        ("1,234", "", 1233.5, 1234.5),
        ("12 345", "", 12344.5, 12345.5),
        ("1'234", "", 1233.5, 1234.5),
        ("1_234", "", 1233.5, 1234.5),
        ("1.234,5", "", 1234.45, 1234.55),
        ("1,234.5", "", 1234.45, 1234.55),
        ("2,5", "", 2.45, 2.55),
        ("0", "", 0, 0),
    ],
)
def test_a_printed_number_is_all_that_prints_like_it(
    text: str, multiple: str, low: float, high: float
) -> None:
    found = printed(text, multiple)
    assert found is not None
    assert found.low == pytest.approx(low) and found.high == pytest.approx(high)


def test_european_numbers_are_read_as_such_where_another_number_shows_it() -> None:
    assert is_european("1.234,5 und 1.234")
    found = printed("1.234", european=True)
    assert found is not None and found.middle == 1234


@pytest.mark.parametrize("text", ["1,2,3,4", "1.2.3,4,5", "--", "", "١٢٣"])
def test_what_may_mean_two_things_is_no_number(text: str) -> None:
    assert printed(text) is None


@given(st.floats(0.001, 1e9), st.integers(0, 6))
def test_rounding_never_leaves_the_interval(value: float, decimals: int) -> None:
    found = printed(f"{value:.{decimals}f}")
    assert found is not None
    assert found.low <= value * (1 + 1e-12) and value * (1 - 1e-12) <= found.high + 0.5 * (decimals == 0)


_INTERVALS = st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)).map(lambda ends: Interval(min(ends), max(ends)))


@given(_INTERVALS, _INTERVALS, st.floats(0, 1), st.floats(0, 1))
def test_arithmetic_holds_the_truth(a: Interval, b: Interval, at_a: float, at_b: float) -> None:
    x = a.low + at_a * (a.high - a.low)
    y = b.low + at_b * (b.high - b.low)
    slack = 1e-6 * (1 + abs(x) + abs(y)) ** 2
    for result, truth in ((a + b, x + y), (a - b, x - y), (a * b, x * y)):
        assert result.low - slack <= truth <= result.high + slack
    if y > 0:
        quotient = a / b
        assert quotient.low * (1 - 1e-9) <= x / y <= quotient.high * (1 + 1e-9)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("635.91us", 635.91e-6), ("1.05s", 1.05), ("1m30s", 90), ("2h", 7200), ("12 µs", 12e-6)],
)
def test_times_have_units(text: str, seconds: float) -> None:
    found = time_in(text)
    assert found is not None and found.middle == pytest.approx(seconds)


def test_sizes_are_binary_where_the_tool_means_it() -> None:
    binary, decimal = size_in("1.00MB", binary=True), size_in("1.00MB", binary=False)
    assert binary is not None and decimal is not None
    assert (binary.middle, decimal.middle) == (2**20, 10**6)
    assert size_in("no size", binary=True) is None
