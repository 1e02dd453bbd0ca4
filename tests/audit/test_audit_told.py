"""Results told in other ways than a tool's whole report: a figure a line, cut reports, lists, tables."""

from __future__ import annotations

import pytest
from auditing import MACHINE, audited, codes, results, wrk
from hypothesis import given, settings
from hypothesis import strategies as st

FIELDS = """\
## {name}

- **Requests/sec**: {rate}
- Total requests: {requests}
- Latency avg: 2.54 ms
- Latency p99: 3.56 ms
- Latency max: 242.60 ms

"""


def fields(name: str = "Alder", rate: str = "3,929.3", requests: str = "117,879") -> str:
    return FIELDS.format(name=name, rate=rate, requests=requests)


def test_a_figure_a_line_is_a_result() -> None:
    (found,) = results(fields())
    assert found.label == "Alder"
    assert {name: figure.value.middle for name, figure in found.figures.items()} == pytest.approx(
        {"rate": 3929.3, "requests": 117879, "mean": 0.00254, "max": 0.2426, "p99": 0.00356}
    )
    assert found.percentiles[99.0].value.middle == pytest.approx(0.00356)


def test_figures_under_two_headings_are_compared() -> None:
    found = audited(fields() + fields("Birch", "2,000.0"))
    assert [(a.label, b.label) for a, b in found.evidence.compared] == [("Alder", "Birch")]
    assert {"R3", "R4", "R5"} <= {remark.code for remark in found.remarks}


def test_one_result_may_go_on_under_headings_of_its_parts() -> None:
    text = "# Report\n\n## Summary\n\n- **Requests**: 10\n- **Success Rate**: 50.00%\n"
    text += "- **Latency (p95)**: 18 ms\n\n## Latency Statistics\n\n- **Mean**: 6.9 ms\n- **99%**: 18.8 ms\n"
    (found,) = results(text)
    assert found.percentiles.keys() == {95.0, 99.0}
    assert {"W2", "S1", "R10"} <= codes(text)


@pytest.mark.parametrize(
    "text",
    [
        "# Tests\n\n- Tests: 12 passed\n- Time: 2.31 s\n- Max: 3 s\n- Mean: 1 s\n",
        "# Config\n\n- Timeout: 30 s\n- Max connections: 100\n- Retries: 5\n",
        "# Limits\n\n- Requests: 100\n- Burst: 20\n- Window: 60 s\n",
        "# Bench of a parser\n\n```\nmin: 1.2 ms\nmean: 1.4 ms\nmax: 2.0 ms\nstddev: 0.1 ms\n```\n",
        "# 1.2.0\n\n- Throughput: 20 % better\n- Latency: fixed in #123\n- Requests: 3 bugs\n",
        "# Size\n\n- size: 12 kB\n- total: 14 ms\n- requests: 2\n",
        "# Service level\n\nRate limit: 100 req/s\nTimeout: 5 s\n",
        "# Install\n\nnpm 10.2: 5 packages\nnode 20: 3 s\n",
    ],
)
def test_figures_of_something_else_are_no_result(text: str) -> None:
    assert not results(text) and not codes(text)


def test_percentiles_of_ab_alone_are_a_result() -> None:
    rows = "".join(f"  {q}%  {100 + q}\n" for q in (50, 66, 75, 80, 90, 95, 98, 99))
    text = "ab -n 1000 -c 250 http://localhost:8080/\n\n```\nPercentage of the requests served within a "
    text += f"certain time (ms)\n{rows} 100%  900 (longest request)\n```\n"
    (found,) = results(text)
    assert found.tool == "ab" and found.percentiles[99.0].value.middle == pytest.approx(0.199)
    assert {"A2", "A3"} <= codes(text)


def test_the_last_lines_of_wrk_are_a_result() -> None:
    text = "# Foo\n\n```\nRequests/sec: 425484.66\nTransfer/sec:     20.29MB\n```\n"
    (found,) = results(text)
    assert found.tool == "wrk" and found.label == "Foo"


