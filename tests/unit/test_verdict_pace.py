"""Whatever held the server back from outside, the time that its cores idled bounds it from above."""

from __future__ import annotations

import pytest
from judged import changed, found
from made_runs import SECOND, case, measurement, run, server, trial
from msgspec.structs import replace
from test_verdict_generators_rules import generator
from test_verdict_http2_rules import FREE, over_http2, streams_plan

from assay.model.finding import Subject
from assay.model.measurement import Connections, Measurement, Outcome
from assay.model.run import Run
from assay.model.trial import GeneratorSeen, Link
from assay.verdict import RULES, Rule, judge
from assay.verdict.rule import Hit

BUSY = 0.8
BOUND = pytest.approx(BUSY**-3)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_rule_bounds_what_was_held_back_and_nothing_else(rule: Rule) -> None:
    for effects in rule.effects:
        made = rule.finding(Subject(case="a"), Hit("warning", "seen", effects=effects), busy_share=BUSY)
        assert made.at_most_times == (BOUND if effects.held_back else None)
        assert effects.throughput == "at least" or not effects.held_back
        noted = rule.finding(Subject(case="a"), Hit("note", "seen", effects=effects), busy_share=BUSY)
        assert noted.at_most_times is None


def test_a_server_that_held_itself_back_is_not_bounded_by_its_idle_time() -> None:
    """Neither is one that lost what cores it had: H1 where client and server share them, H2."""
    itself = {
        code
        for code, rule in RULES.items()
        if any(one.throughput == "at least" and not one.held_back for one in rule.effects)
    }
    assert itself == {"W7", "S2", "T3", "H1", "H2"}


def stalled() -> Measurement:
    return changed(workers=(replace(measurement().workers[0], largest_stall_ns=900_000_000),))


def missing() -> Measurement:
    return changed(connections=Connections(asked=64, opened=64, answered=63, reopened=0, peak=64))


def out_of_descriptors() -> Measurement:
    full = Outcome(origin="generator", kind="no_descriptors", count=20)
    return measurement(failed=20, outcomes=(full,))


@pytest.mark.parametrize(
    ("code", "made"), [("H2", stalled()), ("G8", missing()), ("H3", out_of_descriptors())]
)
def test_a_client_that_held_it_back(code: str, made: Measurement) -> None:
    finding = found(made, server=server(cpu_share=BUSY))[code]
    assert finding.on_throughput == "at least"
    assert finding.at_most_times == BOUND


def test_a_link_that_held_it_back() -> None:
    full = Link(same_machine=True, bytes_per_s=1.05e9)
    finding = found(measurement(bytes_each=100_000), link=full, server=server(cpu_share=BUSY))["G6"]
    assert finding.at_most_times == BOUND


def test_streams_that_held_it_back() -> None:
    held = over_http2(replace(FREE, stream_waits=9, stream_wait_ns=10 * SECOND * 64))
    assert found(held, streams_plan(), server=server(cpu_share=BUSY))["G13"].at_most_times == BOUND


@pytest.mark.parametrize(
    ("code", "other"),
    [
        ("G10", generator(2, changed(completed=measurement().completed // 4))),
        ("G11", generator(2, started_late_ns=11_000_000)),
    ],
)
def test_a_cluster_that_held_it_back(code: str, other: GeneratorSeen) -> None:
    alone = Link(same_machine=False)
    seen = found(measurement(), generators=(generator(1), other), link=alone, server=server(cpu_share=BUSY))
    assert seen[code].at_most_times == BOUND


def test_servers_far_apart_have_an_order_though_the_generator_stood_still() -> None:
    assert ranks(far_apart(busy=0.6)) == [1, 2]


def test_where_the_server_s_idle_time_is_not_known_they_have_none() -> None:
    assert ranks(far_apart(busy=None)) == [1, 1]


def far_apart(busy: float | None) -> Run:
    """Two servers, one ten times the other; the slower one's generator stalled in every trial."""
    seen = server(cpu_share=busy)
    quick = [trial("quick", b, measurement(per_s=10_000), server=seen) for b in range(6)]
    slow = measurement(per_s=1_000)
    slow = replace(slow, workers=(replace(slow.workers[0], largest_stall_ns=900_000_000),))
    return run(
        [case("quick"), case("slow")], [*quick, *(trial("slow", b, slow, server=seen) for b in range(6))]
    )


def ranks(made: Run) -> list[int | None]:
    return [row.rank for row in judge(made, 0).ranking]
