"""What meets cases alike bounds their figures and leaves their order: H1, H2, between builds G1, M7."""

from __future__ import annotations

from typing import Any

import pytest
from judged import windowed
from made_runs import case, interleaved, measurement, plan, run, server, steady_run, trial, with_trials
from msgspec.structs import replace

from assay.model.block import ALIKE_NS, Interleaving
from assay.model.measurement import Measurement
from assay.model.run import Judgement
from assay.model.trial import Arm, HostSeen
from assay.verdict import judge

STOLEN = HostSeen(load_average_1m=1.0, steal_share=0.05, client_cpus_idle_share=0.55)
FRANKLIN = {"ruby": 3_000, "go": 85_000, "java": 106_000}


def preempted(*names: str, **changes: object) -> Judgement:
    """The run in which something met these cases in every trial."""
    return judge(with_trials(steady_run(FRANKLIN), dict.fromkeys(names, changes)), 0)


@pytest.mark.parametrize("names", [("java", "go", "ruby"), ("java",), ("go",)])
def test_a_preempted_machine_keeps_the_order_and_both_ends_of_each_ratio_in_slices(
    names: tuple[str, ...],
) -> None:
    made = run([case(name) for name in FRANKLIN], (), 6)
    for number in range(6):
        rates = {name: [rate * (1 + 0.001 * number)] * 10 for name, rate in FRANKLIN.items()}
        made = made.after(interleaved(rates, number, number))
    blocks = [
        replace(
            one,
            trials=tuple(replace(each, host=STOLEN) if each.case in names else each for each in one.trials),
        )
        for one in made.blocks
    ]
    made = run([case(name) for name in FRANKLIN], (), 6)
    for one in blocks:
        made = made.after(one)
    judged = judge(made, 0)
    assert "H2" in {finding.code for finding in judged.findings}
    assert [(row.case, row.rank) for row in judged.ranking] == [("java", 1), ("go", 2), ("ruby", 3)]
    for pair in judged.comparisons:
        assert pair.shown and pair.ratio is not None and pair.known is not None
        assert (pair.known.low, pair.known.high) == (pair.ratio.low, pair.ratio.high)
    known = next(row.known for row in judged.ranking if row.case == names[0])
    assert known is not None and known.high is None  # each figure alone is a bound


def test_a_machine_that_was_preempted_in_trials_one_after_the_other() -> None:
    """Each trial met its own disturbance: what met one alone bounds it, what met both leaves their order."""
    alone = preempted("java", host=STOLEN)
    assert [finding.code for finding in alone.findings] == ["H2"]
    pair = next(one for one in alone.comparisons if (one.a, one.b) == ("java", "go"))
    assert pair.ratio is not None and pair.known is not None
    assert (pair.known.low, pair.known.high) == (pair.ratio.low, None)
    slower = preempted("go", host=STOLEN)
    pair = next(one for one in slower.comparisons if {one.a, one.b} == {"java", "go"})
    assert not pair.shown  # go may have been as fast
    both = preempted("java", "go", "ruby", host=STOLEN)
    assert [(row.case, row.rank) for row in both.ranking] == [("java", 1), ("go", 2), ("ruby", 3)]


def test_cores_that_client_and_server_share_keep_the_order_as_the_least_distance() -> None:
    judged = preempted("java", "go", "ruby", plan=plan(cpus=(1,)))
    assert {finding.code for finding in judged.findings} == {"H1"}
    assert [(row.case, row.rank) for row in judged.ranking] == [("java", 1), ("go", 2), ("ruby", 3)]
    for pair in judged.comparisons:
        assert pair.shown and pair.ratio is not None and pair.known is not None
        assert pair.known.low == pair.ratio.low and pair.known.high is None


@pytest.mark.parametrize("alike", [{"host": STOLEN}, {"plan": plan(cpus=(1,))}], ids=["H2", "H1"])
def test_what_met_all_alike_takes_no_place_from_a_case_that_is_known_from_above(
    alike: dict[str, Any],
) -> None:
    """A server that tires (at most) on a machine that was preempted (at least)."""
    counts = [(1000 if place < 50 else 700) + place % 7 for place in range(100)]
    tiring = measurement(sum(counts) / 10, windows=windowed(counts))
    trials = [trial("a", block, tiring, **alike) for block in range(6)]
    trials += [trial("b", block, measurement(20_000), **alike) for block in range(6)]
    judged = judge(run([case("a"), case("b")], trials), 0)
    assert {"S2", "H1" if "plan" in alike else "H2"} == {finding.code for finding in judged.findings}
    assert {row.case: row.rank for row in judged.ranking} == {"b": 1, "a": 2}
    alone = judge(run([case("a")], trials[:6]), 0)
    assert "limits in both directions leave nothing known" in alone.ranking[0].reason


CLIENT_FULL = HostSeen(load_average_1m=1.0, steal_share=0.0, client_cpus_idle_share=0.16)


