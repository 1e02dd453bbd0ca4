"""Words of the command line: what is understood, and what is refused in a helpful line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.plan.words import parse


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
    assert parse.time_ns(word) == ns


@pytest.mark.parametrize(("word", "number"), [("1", 1), ("10k", 10_000), ("2m", 2_000_000), ("1,000", 1000)])
def test_whole_numbers(word: str, number: int) -> None:
    assert parse.whole(word) == number


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
    assert parse.rate_per_s(word) == rate


def test_a_stage_holds_a_rate_or_moves_between_two() -> None:
    held = {"duration_ns": 10**10, "from_per_s": 1000, "to_per_s": 1000}
    assert parse.stage("10s:1000") == held
    assert parse.stage("10s:1000..5k") == held | {"to_per_s": 5000}
    assert parse.stage("10s:0..1000") == held | {"from_per_s": 0}
    assert parse.stage("10s:1000..0") == held | {"to_per_s": 0}
    assert parse.stage("10s:0") == held | {"from_per_s": 0, "to_per_s": 0}
    assert parse.stage("10s:6/m..60/m") == held | {"from_per_s": 0.1, "to_per_s": 1}


def test_status_sets() -> None:
    assert parse.statuses("200") == (200,)
    assert parse.statuses("204,200") == (200, 204)
    assert {200, 201, 204, 206} < set(parse.statuses("2xx")) <= set(range(200, 300))
    assert parse.statuses("any") == ()


def test_core_lists() -> None:
    assert parse.cpus("0,2-4,2") == (0, 2, 3, 4)


def test_headers() -> None:
    assert parse.header("Accept:  text/html ") == ("Accept", "text/html")
    assert parse.header("X-Empty:") == ("X-Empty", "")


@pytest.mark.parametrize(
    ("parse", "word"),
    [
        (parse.time_ns, "0s"),
        (parse.time_ns, "-1s"),
        (parse.time_ns, "10 parsecs"),
        (parse.time_ns, ""),
        (parse.time_ns, "9000h"),
        (parse.slice_ns, "2h"),
        (parse.slice_ns, "999us"),
        (parse.whole, "0"),
        (parse.whole, "1.5"),
        (parse.whole, "-3"),
        (parse.whole, "1" + "0" * 16),
        (parse.rate_per_s, "0"),
        (parse.rate_per_s, "nan"),
        (parse.rate_per_s, "inf"),
        (parse.stage, "10s"),
        (parse.stage, "10s:"),
        (parse.stage, "10s:5.."),
        (parse.stage, "10s:..5"),
        (parse.stage, "10s:-1"),
        (parse.rate_per_s, "6/d"),
        (parse.rate_per_s, "/m"),
        (parse.statuses, "2x"),
        (parse.statuses, "000"),
        (parse.cpus, "3-1"),
        (parse.cpus, "a"),
        (parse.header, "no colon"),
        (parse.readable_file, "/nonexistent/file"),
        (parse.readable_file, "/"),
    ],
)
def test_what_is_no_value_is_refused_by_name(parse: Callable[[str], object], word: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        parse(word)


@given(st.text())
def test_no_text_breaks_a_parser(word: str) -> None:
    for reader in (
        parse.time_ns,
        parse.whole,
        parse.rate_per_s,
        parse.stage,
        parse.statuses,
        parse.cpus,
        parse.header,
    ):
        try:
            reader(word)
        except argparse.ArgumentTypeError as refusal:
            assert str(refusal)


@given(st.integers(min_value=1, max_value=10**9))
def test_times_keep_their_value(number: int) -> None:
    assert parse.time_ns(f"{number}us") == number * 1000


def test_a_readable_file_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "body.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert parse.readable_file("body.json") == str(tmp_path / "body.json")
