"""Results, loads and conclusions are found in the many ways in which people write them."""

import pytest

from assay.audit import Audit, audit, read


def audited(text: str, name: str = "README.md") -> Audit:
    return audit(read(name, text.encode()))


def codes(text: str) -> set[str]:
    return {remark.code for remark in audited(text).remarks}


def labels(text: str) -> list[str]:
    return [result.label for result in audited(text).evidence.results]


TABLE = "\n| Server | RPS |\n|---|---|\n| Alder | 20,000 |\n| Elm | 10,000 |\n"


@pytest.mark.parametrize(
    "line",
    [
        '& "D:\\apache\\bin\\ab.exe" -n 9000 -c 20 "http://localhost/x"',
        "Measured with `ab -n 9000 -c 20 localhost:8080`.",
        "Measured with ab using -n 9000 -c 20 http://localhost/x",
    ],
)
def test_a_command_is_read_with_its_path_and_in_a_sentence(line: str) -> None:
    (call,) = audited(f"# Alder\n\n{line}\n{TABLE}").evidence.commands
    assert (call.figures["requests"].value.middle, call.figures["connections"].value.middle) == (9000, 20)
    assert {"A2", "A3"} <= codes(f"# Alder\n\n{line}\n{TABLE}")


def test_a_rate_of_wrk2_that_a_table_does_not_reach_is_told() -> None:
    assert "G3" in codes(f"# Alder\n\nwrk2 with `-t8 -c256 -d60s -R50000`\n{TABLE}")


def test_a_range_is_one_figure() -> None:
    (alder, _) = audited("# Load\n\nAlder: ~20–25k req/sec\nElm: ~6-10k req/sec\n").evidence.results
    assert (alder.figures["rate"].value.low, alder.figures["rate"].value.high) == (19_500, 25_500)


def test_the_unit_of_a_table_may_stand_in_the_sentence_above() -> None:
    text = "# Loops\n\nMedian req/s ± stdev. `wrk -t2 -c128 -d10s`, 3 measured samples.\n\n"
    text += "| Loop | JSON | Params |\n|---|---|---|\n"
    text += "| alder | 47,239 ± 19 | 51,221 ± 9 |\n| elm | 7,239 ± 19 | 5,221 ± 9 |\n"
    assert labels(text) == ["alder", "alder", "elm", "elm"]
    assert "S5" in codes(text)


def test_a_table_of_jmeter_is_known_by_its_headings() -> None:
    text = "# Load\n\n| Label | # Samples | 90% Line | Error % | Throughput |\n|---|---|---|---|---|\n"
    text += "| users | 5000 | 44 | 3.40% | 81.2/sec |\n"
    (result,) = audited(text).evidence.results
    assert result.label == "users" and result.figures["rate"].value.middle == pytest.approx(81.2)
    assert result.percentiles[90.0].value.middle == pytest.approx(0.044)
    assert "W2" in codes(text)


def test_columns_may_have_grown_together() -> None:
    text = "# Load\n\n```\nStack   p50   p95   p99   RPS\n"
    text += "Node    8ms   38ms 170ms  18k\nGo      6ms   30ms 240ms  22k\n```\n"
    assert labels(text) == ["Node", "Go"]


def test_times_for_the_same_requests_are_results() -> None:
    text = (
        "# App\n\n## Load test (ran 3 times)\n\n- 100 requests: Alder (this PR) 23 seconds, Elm 30 seconds\n"
    )
    assert labels(text) == ["Alder (this PR)", "Elm"]
    assert {"S5", "R4"} <= codes(text)
    assert not labels("# App\n\n## Build\n\n- 100 files: Alder 23 seconds, Elm 30 seconds\n")


def test_a_lone_rate_in_a_sentence_is_a_result_where_a_tool_is_named() -> None:
    text = "# Alder\n\nWith k6 it sustained 27,000 requests per second; both were executed locally.\n"
    assert {"A2", "R3"} <= codes(text)
    assert not codes("# Alder\n\nWith k6 it can reach 27,000 requests per second.\n")
    assert not codes("# Alder\n\nIt sustained 27,000 requests per second.\n")


def test_it_is_the_thing_whose_rate_it_is() -> None:
    text = "# Small server\n\nBy wrk it handled 45,000 requests per second, "
    text += "Elm got 12,000 req/s and Oak only 1,100 req/s.\n\n"
    (four, sixty) = audited(f"{text}So it's 4 times faster than Elm, and 60x faster than Oak!\n").conclusions
    assert (four.verdict, sixty.verdict) == ("direction", "contradicted")
    assert "45,000/s" in sixty.why and "1,100/s" in sixty.why


def test_what_something_is_faster_than_is_not_what_the_sentence_goes_on_about() -> None:
    text = f"# Alder\n\n{TABLE[1:]}| Oak | 14,000 |\n\nAlder is 2x faster than Elm and 40% faster than Oak.\n"
    assert [weight.verdict for weight in audited(text).conclusions] == ["direction", "direction"]
    unknown = f"# Load\n\nBy wrk.\n{TABLE}\nAlder is 9x faster than Yew.\n"
    assert "R8" not in codes(unknown)


def test_a_version_of_two_numbers_is_one() -> None:
    assert "R4" in codes(f"# Load\n\nBy wrk.\n{TABLE}")
    assert "R4" not in codes(f"# Load\n\nBy wrk.\n{TABLE.replace('Alder', 'Alder 3.4')}")
    assert "R4" not in codes(f"# Load\n\nBy wrk. Elm 2.1 was built with gcc.\n{TABLE}")


