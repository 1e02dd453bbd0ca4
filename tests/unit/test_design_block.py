"""Which trials are interleaved, how long slices are, and when another length is tried."""

from __future__ import annotations

import math

import made_runs
import pytest
from made_runs import case, plan
from msgspec.structs import replace

from assay.engine.driver import AgreedSlices
from assay.model.block import ALIKE_NS, SHORTEST_NS, UNLIKE_NS, Block, Interleaving, Lengths
from assay.model.design import Candidate, ComparisonDesign, StudyDesign, WarmUp
from assay.model.interleaving import InterleavedPlan, Slice
from assay.model.plan import Open, Stage
from assay.model.run import Run
from assay.model.trial import Case, Failure, OfCapacity
from assay.plan.next import Due, DueBlock, next_due, to_stand
from assay.plan.next.lengths import lengths_for, longer_ns, piloted, rounds_of, warming_ns
from assay.plan.words.case import one_program

MS = 1_000_000
UNLIKE = Interleaving(least_slice_ns=UNLIKE_NS)
ALIKE = Interleaving(least_slice_ns=ALIKE_NS, alike=True)
WARM = WarmUp(min_ns=0, max_ns=0)


def study(cases: list[Case], blocks: int = 2, interleave: Interleaving | None = UNLIKE) -> Run:
    made = made_runs.run([replace(one, rate=None) for one in cases], (), blocks=blocks)
    opened = plan(load=Open(stages=(Stage(duration_ns=1, from_per_s=1, to_per_s=1),), max_connections=4))
    plans = {one.id: opened if one.load == "open" else plan() for one in cases}
    design = StudyDesign(
        blocks=blocks, seed=3, plans=plans, warm_ups=dict.fromkeys(plans, WARM), interleave=interleave
    )
    return replace(made, header=replace(made.header, design=design, cases=tuple(cases)))


def sat(due: DueBlock, **failures: Failure) -> Block:
    """The block that was due, with a failure where one is named."""
    made = made_runs.interleaved({one.slot.case: [1000.0] * 4 for one in due.arms}, due.number, due.block)
    trials = (
        replace(
            one,
            number=arm.slot.number,
            failure=failures.get(one.case),
            measurement=None if one.case in failures else one.measurement,
        )
        for one, arm in zip(made.trials, due.arms, strict=True)
    )
    return replace(made, trials=tuple(trials))


def slices(service_ms: float, per_s: float, rounds: int = 4, slice_ms: int = 100) -> list[Slice]:
    made = made_runs.interleaved({"x": [per_s] * rounds}).trials[0].arm
    assert made is not None
    return [
        replace(
            one,
            phase="warmup",
            service_time_p50_ns=round(service_ms * MS),
            length_ns=slice_ms * MS,
            completed=round(per_s * slice_ms / 1000),
        )
        for one in made.slices
    ]


# --- who sits -----------------------------------------------------------------------------


def test_closed_loops_of_a_block_that_ask_the_same_are_a_block() -> None:
    cases = [case("a"), case("b"), case("c", load="other"), case("d", load="other"), case("e", load="open")]
    run = study(cases)
    kinds: list[frozenset[str] | str] = []
    while (due := next_due(run)) is not None:
        if isinstance(due, DueBlock):
            kinds.append(frozenset(arm.slot.case for arm in due.arms))
            run = run.after(sat(due))
        else:
            assert isinstance(due, Due)
            kinds.append(due.slot.case)
            run = run.after(made_runs.trial(due.slot.case, due.slot.block, number=due.slot.number))
    assert len(kinds) == 6
    assert set(kinds[:3]) == set(kinds[3:]) == {frozenset("ab"), frozenset("cd"), "e"}
    assert [block.number for block in run.blocks] == [0, 1, 2, 3]


