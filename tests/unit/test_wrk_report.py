"""wrk's units, paddings and statistics: against samples of the original's output and its definitions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.dropin.reports import Tally, Units
from assay.dropin.wrk.flags import WrkFlags, WrkUrl
from assay.dropin.wrk.report import banner, corrected, padded, percentile_of, samples, time_us
from assay.stats.quantiles import percentile_rows

HERE = WrkUrl("http", "h", None, "/")


@pytest.mark.parametrize(
    ("value_us", "text"),
    [
        (0, "0.00us"),
        (382.28, "382.28us"),
        (849, "849.00us"),
        (850, "0.85ms"),
        (999_990, "999.99ms"),
        (1_500_000, "1.50s"),
        (50_000_000, "50.00s"),
        (60_000_000, "1.00m"),
        (7_200_000_000, "120.00m"),
    ],
)
def test_times(value_us: float, text: str) -> None:
    assert time_us(value_us) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2, "2s"), (50, "50s"), (51, "1m"), (89, "1m"), (90, "2m"), (3600, "60m"), (7200, "120m")],
)
def test_the_banner_says_how_long(seconds: int, text: str) -> None:
    flags = WrkFlags(text="http://h/", url=HERE, duration_s=seconds)
    assert banner(flags) == f"Running {text} test @ http://h/\n  2 threads and 10 connections\n"


@pytest.mark.parametrize(
    ("text", "cell"),
    [("41.71", " 41.71  "), ("1.93k", "  1.93k "), ("1.62ms", "  1.62ms"), ("1000.00ms", "1000.00m")],
)
def test_cells_stand_digit_under_digit(text: str, cell: str) -> None:
    assert padded(text, 8) == cell


def test_a_unit_is_left_at_85_percent_of_the_next() -> None:
    bytes_of = Units(("", "K", "M"), 1024)
    assert [bytes_of.format(value) for value in (870.3, 870.4, 1024**3)] == ["870.30", "0.85K", "1024.00M"]


VALUES = st.lists(st.integers(0, 10_000), min_size=1, max_size=200)


@given(VALUES)
def test_a_tally_agrees_with_the_plain_definitions(values: list[int]) -> None:
    tally = Tally.of(values)
    mean = sum(values) / len(values)
    assert tally.total == len(values)
    assert tally.mean == pytest.approx(mean)
    if len(values) > 1:
        variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
        assert tally.stdev == pytest.approx(math.sqrt(variance))
    inside = [value for value in values if 10 <= value <= 500]
    assert tally.share_within(10, 500) == len(inside) / len(values)


@given(VALUES, st.floats(0.5, 99.9))
def test_percentiles_agree_with_the_sorted_values(values: list[int], percentile: float) -> None:
    tally = Tally.of(values)
    rank = percentile / 100 * len(values)
    assert percentile_of(tally, percentile, strict=False) == sorted(values)[math.ceil(rank) - 1]
    theirs = math.floor(rank + 0.5 + 0.5)
    expected = sorted(values)[theirs - 1] if 1 <= theirs <= len(values) else None
    if expected is not None:
        assert percentile_of(tally, percentile, strict=True) == expected


def test_the_largest_is_the_hundredth_percentile_but_for_wrk() -> None:
    tally = Tally.of([1, 2, 3])
    assert percentile_of(tally, 100, strict=False) == 3
    assert percentile_of(tally, 100, strict=True) == 0


def test_wrks_correction_invents_what_wrk_was_seen_to_print() -> None:
    # Seen: 90 % of the answers after 100 ms, 10 % after 1 s, 10 connections; wrk printed a mean of
    # 280 ms, p75 428 ms and p90 810 ms, where the truth is 190, 100 and 100.
    true = Tally.of([100_000] * 90 + [1_000_000] * 10)
    shown = corrected(true, 100, 1_900_000, 10)
    assert shown.mean == pytest.approx(285_714, abs=1)
    assert percentile_of(shown, 75, strict=True) == 430_000
    assert percentile_of(shown, 90, strict=True) == 810_000
    assert (shown.low, shown.high) == (true.low, true.high)


def test_nothing_is_corrected_where_no_connection_was_answered() -> None:
    true = Tally.of([5])
    assert corrected(true, 1, 1_000_000, 10) == true


def test_the_spectrum_has_the_steps_of_hdrhistograms_table() -> None:
    # The table that HdrHistogram's C library prints for one 2 and ten 4s.
    assert list(percentile_rows([(2, 1), (4, 11)])) == [(2, 0.0, 1), (4, 10.0, 11), (4, 100.0, 11)]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60))
def test_the_spectrum_ascends_to_all_values(counts: list[int]) -> None:
    below = 0
    slots = [(number, below := below + count) for number, count in enumerate(counts)]
    table = list(percentile_rows(slots))
    assert table[-1] == (len(counts) - 1, 100.0, below)
    assert all(a <= b for a, b in zip(table, table[1:], strict=False))
    assert all(percent <= 100 * count / below for _, percent, count in table)


def test_windows_without_an_answer_count_for_the_next_that_has_some() -> None:
    # A server that takes 0.85 s: wrk says 1 a second, never 10.
    window_ns = 100_000_000
    assert list(samples([window_ns] * 18, [0] * 8 + [1] + [0] * 8 + [1])) == [1, 1]
    assert list(samples([window_ns] * 4, [3, 0, 4, 0])) == [30, 20]
    assert list(samples([window_ns] * 3, [0, 0, 0])) == []


@given(st.lists(st.integers(0, 50), max_size=60))
def test_samples_are_of_all_answers_in_all_the_time_up_to_the_last(counts: list[int]) -> None:
    window_ns = 1_000_000_000
    while counts and not counts[-1]:
        counts.pop()
    found = list(samples([window_ns] * len(counts), counts))
    assert len(found) == sum(map(bool, counts))
    if counts and len(found) == 1:
        assert found == [sum(counts) // len(counts)]
