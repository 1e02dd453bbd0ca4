"""How quantities are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import units as fmt
from assay.model.estimate import Estimate, Known, Limit


@pytest.mark.parametrize(
    ("per_s", "text"),
    [
        (0.0, "0/s"),
        (0.512, "0.512/s"),
        (212.4, "212/s"),
        (999.4, "999/s"),
        (999.6, "1,000/s"),
        (84_765.94, "84,800/s"),
        (184_213.0, "184,000/s"),
        (1_210_000.0, "1,210,000/s"),
        (None, "–"),
    ],
)
def test_rates(per_s: float | None, text: str) -> None:
    assert fmt.rate(per_s) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (850, "850 ns"),
        (340_200, "340 µs"),
        (1_230_000, "1.23 ms"),
        (999_700, "1.00 ms"),
        (12 * 10**9, "12.0 s"),
    ],
)
def test_times(ns: float, text: str) -> None:
    assert fmt.time(ns) == text


@pytest.mark.parametrize(
    ("part", "text"), [(0, "0 %"), (0.72, "72 %"), (0.0012, "0.12 %"), (0.00001, "< 0.01 %"), (1.0, "100 %")]
)
def test_shares(part: float, text: str) -> None:
    assert fmt.share(part) == text


def test_what_was_set_has_no_digits_to_lose_and_what_was_measured_keeps_them() -> None:
    assert (fmt.time(10 * 10**9, exact=True), fmt.time(10 * 10**9)) == ("10 s", "10.0 s")
    assert (fmt.share(0.05, exact=True), fmt.share(0.05)) == ("5 %", "5.0 %")
    assert (fmt.time(1_500_000, exact=True), fmt.share(0.2, exact=True)) == ("1.5 ms", "20 %")


def test_a_share_just_below_all_is_not_written_as_all() -> None:
    assert (fmt.share(0.996), fmt.share(0.9999)) == ("99.6 %", "100 %")


def test_a_time_is_written_as_it_is_known() -> None:
    limit = (Limit(code="G4", words="arrivals waited"),)
    ends = ((1e6, None), (None, 2e6), (1e6, 2e6), (None, None))
    told = [fmt.known_time(Known(low=low, high=high, limits=limit), 1.5e6) for low, high in ends]
    assert told == ["≥ 1.00 ms", "≤ 2.00 ms", "1.00 ms – 2.00 ms", "about 1.50 ms"]
    assert fmt.known_time(Known(low=1e6, high=2e6), 1.5e6) == fmt.known_time(None, 1.5e6) == "1.50 ms"


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (1.5, 1.2, 2.9, "1.20 – 2.90×"),
        (1.5, 1.2, 40.0, "≥ 1.20×"),
        (1.5, 0.1, 1.8, "≤ 1.80×"),
        (3.0, 1.2, 5.0, "1.20 – 5.00×"),
        (0.3, 0.2, 0.9, "0.20 – 0.90×"),
        (1.0, 0.1, 40.0, "about 1.00×"),
    ],
)
def test_an_end_of_a_ratio_that_tells_nothing_is_open(
    value: float, low: float, high: float, text: str
) -> None:
    """Unless it tells which of the two is faster."""
    assert fmt.factor(value, low, high, bounds=True) == text


def test_a_share_with_its_sign() -> None:
    assert [fmt.signed_share(part) for part in (0.024, -0.035, 0.0)] == ["+2.4 %", "−3.5 %", "0 %"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (0.4, "0.4 s"), (8.2, "8 s"), (200, "3 min 20 s"), (3900, "1 h 05 min")]
)
def test_spans(seconds: float, text: str) -> None:
    assert fmt.span(seconds) == text


def test_an_interval_is_half_its_width_and_none_is_empty() -> None:
    known = Estimate(value=100.0, low=98.8, high=101.2, n=5, unit="req/s", method="t")
    assert fmt.plus_minus(known) == "± 1.2 %"
    assert fmt.plus_minus(Estimate(value=100.0, low=None, high=None, n=1, unit="req/s", method="one")) == ""


def test_ratios() -> None:
    known = Estimate(value=0.8, low=0.78, high=0.82, n=5, unit="ratio", method="t")
    assert fmt.ratio(known) == "0.80× [0.78, 0.82]"
    assert [fmt.times(value) for value in (1.25, 28.07, 310.2, 0.0495)] == ["1.25", "28.1", "310", "0.050"]


def test_an_end_of_a_ratio_says_on_which_side_of_1_it_lies() -> None:
    said = [fmt.end(value) for value in (1.0021, 0.9979, 1.0, 1.006, 12.3)]
    assert said == ["1.002", "0.998", "1.00", "1.01", "12.3"]
    shown = Estimate(value=1.0104, low=1.0021, high=1.0187, n=41, unit="ratio", method="t")
    assert fmt.ratio(shown) == "1.01× [1.002, 1.02]"


@given(st.floats(min_value=1e-6, max_value=1e15))
def test_three_digits_are_within_half_a_percent(value: float) -> None:
    assert abs(float(fmt.significant(value)) - value) <= value * 0.0051 + 1e-12


@given(st.text())
def test_safe_text_has_no_control_characters_and_an_end(text: str) -> None:
    shown = fmt.safe(text, 100)
    assert len(shown) <= 100
    assert shown.isprintable() or not any(
        character < " " or "\x7f" <= character < "\xa0" for character in shown
    )


def test_safe_text_shows_what_it_took_out() -> None:
    assert fmt.safe("a\x1b[2Jb\u202ec\n") == "a\\x1b[2Jb\\u202ec\\n"