def follows(closed: str, *others: str) -> Case:
    """An open loop at half of what that closed loop carries, or the slowest of several."""
    rate = OfCapacity(cases=(closed, *others), load="c", share=0.5, common=bool(others))
    return case(f"{closed}@{'common' if others else 'half'}", rate=rate)


def test_what_follows_from_a_block_comes_while_its_servers_stand() -> None:
    cases = [case("a"), case("b"), case("c", load="other"), case("d", load="other")]
    cases += [follows("a"), follows("c"), follows("d", "c"), follows("b", "d")]
    run = study(cases)
    came: list[str] = []
    while (due := next_due(run)) is not None:
        if isinstance(due, DueBlock):
            came.append("+".join(sorted(arm.slot.case for arm in due.arms)))
            run = run.after(sat(due))
            arms = frozenset(came[-1].split("+"))
            assert to_stand(run) <= arms and to_stand(run) >= arms & {"a", "c"}
        else:
            own = due.slot.case.partition("@")[0]
            came.append(due.slot.case)
            assert own in to_stand(run) or own == "b"
            run = run.after(made_runs.trial(due.slot.case, due.slot.block, number=due.slot.number))
    for block in (came[:6], came[6:]):
        of_ab, of_cd = block.index("a+b"), block.index("c+d")
        assert block[of_ab + 1] in {"a@half", "b@common"}
        assert {block[of_cd + 1], block[of_cd + 2]} == {"c@half", "d@common"}
    assert came.index("b@common") > came.index("c+d")  # the first block settles the rate, of all of them
    assert to_stand(run) == frozenset()


def test_without_interleaving_no_server_stands_after_its_trial() -> None:
    run = study([case("a"), case("b"), follows("a")], interleave=None)
    run = run.after(made_runs.trial("a", 0)).after(made_runs.trial("b", 0))
    assert to_stand(run) == frozenset()


@pytest.mark.parametrize("seed", [0, 18_500_000_000_000, 10**30])
def test_whatever_the_seed_of_a_run_its_blocks_have_one_that_the_engine_takes(seed: int) -> None:
    run = study([case("a"), case("b")])
    run = replace(run, header=replace(run.header, design=replace(run.header.design, seed=seed)))
    seeds = []
    while isinstance(due := next_due(run), DueBlock):
        AgreedSlices(InterleavedPlan(arms=(plan(), plan()), slice_ns=MS, washout_ns=0, seed=due.seed))
        seeds.append(due.seed)
        run = run.after(sat(due))
    assert len(set(seeds)) == 2


def test_without_interleaving_trials_follow_one_another() -> None:
    due = next_due(study([case("a"), case("b")], interleave=None))
    assert isinstance(due, Due)


def test_a_server_that_is_given_up_is_told_and_the_others_sit_on() -> None:
    run = study([case("a"), case("b"), case("c")], blocks=3)
    for _ in range(2):
        due = next_due(run)
        assert isinstance(due, DueBlock) and len(due.arms) == 3
        run = run.after(sat(due, c=Failure(stage="start", reason="down")))
    seen = []
    while (due := next_due(run)) is not None:
        if isinstance(due, DueBlock):
            seen.append({arm.slot.case for arm in due.arms})
            run = run.after(sat(due))
        else:
            assert due.failure is not None and due.slot.case == "c"
            run = run.after(made_runs.trial("c", due.slot.block, due.failure))
    assert seen == [{"a", "b"}]


def test_a_comparison_sits_block_after_block() -> None:
    design = ComparisonDesign(budget_ns=10**12, margin=0.02, seed=1, interleave=ALIKE)
    made = made_runs.run([case("A"), case("B")], ())
    plans = {one.id: plan() for one in made.header.cases}
    design = replace(design, plans=plans, warm_ups=dict.fromkeys(plans, WARM))
    run = replace(made, header=replace(made.header, design=design))
    for block in range(2):
        due = next_due(run)
        assert isinstance(due, DueBlock)
        assert (due.number, due.block, len(due.arms)) == (block, block, 2)
        assert (due.lengths is None) == (block == 0)
        run = run.after(sat(due))


