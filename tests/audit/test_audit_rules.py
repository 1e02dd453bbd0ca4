"""Each rule speaks where its flaw is injected and is silent on the other side of its threshold."""

from __future__ import annotations

from pathlib import Path

import pytest
from auditing import MACHINE, audited, codes, wrk

from assay.audit import AUDIT_RULES
from assay.verdict import RULES

SAMPLES = Path(__file__).with_name("samples")


def fenced(text: str) -> str:
    return f"```\n{text}```\n"


TWO = MACHINE + "## foo\n\n{a}\n## bar\n\n{b}\n"


def two(a: str, b: str) -> str:
    """Two outputs that are compared, in a text that says all that a text should."""
    return TWO.format(a=fenced(a), b=fenced(b))


SOUND = two(wrk(100000.0), wrk(90000.0, mean="4.30ms", size="360.00MB"))

TABLE = """\
{machine}wrk -c 400 was used.

| server | {head} |
|---|---|{rule}
{rows}
{after}
"""


def table(head: str, *rows: str, after: str = "", machine: str = MACHINE) -> str:
    rule = "---|" * head.count("|")
    return TABLE.format(
        head=head, rule=rule, rows="\n".join(f"| {row} |" for row in rows), after=after, machine=machine
    )


FAIR = table("Requests/sec", "foo | 12,345", "bar | 9,876")

INJECTED = {
    "A1": two(wrk(), wrk()).replace("16 cores", "8 cores"),
    "G3": MACHINE + fenced("$ wrk2 -t2 -c400 -d30s -R 5000 http://10.0.0.2/\n" + wrk(4000.0, mean="90ms")),
    "G8": two(wrk(errors="  Socket errors: connect 157, read 0, write 0, timeout 0\n"), wrk()),
    "M1": two(wrk(mean="9.00ms"), wrk()),
    "M2": table("Requests/sec | p50 (ms) | p99 (ms)", "foo | 10,000 | 9.1 | 8.0", "bar | 9,000 | 2 | 3"),
    "M3": two(wrk(requests=1_000_000), wrk()),
    "M5": table("Requests/sec | p99 (ms)", "foo | 10,000 | 9", "bar | 9,000 | 12"),
    "W2": two(wrk(errors="  Non-2xx or 3xx responses: 90000\n"), wrk()),
    "W3": two(wrk(size="400.00MB"), wrk(size="800.00MB")),
    "A3": MACHINE + fenced("ab -n 100000 -c 10 http://10.0.0.2/\n") + FAIR,
    "W6": table("connections | Requests/sec", "foo | 64 | 10,000", "bar | 256 | 9,000"),
    "W7": TWO.format(a=fenced("$ flask run\n" + wrk()), b=fenced(wrk())),
    "S1": MACHINE + fenced((SAMPLES / "vegeta.json").read_text(encoding="utf-8")),
    "S2": SOUND.replace("150.07", "7.00k"),
    "S5": SOUND.replace("Mean of 8 runs", "Mean of 3 runs"),
    "A4": table("Requests/sec", "foo | 10,000 ± 500", "bar | 9,800 ± 400"),
    "S7": MACHINE + fenced("wrk -c 400 -d 5s http://10.0.0.2/\n") + FAIR,
    "D3": FAIR + "\nThe average p99 latency over all routes was 5 ms.\n",
    "A2": MACHINE + fenced("wrk -c 400 -d 30s http://localhost:8080/\n") + FAIR,
    "R1": MACHINE + fenced("wrk -t12 -c100 -d30s http://10.0.0.2:8080/\n" + wrk()),
    "R2": SOUND + "\n| server | req/s |\n|---|---|\n| foo | 100,000 |\n| bar | 79,000 |\n",
    "R3": FAIR.replace("Measured on an Intel Xeon E5-2680 with 16 cores", "Measured"),
    "R4": FAIR.replace("foo 1.2.3, bar 2.0.1", "foo, bar"),
    "R5": FAIR.replace("Mean of 8 runs", "Measured in the evening"),
    "R6": table("Requests/sec | Memory (idle, MB)", "foo | 10,000 | 20", "bar | 9,000 | 90"),
    "R7": FAIR + '\n```mermaid\nxychart-beta\n  y-axis "req/s" 9000 --> 13000\n  bar [12345, 9876]\n```\n',
    "R8": FAIR + "\nfoo is 3x faster than bar.\n",
    "R9": SOUND.replace("Mean of 8 runs", "Best of 8 runs"),
    "R10": table("Requests/sec", "foo | 12,345", "bar | 9,876").replace("wrk -c 400 was used.", ""),
}
"""For each rule a text that has its flaw."""

