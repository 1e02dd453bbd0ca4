"""Decided servers leave the blocks of a comparison: who is due, how long it took, and what is told of it."""

from __future__ import annotations

import pytest
from made_runs import WOBBLE, case, interleaved, plan, run
from msgspec.structs import replace

from assay.core.errors import EXIT_INVALID
from assay.model.block import UNLIKE_NS, Block, Interleaving
from assay.model.design import ComparisonDesign, WarmUp
from assay.model.run import Run
from assay.plan.next import DueBlock, next_due
from assay.report.live_words import ComparisonWords, RunProgress
from assay.report.model import comparison
from assay.verdict import exit_codes, judge
from assay.verdict.answer import answer
from assay.verdict.see_runs import load_ns, see_rates

RATES = {"a": 10_300.0, "b": 10_000.0, "c": 9_000.0, "d": 7_000.0}
ROUNDS = 8


def begun(
    rates: dict[str, float], budget_s: float = 60.0, control: bool = False, rank_all: bool = False
) -> Run:
    """A comparison that is to begin."""
    cases = [case(name) for name in rates]
    if control:
        first = cases[0].id
        cases.append(case("again", role="control", control_of=first))
    ids = [one.id for one in cases]
    design = ComparisonDesign(
        budget_ns=round(budget_s * 1e9),
        margin=0.02,
        seed=3,
        control=control,
        rank_all=rank_all,
        plans=dict.fromkeys(ids, plan()),
        warm_ups=dict.fromkeys(ids, WarmUp(min_ns=0, max_ns=0)),
        interleave=Interleaving(least_slice_ns=UNLIKE_NS),
    )
    made = run(cases, ())
    return replace(made, header=replace(made.header, design=design))


def had(due: DueBlock, rates: dict[str, float], noise: float = 2.0) -> Block:
    """The block that was due, on a machine that gets a tenth slower from block to block."""
    order = list(rates)
    each = {}
    for arm in due.arms:
        name = arm.slot.case if arm.slot.case in rates else order[0]
        place = order.index(name) + (arm.slot.case not in rates) * len(order)
        wobble = 1 + noise * WOBBLE[(due.number * (2 * place + 1) + 3 * place) % len(WOBBLE)]
        each[arm.slot.case] = [rates[name] * wobble * 0.9**due.number] * ROUNDS
    made = interleaved(each, due.number, due.block)
    trials = (replace(one, number=arm.slot.number) for one, arm in zip(made.trials, due.arms, strict=True))
    return replace(made, trials=tuple(trials))


def to_its_end(made: Run, rates: dict[str, float], noise: float = 2.0) -> Run:
    while (due := next_due(made)) is not None:
        assert isinstance(due, DueBlock)
        assert next_due(made) == due  # a run that is resumed goes on with the same servers
        made = made.after(had(due, rates, noise))
        assert len(made.blocks) < 200
    return replace(made, judgement=judge(made, 0))


def arms(made: Run) -> list[str]:
    return ["".join(sorted(trial.case for trial in block.trials)) for block in made.blocks]


def test_blocks_have_those_that_are_not_told_from_the_best() -> None:
    made = to_its_end(begun(RATES), RATES)
    assert arms(made)[:3] == ["abcd"] * 3 and arms(made)[-1] == "ab"
    found = answer(made)
    assert found.settled and found.best is not None and found.best.id == "a"
    assert {pair.other.id: pair.settled for pair in found.pairs} == dict.fromkeys("bcd", "different")
    assert {pair.other.id: pair.ratio.n for pair in found.pairs if pair.ratio}["d"] < len(made.blocks)


def test_a_server_is_no_worse_for_the_slow_blocks_that_others_had_left() -> None:
    """By its mean the best would be one that left while the machine was fast."""
    made = to_its_end(begun(RATES), RATES)
    assert made.judgement is not None
    assert [place.case for place in made.judgement.ranking] == ["a", "b", "c", "d"]
    means = {place.case: place.throughput.value for place in made.judgement.ranking if place.throughput}
    assert means["c"] > means["b"]
    relative = [place.relative_to_best for place in made.judgement.ranking]
    assert all(one is not None and one.value <= 1 for one in relative)