# --- how long slices are -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interleave", "service_ms", "per_s", "expected_ms", "why"),
    [
        (ALIKE, 1, 50_000, 100, "builds of one program"),
        (UNLIKE, 1, 50_000, 250, "unlike servers"),
        (ALIKE, 100, 10_000, 2500, "25 service times of x"),
        (UNLIKE, 50, 10_000, 2500, "50 service times of x"),
        (ALIKE, 1, 500, 400, "200 requests of x"),
        (UNLIKE, 1000, 10, 5000, "the longest that there is time for"),
        (replace(ALIKE, given_slice_ns=50 * MS), 1, 50_000, 50, "as asked for"),
        (replace(ALIKE, given_slice_ns=50 * MS), 4, 50_000, 100, "would be too short"),
    ],
)
def test_a_slice_is_long_beside_what_it_holds(
    interleave: Interleaving, service_ms: float, per_s: float, expected_ms: float, why: str
) -> None:
    found = lengths_for(interleave, {"x": slices(service_ms, per_s), "y": slices(0.1, 100_000)})
    assert found.slice_ns == expected_ms * MS
    assert why in found.why
    assert found.washout_ns == 5 * MS
    named = lengths_for(interleave, {"x": slices(service_ms, per_s)}, {"x": "Ruby"})
    assert named.why == found.why.replace(" of x", " of Ruby")


SHORT = Interleaving(least_slice_ns=SHORTEST_NS, alike=True)


