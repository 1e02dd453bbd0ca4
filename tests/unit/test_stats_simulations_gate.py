"""A gate against equal programs on a machine that favours whoever is first: simulated, seeded."""

from __future__ import annotations

import numpy as np
import pytest
from made_runs import case, measurement, plan, run, trial
from msgspec.structs import replace

from assay.model.design import ComparisonDesign, WarmUp
from assay.model.run import Run
from assay.verdict import judge
from assay.verdict.answer import answer

BLOCKS, RUNS = 12, 60
ALLOWED = 0.005


def biased(bias: float, rng: np.random.Generator) -> Run:
    """Base, itself again, and an equal program: all but the first are slower by as much."""
    levels = {"base": 10_000.0, "base (again)": 10_000.0 / (1 + bias), "head": 10_000.0 / (1 + bias)}
    cases = [case("base"), case("head"), case("base (again)", role="control", control_of="base")]
    trials = [
        trial(name, block, measurement(level * (1 + rng.normal(0, 0.002))))
        for block in range(BLOCKS)
        for name, level in levels.items()
    ]
    made = run(cases, trials, 0, {"kind": "versus", "margin": 0.001})
    assert isinstance(made.header.design, ComparisonDesign)
    settled = {
        "plans": dict.fromkeys(levels, plan()),
        "warm_ups": dict.fromkeys(levels, WarmUp(min_ns=0, max_ns=0)),
    }
    design = replace(made.header.design, slower_allowed=ALLOWED, budget_ns=10**13, **settled)
    made = replace(made, header=replace(made.header, design=design))
    return replace(made, judgement=judge(made, 0))


@pytest.mark.parametrize("bias", [0.0, 0.008, 0.02])
def test_a_bias_that_the_control_shows_breaks_no_limit(bias: float) -> None:
    rng = np.random.default_rng(34)
    outcomes = [gate.outcome for _ in range(RUNS) if (gate := answer(biased(bias, rng)).gate)]
    assert len(outcomes) == RUNS
    assert outcomes.count("broken") <= 2
