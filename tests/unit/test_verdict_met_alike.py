"""What meets cases alike bounds their figures and leaves their order: H1, H2, each by its account."""

from __future__ import annotations

from typing import Any

import pytest
from judged import noted_else, windowed
from made_runs import (
    alike_to_the_client,
    case,
    interleaved,
    measurement,
    plan,
    run,
    steady_run,
    trial,
    with_trials,
)
from msgspec.structs import replace

from assay.model.run import Judgement
from assay.model.trial import HostSeen
from assay.verdict import judge

STOLEN = HostSeen(load_average_1m=1.0, steal_share=0.05, client_cpus_idle_share=0.55)
FRANKLIN = {"ruby": 3_000, "go": 85_000, "java": 106_000}


def preempted(*names: str, **changes: object) -> Judgement:
    """The run in which something met these cases in every trial."""
    return judge(with_trials(alike_to_the_client(steady_run(FRANKLIN)), dict.fromkeys(names, changes)), 0)


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
    most = next(row.throughput for row in judged.ranking if row.case == names[0])
    assert known is not None and most is not None and known.high is not None  # each alone is a bound
    assert known.high > (most.high or 0) * 1.09


def test_a_machine_that_was_preempted_in_trials_one_after_the_other() -> None:
    """Each trial met its own disturbance: what met one alone bounds it, what met both leaves their order."""
    alone = preempted("java", host=STOLEN)
    assert [finding.code for finding in noted_else(alone.findings)] == ["H2"]
    pair = next(one for one in alone.comparisons if (one.a, one.b) == ("java", "go"))
    assert pair.ratio is not None and pair.known is not None
    # All that the host stole of two cores may have been the server's one: 10 %.
    assert pair.known.low == pair.ratio.low and pair.known.high == pytest.approx((pair.ratio.high or 0) / 0.9)
    slower = preempted("go", host=STOLEN)
    pair = next(one for one in slower.comparisons if {one.a, one.b} == {"java", "go"})
    assert pair.known is not None and pair.shown  # go may have been a tenth faster, and no more
    both = preempted("java", "go", "ruby", host=STOLEN)
    assert [(row.case, row.rank) for row in both.ranking] == [("java", 1), ("go", 2), ("ruby", 3)]


def test_cores_that_client_and_server_share_keep_the_order_as_the_least_distance() -> None:
    judged = preempted("java", "go", "ruby", plan=plan(cpus=(1,)))
    assert {finding.code for finding in noted_else(judged.findings)} == {"H1"}
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
    assert {"S2", "H1" if "plan" in alike else "H2"} == {
        finding.code for finding in noted_else(judged.findings)
    }
    assert {row.case: row.rank for row in judged.ranking} == {"b": 1, "a": 2}
    alone = judge(run([case("a")], trials[:6]), 0)
    assert alone.ranking[0].rank is None