def test_a_name_between_two_outputs_of_one_listing_is_the_second_ones() -> None:
    body = "\n".join(wrk().splitlines()[2:])
    first, second = results(f"## Node\n\n```\n#=> ALDER\n{body}\n\n#=> BIRCH\n{body}\n```\n")
    assert (first.label, second.label) == ("ALDER", "BIRCH")


def test_every_line_of_an_output_may_be_an_item_or_a_heading() -> None:
    lines = ["Concurrency Level: 10", "#### Time taken for tests: 10.009 seconds"]
    lines += ["#### Complete requests: 801", "Failed requests: 780", "Non-2xx responses: 781"]
    lines += ["#### Requests per second: 80.03 [#/sec] (mean)"]
    text = "".join(f"- {line}\n" for line in lines)
    text += "\n#### Percentage of the requests served within a certain time (ms)\n\n- 50% 79\n- 99% 451\n"
    (found,) = results("# GET\n\n" + text)
    assert found.percentiles.keys() == {50.0, 99.0} and "rate" in found.figures
    (told,) = [one for one in audited("# GET\n\n" + text).remarks if one.code == "W2"]
    assert "781 of 801" in told.arithmetic


def output(title: str, rate: float = 100_000.0) -> str:
    return f"## {title}\n\n```\n{wrk(rate)}```\n\n"


@pytest.mark.parametrize(
    ("one", "other"), [("before", "after"), ("v2.41.0", "v2.42.0"), ("PHP 5.6", "PHP 7.0")]
)
def test_versions_of_one_thing_are_compared(one: str, other: str) -> None:
    told = codes(output(one) + output(other, 90_000.0))
    assert "R5" in told
    assert "R4" not in told


@pytest.mark.parametrize(("one", "other"), [("JSON", "Plaintext"), ("10 connections", "20 connections")])
def test_loads_of_one_thing_are_not(one: str, other: str) -> None:
    assert "R5" not in codes(output(one) + output(other, 90_000.0))


def test_like_headings_under_two_names_are_compared_with_each_other_only() -> None:
    nested = "".join(
        f"## {name}\n\n" + "".join(f"#{output(route)}" for route in ("JSON", "Plaintext"))
        for name in ("Alder", "Birch")
    )
    found = audited(f"# Results\n\n{nested}").evidence.compared
    assert [(a.label, a.group, b.label) for a, b in found] == [
        ("Alder", "JSON", "Birch"),
        ("Alder", "Plaintext", "Birch"),
    ]


def test_a_table_is_of_the_command_just_above_it() -> None:
    table = "| server | req/s | Slowest |\n|---|---|---|\n| foo | 9,000 | 0.1 |\n| bar | 8,000 | 0.2 |\n\n"
    text = f"`hey -c 50 http://h/`\n\n{table}`wrk -c 512 -t 8 http://h/`\n\n{table}"
    found = audited(text).evidence.rows
    told = [one.get("connections") for one in found]
    assert [one.value.middle for one in told if one is not None] == [50, 50, 512, 512]
    assert (
        len([one for one in audited(text).remarks if one.code == "M5"])
        + len(next(one for one in audited(text).remarks if one.code == "M5").also)
        == 2
    )


def test_a_cell_may_tell_the_command() -> None:
    text = (
        "| Param | Value |\n|---|---|\n| Requests/sec | 213.00 |\n| Command | wrk -c 4 http://localhost/ |\n"
    )
    assert "A2" in codes(text)


def test_what_was_wanted_is_no_result() -> None:
    text = "By k6.\n\n| Metric | Value | Target |\n|---|---|---|\n| Throughput | 19.6 req/s | > 100 req/s |\n"
    text += "| Total requests | 3,765 | - |\n| Error rate | 31.77% | < 5% |\n"
    (found,) = results(text)
    assert found.figures["rate"].value.middle == pytest.approx(19.6)
    assert "W2" in codes(text) and not {"R4", "R5"} & codes(text)


def test_a_count_in_ten_seconds_is_a_rate() -> None:
    text = "By autocannon.\n\n| server | Average hits / 10s |\n|---|---|\n| foo | 81019 |\n| bar | 224420 |\n"
    first, _ = results(text)
    assert first.figures["rate"].value.middle == pytest.approx(8101.9)


