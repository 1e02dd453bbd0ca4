"""How long a server is warmed up: as its first trials showed."""

from __future__ import annotations

from bisect import bisect

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import case, interleaved, measurement, run, trial
from msgspec.structs import replace

from assay.model.block import Interleaving
from assay.model.design import ComparisonDesign, Design, StudyDesign, WarmUp
from assay.model.run import Run
from assay.model.trial import OfCapacity, Trial, WarmUpSeen
from assay.plan.next import next_trial
from assay.plan.next.warming import warm_up_for

WHOLE = WarmUp(min_ns=500_000_000, max_ns=10_000_000_000)
NONE = WarmUp(min_ns=0, max_ns=0)
PETCLINIC = WarmUp(min_ns=2_000_000_000, max_ns=40_000_000_000)
"""What Spring had on the `owners` of that study: it served 327 a second behind a warm-up that was told to be
steady too early, 1,912 behind the next, and 586 and 758 behind those that went by the shorter of the two."""
CASES = [case("A"), case("A (again)", server="A"), case("B"), case("A busy", server="A", load="c64")]


def warmed(
    case_id: str, block: int, *changes_ns: int, bound_ns: int = 10_000_000_000, per_s: float = 1000
) -> Trial:
    seen = WarmUpSeen(steady=True, bound_ns=bound_ns, changes_ns=changes_ns)
    return trial(case_id, block, measurement(per_s), warm_up=seen)


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


def test_a_server_that_climbed_to_the_end_of_its_warm_up_needs_all_of_it() -> None:
    # A JVM beside others, whose level rose by 63 % from half to half and never in a step, was given 2 s.
    seen = WarmUpSeen(steady=False, bound_ns=WHOLE.max_ns, reason="its halves differ by 63 %", rising=True)
    climbed = trial("A", 0, measurement(1000), warm_up=seen)
    assert warm_up_for(begun(climbed), "A", 1) == WarmUp(min_ns=WHOLE.max_ns, max_ns=WHOLE.max_ns)
    stepped = warmed("A (again)", 0, 4_000_000_000)
    assert warm_up_for(begun(climbed, stepped), "A", 1).max_ns == 6_000_000_000


@pytest.mark.parametrize("other", ["B", "A busy"])
def test_the_warm_up_of_another_server_or_under_another_load_shows_nothing(other: str) -> None:
    first = warmed("A", 0, 2_000_000_000)
    assert warm_up_for(begun(first), other, 1) == WHOLE


def test_of_several_that_were_watched_the_shortest_counts() -> None:
    noisy, calm = warmed("A", 0, 6_000_000_000), warmed("A", 1, 2_000_000_000)
    assert warm_up_for(begun(noisy), "A", 2) == WHOLE
    assert warm_up_for(begun(noisy, calm), "A", 2).max_ns == 3_000_000_000


def spring(
    block: int, per_s: float, *changes_ms: int, bound_ns: int = PETCLINIC.max_ns, of: str = "A"
) -> Trial:
    changes_ns = [each * 1_000_000 for each in changes_ms]
    return warmed(of, block, *changes_ns, bound_ns=bound_ns, per_s=per_s)


def test_a_warm_up_that_left_its_server_cold_does_not_count() -> None:
    cold, warm = spring(0, 327.1, 2400), spring(1, 1912.0, 30_000, 32_500)
    assert warm_up_for(begun(cold, whole=PETCLINIC), "A", 1).max_ns == 3_600_000_000  # none was warmer yet
    assert warm_up_for(begun(cold, warm, whole=PETCLINIC), "A", 2) == PETCLINIC  # watched once more
    again = spring(2, 1850.0, 20_000)
    assert warm_up_for(begun(cold, warm, again, whole=PETCLINIC), "A", 2).min_ns == 30_000_000_000
    near = spring(2, 0.81 * 1912.0, 1000)
    assert warm_up_for(begun(cold, warm, near, whole=PETCLINIC), "A", 2).max_ns == PETCLINIC.min_ns


def test_a_warm_up_without_a_change_of_level_counts_where_the_least_was_enough() -> None:
    """Beside a program that is busy now and then: 27,000/s after the watched one, 36,000/s after the next."""
    slow = warmed("A", 0, per_s=27_000)
    quick = warmed("A", 1, bound_ns=WHOLE.min_ns, per_s=36_000)
    assert warm_up_for(begun(slow, quick), "A", 1).max_ns == WHOLE.min_ns
    longer = warmed("A", 1, bound_ns=2 * WHOLE.min_ns, per_s=36_000)
    assert warm_up_for(begun(slow, longer), "A", 1) == WHOLE  # that was more than the least
    stepped = warmed("A", 0, 2_000_000_000, per_s=27_000)
    assert warm_up_for(begun(stepped, quick), "A", 1) == WHOLE  # it changed, and may have been cold
    third = warmed("A", 1, bound_ns=300_000_000, per_s=36_000)
    short = WarmUp(min_ns=100_000_000, max_ns=WHOLE.max_ns)
    assert warm_up_for(begun(slow, third, whole=short), "A", 1).max_ns == 300_000_000


