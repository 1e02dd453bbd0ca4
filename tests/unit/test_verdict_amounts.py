"""By how much findings widen the ratio of a pair: more headers, a little work at rest, slices of both."""

from __future__ import annotations

import pytest
from made_runs import case, measurement, run, trial
from msgspec.structs import replace
from test_verdict_slice_rules import about_slices, ratio, sat, seen, two_in_slices

from assay.model.design import ComparisonDesign
from assay.model.estimate import Compared
from assay.model.run import Run
from assay.verdict import judge
from assay.verdict.effects import bias


def heads(of_a: int, body_of_b: int = 60) -> Run:
    """A serves 1.25 times what b does; its headers take so many bytes, those of b 90, and bodies 60."""
    sizes = {"a": (12_500, of_a + 60, 60), "b": (10_000, 90 + body_of_b, body_of_b)}
    trials = [
        trial(
            name,
            block,
            measurement(rate * (1 + block / 1000), bytes_each=whole, body_bytes=round(rate * 10) * body),
        )
        for name, (rate, whole, body) in sizes.items()
        for block in range(6)
    ]
    return run([case("a"), case("b")], trials)


def compared(made: Run) -> Compared:
    [pair] = judge(made, 0).comparisons
    return pair


@pytest.mark.parametrize(
    ("headers", "down", "up", "shown"),
    [(180, 1.0, 1.6, True), (60, 0.8, 1.0, False), (80, 140 / 150, 1.0, True)],
)
def test_more_headers_cost_no_more_than_the_ratio_of_the_bytes(
    headers: int, down: float, up: float, shown: bool
) -> None:
    alike, pair = compared(heads(90)).known, compared(heads(headers))
    assert alike is not None and alike.low is not None and alike.high is not None
    assert pair.known is not None
    assert pair.known.low == pytest.approx(alike.low * down, rel=1e-3)
    assert pair.known.high == pytest.approx(alike.high * up, rel=1e-3)
    assert pair.shown == shown


def test_who_allows_unlike_answers_compares_them_as_they_are() -> None:
    made = heads(90, body_of_b=40)
    [before] = [one for one in judge(made, 0).findings if one.code == "W3"]
    assert (before.severity, before.on_comparison) == ("error", "one way")
    comparison = run(made.header.cases, made.trials, 0, {"kind": "versus", "margin": 0.01})
    assert isinstance(comparison.header.design, ComparisonDesign)
    design = replace(comparison.header.design, unlike_allowed=True)
    judged = judge(replace(comparison, header=replace(comparison.header, design=design)), 0)
    [allowed] = [one for one in judged.findings if one.code == "W3"]
    assert (allowed.severity, allowed.on_comparison) == ("note", None)
    assert allowed.evidence.endswith("; compared all the same (--unlike)")


def test_work_in_the_others_time_is_what_the_other_may_gain() -> None:
    idle, at_work = sat(lambda block: seen(block, {})), sat(lambda block: seen(block, {(2, 0): 0.03}))
    (low, high), (least, most) = ratio(idle, "a", "c"), ratio(at_work, "a", "c")
    assert low is not None and high is not None
    assert least == low and most == pytest.approx(high / 0.97**2)
    assert ratio(idle, "a", "b") == ratio(at_work, "a", "b")


@pytest.mark.parametrize(("of_b", "together"), [(0.04, "added"), (-0.04, "the larger")])
def test_what_slices_leave_to_both_adds_up_where_it_moves_their_ratio_one_way(
    of_b: float, together: str
) -> None:
    """After b, a serves 5 % less; after a, b serves 4 % more, or as it were less, too."""
    found = about_slices(two_in_slices(0.05, 0.002, 1, of_b=of_b))["T6"]
    amounts = [one.figures["wider"] for one in found]
    assert {one.subject.case for one in found} == {"a", "b"}
    assert bias(found, "a", "b") == pytest.approx(sum(amounts) if together == "added" else max(amounts))
    assert bias(found, "b", "a") == bias(found, "a", "b")