def test_the_control_stays_as_long_as_the_case_that_it_repeats() -> None:
    last_of = {}
    for first in ("a", "d"):
        rates = {first: RATES[first], **RATES}
        made = to_its_end(begun(rates, control=True), rates)
        last_of[first] = {trial.case for trial in made.blocks[-1].trials}
    assert "again" in last_of["a"] and "again" not in last_of["d"]


def test_it_says_what_all_in_each_block_would_have_taken() -> None:
    made = to_its_end(begun(RATES), RATES)
    assert made.judgement is not None and made.judgement.complete
    blocks = len(made.blocks)
    assert made.judgement.load_ns == load_ns(made) == sum(map(len, arms(made))) * ROUNDS * 10**8
    assert made.judgement.even_load_ns == 4 * blocks * ROUNDS * 10**8
    told = comparison.in_sentences(made).more
    assert told[0].startswith(f"95 % CI of all ratios together, paired over 3 to {blocks} blocks, ")
    assert told[1].startswith("Decided servers left the blocks: ")
    assert told[1].endswith(f"of load instead of {4 * blocks * ROUNDS / 10:.0f} s with all in each.")
    said = ComparisonWords().ended(RunProgress(made))
    assert said.startswith(f"{blocks} blocks, ")


def test_of_two_nobody_can_leave_and_nothing_is_said() -> None:
    rates = {"a": 10_300.0, "b": 10_000.0}
    made = to_its_end(begun(rates), rates)
    assert set(arms(made)) == {"ab"}
    assert made.judgement is not None and made.judgement.even_load_ns == 0
    assert not any("left the blocks" in said for said in comparison.in_sentences(made).more)


def test_a_budget_that_holds_no_block_of_all_holds_one_of_those_that_are_left() -> None:
    whole_s = 4 * ROUNDS / 10
    made = to_its_end(begun(RATES, budget_s=3.9 * whole_s), RATES, noise=4.0)
    assert len(made.blocks) >= 4 and len(arms(made)[-1]) < 4
    assert load_ns(made) <= 3.9 * whole_s * 1e9


def test_when_a_pair_spends_its_error_depends_on_its_own_blocks_alone() -> None:
    made = to_its_end(begun(RATES), RATES)
    seen = see_rates(made)
    a, b, d = (seen.find(name) for name in "abd")
    assert a and b and d
    each = 2 * ROUNDS / 10 / 60
    assert seen.budget_shares(a, b) == pytest.approx([each * n for n in range(1, len(made.blocks) + 1)])
    assert seen.budget_shares(b, d) == seen.budget_shares(a, b)[: len(seen.budget_shares(b, d))]
    assert len(seen.budget_shares(b, d)) < len(made.blocks)


CLOSE = {"a": 13_000.0, "b": 10_300.0, "c": 10_000.0, "d": 7_000.0}


def test_where_all_are_ranked_those_stay_that_are_not_told_from_another() -> None:
    asked, unasked = (to_its_end(begun(CLOSE, rank_all=all_), CLOSE) for all_ in (True, False))
    assert arms(unasked)[-1] == "abcd" and arms(asked)[-1] == "bc"
    assert len(asked.blocks) > len(unasked.blocks)
    found = answer(asked)
    assert found.settled and found.open == ()
    assert asked.judgement is not None
    assert {place.case: place.rank for place in asked.judgement.ranking} == {"a": 1, "b": 2, "c": 3, "d": 4}
    told = comparison.in_sentences(asked)
    assert len(told.headline) == 1 and told.headline[0].startswith("a is fastest: 1.26× b [")
    assert "Every two are told apart or alike." in told.more


def test_pairs_that_are_left_open_are_named_and_no_success() -> None:
    rates = {"a": 13_000.0, "b": 10_000.0, "c": 10_000.0, "d": 10_000.0, "e": 10_000.0}
    made = to_its_end(begun(rates, budget_s=20.0, rank_all=True), rates, noise=6.0)
    found = answer(made)
    assert not found.settled and {pair.first.id for pair in found.open} <= set("bcd")
    told = comparison.in_sentences(made)
    assert told.headline[0].startswith("a is fastest: ")
    assert told.headline[1].startswith("Nor are told apart: ") and "and 3 more pairs" in told.headline[1]
    assert told.advice.startswith("Not settled: ")
    assert comparison.state(made).endswith("; 6 other pairs open")
    assert exit_codes.of(made) == EXIT_INVALID
    assert exit_codes.failing(made)["e"] == "whether it differs from b is not settled"
