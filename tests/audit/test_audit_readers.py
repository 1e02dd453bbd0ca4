"""Results are found in the forms that people write them in, and not where none are."""

from __future__ import annotations

import pytest
from auditing import MACHINE, codes, results, wrk

DRAWN = """\
```
Framework     Requests/sec    Latency (avg)
---------------------------------------------
Alder            87,077          1.10ms
Elm              47,077          2.10ms
```
"""
BOXED = """\
```
+-----------+----------+---------+
| framework | req/s    | p99     |
+-----------+----------+---------+
| Alder     | 87077.10 | 3.1 ms  |
| Elm       | 47077.10 | 9.1 ms  |
+-----------+----------+---------+
```
"""
UNIT_ABOVE = """\
Requests per second, measured by wrk from a machine apart:

- Alder: 87,077
- Elm: 47,077
"""
LONG_LIST = """\
- Alder: 87,077 req/s, 1.1ms average latency, and very little memory used during the whole of the run
- Elm: 47,077 req/s, 2.1ms average latency, and rather more memory used during the whole of the run
"""
BY_LOAD = """\
| Concurrency | Alder Thr (RPS) | Elm Thr (RPS) | Alder P95 (ms) | Elm P95 (ms) |
|---|---|---|---|---|
| 10 | 87,077 | 47,077 | 10 | 20 |
"""
CELLS = """\
| Server | 10 clients | 100 clients |
|---|---|---|
| Alder | 87077 req/s | 90000 req/s |
| Elm | 47077 req/s | 49000 req/s |
"""
SENTENCES = """\
Measured by hey. **Alder** handled **87,077** requests per second with an average latency of 1.1 ms.
**Elm** handled **47,077** requests per second with an average latency of 2.1 ms.
"""
VERSUS = "By wrk, Alder achieved 87,077 RPS vs Elm's 47,077 RPS.\n"


@pytest.mark.parametrize("text", [DRAWN, BOXED, UNIT_ABOVE, LONG_LIST, BY_LOAD, CELLS, SENTENCES, VERSUS])
def test_names_and_rates_are_read(text: str) -> None:
    found = {(one.label, round(one.figures["rate"].value.middle)) for one in results(text)}
    assert {("Alder", 87077), ("Elm", 47077)} <= found


@pytest.mark.parametrize(
    "text",
    [
        "By wrk: the limit is 100 requests per second for Alder, and 50 requests per second for Elm.\n",
        "Alder should handle 100 req/s, and Elm would handle 50 req/s (hey).\n",
        "```\nName    Value    Notes\nport    8080     none\nhost    9090     none\n```\n",
        "Ports:\n\n- Alder: 8080\n- Elm: 9090\n",
        "| Year | Alder | Elm |\n|---|---|---|\n| 2020 | 12 | 14 |\n",
    ],
)
def test_what_is_no_result_is_not_read_as_one(text: str) -> None:
    assert results(text) == ()


def test_figures_without_a_unit_are_results_where_a_command_says_of_what() -> None:
    rows = "| Concurrency | Alder | Elm |\n|---|---|---|\n| 1 | 4300 | 4100 |\n| 8 | 5300 | 9500 |\n"
    assert results(rows) == ()
    assert {"A2", "R5"} <= codes("```\nab -n 10000 -c 1 http://127.0.0.1:8001/\n```\n\n" + rows)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("With Alder:", "Results using the Elm web framework:"),
        ("Benchmark of Alder", "Here are the results for Elm"),
    ],
)
def test_the_words_before_an_output_name_it(first: str, second: str) -> None:
    text = f"{first}\n\n```\n{wrk()}```\n\n{second}\n\n```\n{wrk()}```\n"
    assert [one.label.split()[0] for one in results(text)] == ["Alder", "Elm"]


def test_a_heading_with_an_address_in_brackets_is_a_name() -> None:
    text = "# Results\n\n## 1: Alder (https://alder.example)\n\n```\n{a}```\n\n## 2: Elm (https://elm.example)\n\n```\n{a}```\n"
    assert [one.label[:6] for one in results(text.format(a=wrk()))] == ["1: Ald", "2: Elm"]


def test_outputs_under_one_heading_that_ask_two_ports_are_of_two_servers() -> None:
    one, other = wrk(), wrk(size="800.00MB").replace(":8080", ":8081")
    assert "W3" in codes(MACHINE + f"# Both\n\n```\n{one}```\n\n```\n{other}```\n")
    assert "W3" not in codes(MACHINE + f"# Both\n\n```\n{one}```\n\n```\n{wrk(size='800.00MB')}```\n")


def test_a_load_in_words_is_that_of_the_table() -> None:
    rows = (
        "| server | req/s | latency avg (ms) | errors |\n|---|---|---|---|\n"
        "| foo | 20 | 90 | 30 |\n| bar | 30 | 80 | 0 |\n"
    )
    told = "wrk with 4 threads and 50 concurrent connections, 30 seconds per run on a dual core machine.\n\n"
    assert {"W2", "M1", "A1"} <= codes(told + rows)
    assert not {"W2", "M1"} & codes(told.replace("50", "2 or 50").replace("30 s", "20 or 30 s") + rows)
    several = (
        "Load by wrk with 4 connections, then with 50 connections, for 30 seconds, then for 60 seconds.\n\n"
    )
    assert not {"W2", "M1", "A1"} & codes(several + rows)


def test_times_are_results_where_something_says_that_they_are_of_requests() -> None:
    table = "| {name} | Latency (ms) | p99 (ms) |\n|---|---|---|\n| foo | 1 | 9 |\n| bar | 2 | 8 |\n"
    assert results(table.format(name="parser")) == ()
    assert results("Measured by wrk.\n\n" + table.format(name="parser"))
    assert results(table.format(name="HTTP server"))


