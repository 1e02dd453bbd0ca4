"""Words of the command line: what is understood, and what is refused in a helpful line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli import words


@pytest.mark.parametrize(
    ("word", "ns"),
    [
        ("10s", 10**10),
        ("10", 10**10),
        ("500ms", 500 * 10**6),
        ("1.5m", 90 * 10**9),
        ("2h", 7200 * 10**9),
        ("250us", 250_000),
        ("250µs", 250_000),
        ("1 s", 10**9),
    ],
)
def test_lengths_of_time(word: str, ns: int) -> None:
    assert words.time_ns(word) == ns


@pytest.mark.parametrize(("word", "number"), [("1", 1), ("10k", 10_000), ("2m", 2_000_000), ("1,000", 1000)])
def test_whole_numbers(word: str, number: int) -> None:
    assert words.whole(word) == number


@pytest.mark.parametrize(
    ("word", "rate"),
    [
        ("500", 500),
        ("20k", 20_000),
        ("0.5", 0.5),
        ("1.5k/s", 1500),
        ("6/m", 0.1),
        ("6/min", 0.1),
        ("2k/m", 2000 / 60),
        ("90/h", 0.025),
    ],
)
def test_rates(word: str, rate: float) -> None:
    assert words.rate_per_s(word) == rate


def test_a_stage_holds_a_rate_or_moves_between_two() -> None:
    held = {"duration_ns": 10**10, "from_per_s": 1000, "to_per_s": 1000}
    assert words.stage("10s:1000") == held
    assert words.stage("10s:1000..5k") == held | {"to_per_s": 5000}
    assert words.stage("10s:0..1000") == held | {"from_per_s": 0}
    assert words.stage("10s:1000..0") == held | {"to_per_s": 0}
    assert words.stage("10s:0") == held | {"from_per_s": 0, "to_per_s": 0}
    assert words.stage("10s:6/m..60/m") == held | {"from_per_s": 0.1, "to_per_s": 1}


def test_status_sets() -> None:
    assert words.statuses("200") == (200,)
    assert words.statuses("204,200") == (200, 204)
    assert {200, 201, 204, 206} < set(words.statuses("2xx")) <= set(range(200, 300))
    assert words.statuses("any") == ()


def test_core_lists() -> None:
    assert words.cpus("0,2-4,2") == (0, 2, 3, 4)


def test_headers() -> None:
    assert words.header("Accept:  text/html ") == ("Accept", "text/html")
    assert words.header("X-Empty:") == ("X-Empty", "")


@pytest.mark.parametrize(
    ("parse", "word"),
    [
        (words.time_ns, "0s"),
        (words.time_ns, "-1s"),
        (words.time_ns, "10 parsecs"),
        (words.time_ns, ""),
        (words.time_ns, "9000h"),
        (words.slice_ns, "2h"),
        (words.slice_ns, "999us"),
        (words.whole, "0"),
        (words.whole, "1.5"),
        (words.whole, "-3"),
        (words.whole, "1" + "0" * 16),
        (words.rate_per_s, "0"),
        (words.rate_per_s, "nan"),
        (words.rate_per_s, "inf"),
        (words.stage, "10s"),
        (words.stage, "10s:"),
        (words.stage, "10s:5.."),
        (words.stage, "10s:..5"),
        (words.stage, "10s:-1"),
        (words.rate_per_s, "6/d"),
        (words.rate_per_s, "/m"),
        (words.statuses, "2x"),
        (words.statuses, "000"),
        (words.cpus, "3-1"),
        (words.cpus, "a"),
        (words.header, "no colon"),
        (words.header, ": value"),
        (words.header, "A: b\r\nEvil: yes"),
        (words.method, "GET /"),
        (words.readable_file, "/nonexistent/file"),
        (words.readable_file, "/"),
    ],
)
def test_what_is_no_value_is_refused_by_name(parse: Callable[[str], object], word: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        parse(word)


@given(st.text())
def test_no_text_breaks_a_parser(word: str) -> None:
    for parse in (
        words.time_ns,
        words.whole,
        words.rate_per_s,
        words.stage,
        words.statuses,
        words.cpus,
        words.header,
    ):
        try:
            parse(word)
        except argparse.ArgumentTypeError as refusal:
            assert str(refusal)


@given(st.integers(min_value=1, max_value=10**9))
def test_times_keep_their_value(number: int) -> None:
    assert words.time_ns(f"{number}us") == number * 1000


def test_a_readable_file_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "body.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert words.readable_file("body.json") == str(tmp_path / "body.json")
