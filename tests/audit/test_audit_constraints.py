"""What the figures of a result owe each other, and which of them gives way."""

from __future__ import annotations

import pytest
from auditing import audited, codes, wrk

from assay.audit.document import Figure
from assay.audit.interval import exactly
from assay.audit.rules.constraints import CONSTRAINTS, broken


def figures(**values: float) -> dict[str, Figure]:
    return {name: Figure(exactly(value), 1, f"{value:g}") for name, value in values.items()}


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=lambda one: one.name)
def test_each_constraint_is_broken_by_some_figures_and_kept_by_others(constraint: object) -> None:
    assert constraint in CONSTRAINTS
    one = CONSTRAINTS[CONSTRAINTS.index(constraint)]
    kept = figures(**dict.fromkeys(one.figures, 1.0))
    assert not list(broken(kept, (one,)))
    high = {name: 9.0 if name in one.times else 1.0 for name in one.figures}
    assert [each.constraint for each in broken(figures(**high), (one,))] == [one]


def test_the_figure_whose_change_mends_most_gives_way() -> None:
    told = figures(rate=1000, duration=10, requests=10_000, mean=0.05, slots=50)
    assert not list(broken(told, CONSTRAINTS))
    wrong = {**told, **figures(rate=2000)}
    assert {one.figure for one in broken(wrong, CONSTRAINTS)} == {"rate"}
    few = {**told, **figures(requests=100, failed=90, connections=64, duration=0.1)}
    assert not list(broken(few, CONSTRAINTS))
    fewer = {**few, **figures(requests=50)}
    assert "requests" in {one.figure for one in broken(fewer, CONSTRAINTS)}


def test_a_rate_that_was_copied_wrong_is_quoted_with_what_it_would_be() -> None:
    text = "```\n" + wrk(100_000.0).replace("Requests/sec: 100000.0", "Requests/sec: 700000.0") + "```\n"
    (found,) = [one for one in audited(text).remarks if one.code == "M3"]
    assert found.quote == "700000.0" and "it would be 100,0" in found.arithmetic.replace("99,99", "100,0")


def test_what_wrk_adds_to_its_times_is_told() -> None:
    text = "```\n" + wrk(100_000.0, mean="8.00ms") + "```\n"
    (found,) = [one for one in audited(text).remarks if one.code == "M1"]
    assert found.severity == "warning" and "coordinated omission" in found.arithmetic


def test_vegeta_waits_for_its_last_answer() -> None:
    said = """```
Requests      [total, rate, throughput]  500, 100.20, 91.10
Duration      [total, attack, wait]      5.488s, 4.990s, 498.1ms
Latencies     [mean, 50, 95, 99, max]    9ms, 8ms, 20ms, 90ms, 498ms
Success       [ratio]                    100.00%
```
"""
    assert "G3" not in codes(said)
    assert "G3" in codes(said.replace("91.10", "61.10"))
