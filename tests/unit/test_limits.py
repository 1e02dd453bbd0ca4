"""Limits of one load (`assay load --slo`): how they are read, and when one is kept, broken or neither."""

from __future__ import annotations

import argparse
import json
import random

import msgspec
import pytest
from made_runs import SECOND, histogram, measurement, plan
from rich.console import Console

from assay.model.finding import Finding
from assay.model.measurement import Measurement, RequestFigures, Window
from assay.model.plan import LoadPlan, Open, Stage
from assay.plan.words import parse
from assay.report.load import as_json
from assay.report.model.load_document import document
from assay.report.terminal import on_screen
from assay.verdict import exit_codes
from assay.verdict.limits import LimitResult, judged_limits, outcome_of
from assay.verdict.objective import limits_of

PER_S, WINDOWS = 10_000, 100
"""Of the loads made here; ten seconds in windows of 100 ms."""


def load(slow: int = 0, slow_ms: float = 300, failed: int = 0, **changes: object) -> Measurement:
    """A steady closed loop of 64 connections: `slow` of 100,000 answers take `slow_ms`, the others 1 ms."""
    each = PER_S * 10 // WINDOWS
    windows = tuple(
        window(place, each + 10 * (place * place % 13 - 6), failed // WINDOWS) for place in range(WINDOWS)
    )
    times = histogram({slow_ms * 1e6: slow, 1e6: PER_S * 10 - slow})
    made = {"windows": windows, "service_time": times, **changes}
    return msgspec.structs.replace(measurement(PER_S, failed=failed), **made)


def window(place: int, completed: int, failed: int = 0) -> Window:
    return Window(
        start_ns=place * SECOND // 10, length_ns=SECOND // 10, phase="measured", started=completed + failed,
        completed=completed, failed=failed, bytes_read=0,
    )  # fmt: skip


def told(
    word: str, seen: Measurement, offered: LoadPlan | None = None, findings: list[Finding] | None = None
) -> LimitResult:
    [result] = judged_limits(limits_of(word), offered or plan(), seen, findings or [])
    return result


def test_words_of_a_search_and_throughput_and_one_request() -> None:
    found = limits_of("p99<200ms, errors <= 1% ,throughput>2k/s,GET /cart p95 < 300ms")
    assert [(one.figure, one.edge, one.request) for one in found] == [
        ("p99", 200e6, ""), ("errors", 0.01, ""), ("throughput", 2000.0, ""), ("p95", 300e6, "GET /cart"),
    ]  # fmt: skip
    assert found[3].text == "GET /cart p95<300ms"
    assert limits_of(",".join(one.text for one in found)) == found


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("throughput<500", "throughput is held above a number: >"),
        ("p99>200ms", "p99 is held below a number: <"),
        ("throughput>500ms", "is not an objective such as"),
        ("throughput>0", "a number above zero"),
        ("p99<1s,p99<2s", "each figure once"),
        ("GET /cart throughput>3", "throughput is of all requests"),
    ],
)
def test_a_limit_that_cannot_be_held_is_refused(word: str, said: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=said):
        parse.limits(word)


@pytest.mark.parametrize("word", ["throughput>500", "GET /cart p95<300ms"])
def test_a_search_has_no_limits_of_one_load(word: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="a limit of one load"):
        parse.objective(word)


@pytest.mark.parametrize(
    ("word", "seen", "outcome"),
    [
        ("p99<200ms", load(), "kept"),
        ("p99<200ms", load(slow=10), "kept"),
        ("p99<200ms", load(slow=900), "could not tell"),
        ("p99<200ms", load(slow=1_100), "could not tell"),
        ("p99<200ms", load(slow=3_000), "broken"),
        ("max<200ms", load(slow=1), "broken"),
        ("mean<1.2ms", load(), "kept"),
        ("mean<2ms", load(slow=3_000), "broken"),
        ("errors<1%", load(failed=100), "kept"),
        ("errors<1%", load(failed=1_000), "could not tell"),
        ("errors<1%", load(failed=3_000), "broken"),
        ("throughput>9k", load(), "kept"),
        ("throughput>10k", load(), "could not tell"),
        ("throughput>11k", load(), "broken"),
        ("throughput>9k", load(windows=()), "could not tell"),
        ("max<1s", load(missed_starts=1), "could not tell"),
        ("p99<200ms", load(missed_starts=2_000), "could not tell"),
        ("errors<1%", load(missed_starts=5_000), "broken"),
    ],
)  # fmt: skip
def test_a_limit_is_missed_only_beyond_doubt(word: str, seen: Measurement, outcome: str) -> None:
    assert told(word, seen).outcome == outcome


