"""How long a server is warmed up: as its first trials showed."""

from __future__ import annotations

import pytest
from made_runs import case, measurement, run, trial
from msgspec.structs import replace

from assay.design import next_trial
from assay.design.warming import warm_up_for
from assay.values.design import ContestDesign, Design, StudyDesign, WarmUp
from assay.values.run import Run
from assay.values.sitting import Weave
from assay.values.trial import Trial, WarmUpSeen

WHOLE = WarmUp(min_ns=500_000_000, max_ns=10_000_000_000)
NONE = WarmUp(min_ns=0, max_ns=0)
CASES = [case("A"), case("A (again)", server="A"), case("B"), case("A busy", server="A", load="c64")]


def warmed(case_id: str, block: int, *changes_ns: int, bound_ns: int = 10_000_000_000) -> Trial:
    seen = WarmUpSeen(steady=True, bound_ns=bound_ns, changes_ns=changes_ns)
    return trial(case_id, block, measurement(1000), warm_up=seen)


def begun(*trials: Trial, whole: WarmUp = WHOLE, design: Design | None = None) -> Run:
    made = run(CASES, trials)
    settled = replace(design or made.header.design, warm_ups={one.id: whole for one in CASES})
    return replace(made, header=replace(made.header, design=settled))


def test_the_first_trial_shows_how_long_the_others_are_warmed_up() -> None:
    assert warm_up_for(begun(), "A", 1) == WHOLE
    first = warmed("A", 0, 800_000_000, 2_000_000_000)
    assert warm_up_for(begun(first), "A", 1) == WarmUp(min_ns=3_000_000_000, max_ns=3_000_000_000)
    shorter = warmed("A", 1, 200_000_000, bound_ns=3_000_000_000)
    assert warm_up_for(begun(first, shorter), "A", 1).max_ns == 3_000_000_000
    again = warmed("A (again)", 0)
    assert warm_up_for(begun(first, again), "A", 1).max_ns == WHOLE.min_ns  # warm from the begin
    late = warmed("A", 0, 9_000_000_000)
    assert warm_up_for(begun(late), "A", 1) == WarmUp(min_ns=WHOLE.max_ns, max_ns=WHOLE.max_ns)
    assert warm_up_for(begun(first, whole=NONE), "A", 1) == NONE


@pytest.mark.parametrize("other", ["B", "A busy"])
def test_the_warm_up_of_another_server_or_under_another_load_shows_nothing(other: str) -> None:
    first = warmed("A", 0, 2_000_000_000)
    assert warm_up_for(begun(first), other, 1) == WHOLE


def test_of_several_that_were_watched_the_shortest_counts() -> None:
    noisy, calm = warmed("A", 0, 6_000_000_000), warmed("A", 1, 2_000_000_000)
    assert warm_up_for(begun(noisy), "A", 2) == WHOLE
    assert warm_up_for(begun(noisy, calm), "A", 2).max_ns == 3_000_000_000


@pytest.mark.parametrize(("alike", "warmed_s"), [(True, 3), (False, 9)])
def test_builds_of_one_program_warm_up_alike(alike: bool, warmed_s: int) -> None:
    design = ContestDesign(seed=1, sought=0.02, budget_ns=1, weave=Weave(least_slice_ns=1, alike=alike))
    calm, moved = warmed("B", 0, 2_000_000_000), warmed("A", 0, 6_000_000_000)
    other_load = warmed("A busy", 0)
    made = begun(calm, moved, other_load, design=design)
    assert warm_up_for(made, "A", 1).max_ns == warmed_s * 1_000_000_000
    assert warm_up_for(begun(calm, design=design), "A", 1) == WHOLE  # its own was not seen yet


@pytest.mark.parametrize(
    ("design", "watched"),
    [(StudyDesign(blocks=4, seed=1), 2), (ContestDesign(seed=1, sought=0.0001, budget_ns=10**12), 1)],
)
def test_a_study_watches_two_trials_and_a_contest_one(design: Design, watched: int) -> None:
    plans = {one.id: trial(one.id, 0).plan for one in CASES}
    made = begun(design=replace(design, plans=plans))
    seen: dict[str, list[int]] = {"A": [], "B": []}
    while (due := next_trial(made)) is not None and len(made.trials) < 4 * len(CASES):
        if due.slot.case in seen:
            seen[due.slot.case].append(due.warm_up.max_ns)
            assert due.plan.warmup_max_ns == due.warm_up.engine_bound_ns
        one = warmed(due.slot.case, due.slot.block, 2_000_000_000, bound_ns=due.warm_up.max_ns)
        made = replace(made, trials=(*made.trials, replace(one, number=len(made.trials), plan=due.plan)))
    assert seen["B"] == [WHOLE.max_ns] * watched + [3_000_000_000] * (4 - watched)