def swinging(
    by: float, rounds: int = 10, service_ms: float = 0.5, per_s: float = 50_000
) -> dict[str, list[Slice]]:
    """The warm-up of two builds, whose ratio is a half to begin with and later deviates by so much from one
    round to the next."""
    made: dict[str, list[Slice]] = {}
    for name, sign in (("x", 1), ("y", -1)):
        made[name] = each = slices(service_ms, per_s, rounds)
        for place, one in enumerate(each):
            rate = one.completed * math.exp(sign * (-1) ** place * by / math.sqrt(8))
            completed = round(rate / 2 if name == "x" and place < rounds // 3 else rate)
            sum_ns = completed * round(service_ms * MS)
            each[place] = replace(one, completed=completed, service_time_sum_ns=sum_ns)
    return made


@pytest.mark.parametrize(
    ("interleave", "by", "slice_ms", "settle_ms"),
    [
        (SHORT, 0.0, 100, 5),
        (SHORT, 0.05, 100, 5),
        (SHORT, 0.13, 50, 2),
        (SHORT, 0.5, 25, 2),
        (ALIKE, 0.5, 100, 5),  # of a record that was made before
        (UNLIKE, 0.5, 250, 5),
    ],
)
def test_slices_of_builds_are_shorter_where_the_machine_moves_their_ratio(
    interleave: Interleaving, by: float, slice_ms: int, settle_ms: int
) -> None:
    found = lengths_for(interleave, swinging(by))
    assert (found.slice_ns, found.washout_ns) == (slice_ms * MS, settle_ms * MS)
    moved = f", whose ratio moved by {by * 100:.0f} % from slice to slice of 100 ms"
    assert found.why.endswith(moved) is (slice_ms < 100)


def test_short_slices_are_long_beside_what_they_hold_and_beside_the_settle_time() -> None:
    wild = swinging(0.5, service_ms=1.6)
    assert lengths_for(SHORT, wild).slice_ns == 25 * MS
    slower = swinging(0.5, service_ms=4)
    assert lengths_for(SHORT, slower).slice_ns == 60 * MS  # ten times what its queue takes to drain
    assert lengths_for(ALIKE, slower).slice_ns == 100 * MS
    assert lengths_for(SHORT, swinging(0.5), least_washout_ns=6 * MS).slice_ns == 60 * MS
    assert lengths_for(SHORT, swinging(0.5), least_washout_ns=20 * MS).slice_ns == 100 * MS
    few = lengths_for(SHORT, swinging(0.5, per_s=2_500))
    assert 80 * MS < few.slice_ns < 100 * MS and few.why == "200 requests of x"


@pytest.mark.parametrize(("by", "least_ms", "most_ms"), [(0.1, 100, 100), (0.6, 50, 90), (2.4, 25, 25)])
def test_the_short_slices_of_a_warm_up_tell_as_much_joined(by: float, least_ms: int, most_ms: int) -> None:
    def tenth(one: Slice) -> Slice:
        sum_ns = one.service_time_sum_ns // 10
        return replace(one, length_ns=10 * MS, completed=one.completed // 10, service_time_sum_ns=sum_ns)

    short = {name: [*map(tenth, each)] for name, each in swinging(by, rounds=40).items()}
    assert least_ms * MS <= lengths_for(SHORT, short).slice_ns <= most_ms * MS
    few = {name: each[:15] for name, each in short.items()}
    assert lengths_for(SHORT, few).slice_ns == 100 * MS


def test_too_few_rounds_shorten_nothing() -> None:
    assert lengths_for(SHORT, swinging(0.5, rounds=6)).slice_ns == 100 * MS
    alone = {"x": swinging(0.5)["x"]}
    assert lengths_for(SHORT, alone).slice_ns == 100 * MS


@pytest.mark.parametrize(("slice_ms", "rounds"), [(100, 20), (250, 8), (310, 8), (600, 4), (5000, 4)])
def test_a_block_has_an_even_number_of_rounds(slice_ms: int, rounds: int) -> None:
    assert rounds_of(2_000 * MS, Lengths(slice_ns=slice_ms * MS, washout_ns=0)) == rounds


def both(per_s: list[float], longer: list[float]) -> list[Slice]:
    """Slices of 250 ms at these rates, then of 500."""
    made = []
    for round_number, rate in enumerate((*per_s, *longer)):
        ms = 250 if round_number < len(per_s) else 500
        (one,) = slices(1, rate, 1, ms)
        made.append(replace(one, round=round_number))
    return made


def test_a_pilot_keeps_the_shorter_slices_only_where_the_ratios_agree() -> None:
    lengths = Lengths(slice_ns=250 * MS, washout_ns=0, why="unlike servers")
    steady = both([10_000, 10_100, 9_900, 10_000], [10_000, 10_100, 9_900, 10_000])
    same = both([20_000, 20_300, 19_700, 20_000], [20_100, 20_200, 19_800, 20_000])
    slower = both([18_000, 18_300, 17_800, 18_000], [20_100, 20_200, 19_800, 20_000])
    found = piloted(lengths, 500 * MS, {"a": steady, "b": same})
    assert found is not None
    assert found.pilot.agree and found.lengths.slice_ns == 250 * MS
    assert found.pilot.resolved == pytest.approx(0.0059, abs=1e-4)
    assert found.lengths.why.endswith("; a pilot at 500 ms told the same ratios, to 0.59 %")
    restless = both([26_000, 15_000, 24_000, 16_000], [16_000, 26_000, 15_000, 24_000])
    found = piloted(lengths, 500 * MS, {"a": steady, "b": restless})
    assert found is not None and found.pilot.agree
    assert "; a pilot at 500 ms told none apart by more than " in found.lengths.why
    found = piloted(lengths, 500 * MS, {"a": steady, "b": slower, "c": same})
    assert found is not None
    assert not found.pilot.agree and found.lengths.slice_ns == 500 * MS
    assert "b" in found.pilot.pair and found.pilot.apart == pytest.approx(0.11, abs=0.02)
    assert "told another ratio" in found.lengths.why
    named = piloted(lengths, 500 * MS, {"a": steady, "b": slower}, {"a": "Go", "b": "Ruby"})
    assert named is not None and "another ratio of Go and Ruby" in named.lengths.why
    assert named.pilot.pair == ("a", "b")
    assert piloted(lengths, 500 * MS, {"a": steady}) is None


def test_a_pilot_on_a_restless_machine_says_how_little_it_could_see() -> None:
    lengths = Lengths(slice_ns=250 * MS, washout_ns=0, why="unlike servers")
    even = both([10_000] * 4, [10_000] * 4)
    wild = both([13_000, 8_000, 9_000, 14_000], [9_000, 14_000, 7_500, 10_000])
    found = piloted(lengths, 500 * MS, {"a": even, "b": wild})
    assert found is not None and found.pilot.agree
    assert found.pilot.resolved is not None and found.pilot.resolved > 0.4


def test_ratios_to_a_null_server_settle_no_length() -> None:
    run = study(
        [case("a"), case("b"), case("null", role="ceiling"), case("a2", role="control", control_of="a")]
    )
    due = next_due(run)
    assert isinstance(due, DueBlock) and len(due.arms) == 4
    assert due.compared == {"a", "b", "a2"}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("./old/server --port {port}", "./new/server --port {port} -v", True),
        ("puma -w 1 -p {port}", "puma -w 4 -p {port}", True),
        ("PORT={port} node a.js", "PORT={port} node b.js", False),
        ("./go --port {port}", "./rust --port {port}", False),
    ],
)
def test_builds_of_one_program_are_told_by_their_commands(one: str, other: str, alike: bool) -> None:
    assert one_program([Candidate(name="1", command=one), Candidate(name="2", command=other)]) is alike
    assert not one_program([Candidate(name="1", url="http://a/"), Candidate(name="2", url="http://b/")])


