"""Values as Go writes and reads them, the bar's places, and the two kinds of statistics."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.dropin.bombardier import command, flags, golang, report
from assay.dropin.bombardier.golang import KingpinMisuse
from assay.dropin.bombardier.plan import plan
from assay.dropin.bombardier.report import BombardierFigures
from assay.dropin.reports import Tally

S = 10**9


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("10s", 10 * S),
        ("1m30s", 90 * S),
        ("1.5h", 5400 * S),
        ("100ms", S // 10),
        ("7us", 7000),
        ("7µs", 7000),
        ("-2s", -2 * S),
        ("+3ns", 3),
        ("0", 0),
        (".5s", S // 2),
        ("1h0m0.001s", 3600 * S + 10**6),
    ],
)
def test_durations_are_read(text: str, ns: int) -> None:
    assert golang.duration_ns(text) == ns


@pytest.mark.parametrize("text", ["", "s", "5", "5x", "1s5", "--1s", ".s", "1 s", "99999999999h", "1e3s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="time: "):
        golang.duration_ns(text)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0s"),
        (10 * S, "10s"),
        (61 * S, "1m1s"),
        (3600 * S, "1h0m0s"),
        (1_500_000_000, "1.5s"),
        (200_000_000, "200ms"),
        (1_500, "1.5µs"),
        (7, "7ns"),
        (-S, "-1s"),
    ],
)
def test_durations_are_written(ns: int, text: str) -> None:
    assert golang.duration(ns) == text


@given(st.integers(-(2**62), 2**62))
def test_a_written_duration_reads_as_itself(ns: int) -> None:
    assert golang.duration_ns(golang.duration(ns)) == ns


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (85.40968028956212, "85.40968028956212"),
        (9353.0, "9353"),
        (0.0, "0"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e-7, "1.5e-07"),
        (0.0001, "0.0001"),
        (0.999979735, "0.999979735"),
        (math.inf, "+Inf"),
    ],
)
def test_numbers_have_the_fewest_digits(value: float, text: str) -> None:
    assert golang.number(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_number_reads_as_itself(value: float) -> None:
    assert float(golang.number(value)) == value


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('a"b\\', '"a\\"b\\\\"'),
        ("ä\n", '"ä\\n"'),
        ("\x01\x7f", '"\\x01\\x7f"'),
        ("\udcff\u200b", '"\\xff\\u200b"'),
    ],
)
def test_strings_are_quoted(text: str, quoted: str) -> None:
    assert golang.quoted(text) == quoted


@pytest.mark.parametrize(("text", "number"), [("125", 125), ("0x10", 16), ("010", 8), ("1_0", 10)])
def test_numbers_are_read(text: str, number: int) -> None:
    assert golang.unsigned(text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "18446744073709551616", "x"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="strconv.ParseUint: parsing"):
        golang.unsigned(text)


@pytest.mark.parametrize(
    ("value_us", "text"),
    [
        (849, "849.00us"),
        (850, "0.85ms"),
        (8660, "8.66ms"),
        (850_000, "0.85s"),
        (1e6, "1.00s"),
        (51e6, "0.85m"),
        (3060e6, "0.85h"),
    ],
)
def test_times_take_the_next_unit_at_85_percent(value_us: float, text: str) -> None:
    assert report.time_us(value_us) == text


def test_bytes_have_units() -> None:
    assert [report.binary(value) for value in (0, 870, 871, 18_203_279)] == [
        "0.00",
        "870.00",
        "0.85KB",
        "17.36MB",
    ]


@given(st.integers(0, 10_000), st.integers(1, 10_000), st.integers(1, 200))
def test_a_bar_fills_its_places(current: int, total: int, size: int) -> None:
    assume(current <= total)
    bar = command.drawn(current, total, size)
    assert len(bar) == size + 2
    assert (bar.count("=") == size) == (current / total * size > size - 1)
    assert ("-" * size in bar) == (current == 0)


def test_what_is_left_is_told_in_minutes_and_more() -> None:
    assert [command.span(s) for s in (3, 61, 3661, 90_000)] == [
        "00m03s",
        "01m01s",
        "01h01m01s",
        "1d01h00m00s",
    ]


def made(
    values: list[int], strict: bool, rates: tuple[float, ...] = (100.0, 100.0, 400.0)
) -> BombardierFigures:
    tally = Tally.of(values)
    exact = (tally.mean, 1.25)
    return BombardierFigures(2 * S, 0, 0, (0, 0, 0, 0, 0), 0, (), tally, exact, rates, 500, strict)


def test_by_default_every_value_counts_and_the_rate_is_that_of_the_run() -> None:
    times = made([10, 10, 10, 40], strict=False).latency_stats((0.5, 0.75, 0.99))
    assert times is not None
    assert (times.mean, times.stddev, times.max) == (17.5, 1.25, 40)
    assert list(times.percentiles.values()) == [10, 10, 40]
    rates = made([1], strict=False).rate_stats((0.5,))
    assert rates is not None
    assert (rates.mean, rates.max, rates.percentiles[0.5]) == (250.0, 400.0, 100.0)
    assert rates.stddev == pytest.approx(math.sqrt((100**2 + 100**2 + 200**2) / 2))


def test_strictly_a_value_counts_once_and_the_rate_is_the_mean_of_samples() -> None:
    times = made([10, 10, 10, 40], strict=True).latency_stats((0.5, 0.75, 0.99))
    assert times is not None
    assert times.stddev == pytest.approx(math.sqrt((7.5**2 + 22.5**2) / 4))
    assert made([10, 40], strict=True).latency_stats() != made([10, 40], strict=False).latency_stats()
    rates = made([1], strict=True).rate_stats()
    assert rates is not None
    assert rates.mean == 200.0
    assert rates.stddev == pytest.approx(math.sqrt((100**2 + 200**2) / 2))
    assert made([], strict=True).latency_stats() is None


def test_strictly_two_samples_have_no_deviation() -> None:
    two = (100.0, 400.0)
    strict, exact = (made([1], strict=strict, rates=two).rate_stats() for strict in (True, False))
    assert strict is not None and exact is not None
    assert strict.stddev == 0.0
    assert exact.stddev == pytest.approx(300 / math.sqrt(2))


def test_strict_times_are_those_of_each_request() -> None:
    found = flags.read(["-n", "5", "http://127.0.0.1:1/"])
    assert plan(found, strict=True).request_log == "times"
    assert plan(found, strict=False).request_log == "off"


@pytest.mark.parametrize(
    ("url", "bad"),
    [
        ("http://h:65535/", ""),
        ("http://h:65536/", "65536"),
        ("h:99999999999999999999", "99999999999999999999"),
        ("https://u:70000@h:70001/:70002", "70001"),
        ("http://[::1]:70000/", "70000"),
        ("http://[::1]/", ""),
        ("h:00080", ""),
    ],
)
def test_a_port_that_is_none_is_kept_as_it_is_written(url: str, bad: str) -> None:
    assert flags.read([url]).bad_port == bad


words = st.one_of(
    st.sampled_from([f"-{letter}" for letter in "ctlmbfskaHnrdpqo"]),
    st.sampled_from(
        ["--connections=3", "--no-latencies", "--no-print", "--http1", "--cert", "--print=i,r", "--", "-"]
    ),
    st.sampled_from(
        ["5", "10s", "GET", "a:b", "host/x", "http://HOST:8/", "json", "http://[::1", "http://h:99999"]
    ),
    st.text(st.characters(exclude_characters="@", codec="utf-8"), max_size=6),
)


@given(st.lists(words, max_size=6))
def test_any_command_line_is_taken_or_refused_in_a_line(line: list[str]) -> None:
    try:
        found = flags.read(line)
        flags.check(found)
    except (KingpinMisuse, flags.Wrong) as problem:
        assert str(problem)
    except flags.HelpAsked as asked:
        assert asked.what in ("help", "help-long", "help-man", "version")
    else:
        assert found.connections > 0
        assert found.text.startswith(("http://", "https://"))


def test_the_last_client_wins_and_only_headers_are_repeated() -> None:
    found = flags.read(["-c2", "u", "--http2", "--fasthttp", "-H", "A: 1", "-H", "A: 2", "-n5", "-d3s"])
    assert (found.connections, found.client, found.requests) == (2, "fasthttp", 5)
    assert found.headers == (("A", "1"), ("A", "2"))
    assert found.text == "http://u"
    with pytest.raises(KingpinMisuse, match="flag 'connections' cannot be repeated"):
        flags.read(["-c1", "--connections=2", "u"])


@pytest.mark.parametrize(
    ("words", "again"),
    [
        ((), True),
        (("--fasthttp", "-m", "PUT"), True),
        (("--http1",), True),
        (("--http1", "-m", "HEAD"), True),
        (("--http1", "-m", "PUT"), False),
        (("--http2", "-m", "DELETE"), False),
    ],
)
def test_a_request_is_sent_again_as_the_client_of_go_does(words: tuple[str, ...], *, again: bool) -> None:
    assert plan(flags.read([*words, "http://127.0.0.1:9/"]), strict=False).resend is again