SPARED = {
    "A1": SOUND,
    "G3": MACHINE + fenced("$ wrk2 -t2 -c400 -d30s -R 4020 http://10.0.0.2/\n" + wrk(4000.0, mean="90ms")),
    "G8": two(wrk(errors="  Socket errors: connect 0, read 0, write 0, timeout 0\n"), wrk()),
    "M1": two(wrk(mean="4.30ms"), wrk(mean="2.10ms")),
    "M2": table("Requests/sec | p50 (ms) | p99 (ms)", "foo | 10,000 | 8.04 | 8.0", "bar | 9,000 | 2 | 3"),
    "M3": two(wrk(requests=2_975_000), wrk()),
    "M5": FAIR,
    "W2": two(wrk(errors="  Non-2xx or 3xx responses: 2900\n"), wrk()),
    "W3": two(wrk(size="400.00MB"), wrk(size="406.00MB")),
    "A3": MACHINE + fenced("ab -k -n 100000 -c 10 http://10.0.0.2/\n") + FAIR,
    "W6": table("connections | Requests/sec", "foo | 64 | 10,000", "bar | 64 | 9,000", "bar | 256 | 9,900"),
    "W7": TWO.format(a=fenced("$ flask run --no-debug # production\n" + wrk()), b=fenced(wrk())),
    "S1": MACHINE + fenced((SAMPLES / "vegeta.txt").read_text(encoding="utf-8")),
    "S2": SOUND.replace("150.07", "4.00k"),
    "S5": SOUND.replace("Mean of 8 runs", "Mean of 6 runs"),
    "A4": table("Requests/sec", "foo | 10,000 ± 100", "bar | 9,800 ± 90"),
    "S7": MACHINE + fenced("wrk -c 400 -d 10s http://10.0.0.2/\n") + FAIR,
    "D3": FAIR + "\nThe average latency was 5 ms.\n",
    "A2": MACHINE + fenced("wrk -c 400 -d 30s http://10.0.0.2:8080/\n") + FAIR,
    "R1": MACHINE + fenced("wrk -t12 -c400 -d30s http://10.0.0.2:8080/\n" + wrk()),
    "R2": SOUND + "\n| server | req/s |\n|---|---|\n| foo | 100k |\n| bar | 90,000 |\n",
    "R3": FAIR,
    "R4": FAIR,
    "R5": FAIR,
    "R6": table("Requests/sec | Memory under load (MB)", "foo | 10,000 | 20", "bar | 9,000 | 90"),
    "R7": FAIR + '\n```mermaid\nxychart-beta\n  y-axis "req/s" 0 --> 13000\n  bar [12345, 9876]\n```\n',
    "R8": FAIR + "\nfoo is 25% faster than bar.\n",
    "R9": SOUND,
    "R10": FAIR,
}
"""For each rule the same text just on the other side."""


def test_every_rule_is_injected_and_spared() -> None:
    assert set(INJECTED) == set(SPARED) == set(AUDIT_RULES)


@pytest.mark.parametrize("code", INJECTED)
def test_a_injected_flaw_is_found(code: str) -> None:
    assert code in codes(INJECTED[code])


@pytest.mark.parametrize("code", SPARED)
def test_the_other_side_is_silent(code: str) -> None:
    assert code not in codes(SPARED[code])


@pytest.mark.parametrize("text", [SOUND, FAIR], ids=["outputs", "table"])
def test_a_text_that_says_all_it_should_is_left_alone(text: str) -> None:
    assert codes(text) == set()
    assert not audited(text).against


@pytest.mark.parametrize("code", INJECTED)
def test_a_finding_stands_on_a_line_of_the_text_and_says_why(code: str) -> None:
    text = INJECTED[code]
    for remark in audited(text).remarks:
        assert 1 <= remark.line <= len(text.splitlines())
        assert remark.arithmetic and remark.rule.meaning and remark.rule.remedy and remark.rule.source


def test_a_code_that_runs_have_means_the_same_in_texts() -> None:
    """What a text shows in another way than a run does has a letter that no rule of runs has."""
    own = {code for code in AUDIT_RULES if code[0] in "AR"}
    assert own.isdisjoint(RULES) and {"A1", "A2", "A3", "A4"} <= own
    assert not {"G1", "H1", "W5", "S6"} & AUDIT_RULES.keys()


@pytest.mark.parametrize("code", sorted(AUDIT_RULES))
def test_a_rule_is_left_out_on_request(code: str) -> None:
    from assay.audit import audit, read

    found = audit(read("README.md", INJECTED[code].encode()), frozenset({code}))
    assert code not in {remark.code for remark in found.remarks}


def test_one_cause_is_told_once_with_all_its_lines() -> None:
    text = two(wrk(), wrk()).replace("10.0.0.2", "localhost")
    (told,) = [remark for remark in audited(text).remarks if remark.code == "A2"]
    assert len(told.also) == 1


def test_answers_of_two_routes_are_not_the_same_answer() -> None:
    assert "W3" not in codes(two(wrk(path="a"), wrk(size="900.00MB", path="b")))


def test_ab_calls_changing_pages_failed_and_they_are_not() -> None:
    base = (SAMPLES / "ab.txt").read_text(encoding="utf-8")
    said = base.replace(
        "Failed requests:        0",
        "Failed requests:        400\n   (Connect: 0, Receive: 0, Length: 400, Exceptions: 0)",
    )
    assert "W2" not in codes(fenced(said))
    truncated = said.replace("HTML transferred:       5500", "HTML transferred:       1100")
    assert "W2" in codes(fenced(truncated))


def test_pipelined_requests_are_no_contradiction_of_littles_law() -> None:
    call = "wrk -t12 -c400 -d30s -s pipeline.lua http://10.0.0.2:8080/\n"
    assert "M1" not in codes(MACHINE + fenced(call + wrk(mean="40.00ms")))
