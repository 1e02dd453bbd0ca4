"""What findings leave of a figure, and of an order."""

from __future__ import annotations

import math

import pytest
from judged import QUIET
from made_runs import plan, steady_run, with_trials
from msgspec.structs import replace

from assay.values.finding import Finding, Subject
from assay.verdict import RULES, judge
from assay.verdict.effects import bounded
from assay.verdict.rule import Hit


def found(code: str, at_most_times: float | None = None) -> Finding:
    hit = Hit("flagged", "seen", at_most_times=at_most_times)
    return RULES[code].finding(Subject(case="a"), hit)


def test_of_several_bounds_from_above_the_smallest_holds() -> None:
    left = bounded([found("G1", 1.2), found("M7", 1.5)], "a")
    assert left.slack == (1.0, 1.2)
    assert [limit.code for limit in left.limits] == ["G1", "M7"]


def test_a_cause_that_bounds_nothing_from_above_leaves_that_end_open() -> None:
    """A server that was still getting faster had not yet the demand that the utilisation law counts with."""
    assert bounded([found("G1", 1.2), found("S2")], "a").slack == (1.0, math.inf)


@pytest.mark.parametrize("code", ["H1", "H2"])
def test_what_met_all_alike_keeps_their_order(code: str) -> None:
    made = steady_run({"a": 10_000, "b": 8_000})
    change = {"plan": plan(threads=2)} if code == "H1" else {"host": replace(QUIET, steal_share=0.05)}
    judged = judge(with_trials(made, {"a": change, "b": change}), 0)
    assert code in {one.code for one in judged.findings}
    assert [(row.case, row.tier) for row in judged.ranking] == [("a", 1), ("b", 2)]