def test_a_limit_of_one_request_is_held_to_its_own_figures() -> None:
    slow = load(slow=3_000)
    own = RequestFigures(
        name="GET /cart", completed=slow.completed, failed=0, statuses={}, failures={},
        service_time=slow.service_time, response_time=None,
    )  # fmt: skip
    seen = load(by_request=(own,))
    assert told("p99<200ms", seen).outcome == "kept"
    assert told("GET /cart p99<200ms", seen).outcome == "broken"
    assert told("GET /cart errors<1%", seen).outcome == "kept"
    assert told("GET /else p99<200ms", seen).why == "no request of a mix has that name"


def test_failures_that_came_together_tell_less() -> None:
    scattered, at_once = load(failed=1_600), load(failed=1_600)
    windows = [window(place, 1_000, 800 if place in (40, 41) else 0) for place in range(WINDOWS)]
    at_once = msgspec.structs.replace(at_once, windows=tuple(windows))
    assert told("errors<1%", scattered).outcome == "broken"
    assert told("errors<1%", at_once).outcome == "could not tell"


def test_one_standstill_of_an_open_loop_is_one_event() -> None:
    stage = Stage(duration_ns=10 * SECOND, from_per_s=PER_S, to_per_s=PER_S)
    offered = plan(load=Open(stages=(stage,), max_connections=500))
    seen = load(slow=1_500, slow_ms=300)
    assert told("p99<200ms", seen, offered).outcome == "could not tell"
    assert told("p90<200ms", seen, offered).outcome == "kept"


def test_the_interval_of_a_percentile_holds_what_it_promises_in_bursts() -> None:
    """Slow answers in bursts of 64: of 40 loads whose p99 is at its limit at most one in twenty is missed,
    and of those well below it nearly all are kept."""
    draw, broken, kept = random.Random(7), 0, 0
    for _ in range(40):
        at_edge = sum(64 for _ in range(100_000 // 64) if draw.random() < 0.01)
        broken += told("p99<200ms", load(slow=at_edge)).outcome == "broken"
        below = sum(64 for _ in range(100_000 // 64) if draw.random() < 0.002)
        kept += told("p99<200ms", load(slow=below)).outcome == "kept"
    assert broken <= 2
    assert kept >= 38


def test_figures_that_rules_void_or_bound_decide_accordingly() -> None:
    void = finding("void")
    assert told("p99<200ms", load(slow=3_000), findings=[void]).outcome == "could not tell"
    assert told("throughput>11k", load(), findings=[void]).why == "the throughput are invalid: X1"
    assert told("throughput>11k", load(), findings=[finding("at least")]).outcome == "could not tell"
    assert told("throughput>9k", load(), findings=[finding("at least")]).outcome == "kept"


def finding(effect: str) -> Finding:
    words = {"code": "X1", "severity": "error", "title": "t", "evidence": "e", "meaning": "m", "remedy": "r"}
    made = {**words, "subject": {}, "figures": {}, "source": "s", "on_throughput": effect}
    return msgspec.convert(made, Finding)


@pytest.mark.parametrize(
    ("words", "unsure_fails", "code"),
    [
        ("p99<200ms,errors<1%", False, 0),
        ("p99<200ms,throughput>10k", False, 0),
        ("p99<200ms,throughput>10k", True, 1),
        ("throughput>10k,max<1us", True, 3),
    ],
)
def test_the_exit_code_follows_from_the_gravest(words: str, unsure_fails: bool, code: int) -> None:
    results = judged_limits(limits_of(words), plan(), load(), [])
    assert exit_codes.of_load([], results, unsure_fails=unsure_fails) == code
    assert exit_codes.of_load([finding("void")], results, unsure_fails=unsure_fails) == (code or 1)
    assert outcome_of((), unsure_fails=True) == "kept"


def test_each_limit_has_a_line_and_its_place_in_the_json() -> None:
    seen = load(slow=3_000, failed=1_000)
    results = judged_limits(limits_of("p99<200ms,errors<1%,throughput>9k"), plan(), seen, ())
    console = Console(width=80)
    with console.capture() as capture:
        console.print(on_screen(document(plan(), seen, (), limits=results)))
    shown = [
        line.strip() for line in capture.get().splitlines() if line.strip()[:1] in "✓✗?" and line.strip()
    ]
    assert shown == [
        "✗ p99<200ms: 300 ms",
        "? errors<1%: 0.99 % [0.93 %, 1.1 %], cannot be told",
        "✓ throughput>9k: 10,000/s [9,870/s, 10,100/s]",
    ]
    document_of = json.loads(as_json(plan(), seen, (), limits=results))
    assert [one["outcome"] for one in document_of["limits"]] == ["broken", "cannot be told", "kept"]
    assert document_of["limits"][0]["value"] == pytest.approx(300e6, rel=0.001)
    assert "limits" not in json.loads(as_json(plan(), seen, ()))