def test_in_slices_a_server_was_warm_when_it_first_served_nearly_as_many_as_ever() -> None:
    """Beside a program that comes and goes, its level changes to the end of the warm-up."""
    preempted = interleaved(
        {"A": [19e3, 52e3, 48e3, 25e3, 56e3, 22e3, 20e3, 31e3], "B": [2e3, 5e3, 20e3, 55e3] * 2}
    )
    late = WarmUpSeen(steady=False, bound_ns=WHOLE.max_ns, changes_ns=(600_000_000,))
    a, b = (replace(one, warm_up=late) for one in preempted.trials)
    whole = WarmUp(min_ns=100_000_000, max_ns=WHOLE.max_ns)
    assert warm_up_for(begun(a, whole=whole), "A", 1).max_ns == 300_000_000  # the second slice
    assert warm_up_for(begun(b, whole=whole), "B", 1).max_ns == 600_000_000
    assert warm_up_for(begun(replace(a, arm=None), whole=whole), "A", 1).max_ns == 900_000_000
    rose = replace(late, rising=True)
    assert warm_up_for(begun(replace(a, warm_up=rose), whole=whole), "A", 1).max_ns == WHOLE.max_ns


def test_short_windows_alone_show_that_a_server_needs_less_than_a_third_of_a_second() -> None:
    whole = WarmUp(min_ns=100_000_000, max_ns=WHOLE.max_ns)

    def after(took_ns: int, *changes_ns: int) -> int:
        seen = WarmUpSeen(steady=True, bound_ns=whole.max_ns, changes_ns=changes_ns, took_ns=took_ns)
        return warm_up_for(begun(trial("A", 0, measurement(1000), warm_up=seen), whole=whole), "A", 1).max_ns

    assert after(400_000_000) == after(400_000_000, 30_000_000) == 100_000_000
    assert after(900_000_000, 90_000_000) == 135_000_000
    assert after(1_000_000_000) == after(1_500_000_000, 100_000_000) == 300_000_000


def test_time_in_which_others_had_the_clients_core_warms_no_server() -> None:
    """As much as that of all its threads together: of one, or of two that lacked half of it each."""
    late = WarmUpSeen(steady=False, bound_ns=WHOLE.max_ns, changes_ns=(600_000_000,))
    whole = WarmUp(min_ns=50_000_000, max_ns=WHOLE.max_ns)
    block = interleaved({"A": [19e3, 21e3, 52e3, 48e3] * 2})
    warmed_up = replace(block.trials[0], warm_up=late)
    assert warm_up_for(begun(warmed_up, whole=whole), "A", 1).max_ns == 450_000_000
    assert warmed_up.arm is not None
    lacking = (40_000_000, 40_000_000, 0, 0) * 2
    slices = tuple(
        replace(one, client_delayed_ns=ns) for one, ns in zip(warmed_up.arm.slices, lacking, strict=True)
    )
    held_up = replace(warmed_up, arm=replace(warmed_up.arm, slices=slices))
    assert warm_up_for(begun(held_up, whole=whole), "A", 1).max_ns == 330_000_000
    of_two = replace(held_up, plan=replace(held_up.plan, threads=2))
    assert warm_up_for(begun(of_two, whole=whole), "A", 1).max_ns == 390_000_000


LEAST = WarmUp(min_ns=100_000_000, max_ns=WHOLE.max_ns)


def went_by(
    block: int, early: float, *, slow: float = 1.0, of: str = "A", bound_ns: int = 300_000_000
) -> Trial:
    """A process that went by a shorter warm-up, in slices of 20 ms. From 50 to 100 ms after its start it
    served such a share of what followed until 300 ms, and before that nearly nothing."""
    [made] = interleaved({of: [1e4 * slow] * 25}, block, block).trials
    assert made.arm is not None
    slices = tuple(
        replace(
            one,
            phase="warmup" if number < 15 else "measured",
            length_ns=20_000_000,
            # Longer slices, as those that are measured, have another rate.
            completed=round(one.completed / 5 * (0.1, early, 1, 1.3)[bisect((2, 5, 15), number)]),
        )
        for number, one in enumerate(made.arm.slices)
    )
    seen = WarmUpSeen(steady=False, bound_ns=bound_ns)
    return replace(made, arm=replace(made.arm, slices=slices), warm_up=seen)


