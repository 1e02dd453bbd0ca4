"""The time that is left of a run: by its plan, by what its steps took, and within its budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import SECOND, case, interleaved, measurement, plan, run, trial
from msgspec.structs import replace

from assay.model.block import Interleaving
from assay.model.design import Bounds, ComparisonDesign, SearchDesign, StudyDesign, WarmUp
from assay.model.plan import StopAtCount
from assay.model.run import Run
from assay.model.trial import Case, OfCapacity, Phase, Search, WarmUpSeen
from assay.plan.forecast import Cost, Left, Outlook, RunStep, StepKind, Took, remaining
from assay.plan.timeline import Timeline, ahead

WARM_UP = WarmUp(min_ns=SECOND, max_ns=4 * SECOND)
SLICES = Interleaving(least_slice_ns=250_000_000, most_slice_ns=500_000_000)


def step(kind: StepKind, of: str, least_s: float, most_s: float) -> RunStep:
    return RunStep(kind, of, least_s, most_s)


A, B = step("warm-up", "a", 1, 3), step("warm-up", "b", 2, 4)


@pytest.mark.parametrize(
    ("to_come", "done", "elapsed_s", "left"),
    [
        ((), (), 0, Left(0, 0)),
        ((A, B), (), 0, Left(3, 7)),
        ((A,), (Took(A, 2), Took(A, 2.5)), 0, Left(2.25, 2.25)),  # alike ones were done: their mean
        ((B,), (Took(A, 2),), 0, Left(2.5, 3.5)),  # half way between least and most
        ((B,), (Took(A, 1),), 0, Left(2, 3)),
        ((B,), (Took(A, 6),), 0, Left(4, 8)),  # twice the most
        ((B,), (Took(A, 0.5),), 0, Left(1, 3)),  # half of the least
        ((step("start", "b", 1, 2),), (Took(A, 9),), 0, Left(1, 2)),  # another kind says nothing
        ((A, B), (), 0.5, Left(2.5, 6.5)),
        ((A, B), (), 2, Left(2, 5)),
        ((A, B), (), 60, Left(2, 4)),  # it is overdue: nothing is known but of what follows
    ],
)
def test_what_is_left(to_come: Sequence[RunStep], done: Sequence[Took], elapsed_s: float, left: Left) -> None:
    assert remaining(to_come, (), done, elapsed_s) == left


def test_what_may_come_counts_for_the_most_alone_and_the_budget_bounds_the_load() -> None:
    start = step("start", "a", 1, 2)
    assert remaining((A,), (A, start), ()) == Left(1, 8)
    assert remaining((A,), (A, start), (), load_bound_s=4) == Left(1, 6)
    assert remaining((A, B), (start,), (), load_bound_s=1) == Left(3, 3)
    assert remaining((A,), (), (), load_bound_s=-1) == Left(0, 0)


KINDS: tuple[StepKind, ...] = ("start", "warm-up", "measure", "end")
STEPS = st.lists(
    st.builds(
        lambda kind, of, least, more: step(kind, of, least, least + more),
        st.sampled_from(KINDS),
        st.sampled_from("abc"),
        st.floats(0, 10),
        st.floats(0, 10),
    ),
    max_size=30,
).map(lambda steps: list({each[:2]: each for each in steps}.values()) * 2)
SECONDS = st.floats(0, 1000)


@given(STEPS, STEPS, st.lists(SECONDS, max_size=60), SECONDS, st.one_of(st.just(math.inf), SECONDS))
def test_it_is_never_negative_nor_more_than_the_bound(
    sure: list[RunStep], maybe: list[RunStep], took: list[float], elapsed_s: float, bound_s: float
) -> None:
    done = [Took(one, seconds) for one, seconds in zip(sure, took, strict=False)]
    left = remaining(sure, maybe, done, elapsed_s, bound_s)
    assert 0 <= left.low_s <= left.high_s
    loads = [one for one in (*sure, *maybe) if one.kind in ("warm-up", "measure")]
    beside = remaining([one for one in (*sure, *maybe) if one not in loads], (), done, 0.0)
    assert left.high_s <= bound_s + beside.high_s + 1e-6


@given(STEPS, st.floats(0, 1))
def test_it_falls_as_steps_are_done_and_is_nothing_at_the_end(steps: list[RunStep], place: float) -> None:
    """Each takes what its plan says, at the same place between its bounds."""
    took = [Took(one, one.least_s + place * (one.most_s - one.least_s)) for one in steps]
    lefts = [remaining(steps[done:], (), took[:done]) for done in range(len(steps) + 1)]
    for before, after in zip(lefts, lefts[1:], strict=False):
        assert after.high_s <= before.high_s + 1e-6
    assert lefts[-1] == Left(0, 0)
    whole_s = sum(seconds for _, seconds in took)
    assert lefts[0].low_s - 1e-6 <= whole_s <= lefts[0].high_s + 1e-6


@given(STEPS, st.floats(1.01, 5))
def test_steps_that_are_slower_than_planned_make_those_to_come_longer(
    steps: list[RunStep], slower: float
) -> None:
    took = [Took(one, slower * one.most_s) for one in steps]
    for done in range(1, len(steps)):
        left = remaining(steps[done:], (), took[:done])
        assert left.high_s >= sum(one.most_s for one in steps[done:]) - 1e-6


# --- the steps of a design ----------------------------------------------------------------


def outlook(cases: Sequence[Case], *, interleave: Interleaving | None = None, count: int = 0) -> Outlook:
    asked = plan(stop=StopAtCount(count=count)) if count else plan(seconds=2)
    design = StudyDesign(
        blocks=3,
        plans={one.id: asked for one in cases},
        warm_ups={one.id: WARM_UP for one in cases},
        interleave=interleave,
    )
    costs = {one.id: Cost(start_s=4.0, guess_per_s=100.0, server=one.server) for one in cases}
    watched = dict.fromkeys(design.warm_ups, 2)
    return Outlook(design=design, cases=cases, costs=costs, warm_ups=design.warm_ups, watched=watched)


def seconds_of(made: Outlook, left: Sequence[tuple[str, int]]) -> list[list[tuple[Any, ...]]]:
    return [[(one.kind, one.least_s, one.most_s) for one in unit.steps] for unit in made.units(left)]


def test_a_sequential_trial_is_a_start_a_warm_up_a_measured_phase_and_an_end() -> None:
    units = seconds_of(outlook([case("a")]), [("a", 0), ("a", 1), ("a", 2)])
    assert units[0] == [
        ("start", pytest.approx(1.25), pytest.approx(5.3)),
        ("warm-up", 1, 4),
        ("measure", 2, 2),
        ("end", 0.05, 0.3),
    ]
    assert units[1] == units[0]
    assert units[2][1] == ("warm-up", 1, 2)  # behind two that were watched


def test_an_interleaved_block_starts_each_server_and_measures_them_in_turns() -> None:
    cases = [case("a"), case("b"), case("c")]
    first, second = seconds_of(
        outlook(cases, interleave=SLICES), [(one.id, block) for block in (0, 1) for one in cases]
    )
    kinds = [kind for kind, *_ in first]
    assert kinds == ["start", "start", "start", "warm-up", "measure", "end"]
    # Warm-ups of 1 to 4 s each, two rounds of slices of 250 or 500 ms; a pilot of twelve such slices each.
    assert first[3] == ("warm-up", pytest.approx(3 + 1.5), pytest.approx(12 + 3 + 9))
    assert second[3] == ("warm-up", pytest.approx(3 + 1.5), pytest.approx(12 + 3))
    # Eight slices of 250 ms each, or four of 500 ms, and 5 ms of washout before each.
    assert first[4] == ("measure", pytest.approx(6.06), pytest.approx(6.12))


def test_what_follows_a_block_needs_no_start_and_what_is_sequential_a_whole_warm_up() -> None:
    closed = [case("a"), case("b")]
    share = case("a@50%", rate=OfCapacity(cases=("a",), load="c64", share=0.5), entry="a")
    searched = case("a@capacity", search=Search(case="a", objective="p99<9ms", trials=2, measure_ns=SECOND))
    left = [(one.id, 0) for one in (*closed, share, searched, searched)]
    together = outlook([*closed, share, searched], interleave=SLICES).units(left)
    assert [[one.kind for one in unit.steps] for unit in together[1:]] == [["warm-up", "measure", "end"]] * 3
    alone = outlook([*closed, share, searched]).units(left)
    assert [(one.kind, one.least_s, one.most_s) for one in alone[2].steps[1:3]] == [
        ("warm-up", 2, 5),
        ("measure", 2, 2),
    ]


def test_a_counted_load_takes_what_was_published_or_longer() -> None:
    made = outlook([case("a")], count=500)
    assert seconds_of(made, [("a", 0)])[0][2] == ("measure", 5.0, 7.5)


# --- a run as it goes on -------------------------------------------------------------------


def study_of(blocks: int = 3, *, more: int = 0, interleave: Interleaving | None = None) -> Run:
    cases = [case("a"), case("b")]
    design = StudyDesign(
        blocks=blocks,
        more_blocks=more,
        plans={one.id: plan(seconds=2) for one in cases},
        warm_ups={one.id: WARM_UP for one in cases},
        interleave=interleave,
    )
    made = run(cases, (), blocks=blocks)
    return replace(made, header=replace(made.header, design=design))


COSTS = {name: Cost(start_s=1.0, server=f"quotes/{name}") for name in "ab"}
PHASES: tuple[Phase, ...] = ("start", "contract", "warm-up", "measure", "contract again", "stop")


def go_through(made: Run, timeline: Timeline, took_s: dict[Phase, float]) -> list[Left]:
    """Each trial after another as the controller tells it, with the time left at each phase."""
    now_s, lefts = 0.0, [timeline.left(0.0)]
    while (units := ahead(made, COSTS).sure) != ():
        unit = units[0]
        timeline.begins(unit.cases, unit.block, now_s)
        for phase in PHASES:
            timeline.phase(unit.cases[0], phase, now_s)
            lefts.append(timeline.left(now_s))
            now_s += took_s[phase]
        warm = WarmUpSeen(steady=True, bound_ns=WARM_UP.max_ns, reason="steady", took_ns=2 * SECOND)
        done = trial(unit.cases[0], unit.block, measurement(seconds=2), warm_up=warm)
        made = made.after(done)
        timeline.stored(made, now_s)
        lefts.append(timeline.left(now_s))
    assert timeline.next_block is None and timeline.share(now_s) == 1
    return lefts


def test_a_study_s_time_falls_to_nothing_and_is_right_once_a_trial_of_each_case_is_done() -> None:
    took_s: dict[Phase, float] = {
        "start": 0.8, "contract": 0.2, "warm-up": 2.0, "measure": 2.0, "contract again": 0.1, "stop": 0.1,
    }  # fmt: skip
    made = study_of()
    lefts = go_through(made, Timeline(made, COSTS), took_s)
    highs = [left.high_s for left in lefts]
    assert highs == sorted(highs, reverse=True)
    assert lefts[-1] == Left(0, 0)
    assert lefts[0].low_s < 6 * 5.2 < lefts[0].high_s
    # Two servers that need the least of a warm-up from now on, as two of each were steady at once.
    assert tuple(lefts[4 * (len(PHASES) + 1)]) == pytest.approx((2 * 4.2, 2 * 4.2))


def test_arms_of_one_block_share_their_phases() -> None:
    made = study_of(interleave=SLICES)
    timeline = Timeline(made, COSTS)
    timeline.begins(("a", "b"), 0, 0.0)
    timeline.phase("a", "start", 0.0)
    timeline.phase("a", "contract", 8.0)
    timeline.phase("b", "start", 10.0)
    timeline.phase("b", "contract", 11.0)
    for name in "ab":
        timeline.phase(name, "warm-up", 12.0)
    for name in "ab":
        timeline.phase(name, "measure", 20.0)
    before = timeline.left(21.0)
    for name in "ab":
        timeline.phase(name, "contract again", 25.0)
        timeline.phase(name, "stop", 25.0)
    # Starts took 10 s and 2 s, measuring 5 s; warm-ups without a pilot are not known yet.
    two_more = timeline.left(25.0)
    assert 2 * (10 + 2 + 5 + 3) < two_more.low_s < two_more.high_s < 2 * (10 + 2 + 5 + 10)
    assert before.high_s > two_more.high_s


def test_a_server_that_cannot_be_had_takes_no_time() -> None:
    made = study_of()
    whole, half = Timeline(made, COSTS), Timeline(made, COSTS)
    half.lacks("quotes/b")
    assert half.left(0.0).high_s == pytest.approx(whole.left(0.0).high_s / 2)


def test_blocks_that_may_follow_count_for_the_most_until_that_is_settled() -> None:
    least, most = Timeline(study_of(4, more=2), COSTS).left(0.0)
    fewer = Timeline(study_of(4), COSTS).left(0.0)
    assert least == fewer.low_s and most > fewer.high_s


def compared(blocks: int, budget_s: float) -> Run:
    cases = [case("a"), case("b")]
    design = ComparisonDesign(
        budget_ns=round(budget_s * SECOND),
        margin=0.02,
        measure_ns=2 * SECOND,
        plans={one.id: plan(seconds=2) for one in cases},
        warm_ups=dict.fromkeys("ab", WARM_UP),
        interleave=SLICES,
    )
    made = run(cases, (), blocks=0)
    made = replace(made, header=replace(made.header, design=design))
    for number in range(blocks):
        made = made.after(interleaved({"a": [1000, 1010] * 8, "b": [1000, 990] * 8}, number, number))
    return made


def test_a_comparison_ends_with_its_budget_at_the_latest() -> None:
    begun, later = (Timeline(compared(blocks, 60), COSTS).left(0.0) for blocks in (0, 2))
    assert 60 <= begun.high_s < 120  # and servers' starts
    assert 0 < later.low_s < later.high_s


def searched(trials: Sequence[tuple[float, bool]], budget_s: float = 240) -> Run:
    bounds = Bounds(objective="p99<50ms", lowest_per_s=50, highest_per_s=5000, resolution=0.05)
    design = SearchDesign(
        budget_ns=round(budget_s * SECOND),
        measure_ns=3 * SECOND,
        bounds=bounds,
        plans={"a": plan(seconds=3)},
        warm_ups={"a": WarmUp(min_ns=SECOND, max_ns=SECOND)},
    )
    made = run([case("a")], (), blocks=0)
    return replace(made, header=replace(made.header, design=design))


def test_a_search_is_likely_to_take_some_trials_and_no_more_than_its_budget() -> None:
    likely = ahead(searched(()), COSTS)
    assert 10 < len(likely.sure) < 40
    left = Timeline(searched(()), COSTS).left(0.0)
    assert len(likely.sure) * 4 <= left.low_s < left.high_s
    short = Timeline(searched((), budget_s=20), COSTS)
    assert short.left(0.0).high_s <= 20 + 6 * 2 and short.course <= 6