def test_the_highest_rates_are_rates_where_there_are_no_others() -> None:
    table = "| server | Max RPS |{more}\n|---|---|{rule}\n| foo | 12,000 |{a}\n| bar | 9,000 |{b}\n"
    alone = table.format(more="", rule="", a="", b="")
    beside = table.format(more=" Avg RPS |", rule="---|", a=" 11,000 |", b=" 8,000 |")
    assert [one.figures["rate"].value.middle for one in results(alone)] == [12000, 9000]
    assert [one.figures["rate"].value.middle for one in results(beside)] == [11000, 8000]


@pytest.mark.parametrize(
    ("machine", "named"),
    [("a 512MB droplet", True), ("an EC2 c5.large", True), ("DigitalOcean", False), ("CPU: 80 %", False)],
)
def test_a_cloud_by_itself_is_no_machine(machine: str, named: bool) -> None:
    text = f"By wrk -c 8 on {machine}.\n\n| server | req/s |\n|---|---|\n| foo | 12,000 |\n| bar | 9,000 |\n"
    assert ("R3" not in codes(text)) is named


@pytest.mark.parametrize(
    "words", ["on localhost", "all tests were run locally", "on the same EC2 instance as the server"]
)
def test_words_tell_that_client_and_server_were_together(words: str) -> None:
    table = "\n\n| server | req/s |\n|---|---|\n| foo | 12,000 |\n| bar | 9,000 |\n"
    assert "A2" in codes(f"We ran wrk, {words}." + table)
    assert "A2" not in codes("We ran wrk on another machine." + table)


def test_a_table_tells_short_runs() -> None:
    table = (
        "| server | req/s | time taken (s) |\n|---|---|---|\n| foo | 12,000 | {a} |\n| bar | 9,000 | {a} |\n"
    )
    assert "S7" in codes(table.format(a="4.1"))
    assert "S7" not in codes(table.format(a="41.0"))


TWO_ROWS = "\n\n| server | req/s |\n|---|---|\n| foo | 12,000 |\n| bar | 9,000 |\n"


@pytest.mark.parametrize(
    "words",
    [
        "We ran wrk twice against each.",
        "autocannon -c 100 -d 40 http://10.0.0.2 two times, taking the second average.",
    ],
)
def test_wordings_of_few_runs(words: str) -> None:
    assert "S5" in codes(words + TWO_ROWS)
    assert "R5" not in codes(words + TWO_ROWS)


@pytest.mark.parametrize(
    "words", ["measured each three times, picking the best lap", "reporting our best result"]
)
def test_wordings_of_the_best_run(words: str) -> None:
    assert "R9" in codes(f"We ran wrk, {words}." + TWO_ROWS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("wrk 4.1.0 on macOS 10.15.7", False),
        ("wrk, kernel 5.4.12", False),
        ("wrk, GET /api/v1/users", False),
        ("wrk, foo 1.2.3", True),
        ("wrk, Server: Apache/2.4.52", True),
        ("wrk, https://foo.example/tree/v1.4.0", True),
        ("wrk on macOS 10.15.7, node v18", True),
    ],
)
def test_the_version_of_a_system_or_of_the_load_tool_is_none_of_the_compared(words: str, told: bool) -> None:
    assert ("R4" not in codes(words + TWO_ROWS)) is told


def test_ab_prints_a_spread_that_is_none_between_runs() -> None:
    lines = "              min  mean[+/-sd] median   max\nConnect:        0    1   2.2      0      15\n"
    assert "R5" in codes("Measured by ab.\n" + lines + TWO_ROWS)


@pytest.mark.parametrize(
    ("tool", "closed"), [("k6", True), ("plow", True), ("k6 by arrival rate", False), ("vegeta", False)]
)
def test_what_is_known_of_a_tools_loop(tool: str, closed: bool) -> None:
    table = "\n\n| server | req/s | p99 (ms) |\n|---|---|---|\n| foo | 12,000 | 9 |\n| bar | 9,000 | 8 |\n"
    assert ("M5" in codes(f"Measured by {tool}." + table)) is closed


def test_sections_of_two_languages_are_compared_where_nothing_else_is() -> None:
    text = "# Go\n\n## Gin\n\n```\n{a}```\n\n# Rust\n\n## Actix\n\n```\n{a}```\n"
    assert {"R4", "R5"} <= codes(text.format(a=wrk()))
    assert "R5" not in codes(text.replace("Gin", "GET").replace("Actix", "POST").format(a=wrk()))


def test_a_table_tells_what_was_offered_and_what_came() -> None:
    head = "| server | Target RPS | Achieved RPS |\n|---|---|---|\n"
    rows = head + "| foo | 10,000 | {a} |\n| bar | 10,000 | 9,990 |\n"
    assert [one.figures["rate"].value.middle for one in results(rows.format(a="8,000"))] == [8000, 9990]
    assert "G3" in codes(rows.format(a="8,000"))
    assert "G3" not in codes(rows.format(a="9,980"))


def test_a_table_tells_the_deviation_of_its_times() -> None:
    head = "| server | Latency avg | Latency Stdev |\n|---|---|---|\n"
    rows = head + "| foo | 2.0 ms | {a} |\n| bar | 3.0 ms | 1.0 ms |\n"
    assert "S2" in codes("By wrk.\n\n" + rows.format(a="4.0 ms"))
    assert "S2" not in codes("By wrk.\n\n" + rows.format(a="0.9 ms"))