@pytest.mark.parametrize(
    ("early", "warm_up_ms"),
    [
        ([1.0] * 3, 300),  # too few
        ([1.0] * 4, 100),
        ([0.98] * 4, 100),
        ([0.9] * 4, 300),
        ([0.5] * 9, 300),
        ([1.2] * 4, 100),  # others took of what followed
        ([0.85, 1.15, 0.9, 1.02, 0.8, 1.2], 100),
        ([0.7, 0.95, 0.7, 0.9, 0.65, 0.9], 300),
        ([0.4, 1.6, 0.5, 1.5], 300),  # nobody knows
    ],
)
def test_later_processes_together_show_that_a_server_is_soon_warm(
    early: list[float], warm_up_ms: int
) -> None:
    unsteady = WarmUpSeen(steady=False, bound_ns=LEAST.max_ns)
    first = trial("A", 0, measurement(1e4), warm_up=unsteady)
    trials = [went_by(block + 1, share) for block, share in enumerate(early)]
    assert warm_up_for(begun(first, *trials, whole=LEAST), "A", 1).max_ns == warm_up_ms * 1_000_000


def test_who_needs_longer_and_who_was_cold_after_the_least_is_not_shown_to_be_soon_warm() -> None:
    unsteady = WarmUpSeen(steady=False, bound_ns=LEAST.max_ns, changes_ns=(2_000_000_000,))
    first = trial("A", 0, measurement(1e4), warm_up=unsteady)
    soon = [went_by(block, 1.0, bound_ns=3_000_000_000) for block in range(1, 6)]
    assert warm_up_for(begun(first, *soon, whole=LEAST), "A", 1).max_ns == 3_000_000_000
    first = replace(first, warm_up=replace(unsteady, changes_ns=()))
    soon = [went_by(block, 1.0) for block in range(1, 6)]
    cold = went_by(6, 1.0, slow=0.5, bound_ns=LEAST.min_ns)
    assert warm_up_for(begun(first, *soon, cold, whole=LEAST), "A", 1).max_ns == 300_000_000


@pytest.mark.parametrize(("alike", "warm_up_ms"), [(True, 100), (False, 300)])
def test_builds_of_one_program_show_together_that_they_are_soon_warm(alike: bool, warm_up_ms: int) -> None:
    interleave = Interleaving(least_slice_ns=1, alike=alike)
    design = ComparisonDesign(seed=1, margin=0.02, budget_ns=1, interleave=interleave)
    unsteady = WarmUpSeen(steady=False, bound_ns=LEAST.max_ns)
    first = [trial(of, 0, measurement(1e4), warm_up=unsteady) for of in ("A", "B")]
    soon = [went_by(block, 1.0, of=of) for block in (1, 2) for of in ("A", "B")]
    made = begun(*first, *soon, whole=LEAST, design=design)
    assert warm_up_for(made, "A", 1).max_ns == warm_up_ms * 1_000_000


def test_no_more_than_twice_as_many_are_watched_however_restless_the_machine() -> None:
    restless = [spring(block, per_s, 4000) for block, per_s in enumerate([1912.0, 1100, 1200, 1300])]
    assert warm_up_for(begun(*restless[:3], whole=PETCLINIC), "A", 2) == PETCLINIC
    assert warm_up_for(begun(*restless, whole=PETCLINIC), "A", 2).max_ns == 6_000_000_000
    never = [spring(block, 1000.0, 4000) for block in range(2)]
    later = spring(2, 1912.0, bound_ns=6_000_000_000)  # warmer than all that were watched
    assert warm_up_for(begun(*never, later, whole=PETCLINIC), "A", 1) == WarmUp(
        min_ns=PETCLINIC.max_ns, max_ns=PETCLINIC.max_ns
    )


def test_a_length_that_left_a_server_cold_is_too_short_from_then_on() -> None:
    early, late = spring(0, 1900.0, 2400), spring(1, 1912.0, 12_000)
    short = spring(2, 585.9, bound_ns=3_600_000_000)
    assert warm_up_for(begun(early, late, whole=PETCLINIC), "A", 2).max_ns == 3_600_000_000
    assert warm_up_for(begun(early, late, short, whole=PETCLINIC), "A", 2).max_ns == 18_000_000_000
    assert warm_up_for(begun(early, short, whole=PETCLINIC), "A", 1) == PETCLINIC
    preempted = spring(3, 1900.0, bound_ns=3_600_000_000)  # it was the machine
    assert warm_up_for(begun(early, late, short, preempted, whole=PETCLINIC), "A", 2).max_ns == 3_600_000_000
    twice = begun(early, short, spring(4, 1900.0, 2400), whole=PETCLINIC)
    assert warm_up_for(twice, "A", 1).max_ns == 3_600_000_000  # no more is known; S2 sees it
    died = replace(short, measurement=None)
    assert warm_up_for(begun(early, late, died, whole=PETCLINIC), "A", 2).max_ns == 3_600_000_000