def two_builds(*, alike: bool, slow: dict[str, Any] | None = None) -> Judgement:
    """Two servers 5 % apart, whose cores were 81 % busy while the client had no time to spare."""
    held = {"host": CLIENT_FULL, "server": server(cpu_share=0.81, cpu_ns=8_100_000_000)}
    made = with_trials(steady_run({"lean": 10_500, "heavy": 10_000}), {"lean": held, "heavy": slow or held})
    interleave = Interleaving(least_slice_ns=ALIKE_NS, alike=alike)
    design = replace(made.header.design, interleave=interleave)
    return judge(replace(made, header=replace(made.header, design=design)), 0)


def test_builds_of_one_program_before_one_client_without_time_keep_their_order() -> None:
    """Beside another program neither the client's core nor the servers' have the time that they need; what
    that costs an answer, it costs both."""
    judged = two_builds(alike=True)
    assert {"G1", "M7"} <= {finding.code for finding in judged.findings}
    (pair,) = judged.comparisons
    assert pair.ratio is not None and pair.known is not None
    assert (pair.a, pair.shown) == ("lean", True)
    # The truth is as far apart as that, or farther.
    assert (pair.known.low, pair.known.high) == (pair.ratio.low, None)
    assert {limit.code for limit in pair.known.limits} == {"G1", "M7"}


def test_answers_of_unlike_servers_may_cost_the_client_unlike_time() -> None:
    (pair,) = two_builds(alike=False).comparisons
    assert pair.known is not None and pair.known.low is not None
    assert not pair.shown and pair.known.low < 1


def test_what_held_back_one_build_alone_bounds_that_one() -> None:
    """A lock that idles the cores of one of two builds did not meet both."""
    (pair,) = two_builds(alike=True, slow={"server": server(cpu_share=0.99)}).comparisons
    assert pair.known is not None and pair.ratio is not None
    assert pair.known.high is not None and pair.ratio.high is not None
    assert pair.known.high > pair.ratio.high * 1.5  # lean may do more; that it is faster is known
    assert pair.shown


def test_where_preempted_rounds_are_left_out_what_is_found_of_one_build_was_met_by_both() -> None:
    """Other programs take a little more in the slices of one of the two, which is beyond a threshold."""
    short = {"server": server(cpu_share=0.88, cpu_ns=8_800_000_000)}
    enough = {"server": server(cpu_share=0.92, cpu_ns=9_200_000_000)}
    for slow in ("lean", "heavy"):
        held = {name: short if name == slow else enough for name in ("lean", "heavy")}
        known = {}
        for delayed in (0, 40_000_000):
            made = sat({"lean": 10_500, "heavy": 10_000}, delayed, held)
            (pair,) = made.comparisons
            assert {finding.code for finding in made.findings if finding.code == "M7"} == {"M7"}
            assert pair.known is not None and pair.ratio is not None
            known[delayed] = (pair.known.low, pair.known.high, pair.ratio.low)
        low, high, as_measured = known[40_000_000]
        assert (low, high) == (as_measured, None)
        assert slow == "lean" or known[0] != known[40_000_000]


def sat(rates: dict[str, float], delayed_ns: int, held: dict[str, dict[str, Any]]) -> Judgement:
    """Six blocks of two builds; in every third round others had so much of the client's core."""
    made = run([case(name) for name in rates], (), 6)
    for number in range(6):
        each = {name: [per_s + place % 5 + number for place in range(12)] for name, per_s in rates.items()}
        block = interleaved(each, number, number)
        trials = tuple(
            replace(one, arm=_delayed(one.arm, delayed_ns), **held[one.case]) for one in block.trials
        )
        made = made.after(replace(block, trials=trials))
    design = replace(made.header.design, interleave=Interleaving(least_slice_ns=ALIKE_NS, alike=True))
    return judge(replace(made, header=replace(made.header, design=design)), 0)


def _delayed(arm: Arm | None, by_ns: int) -> Arm:
    assert arm is not None
    return replace(
        arm,
        slices=tuple(replace(one, client_delayed_ns=0 if one.round % 3 else by_ns) for one in arm.slices),
    )


def stalled(seen: Measurement | None) -> Measurement:
    assert seen is not None
    return replace(seen, workers=tuple(replace(one, largest_stall_ns=300_000_000) for one in seen.workers))


def test_a_generator_that_stood_still_did_not_meet_two_builds_alike() -> None:
    """It stands still in the slice of one of them."""
    busy = {"server": server(cpu_share=0.81, cpu_ns=8_100_000_000)}
    rates = {"lean": 10_500, "heavy": 10_000}
    made = with_trials(steady_run(rates), dict.fromkeys(rates, busy))
    trials = tuple(replace(one, measurement=stalled(one.measurement)) for one in made.trials)
    design = replace(made.header.design, interleave=Interleaving(least_slice_ns=ALIKE_NS, alike=True))
    judged = judge(replace(made, trials=trials, header=replace(made.header, design=design)), 0)
    assert "G2" in {finding.code for finding in judged.findings}
    assert not judged.comparisons[0].shown
