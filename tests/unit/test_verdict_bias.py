"""What a run whose A/A control differs from itself still decides: its bias is taken off every ratio."""

from __future__ import annotations

from typing import Literal

import pytest
from made_runs import case, steady_run
from msgspec.structs import replace

from assay.model.finding import Claim, Comparison
from assay.model.run import Judgement, Run
from assay.verdict import judge


def biased(rates: dict[str, float], again: float, relation: Literal["more", "less", "equal"]) -> Run:
    """A run of a and b beside a case of 10,000/s that its control repeats at `again`."""
    pair = Comparison(a="a", b="b", relation=relation)
    claims = (Claim(id="c", statement="a against b", comparisons=(pair,)),)
    made = steady_run({**rates, "c": 10_000, "c again": again})
    cases = (*map(case, rates), case("c"), case("c again", role="control", control_of="c"))
    assert made.header.study is not None
    design = replace(made.header.study, claims=claims)
    return replace(made, header=replace(made.header, cases=cases, design=design))


def ranks(judged: Judgement) -> dict[str, int | None]:
    return {row.case: row.rank for row in judged.ranking if row.case in ("a", "b")}


def test_a_difference_is_shown_from_a_little_beyond_the_bias_on() -> None:
    near = judge(biased({"a": 5_000, "b": 5_150}, 10_400, "more"), 0)
    assert near.minimum_effect == pytest.approx(0.045, abs=0.01)
    assert ranks(near)["a"] == ranks(near)["b"]
    far = judge(biased({"a": 5_000, "b": 5_350}, 10_400, "more"), 0)
    places = ranks(far)
    assert places["a"] is not None and places["b"] is not None and places["b"] < places["a"]
    pair = next(one for one in far.comparisons if {one.a, one.b} == {"a", "b"})
    assert pair.ratio is not None and pair.known is not None and pair.shown
    assert pair.known.low == pytest.approx((pair.ratio.low or 0) / (1 + far.minimum_effect))
    assert pair.known.high == pytest.approx((pair.ratio.high or 0) * (1 + far.minimum_effect))


@pytest.mark.parametrize(
    ("rates", "again", "relation", "expected"),
    [
        ((10_000, 10_000), 10_450, "equal", "inconclusive"),  # alike to within 5 %, and so unlike itself
        ((11_000, 10_000), 12_000, "more", "inconclusive"),
        ((10_000, 11_000), 12_000, "more", "inconclusive"),
        ((10_000, 11_000), 12_000, "less", "inconclusive"),
        ((11_000, 10_000), 12_000, "less", "inconclusive"),
        ((13_000, 10_000), 12_000, "more", "supported"),
        ((10_000, 13_000), 12_000, "more", "contradicted"),
    ],
)
def test_a_claim_is_decided_by_what_the_bias_leaves(
    rates: tuple[float, float], again: float, relation: Literal["more", "less", "equal"], expected: str
) -> None:
    (judged,) = judge(biased(dict(zip("ab", rates, strict=True)), again, relation), 0).claims
    assert judged.verdict == expected
