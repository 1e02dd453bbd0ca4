"""What a run does next: a pure function of its design and the trials so far, for each kind of run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_runs import case, interleaved, measurement, plan, run, trial
from msgspec.structs import replace
from test_capacity_answer import BOUNDS, at, seen
from test_verdict_slice_rules import cold, rates, slices
from test_versus_answer import rate_at

from assay.model.design import ComparisonDesign, Design, SearchDesign, StudyDesign, WarmUp
from assay.model.measurement import Outcome
from assay.model.plan import Open
from assay.model.run import Run
from assay.model.trial import Case, Failure, Trial
from assay.plan.next import Due, given_up, next_trial
from assay.plan.next.comparison import order_of_block
from assay.verdict import judge
from assay.verdict.answer import answer
from assay.verdict.see_runs import load_ns

DOWN = Failure(stage="start", reason="down")
DIED = Failure(stage="load", reason="it died")
FAILS = Outcome(origin="plan", kind="unexpected_status", count=100_000, example="503")
WARM = WarmUp(min_ns=0, max_ns=0)
HOUR_NS = 3_600_000_000_000


def begun(design: Design, cases: list[Case], trials: list[Trial]) -> Run:
    """A run of the design that is as far as these trials."""
    made = run(cases, trials)
    plans = {one.id: plan() for one in cases}
    settled = replace(design, plans=plans, warm_ups=dict.fromkeys(plans, WARM))
    return replace(made, header=replace(made.header, design=settled))


def to_its_end(made: Run, most: int = 200) -> Run:
    """The run with every trial that is due measured at a steady rate."""
    for _ in range(most):
        due = next_trial(made)
        if due is None:
            return made
        made = replace(made, trials=(*made.trials, done(due)))
    raise AssertionError("it does not end")


def done(due: Due, failure: Failure | None = None) -> Trial:
    slot = due.slot
    rate = 10_000.0 if slot.case == "B" else 12_000.0
    made = failure or due.failure or rate_at(rate, slot.number, 1.0)
    return trial(slot.case, slot.block, made, number=slot.number, position=slot.position, plan=due.plan)


# --- giving up ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tried", "gone"),
    [
        ([], False),
        ([DOWN], False),
        ([DOWN, DOWN], True),
        ([None, DOWN, DOWN], False),
        ([None, DOWN, DOWN, DOWN], True),
        ([DOWN, DOWN, None], False),
        ([None, DOWN, None, DOWN, DOWN], False),
        ([DIED, DIED], True),
    ],
)
def test_a_case_is_given_up_by_one_rule(tried: list[Failure | None], gone: bool) -> None:
    trials = [trial("a", block, failure) for block, failure in enumerate(tried)]
    trials += [trial("b", block, DOWN) for block in range(5)]  # another case's failures say nothing
    assert (given_up(trials, "a") is not None) == gone


def test_to_a_search_the_death_of_the_server_is_an_answer() -> None:
    trials = [trial("a", block, DIED) for block in range(5)]
    assert given_up(trials, "a", death_is_answer=True) is None
    trials += [trial("a", 5 + block, DOWN) for block in range(2)]
    assert given_up(trials, "a", death_is_answer=True) is None
    assert given_up([*trials, trial("a", 7, DOWN)], "a", death_is_answer=True) == DOWN


# --- a comparison ----------------------------------------------------------------------------


COMPARISON = ComparisonDesign(seed=3, margin=0.02, budget_ns=HOUR_NS)
CANDIDATES = [case("A"), case("B"), case("A (again)", server="A", role="control", control_of="A")]


def test_a_comparison_goes_on_in_whole_blocks_until_it_is_settled() -> None:
    ended = to_its_end(begun(COMPARISON, CANDIDATES, []))
    blocks = {one.block for one in ended.trials}
    assert len(ended.trials) == 3 * len(blocks) and len(blocks) >= 3
    for block in blocks:
        order = [one.case for one in ended.trials if one.block == block]
        assert tuple(order) == order_of_block([one.id for one in CANDIDATES], block, 3)
    assert [one.number for one in ended.trials] == list(range(len(ended.trials)))


@settings(deadline=None, max_examples=20)
@given(cut=st.integers(0, 11))
def test_a_comparison_that_was_cut_off_goes_on_exactly_where_it_was(cut: int) -> None:
    whole = to_its_end(begun(COMPARISON, CANDIDATES, []))
    again = to_its_end(begun(COMPARISON, CANDIDATES, list(whole.trials[:cut])))
    assert again.trials == whole.trials


def test_a_candidate_that_is_given_up_ends_a_comparison_of_two() -> None:
    made = begun(COMPARISON, CANDIDATES, [])
    for _ in range(6):
        due = next_trial(made)
        assert due is not None
        failed = DOWN if due.slot.case == "B" else None
        made = replace(made, trials=(*made.trials, done(due, failed)))
    assert next_trial(made) is None


def none_right(due: Due) -> Trial:
    """A trial in which every answer was an error."""
    seen = measurement(completed=0, failed=100_000, outcomes=(FAILS,))
    return replace(done(due), measurement=seen)


@pytest.mark.parametrize(("names", "ends"), [("AB", True), ("ABC", False)])
def test_a_candidate_of_which_no_answer_is_right_is_tried_in_one_block(names: str, ends: bool) -> None:
    made = begun(COMPARISON, [case(name) for name in names], [])
    for _ in names:
        due = next_trial(made)
        assert due is not None
        made = replace(made, trials=(*made.trials, none_right(due) if due.slot.case == "B" else done(due)))
    assert (next_trial(made) is None) is ends
    assert "B" not in {one.case for one in to_its_end(made).trials if one.block}


def test_a_candidate_that_answered_once_may_have_had_bad_luck() -> None:
    made = begun(COMPARISON, [case("A"), case("B")], [])
    for number in range(6):
        due = next_trial(made)
        assert due is not None
        one = none_right(due) if due.slot.case == "B" and number > 1 else done(due)
        made = replace(made, trials=(*made.trials, one))
    assert next_trial(made) is not None


def test_a_comparison_does_not_begin_a_block_beyond_its_budget() -> None:
    tight = ComparisonDesign(
        seed=3, margin=0.0001, budget_ns=65_000_000_000
    )  # a trial offers ten seconds of load
    ended = to_its_end(begun(tight, CANDIDATES, []))
    assert {one.block for one in ended.trials} == {0, 1}


def test_a_long_first_warm_up_leaves_room_for_the_blocks_that_need_none() -> None:
    design = ComparisonDesign(seed=3, margin=0.0001, budget_ns=106_000_000_000)
    made = begun(design, CANDIDATES, [])
    for _ in range(3):
        due = next_trial(made)
        assert due is not None
        first = done(due)
        assert first.measurement is not None
        long = replace(first.measurement, warmup_ns=5_000_000_000)
        made = replace(made, trials=(*made.trials, replace(first, measurement=long)))
    ended = to_its_end(made)  # 45 s, 30 s, and 30 s more; by the mean of two blocks it would be 37.5
    assert {one.block for one in ended.trials} == {0, 1, 2}
    assert load_ns(ended) <= design.budget_ns


def sat(per_s: float, left: float, allowed: float | None) -> Run:
    """A serves 10,000 a second, and B `per_s`, but only so much of what it should right after a switch."""
    design = replace(COMPARISON, margin=0.001, slower_allowed=allowed)
    made = begun(design, CANDIDATES[:2], [])
    for number in range(8):
        each = {"A": rates(10_000, number, 0), "B": rates(per_s, number, 1)}
        made = made.after(slices(interleaved(each, number, number), "B", lambda one: cold(one, left)))
    return made


@pytest.mark.parametrize("allowed", [None, 0.02])
@pytest.mark.parametrize(("per_s", "left", "settled"), [(9_500, 1.0, True), (9_700, 0.8, False)])
def test_a_comparison_ends_by_what_it_will_be_judged_by(
    allowed: float | None, per_s: float, left: float, settled: bool
) -> None:
    made = sat(per_s, left, allowed)
    judged = answer(replace(made, judgement=judge(made, 0)))
    assert judged.settled == settled
    assert (next_trial(made) is None) == settled


# --- a search -----------------------------------------------------------------------------


SEARCH = SearchDesign(bounds=BOUNDS, budget_ns=HOUR_NS, measure_ns=3_000_000_000)


def test_a_search_asks_for_the_rate_that_decides_most_and_ends() -> None:
    made = begun(SEARCH, [case("srv")], [])
    while (due := next_trial(made)) is not None:
        assert isinstance(due.plan.load, Open)
        rate = due.plan.load.stages[0].to_per_s
        held = seen(rate, 10 if rate < 3_000 else 90)
        one = trial("srv", due.slot.block, held, number=due.slot.number, plan=at(rate))
        made = replace(made, trials=(*made.trials, one))
        assert len(made.trials) < 100
    assert [one.number for one in made.trials] == list(range(len(made.trials)))


def test_a_search_ends_with_its_budget_and_with_a_server_that_cannot_be_had() -> None:
    short = SearchDesign(bounds=BOUNDS, budget_ns=2_000_000_000, measure_ns=3_000_000_000)
    assert next_trial(begun(short, [case("srv")], [])) is not None
    assert next_trial(begun(short, [case("srv")], [trial("srv", 0, seen(500, 10), plan=at(500))])) is None
    gone = [trial("srv", number, DOWN, plan=at(500)) for number in range(2)]
    assert next_trial(begun(SEARCH, [case("srv")], gone)) is None


# --- a study ------------------------------------------------------------------------------


def test_a_study_tells_a_case_that_is_given_up_instead_of_trying_it() -> None:
    study = StudyDesign(blocks=3, seed=1)
    cases = [case("a"), case("b")]
    ended = to_its_end(begun(study, cases, [trial("b", block, DOWN) for block in range(2)]))
    told = [one for one in ended.trials if one.case == "b"]
    assert [one.failure for one in told] == [DOWN] * 3
    assert all(one.measurement for one in ended.trials if one.case == "a")
    assert next_trial(ended) is None