def test_bytes_of_one_protocol_are_not_held_against_the_rates_of_two() -> None:
    text = "By wrk -c 4.\n\n| proxy | HTTP/1.1 Req/sec | HTTP/2 Req/sec | Transfer/sec (HTTP/1.1) |\n"
    text += "|---|---|---|---|\n"
    text += "| foo | 100,000 | 90,000 | 400MB |\n| bar | 10,000 | 1,400 | 40MB |\n"
    assert "W3" not in codes(text)


def test_a_tolerance_of_its_own_column_is_the_spread() -> None:
    text = "| client | Samples | Result | Tolerance |\n|---|---|---|---|\n"
    text += "| foo | 15 | 5700 req/sec | ± 2.91 % |\n| bar | 10 | 5800 req/sec | ± 2.30 % |\n"
    told = codes(text)
    assert "A4" in told and "R5" not in told


def test_lists_may_name_behind_or_beside_the_figure() -> None:
    first, second = results(
        "```\n- 2020/05/22: 5212.12 req/s, 626.07KB/s [Extra]\n- 6669.87 req/s, 977.03KB/s [Raw]\n```\n"
    )
    assert (first.label, second.label) == ("Extra", "Raw")
    assert "transfer" in first.figures
    alder, birch = results("```\nalder (2 workers)   640 r/s\nbirch (2 workers)   1100 r/s\n```\n")
    assert (alder.label, birch.label) == ("alder (2 workers)", "birch (2 workers)")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("ali --rate 5500 http://127.0.0.1:8000/", {"A2"}),
        ("plow http://localhost:8080 -c 20 -d 5s", {"A2", "S7"}),
        ("weighttp -n 1000 -c 10 -t 2 localhost:80/", {"A2", "A3"}),
        ("fortio load -c 8 -qps 0 -t 5s http://localhost:8080/", {"A2", "S7"}),
        ("wrk 'http://localhost:3333/' -d 3 -c 50 -t 4", {"A2", "S7"}),
        ("python benchmark.py --url http://localhost:8100/hello --workers 10", {"A2"}),
    ],
)
def test_commands_of_other_tools_are_read(command: str, told: set[str]) -> None:
    text = (
        f"{MACHINE}```\n{command}\n```\n\n| server | req/s |\n|---|---|\n| foo | 9,000 |\n| bar | 8,000 |\n"
    )
    assert told <= codes(text)


def test_idle_connections_are_told_though_a_few_requests_failed() -> None:
    few = "  Socket errors: connect 0, read 90, write 0, timeout 0\n"
    many = "  Socket errors: connect 0, read 900000, write 0, timeout 0\n"
    assert "M1" in codes(f"```\n{wrk(mean='0.50ms', errors=few)}```\n")
    assert "M1" not in codes(f"```\n{wrk(mean='0.50ms', errors=many)}```\n")


def test_pipelined_requests_are_more_than_connections() -> None:
    assert "M1" in codes(f"```\n{wrk(mean='8.00ms')}```\n")
    assert "M1" not in codes(f"64 requests pipelined.\n\n```\n{wrk(mean='8.00ms')}```\n")


def test_a_fence_may_open_with_the_first_line_of_the_output() -> None:
    text = "```Running 10s test @ http://localhost:3000\n10 connections\n\nStat         Avg     Stdev   Max\n"
    text += "Latency (ms) 1.5     0.1     3\nReq/Sec      6000    100     6400\n\n"
    text += "60k requests in 10s, 6 MB read\n```\n"
    (found,) = results(text)
    assert found.url == "http://localhost:3000"
    assert "A2" in codes(text)


def test_percentiles_that_hey_had_no_request_for_are_none() -> None:
    text = "Summary:\n  Total:\t1.5550 secs\n  Slowest:\t0.8376 secs\n  Fastest:\t0.7170 secs\n"
    text += "  Average:\t0.7772 secs\n  Requests/sec:\t6.4310\n\nLatency distribution:\n"
    text += "  90% in 0.8376 secs\n  0% in 0.0000 secs\n"
    (found,) = results(f"```\n{text}```\n")
    assert found.percentiles.keys() == {90.0}
    assert "M2" not in codes(f"```\n{text}```\n")


