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
    assert {"H1", "R5"} <= codes("```\nab -n 10000 -c 1 http://127.0.0.1:8001/\n```\n\n" + rows)


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