def test_what_a_slow_server_still_carries_is_answered_before_its_neighbours_slice() -> None:
    slow = [replace(one, service_time_sum_ns=one.completed * 20 * MS) for one in slices(8, 3_000)]
    found = lengths_for(UNLIKE, {"x": slices(1, 50_000), "y": slow})
    assert (found.slice_ns, found.washout_ns) == (
        1000 * MS,
        30 * MS,
    )  # by the mean: some wait long for others


def test_slices_within_a_service_time_are_seen_and_a_server_that_hangs_lengthens_none() -> None:
    late = [replace(one, completed=0, late=4) for one in slices(1, 100)]
    hangs = [replace(one, completed=0) for one in slices(1, 100)]
    quick = slices(1, 1000)
    assert longer_ns(100 * MS, 1000 * MS, 0, {"x": quick, "y": late}) == 200 * MS
    assert longer_ns(100 * MS, 150 * MS, 0, {"x": quick, "y": late}) == 150 * MS
    assert longer_ns(100 * MS, 100 * MS, 0, {"x": quick, "y": late}) is None
    assert longer_ns(100 * MS, 1000 * MS, 0, {"x": quick, "y": late[:2]}) is None
    assert longer_ns(200 * MS, 1000 * MS, 0, {"x": quick, "y": late}) is None  # they are longer by now
    assert longer_ns(100 * MS, 1000 * MS, 0, {"x": quick, "y": hangs}) is None


@pytest.mark.parametrize(
    ("slice_ms", "here_ms", "far_ms"), [(None, 10, 100), (30, 10, 100), (240, 40, 100), (900, 150, 150)]
)
def test_a_warm_up_has_shorter_slices_so_that_ten_of_them_are_soon_there(
    slice_ms: int | None, here_ms: int, far_ms: int
) -> None:
    known = None if slice_ms is None else Lengths(slice_ns=slice_ms * MS, washout_ns=0)
    assert warming_ns(known, 300 * MS, far=False) == here_ms * MS
    assert warming_ns(known, 300 * MS, far=True) == warming_ns(known, 1000 * MS, far=False) == far_ms * MS
