"""A machine that was preempted under all alike, and one case whose figure is also a bound from above."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from made_runs import alike_to_the_client, steady_run
from sample_run import finding

from assay.model.estimate import Ranked
from assay.model.finding import Finding
from assay.verdict import see_run
from assay.verdict.conclusions import rank

FRANKLIN = {"ruby": 3_000, "go": 85_000, "java": 106_000}
FALLING = finding("S2", "warning", "java", on_throughput="at most", because="it was still getting slower")


def order(preempted: Finding, rates: Mapping[str, float]) -> dict[str, Ranked]:
    found = rank(see_run(alike_to_the_client(steady_run(rates))), (preempted, FALLING))
    return {row.case: row for row in found.ranking}


@pytest.mark.parametrize(("code", "comparison"), [("H2", "none"), ("H1", "at least")])
def test_a_ratio_that_is_known_keeps_its_case_a_place(code: str, comparison: str) -> None:
    met_all = finding(code, "warning", None, on_throughput="at least", on_comparison=comparison)
    slowest = order(met_all, {"java": 3_000, "go": 85_000, "ruby": 10_000})
    assert {case: row.rank for case, row in slowest.items()} == {"go": 1, "ruby": 2, "java": 3}
    assert slowest["java"].known is not None
    assert (slowest["java"].known.low, slowest["java"].known.high) == (None, None)
    fastest = order(met_all, FRANKLIN)  # at most so fast: nobody knows whether it is faster
    assert {case: row.rank for case, row in fastest.items()} == {"java": 1, "go": 1, "ruby": 2}


def test_limits_of_its_own_leave_nothing_known() -> None:
    own = finding("G1", "error", "java", on_throughput="at least", because="its generator was full")
    java = order(own, FRANKLIN)["java"]
    assert java.rank is None and java.reason.startswith("limits in both directions leave nothing known: ")