def test_outputs_cut_to_two_lines_are_told_apart_by_the_line_above_them() -> None:
    cut = "Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   {}     1.00ms  86.21ms   94.70%\n"
    text = f"wrk -d 30 -c 100 -t 5 http://h/\n\nBefore:\n{cut.format('4.15ms')}After:\n{cut.format('2.39ms')}"
    first, second = results(f"```\n{text}```\n")
    assert (first.label, second.label) == ("Before", "After")
    assert second.command is not None and second.command.tool == "wrk"
    assert "R5" in codes(f"```\n{text}```\n")


def test_a_command_is_not_handed_on_to_an_output_of_another_load() -> None:
    text = f"```\n$ wrk -t12 -c400 -d30s http://10.0.0.2:8080/\n{wrk()}\n"
    text += f"{wrk().replace('400 conn', '200 conn')}```\n"
    assert "R1" not in codes(text)


def test_what_was_sampled_after_the_start_is_told_by_the_heading_too() -> None:
    table = "| server | CPU | Memory |\n|---|---|---|\n| foo | 1 | 56 |\n| bar | 1 | 30 |\n\n"
    load = "## Load\n\nwrk -c 64\n\n| server | req/s |\n|---|---|\n| foo | 12,000 |\n| bar | 9,000 |\n"
    assert "R6" in codes(f"## Resources on startup\n\n{table}{load}")
    assert "R6" not in codes(f"## Resources\n\n{table}{load}")


def test_the_text_may_tell_how_many_requests_a_table_is_of() -> None:
    table = "| server | Average | 99.9th percentile |\n|---|---|---|\n"
    table += "| foo | 2 ms | 9 ms |\n| bar | 3 ms | 9 ms |\n"
    assert "S1" in codes(f"Response times of 1000 requests by wrk:\n\n{table}")
    assert "S1" not in codes(f"Response times of 100,000 requests by wrk:\n\n{table}")
    assert "S1" not in codes(f"Response times at 1000 requests per second by wrk:\n\n{table}")


@pytest.mark.parametrize(
    "words",
    [
        "It has been said multiple times that foo is fast.",
        "| | Average | Standard deviation |\n|---|---|---|\n| foo | 3 ms | 1 ms |\n",
    ],
)
def test_words_that_tell_of_no_repetition(words: str) -> None:
    assert "R5" in codes(f"{words}\n\n{output('foo')}{output('bar', 90_000.0)}")


def test_our_own_commands_are_no_other_tools() -> None:
    text = "| server | p50 | p99 |\n|---|---|---|\n| foo | 1 ms | 2 ms |\n| bar | 1 ms | 3 ms |\n\n"
    told = codes(f"Latency of requests:\n\n{text}Use `assay ab -n 10 -c 1 http://127.0.0.1/` as before.\n")
    assert not told & {"A2", "A3", "M5"}


@pytest.mark.parametrize(
    "words",
    [
        "Default is 8 so long as that value is greater than or equal to foo.",
        "Use keep-alive instead of `Connection: close`.",
        "Much better: 500 rps is seen most of the time, and not bad: 488 rps.",
    ],
)
def test_words_beside_results_that_say_nothing_of_them(words: str) -> None:
    text = f"{output('foo')}{output('bar', 90_000.0)}"
    assert codes(f"{text}\n{words}\n") == codes(text)
    assert len(results(f"{text}\n{words}\n")) == 2


ROWS = "| {head} | RPS | Avg (ms) |\n|---|---|---|\n| {a} | 12,000 | 8 |\n| {b} | 9,000 | 9 |\n"


@pytest.mark.parametrize("head", ["Scenario", "Endpoint", "Concurrency", "VUs", "Route", "Phase"])
def test_rows_that_are_loads_of_one_thing_are_not_compared(head: str) -> None:
    assert not {"R4", "R5", "W6"} & codes("By k6.\n\n" + ROWS.format(head=head, a="first", b="second"))
    assert {"R4", "R5"} <= codes("By k6.\n\n" + ROWS.format(head="Server", a="first", b="second"))