def test_a_rate_that_was_offered_says_nothing_of_how_warm_a_server_is() -> None:
    offered = case("A", rate=OfCapacity(share=0.5, load="l", cases=("A",)))
    low, high = spring(0, 100.0, 2000), spring(1, 1000.0, 4000)
    made = begun(low, high, whole=PETCLINIC)
    made = replace(made, header=replace(made.header, cases=(offered,)))
    assert warm_up_for(made, "A", 2).max_ns == 3_000_000_000


def test_builds_that_warm_up_alike_are_each_held_to_their_own_level() -> None:
    design = ComparisonDesign(
        seed=1, margin=0.02, budget_ns=1, interleave=Interleaving(least_slice_ns=1, alike=True)
    )
    slow, quick = spring(0, 400.0, 2000, of="B"), spring(0, 1912.0, 6000)
    assert warm_up_for(begun(slow, quick, whole=PETCLINIC, design=design), "A", 1).max_ns == 3_000_000_000
    warmer = spring(1, 600.0, bound_ns=3_000_000_000, of="B")
    made = begun(slow, quick, warmer, whole=PETCLINIC, design=design)
    assert warm_up_for(made, "A", 1).max_ns == 9_000_000_000  # that of B was cold
    assert warm_up_for(made, "B", 1) == PETCLINIC


@given(
    st.lists(
        st.tuples(st.integers(1, 9999), st.integers(0, 40_000), st.sampled_from([None, 2, 4, 9, 30])),
        max_size=8,
    ),
    st.sampled_from([1, 2]),
)
def test_the_unit_of_rates_does_not_matter_and_few_are_watched(
    shown: list[tuple[int, int, int | None]], watched: int
) -> None:
    def found(unit: int) -> WarmUp:
        trials = [
            spring(
                block,
                unit * rate,
                changed_ms,
                bound_ns=PETCLINIC.max_ns if went_by_s is None else went_by_s * 10**9,
            )
            for block, (rate, changed_ms, went_by_s) in enumerate(shown)
        ]
        return warm_up_for(begun(*trials, whole=PETCLINIC), "A", watched)

    one = found(1)
    assert one == found(8)
    assert one == PETCLINIC or PETCLINIC.min_ns <= one.min_ns == one.max_ns <= PETCLINIC.max_ns
    if sum(went_by_s is None for _, _, went_by_s in shown) >= 2 * watched:
        assert one.min_ns == one.max_ns


@pytest.mark.parametrize(("alike", "warmed_s"), [(True, 3), (False, 9)])
def test_builds_of_one_program_warm_up_alike(alike: bool, warmed_s: int) -> None:
    design = ComparisonDesign(
        seed=1, margin=0.02, budget_ns=1, interleave=Interleaving(least_slice_ns=1, alike=alike)
    )
    calm, moved = warmed("B", 0, 2_000_000_000), warmed("A", 0, 6_000_000_000)
    other_load = warmed("A busy", 0)
    made = begun(calm, moved, other_load, design=design)
    assert warm_up_for(made, "A", 1).max_ns == warmed_s * 1_000_000_000
    assert warm_up_for(begun(calm, design=design), "A", 1) == WHOLE  # its own was not seen yet


@pytest.mark.parametrize(
    ("design", "watched"),
    [(StudyDesign(blocks=4, seed=1), 2), (ComparisonDesign(seed=1, margin=0.0001, budget_ns=10**12), 1)],
)
def test_a_study_watches_two_trials_and_a_comparison_one(design: Design, watched: int) -> None:
    plans = {one.id: trial(one.id, 0).plan for one in CASES}
    made = begun(design=replace(design, plans=plans))
    seen: dict[str, list[int]] = {"A": [], "B": []}
    while (due := next_trial(made)) is not None and len(made.trials) < 4 * len(CASES):
        if due.slot.case in seen:
            seen[due.slot.case].append(due.warm_up.max_ns)
            assert due.plan.warmup_max_ns == due.warm_up.engine_bound_ns
        one = warmed(due.slot.case, due.slot.block, 2_000_000_000, bound_ns=due.warm_up.max_ns)
        made = replace(made, trials=(*made.trials, replace(one, number=len(made.trials), plan=due.plan)))
    assert len(seen["B"]) >= 3
    assert seen["B"] == [WHOLE.max_ns] * watched + [3_000_000_000] * (len(seen["B"]) - watched)
