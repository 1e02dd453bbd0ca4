"""wrk's command line: what is accepted, what is refused; generated lines go to the original too."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.dropin.wrk import flags
from assay.dropin.wrk.command import main

REFUSED = "http://127.0.0.1:1/"
"""Nobody listens on port 1: a command line that is accepted ends there, and nothing is sent."""


def read(*words: str) -> flags.WrkFlags:
    return flags.read(words, lambda: None)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("1k", 1000), ("1K", 1000), ("2M", 2_000_000), ("3 k", 3000), (" 7", 7), ("1P", 10**15)],
)
def test_metric_numbers(text: str, value: int) -> None:
    assert flags.scan(text, flags.METRIC) == value


@pytest.mark.parametrize("text", ["", "x", "10x", "1kk", "1.5k", "k", "1s"])
def test_what_is_no_metric_number(text: str) -> None:
    assert flags.scan(text, flags.METRIC) is None


@pytest.mark.parametrize(("text", "seconds"), [("9", 9), ("9s", 9), ("2m", 120), ("1M", 60), ("1h", 3600)])
def test_times(text: str, seconds: int) -> None:
    assert flags.scan(text, flags.TIME) == seconds


@pytest.mark.parametrize("text", ["1ms", "0.5s", "1d", "s"])
def test_what_is_no_time(text: str) -> None:
    assert flags.scan(text, flags.TIME) is None


@pytest.mark.parametrize(
    ("text", "path", "authority"),
    [
        ("http://h", "/", "h"),
        ("http://h?q=1", "/", "h"),
        ("http://h:80/a?b#c", "/a?b#c", "h:80"),
        ("http://u:p@h:1/x", "/x", "h:1"),
        ("http://[::1]:8/x", "/x", "[::1]:8"),
    ],
)
def test_urls(text: str, path: str, authority: str) -> None:
    found = flags.parse_url(text)
    assert found is not None
    assert (found.path, found.authority) == (path, authority)


@pytest.mark.parametrize(
    "text", ["h/x", "http:/h", "http://", "http://h:/", "http://h:99999/", "http://h#f", "http://h/ä"]
)
def test_what_is_no_url(text: str) -> None:
    assert flags.parse_url(text) is None


def test_words_behind_the_url_go_to_the_script() -> None:
    found = read("-t1", REFUSED, "-c", "3", "--", "-x", "y")
    assert (found.connections, found.rest) == (3, ("-x", "y"))


def test_a_fixed_rate_is_wrk2s() -> None:
    found = read("-R", "2k", "-U", REFUSED)
    assert (found.rate_per_s, found.percentiles, found.uncorrected) == (2000, True, True)


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(flags.Refused):
        read("-R0", REFUSED)


ARGUMENT = st.sampled_from(
    [
        "1",
        "2",
        "0",
        "10",
        "1k",
        "1K ",
        "x",
        "",
        "-1",
        "+2",
        "3s",
        "1m",
        "1M",
        "2h",
        "1.5",
        "1kk",
        "99999999999999999999",
    ]
)
OPTION = st.one_of(
    st.tuples(
        st.sampled_from(["-t", "-c", "-d", "-T", "--threads", "--connections", "--dur", "--timeout"]),
        ARGUMENT,
    ),
    st.builds(lambda name, value: (f"{name}{value}",), st.sampled_from(["-t", "-c", "-d", "-T"]), ARGUMENT),
    st.builds(
        lambda name, value: (f"{name}={value}",),
        st.sampled_from(["--threads", "--conn", "--duration", "--timeout", "--latency", "--t", "--th"]),
        ARGUMENT,
    ),
    st.sampled_from(
        [("-L",), ("--latency",), ("--lat",), ("-v",), ("--version",), ("--help",), ("-h",), ("-r",)]
    ),
    st.sampled_from(
        [("-?",), ("--",), ("-",), ("--nothing",), ("-Lv",), ("-Lt2",), ("-Lx",), ("-t",), ("--threads",)]
    ),
    st.tuples(st.sampled_from(["-H", "--header"]), st.sampled_from(["A: b", "nothing", "A:b", ""])),
)
ADDRESS = st.sampled_from(
    [
        REFUSED,
        "http://127.0.0.1:1",
        "http://u:p@127.0.0.1:1/x",
        "http://[::1]:1/",
        "ftp://127.0.0.1:1/",
        "http://",
        "127.0.0.1:1",
        "http:/127.0.0.1:1/",
        "http://127.0.0.1:1/a b",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:/",
        "http://127.0.0.1:1#f",
        "http://127.0.0.1:1?q",
        "http://a@b@127.0.0.1:1/",
        "http://127.0.0.1:1/\u00e4",
        "",
    ]
)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    parts = [list(option) for option in draw(st.lists(OPTION, max_size=4))]
    parts += [[address] for address in draw(st.lists(ADDRESS, max_size=2))]
    return [word for part in draw(st.permutations(parts)) for word in part]


def told(code: int, out: str, err: str) -> tuple[int, list[str], str]:
    """The exit code, what kinds of lines were printed, and the errors."""
    kinds = [re.match(r"wrk (?=\S)|Usage: wrk|  Options:|", line) for line in out.splitlines()]
    return code, [kind[0] for kind in kinds if kind and kind[0]], err


@pytest.mark.skipif(not shutil.which("wrk"), reason="the original wrk is not installed")
@settings(max_examples=400, deadline=None)
@given(command_lines())
def test_generated_command_lines_are_taken_as_the_original_takes_them(words: list[str]) -> None:
    original = subprocess.run(["wrk", *words], capture_output=True, text=True, timeout=60, check=False)
    # The original allocates a counter for each µs of the timeout, and aborts where it cannot.
    assume(original.returncode >= 0)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    assert told(code, out.getvalue(), err.getvalue()) == told(
        original.returncode, original.stdout, original.stderr
    )
