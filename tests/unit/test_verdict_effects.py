"""What findings leave of a figure, and of an order."""

from __future__ import annotations

import math

import pytest
from judged import QUIET
from made_runs import plan, steady_run, with_trials
from msgspec.structs import replace

from assay.model.estimate import Estimate
from assay.model.finding import Finding, Metric, Subject
from assay.verdict import RULES, judge, see_run
from assay.verdict.effects import bounded, known
from assay.verdict.pairs import pair_of
from assay.verdict.rule import Hit


def found(code: str, at_most_times: float | None = None) -> Finding:
    made = RULES[code].finding(Subject(case="a"), Hit("warning", "seen"))
    return replace(made, at_most_times=at_most_times)


def test_of_several_bounds_from_above_the_smallest_holds() -> None:
    left = bounded([found("G1", 1.2), found("H2", 1.5)], "a")
    assert left.slack == (1.0, 1.2)
    assert [limit.code for limit in left.limits] == ["G1", "H2"]


def test_a_cause_that_bounds_nothing_from_above_leaves_that_end_open() -> None:
    """A server that was still getting faster had not yet the demand that the utilisation law counts with."""
    assert bounded([found("G1", 1.2), found("S2")], "a").slack == (1.0, math.inf)


@pytest.mark.parametrize(("at_most", "high"), [(1.5, 165.0), (1.8, 198.0), (1.9, None), (22.0, None)])
def test_an_upper_end_that_tells_nothing_is_open(at_most: float, high: float | None) -> None:
    """It would read as a measured one: "30,400 – 1,540,000/s"."""
    measured = Estimate(value=100.0, low=90.0, high=110.0, n=20, unit="req/s", method="")
    left = known(measured, bounded([found("G1", at_most)], "a"))
    assert left is not None and left.low == 90.0
    assert left.high == (None if high is None else pytest.approx(high))


def test_times_have_bounds_of_their_own() -> None:
    waited = found("G4")
    assert bounded([waited], "a").limits == ()
    assert bounded([waited], "a", "times").slack == (1.0, math.inf)
    seen = see_run(steady_run({"a": 10_000, "b": 20_000}))
    a, b = seen.cases
    slower, faster = (pair_of(seen, [waited], *two, "service_time_p50").known for two in ((a, b), (b, a)))
    assert slower is not None and slower.high is None and slower.low == pytest.approx(2, rel=0.02)
    assert faster is not None and faster.low is None and faster.high == pytest.approx(0.5, rel=0.02)
    assert [limit.code for limit in slower.limits] == ["G4"]
    unbounded: tuple[Metric, ...] = ("throughput", "start_time", "peak_memory")
    for metric in unbounded:
        left = pair_of(seen, [waited], a, b, metric).known
        assert left is not None and left.limits == ()


@pytest.mark.parametrize("code", ["H1", "H2"])
def test_what_met_all_alike_keeps_their_order(code: str) -> None:
    made = steady_run({"a": 10_000, "b": 8_000})
    change = {"plan": plan(threads=2)} if code == "H1" else {"host": replace(QUIET, steal_share=0.05)}
    judged = judge(with_trials(made, {"a": change, "b": change}), 0)
    assert code in {one.code for one in judged.findings}
    assert [(row.case, row.rank) for row in judged.ranking] == [("a", 1), ("b", 2)]
