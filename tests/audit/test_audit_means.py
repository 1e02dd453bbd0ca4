"""W6, W7, A1, S1 and S7 in the words of commands, names and sentences; each with its innocent twin."""

from __future__ import annotations

import pytest
from auditing import MACHINE, audited, codes, wrk

TABLE = "By wrk -c 64.\n\n| server | req/s |\n|---|---|\n| {a} | 12,000 |\n| {b} | 9,000 |\n\n"
FAIR = TABLE.format(a="foo", b="bar")


def started(one: str, other: str) -> str:
    return MACHINE + f"## foo\n\n```\n$ {one}\n{wrk()}```\n\n## bar\n\n```\n$ {other}\n{wrk()}```\n"


UNEQUAL = [
    TABLE.format(a="foo (4 workers)", b="bar (1 worker)"),
    TABLE.format(a="foo, single process", b="bar, 8 processes"),
    started("gunicorn -w 4 foo:app", "uvicorn bar:app --workers 1"),
    started("WEB_CONCURRENCY=2 foo", "WEB_CONCURRENCY=8 bar"),
    FAIR + "foo was run with 4 workers, and bar with 1 worker.\n",
    FAIR + "Note that foo is single-threaded while bar uses all 8 cores.\n",
]
EQUAL = [
    TABLE.format(a="foo (4 workers)", b="bar (4 workers)"),
    TABLE.format(a="foo (4 workers)", b="foo (8 workers)"),
    TABLE.format(a="foo (4 workers)", b="bar"),
    started("gunicorn -w 4 foo:app", "uvicorn bar:app --workers 4"),
    started("gunicorn -w 4 foo:app", "bar serve"),
    FAIR + "foo and bar were run with 4 workers and 64 connections.\n",
    FAIR + "foo uses all 8 cores.\n",
]


@pytest.mark.parametrize("text", UNEQUAL)
def test_unequal_means_are_found(text: str) -> None:
    assert "W6" in codes(text)


@pytest.mark.parametrize("text", EQUAL)
def test_equal_means_are_left_alone(text: str) -> None:
    assert "W6" not in codes(text)


@pytest.mark.parametrize(
    "line",
    [
        "$ uvicorn app:app --reload",
        "$ php -S 0.0.0.0:8000 index.php",
        "$ bin/rails server",
        "$ npm run dev",
        "$ fastapi dev main.py",
        "$ ts-node server.ts",
        "Server Software:        Werkzeug/2.0.1",
    ],
)
def test_a_server_for_developing_is_found(line: str) -> None:
    assert "W7" in codes(started(line.removeprefix("$ "), "bar"))


@pytest.mark.parametrize(
    "line", ["uvicorn app:app", "rails s -e production", "npm start", "ts-node bench.ts # wrk"]
)
def test_a_server_for_people_is_left_alone(line: str) -> None:
    assert "W7" not in codes(started(line, "bar"))


@pytest.mark.parametrize(
    "machine",
    [
        "an Intel Core 2 Duo",
        "a 4c/8t Ryzen 5",
        "CPU: 80 %, Cores: 8, memory 16 GB",
        "Intel Core i7 920 CPU, 8 cores",
        "Apple M1 with an 8-core CPU and a 14-core GPU",
        "4 vCPUs",
        "a single core VPS",
        "Total Number of Cores: 4",
        "AMD Ryzen 5 3400G (8) @ 3.700GHz",
        "an old machine with 2 processors",
    ],
)
def test_more_threads_than_the_cores_that_are_named(machine: str) -> None:
    text = MACHINE.replace("an Intel Xeon E5-2680 with 16 cores", machine) + f"```\n{wrk()}```\n"
    assert "A1" in codes(text)


@pytest.mark.parametrize(
    "machine", ["an Intel Xeon 2.4GHz x 12", "12 cores", "a machine", "Intel i7 870 CPU"]
)
def test_no_more_threads_than_cores_or_none_named(machine: str) -> None:
    text = MACHINE.replace("an Intel Xeon E5-2680 with 16 cores", machine) + f"```\n{wrk()}```\n"
    assert "A1" not in codes(text)


def test_a_rate_and_a_duration_tell_the_requests_behind_a_percentile() -> None:
    table = "```\nwrk -c 4 -d 10s http://10.0.0.2/\n```\n\n| server | req/s | p99 (ms) |\n|---|---|---|\n"
    assert "S1" in codes(table + "| foo | 20 | 90 |\n| bar | 30 | 80 |\n")
    assert "S1" not in codes(table + "| foo | 200 | 90 |\n| bar | 300 | 80 |\n")


@pytest.mark.parametrize(
    "sentence",
    [
        "Each was benchmarked for 5 seconds.",
        "hey with 50 clients for 3s.",
        "The tests ran for just 2 seconds.",
    ],
)
def test_words_tell_a_short_run(sentence: str) -> None:
    assert "S7" in codes(FAIR + sentence + "\n")


@pytest.mark.parametrize("sentence", ["Each was benchmarked for 30 seconds.", "Wait for 5 seconds.", ""])
def test_other_seconds_are_no_short_run(sentence: str) -> None:
    assert "S7" not in codes(FAIR + sentence + "\n")


def test_runs_of_one_thing_are_alike() -> None:
    text = MACHINE.replace("Mean of 8 runs", "Measured in the evening")
    runs = "## foo\n\n```\n{a}```\n\n```\n{b}```\n\n## bar\n\n```\n{b}```\n"
    assert "R5" not in codes(text + runs.format(a=wrk(100000.0), b=wrk(90000.0)))
    assert "R5" in codes(text + runs.format(a=wrk(100000.0), b=wrk(20000.0)))


def test_the_highest_times_of_a_closed_loop_in_a_sentence() -> None:
    (told,) = (
        one for one in audited(FAIR + "The max latency of foo was 40 ms.\n").remarks if one.code == "M5"
    )
    assert told.quote == "max latency"


def test_what_starts_a_server_elsewhere_in_a_benchmark_counts_unless_it_is_for_who_develops_it() -> None:
    text = "# HTTP benchmark\n\n## {title}\n\n```\n$ npm run dev\n```\n\n## Numbers\n\n" + FAIR
    assert "W7" in codes(text.format(title="Starting the servers"))
    assert "W7" not in codes(text.format(title="Development"))


def test_examples_in_a_manual_are_not_compared() -> None:
    text = "# Tool\n\n## {a}\n\n### Run\n\n```\n{o}```\n\n# Other\n\n## {b}\n\n```\n{o}```\n"
    assert "R5" not in codes(text.format(a="Basic usage", b="Examples", o=wrk()))
