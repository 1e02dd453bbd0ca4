"""What meets cases alike bounds their figures and leaves their order: rules H1 and H2, judged."""

from __future__ import annotations

from typing import Any

import pytest
from judged import windowed
from made_runs import case, measurement, plan, run, steady_run, trial, with_trials

from assay.values.run import Judgement
from assay.values.trial import HostSeen
from assay.verdict import judge

STOLEN = HostSeen(load_average_1m=1.0, steal_share=0.05, client_cpus_idle_share=0.55)
FRANKLIN = {"ruby": 3_000, "go": 85_000, "java": 106_000}


def disturbed(*names: str, **changes: object) -> Judgement:
    """The run in which something met these cases in every trial."""
    return judge(with_trials(steady_run(FRANKLIN), dict.fromkeys(names, changes)), 0)


@pytest.mark.parametrize("names", [("java", "go", "ruby"), ("java",), ("go",)])
def test_a_disturbed_machine_keeps_the_order_and_both_ends_of_each_ratio(names: tuple[str, ...]) -> None:
    judged = disturbed(*names, host=STOLEN)
    assert {finding.code for finding in judged.findings} == {"H2"}
    assert [(row.case, row.tier) for row in judged.ranking] == [("java", 1), ("go", 2), ("ruby", 3)]
    for pair in judged.comparisons:
        assert pair.shown and pair.ratio is not None and pair.known is not None
        assert (pair.known.low, pair.known.high) == (pair.ratio.low, pair.ratio.high)
    known = next(row.known for row in judged.ranking if row.case == names[0])
    assert known is not None and known.high is None  # each figure alone is a bound


def test_cores_that_client_and_server_share_keep_the_order_as_the_least_distance() -> None:
    judged = disturbed("java", "go", "ruby", plan=plan(cpus=(1,)))
    assert {finding.code for finding in judged.findings} == {"H1"}
    assert [(row.case, row.tier) for row in judged.ranking] == [("java", 1), ("go", 2), ("ruby", 3)]
    for pair in judged.comparisons:
        assert pair.shown and pair.ratio is not None and pair.known is not None
        assert pair.known.low == pair.ratio.low and pair.known.high is None


@pytest.mark.parametrize("alike", [{"host": STOLEN}, {"plan": plan(cpus=(1,))}], ids=["H2", "H1"])
def test_what_met_all_alike_takes_no_place_from_a_case_that_is_known_from_above(
    alike: dict[str, Any],
) -> None:
    """A server that tires (at most) on a machine that was disturbed (at least)."""
    counts = [(1000 if place < 50 else 700) + place % 7 for place in range(100)]
    tiring = measurement(sum(counts) / 10, windows=windowed(counts))
    trials = [trial("a", block, tiring, **alike) for block in range(6)]
    trials += [trial("b", block, measurement(20_000), **alike) for block in range(6)]
    judged = judge(run([case("a"), case("b")], trials), 0)
    assert {"S2", "H1" if "plan" in alike else "H2"} == {finding.code for finding in judged.findings}
    assert {row.case: row.tier for row in judged.ranking} == {"b": 1, "a": 2}
    alone = judge(run([case("a")], trials[:6]), 0)
    assert "limits in both directions leave nothing known" in alone.ranking[0].reason