def test_servers_in_columns_are_compared_though_the_rows_are_loads() -> None:
    text = "`ab -n 9 http://h/`\n\n| Concurrency | Foo | Bar |\n|---|---|---|\n"
    text += "| 1 | 4300 | 4100 |\n| 2 | 5300 | 9500 |\n"
    assert "R5" in codes(text)


def test_a_column_of_numbers_in_order_is_no_name() -> None:
    text = "By wrk.\n\n| (index) | Framework | Requests/sec | Total Duration | Transfer Total | Latency |"
    text += " Latency Stdev |\n|---|---|---|---|---|---|---|\n"
    text += "| 0 | express | 20498 | 10.05s | 34.59MB | 49.69ms | 8.54ms |\n"
    text += "| 1 | koa | 19091 | 10.10s | 22.27MB | 53.01ms | 39.93ms |\n"
    first, second = results(text)
    assert (first.label, second.label) == ("express", "koa")
    assert first.figures["duration"].value.middle == pytest.approx(10.05)
    assert first.figures["bytes"].value.middle == pytest.approx(34.59e6)
    assert [one.line for one in audited(text).remarks if one.code == "S2"] == [6]


def test_runs_may_stand_side_by_side() -> None:
    text = "By wrk.\n\n| server | Requests/sec #1 | Requests/sec #2 |\n|---|---|---|\n"
    told = codes(text + "| foo | 9,000 | 9,100 |\n| bar | 8,000 | 8,100 |\n")
    assert "S5" in told and "R5" not in told
    assert "S5" in codes("`wrk -c 9 http://h:3000` * 2\n\n" + ROWS.format(head="Server", a="foo", b="bar"))


def test_a_number_of_times_is_no_version() -> None:
    text = ROWS.format(head="Server", a="foo", b="bar")
    assert "R4" in codes(f"{text}\nThat makes Go 14 times faster.\n")
    assert "R4" not in codes(f"{text}\nThat is Go 14 on Linux.\n")


def test_every_factor_of_a_sentence_is_weighed() -> None:
    text = "| server | req/s |\n|---|---|\n| alder | 90,000 |\n| birch | 80,000 |\n| cedar | 40,000 |\n\n"
    told = audited(text + "birch is 2x faster than cedar, and alder is 4x faster than cedar.\n").conclusions
    assert [one.verdict for one in told] == ["direction", "contradicted"]


def test_what_a_factor_is_of_may_stand_behind_it() -> None:
    text = "| server | req/s | latency |\n|---|---|---|\n"
    text += "| alder | 90,000 | 1 ms |\n| birch | 30,000 | 4 ms |\n\n"
    told = audited(text + "alder has 3x the throughput and 4x lower latency than birch.\n").conclusions
    assert [one.conclusion.metric for one in told] == ["rate", "times"]
    assert "contradicted" not in [one.verdict for one in told]


def test_names_of_two_words_are_heard() -> None:
    text = "Measured with wrk. The Go service handled about 45,000 requests per second, while the Python one "
    first, second = results(text + "managed only 3,200 requests per second.\n")
    assert (first.label, second.label) == ("Go service", "Python one")


def test_signs_written_as_entities_are_read() -> None:
    (found, _) = results(
        "| server | ok | req/s |\n|---|---|---|\n| foo | &#10003; | 9 |\n| bar | &#10003; | 8 |\n"
    )
    assert "&" not in found.label


WORDS = st.sampled_from(
    ["Requests/sec", "Latency", "avg", "p99", "Total", "requests", "Max", "Mean", "50%", "Throughput"]
    + ["Errors", "Duration", ":", "=", "-", "*", "#", ".", "12", "3.5ms", "9k", "%"]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=12).map("\n".join))
def test_any_lines_of_figures_are_read(text: str) -> None:
    for found in results(text):
        assert found.line <= found.last <= text.count("\n") + 1
        assert all(figure.value.low <= figure.value.high for figure in found.figures.values())
    audited(text)
