"""Blocks that one server has no figures of: what they cost it, and that the others lose nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from made_runs import WOBBLE, case, interleaved, plan, run
from msgspec.structs import replace

from assay.model.block import Block
from assay.model.design import ComparisonDesign, WarmUp
from assay.model.finding import Finding
from assay.model.run import Run
from assay.model.trial import Failure, Trial
from assay.plan.next import next_due
from assay.report.model.values import effect_words
from assay.verdict import judge
from assay.verdict.answer import answer
from assay.verdict.effects import bounded

DIED = Failure(stage="load", reason="the server ended with exit code 3 under load")
PER_S = {"a": 10_000.0, "b": 20_000.0, "c": 15_000.0}


def died(trial: Trial) -> Trial:
    """Its process ended in the eighth of its rounds."""
    assert trial.arm is not None
    arm = replace(trial.arm, slices=trial.arm.slices[:7], ended="asked")
    return replace(trial, measurement=None, failure=DIED, arm=arm)


def sat_through(trial: Trial) -> Trial:
    return trial


def failed(stage: str) -> Callable[[Trial], Trial]:
    failure = Failure(stage=stage, reason="down")
    return lambda trial: replace(trial, measurement=None, failure=failure, arm=None)


def silent(trial: Trial) -> Trial:
    """All of its answers came in the time of others."""
    assert trial.arm is not None and trial.measurement is not None
    slices = tuple(
        replace(one, completed=0, early_completed=0, late=one.completed) for one in trial.arm.slices
    )
    return replace(
        trial,
        arm=replace(trial.arm, slices=slices),
        measurement=replace(trial.measurement, completed=0),
    )


def sat(
    missed: Mapping[tuple[str, int], Callable[[Trial], Trial]],
    per_s: Mapping[str, float] = PER_S,
    blocks: int = 4,
) -> Run:
    """Servers in blocks; `missed` says by server and block what became of it there."""
    made = run([case(name) for name in per_s], (), blocks)
    for number in range(blocks):
        made = made.after(block(number, missed, per_s))
    return made


def block(
    number: int, missed: Mapping[tuple[str, int], Callable[[Trial], Trial]], per_s: Mapping[str, float]
) -> Block:
    at = {
        name: [rate * (1 + WOBBLE[(number * (place + 1) + round_number) % 10]) for round_number in range(12)]
        for place, (name, rate) in enumerate(per_s.items())
    }
    made = interleaved(at, number, number)
    trials = (missed.get((one.case, number), sat_through)(one) for one in made.trials)
    return replace(made, trials=tuple(trials))


def told(made: Run) -> list[Finding]:
    return [one for one in judge(made, 0).findings if one.code == "T4"]


def known(made: Run, a: str, b: str) -> tuple[float, float]:
    """What is known of a/b."""
    [one] = [one for one in judge(made, 0).comparisons if {one.a, one.b} == {a, b}]
    assert one.known is not None and one.known.low is not None and one.known.high is not None
    low, high = one.known.low, one.known.high
    return (low, high) if one.a == a else (1 / high, 1 / low)


def test_a_server_that_sat_to_the_end_missed_nothing() -> None:
    assert told(sat({})) == []


def test_a_server_that_ended_costs_only_its_own_pairs_that_block() -> None:
    made = sat({("b", 1): died})
    [one] = told(made)
    assert one.subject.case == "b"
    assert one.evidence == (
        "it ended before the others in 1 block of 4 after 7 measured rounds: the server ended with exit "
        "code 3 under load; with nothing served there, 75 % of its figure is left"
    )
    assert effect_words([one]) == "its throughput is at most what was measured, and ≥ 75 % of it"
    blocks = {frozenset((one.a, one.b)): one.ratio.n for one in judge(made, 0).comparisons if one.ratio}
    assert blocks[frozenset("ac")] == 4 and blocks[frozenset("ab")] == blocks[frozenset("bc")] == 3


def test_what_it_missed_counts_as_nothing_served_and_slices_no_order_that_holds_all_the_same() -> None:
    low, high = known(sat({("b", 1): died}), "b", "a")
    assert 1.45 < low < 1.5 and 2.0 < high < 2.05
    assert known(sat({("a", 1): died}), "b", "a")[0] > 1.95  # who is faster is not held back by the other
    shown = {(one.a, one.b) for one in judge(sat({("b", 1): died}), 0).comparisons if one.shown}
    assert ("b", "a") in shown and ("b", "c") not in shown  # 15,000 of 20,000 are no more than c's


@pytest.mark.parametrize("stage", ["start", "contract"])
def test_a_block_that_began_or_ended_without_it_is_missed_too(stage: str) -> None:
    [one] = told(sat({("b", 2): failed(stage)}))
    assert one.evidence.startswith("it has no figures of 1 block of 4: down; with nothing served there, 75 %")


def test_a_service_that_failed_is_not_the_server_s_fault() -> None:
    assert told(sat({("b", 2): failed("service")})) == []


def test_a_block_in_which_all_answers_came_too_late_is_missed() -> None:
    [one] = told(sat({("b", 0): silent, ("b", 2): died}))
    assert ", and answered nothing in 1 block of 4; with nothing served there, 50 %" in one.evidence
    assert bounded([one], "b").slack == (0.5, 1.0)


def test_a_block_that_nobody_sat_to_the_end_costs_nobody() -> None:
    assert told(sat({(name, 1): died for name in PER_S})) == []


def test_a_comparison_goes_on_where_what_a_candidate_missed_leaves_it_open() -> None:
    """10 % apart and known to a fraction of that; but the faster one is gone in one block of six."""
    per_s = {"a": 10_000.0, "b": 11_000.0}
    plans = dict.fromkeys(per_s, plan())
    design = ComparisonDesign(
        budget_ns=10**12,
        margin=0.02,
        plans=plans,
        warm_ups=dict.fromkeys(per_s, WarmUp(min_ns=0, max_ns=0)),
    )
    for gone, ended in (("a", True), ("b", False)):
        made = sat({(gone, 1): died}, per_s, 6)
        made = replace(made, header=replace(made.header, design=design))
        [pair] = answer(made).pairs
        assert (pair.settled == "different") is ended
        assert (next_due(made) is None) is ended
        assert [limit.code for limit in pair.limits] == ["T4"]