def test_before_and_after_are_one_thing_in_other_languages() -> None:
    output = "Requests/sec: {}.55\nTransfer/sec: 1.00MB\n"
    text = "# Звіт\n\n## До оптимізації\n\nРезультат:\n\n```\n{}```\n\n"
    text += "## Після оптимізації, кеш\n\nРезультат:\n\n```\n{}```\n"
    found = codes(text.format(output.format(300), output.format(900)))
    assert "R5" in found and "R4" not in found


def test_two_tools_may_be_what_is_compared() -> None:
    hey = "Summary:\n  Total:\t30.017 secs\n  Average:\t0.029 secs\n  Requests/sec:\t3387.673\n"
    wrk = "  Latency    23.95ms   10.65ms  84.79ms   70.44%\nRequests/sec:   4149.70\n"
    assert "R4" in codes(f"# hey or wrk\n\n### hey\n```\n{hey}```\n\n### wrk\n```\n{wrk}```\n")


def test_answers_that_hey_did_not_count_failed_unless_there_are_a_million() -> None:
    text = "```\nhey -n 500 -c 10 http://10.0.0.2/\n\nSummary:\n  Total:\t{}\n  Requests/sec:\t{}\n\n"
    text += "Status code distribution:\n  [200]\t{} responses\n```\n"
    lost = codes(text.format("20.0 secs", "25.0", 250))
    assert "W2" in lost and not lost & {"M3", "R1"}
    assert not codes(text.format("20.0 secs", "139688.19", 1_000_000)) & {"W2", "M3"}


def test_memory_of_an_idle_server_is_told_where_the_line_above_says_so() -> None:
    assert "R6" in codes(
        f"# Load\n\nBy wrk.\n{TABLE}\nMemory (MB, idle):\n\n| Server | RSS |\n|---|---|\n| Alder | 4 |\n"
    )


def test_a_line_may_tell_several_times() -> None:
    text = "# Load\n\nk6, 200 VUs:\n\n* **Throughput**: 1,842 req/s\n* **Latency**: avg 96 ms, p95 210 ms\n"
    (result,) = audited(text).evidence.results
    assert result.figures["rate"].value.middle == 1842
    assert result.figures["mean"].value.middle == pytest.approx(0.096)
    assert result.percentiles[95.0].value.middle == pytest.approx(0.21)


def test_users_that_pause_contradict_nothing() -> None:
    text = "# Load\n\n{}, 25 users.\n\n| Metric | Value |\n|---|---|\n| Requests/sec | 5.2 |\n"
    text += "| Average Response Time | 312 ms |\n"
    assert "M1" in codes(text.format("bombardier")) and "M1" not in codes(text.format("Locust"))


def test_a_rate_behind_a_name_is_no_version() -> None:
    assert "R4" in codes("# Load\n\nBy wrk:\n\nNode.js: 31,202 requests/sec\nGo: 98,331 requests/sec\n")


def test_a_time_stamp_is_a_date_of_the_run() -> None:
    assert "R4" not in codes(f"# Load\n\nBy wrk, 2025-12-29T00:18:46Z.\n{TABLE}")


K6 = """\
     data_received..............: 127 MB 2.1 MB/s
     dropped_iterations.........: {dropped}  14463.3/s
     http_req_duration..........: avg=550.82ms min=2.27ms med=5.47ms max=5.01s p(90)=2s p(95)=3s
     http_reqs..................: 31814  530.18/s
     iterations.................: 31814  530.18/s
"""


@pytest.mark.parametrize(("dropped", "missing"), [("867886", True), ("12", False)])
def test_iterations_that_k6_dropped_were_not_offered(dropped: str, missing: bool) -> None:
    assert ("G3" in codes("```\n" + K6.format(dropped=dropped) + "```\n")) is missing


UNANSWERED = """\
Running 1s test @ http://10.0.0.2:4000/
1000 connections

│ Stat    │ 2.5%   │ 50%    │ 97.5%   │ 99%     │ Avg      │ Stdev     │ Max     │
│ Latency │ 654 ms │ 888 ms │ 1178 ms │ 1187 ms │ 898.7 ms │ 161.37 ms │ 1192 ms │

{good} 2xx responses, 348 non 2xx responses
1k requests in 1.41s, 720 kB read
"""


@pytest.mark.parametrize(("good", "few"), [("0", True), ("652", False)])
def test_requests_without_an_answer_are_behind_no_percentile(good: str, few: bool) -> None:
    assert ("S1" in codes("```\n" + UNANSWERED.format(good=good) + "```\n")) is few


@pytest.mark.parametrize(("word", "closed"), [("", True), (" arriving at an arrival rate of 50/s", False)])
def test_users_of_a_load_without_a_tool_wait_for_their_answers(word: str, closed: bool) -> None:
    text = f"# Load test\n\nUsers: 100\nThroughput: 50 req/s\nLatency p99: 80 ms\n\nAll{word}.\n"
    assert ("M5" in codes(text)) is closed


@pytest.mark.parametrize(
    ("count", "few"),
    [("Всего запросов: 293", True), ("总请求数：293", True), ("Всего запросов: 29300", False)],
)
def test_a_name_and_a_value_are_read_in_every_script(count: str, few: bool) -> None:
    text = f"# k6\n\n- {count}\n- RPS: 48.7\n- Latency p99: 9.00 ms\n"
    assert ("S1" in codes(text)) is few


def test_a_figure_that_is_wanted_is_none_of_a_result() -> None:
    text = "By wrk.\n\nЦелевой RPS: 5 запросов в секунду\nВсего запросов: 1500\nRPS: 5.2 запросов/секунду\n"
    assert [one.figures["rate"].quote for one in audited(text).evidence.results] == ["5.2 запросов/секунду"]
