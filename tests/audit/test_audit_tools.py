"""Every tool's output is found and read, however it stands in a text.

The samples are what the tools printed on loopback (wrk, ab, hey, h2load, siege, autocannon, loadtest, Locust,
Artillery 1), or have the shape that their sources and documentation show (the others).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from auditing import audited, results, wrk

from assay.audit.scan import PATIENCE
from assay.audit.tools import TOOLS

SAMPLES = Path(__file__).with_name("samples")

TOLD = {name: (tool.name, figures) for tool in TOOLS for name, figures in tool.samples.items()}
"""What a reader sees in each sample: figures by name, times by percentile, in seconds."""


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def check(text: str, name: str, called: str = "") -> None:
    tool, figures = TOLD[name]
    found = [one for one in results(text, called or name) if one.tool == tool]
    assert found, f"no result of {tool}"
    last = found[-1]
    for key, value in figures.items():
        figure = last.percentiles[float(key)] if key[0].isdigit() else last.figures[key]
        assert figure.value.low <= value * 1.0001 and value * 0.9999 <= figure.value.high, (key, figure)


def test_every_sample_is_some_tools() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == TOLD.keys()


@pytest.mark.parametrize("name", TOLD)
def test_a_sample_is_read(name: str) -> None:
    check(sample(name), name)


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("way", ["fenced", "quoted", "listed", "indented", "coloured", "crlf"])
def test_it_is_read_however_it_stands_in_markdown(name: str, way: str) -> None:
    lines = sample(name).splitlines()
    match way:
        case "fenced":
            lines = ["```text", *lines, "```"]
        case "quoted":
            lines = ["> ```", *(f"> {line}" for line in lines), "> ```"]
        case "listed":
            lines = ["- Here:", "", "  ```", *(f"  {line}" for line in lines), "  ```"]
        case "indented":
            lines = ["Here:", "", *(f"    {line}" for line in lines)]
        case "coloured":
            lines = ["```", *(f"\x1b[32m{line}\x1b[0m" for line in lines), "```"]
        case "crlf":
            lines = ["```\r", *(f"{line}\r" for line in lines), "```"]
    check("\n".join(lines), name, "README.md")


def test_comments_between_the_lines_do_no_harm() -> None:
    lines = wrk().splitlines()
    lines.insert(3, "# the mean is what counts here")
    lines.insert(6, "// and this is what was sent")
    (found,) = results("```\n" + "\n".join(lines) + "\n```\n")
    assert {"rate", "mean", "requests", "connections"} <= found.figures.keys()


def test_an_output_cut_short_tells_what_is_left() -> None:
    lines = wrk().splitlines()
    (found,) = results("```\n" + "\n".join(lines[2:6]) + "\n```\n")
    assert "mean" in found.figures and "rate" not in found.figures


def test_two_outputs_in_a_row_are_two_results() -> None:
    first, second = results("```\n" + wrk(1000.0) + wrk(2000.0) + "```\n")
    assert [round(one.figures["rate"].value.middle) for one in (first, second)] == [1000, 2000]


def test_an_output_has_ended_when_nothing_of_it_comes_any_more() -> None:
    text = "```\n" + wrk() + "\n".join(["nothing"] * (PATIENCE + 1)) + "\nRequests/sec: 5.00\n```\n"
    first, other = results(text)
    assert first.figures["rate"].value.middle == pytest.approx(100000)
    assert other.figures["rate"].value.middle == 5


def test_the_line_of_each_figure_is_that_of_the_file() -> None:
    text = "# A\n\nwords\n\n```\n" + wrk() + "```\n"
    (found,) = results(text)
    assert text.splitlines()[found.figures["rate"].line - 1].startswith("Requests/sec")
    assert text.splitlines()[found.figures["mean"].line - 1].strip().startswith("Latency")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("wrk -t12 -c400 -d30s http://127.0.0.1/", {"threads": 12, "connections": 400, "duration": 30}),
        ("$ wrk2 -t 2 -c 100 -d 1m -R 2k http://h/", {"threads": 2, "duration": 60, "offered": 2000}),
        ("ab -n 10000 -c 100 http://h/", {"requests": 10000, "connections": 100}),
        ("ab -kc 50 -n 1000 http://h/", {"connections": 50, "requests": 1000}),
        ("hey -n 200 -c 20 http://h/", {"requests": 200, "connections": 20}),
        ("oha -z 10s -c 64 -q 500 http://h/", {"duration": 10, "connections": 64, "offered": 500}),
        ("bombardier -c 125 -n 1000 http://h/", {"connections": 125, "requests": 1000}),
        (
            "npx autocannon -c 100 -d 40 -p 10 localhost:3000",
            {"connections": 100, "duration": 40, "pipelining": 10},
        ),
        (
            'echo "GET http://h/" | vegeta attack -rate=50/s -duration=5s | vegeta report',
            {"offered": 50, "duration": 5},
        ),
        ("h2load -n100000 -c100 -m10 https://h/", {"requests": 100000, "connections": 100, "pipelining": 10}),
        ("k6 run --vus 10 --duration 30s script.js", {"vus": 10, "duration": 30}),
        ("siege -c 25 -t 30S http://h/", {"connections": 25, "duration": 30}),
        ("siege -c25 -t1M http://h/", {"connections": 25, "duration": 60}),
        ("loadtest -n 1000 -c 10 -k http://h/", {"requests": 1000, "connections": 10}),
        ("locust -u 100 -t 60s --headless", {"vus": 100, "duration": 60}),
    ],
)
def test_a_command_is_read(line: str, told: dict[str, float]) -> None:
    (call,) = audited("```\n" + line + "\n```\n").evidence.commands
    for name, value in told.items():
        assert call.figures[name].value.middle == value, name


@pytest.mark.parametrize(
    ("line", "alive"),
    [("ab -n 9 -c 1 http://h/", False), ("ab -k -n 9 http://h/", True), ("ab -kc 9 -n 9 http://h/", True),
     ("wrk -c 9 http://h/", True), ("hey -disable-keepalive -n 9 http://h/", False)],
)  # fmt: skip
def test_a_command_says_whether_connections_are_kept(line: str, alive: bool) -> None:
    (call,) = audited("```\n" + line + "\n```\n").evidence.commands
    assert call.keep_alive is alive


def test_lines_that_end_in_a_backslash_are_one_command() -> None:
    (call,) = audited("```\nwrk -t4 \\\n  -c100 \\\n  http://h/\n```\n").evidence.commands
    assert call.line == 2
    assert call.figures["connections"].value.middle == 100


@pytest.mark.parametrize(
    "text",
    [
        "Say hey to ab and the siege of Troy.",
        "hey there, wrk is a tool",
        "The locust plague of 1874.",
        "apt install wrk -y",
    ],
)
def test_words_are_no_commands(text: str) -> None:
    assert not [
        call for call in audited(text).evidence.commands if call.figures.keys() & {"connections", "duration"}
    ]


def test_a_report_like_that_of_ab_of_another_tool_is_not_that_of_ab() -> None:
    """As SeaweedFS prints it of a storage: no connection a request, no mean and median in those columns."""
    like = """```
Concurrency Level:      16
Time taken for tests:   66.753 seconds
Completed requests:      1048576
Failed requests:        0
Total transferred:      1106789009 bytes
Requests per second:    15708.23 [#/sec]
Transfer rate:          16191.69 [Kbytes/sec]

Connection Times (ms)
              min      avg        max       std
Total:        0.3      1.0        84.3      0.9

Percentage of the requests served within a certain time (ms)
   50%      0.8 ms
   99%      2.6 ms
  100%     84.3 ms
```
"""
    for text in (like, like.replace("Completed requests", "Requests"), like.replace("avg", "mean")):
        assert all(one.tool != "ab" for one in results(text))
        assert not {remark.code for remark in audited(text).remarks} & {"A3"}


def test_autocannons_samples_are_no_heading() -> None:
    (found,) = results(sample("autocannon.txt"))
    assert {"rate", "requests", "samples"} <= found.figures.keys()
