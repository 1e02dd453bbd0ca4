"""A comparison with a limit: what the limit comes to, what that is called, and what a script is told."""

from __future__ import annotations

import re

import msgspec
import pytest
from made_runs import WOBBLE, case, measurement, plan, run, trial

from assay.model.design import ComparisonDesign, WarmUp
from assay.model.run import Run
from assay.model.trial import Failure
from assay.plan.next import next_trial
from assay.plan.words.parse import time_ns
from assay.report.model import comparison
from assay.verdict import exit_codes, judge
from assay.verdict.answer import answer
from assay.verdict.compare import compare
from assay.verdict.see_runs import load_ns


def gated(head_per_s: float, *, noise: float = 1.0, blocks: int = 10, control_per_s: float = 0.0) -> Run:
    """Base at 10,000/s against head, with 2 % allowed; judged."""
    rules = {"S7": {"thresholds": {"window": 2e9}, "reason": "r"}}
    rates = {"base": 10_000.0, "head": head_per_s}
    cases = [case("base"), case("head")]
    if control_per_s:
        cases.append(case("base (again)", role="control", control_of="base"))
        rates["base (again)"] = control_per_s
    trials = [
        trial(name, block, measurement(per_s * (1 + noise * WOBBLE[(block * (place + 1) + place) % 10])))
        for block in range(blocks)
        for place, (name, per_s) in enumerate(rates.items())
    ]
    made = run(cases, trials, 0, {"kind": "versus", "margin": 0.001, "rules": rules})
    assert isinstance(made.header.design, ComparisonDesign)
    warmed = {
        "plans": dict.fromkeys(rates, plan()),
        "warm_ups": dict.fromkeys(rates, WarmUp(min_ns=0, max_ns=0)),
    }
    design = msgspec.structs.replace(made.header.design, slower_allowed=0.02, budget_ns=10**13, **warmed)
    made = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, design=design))
    return msgspec.structs.replace(made, judgement=judge(made, 0))


@pytest.mark.parametrize(
    ("head_per_s", "noise", "code", "said"),
    [
        (9_000, 1, 3, "head is slower than base by at least 8.9 %, and could be up to 10 %: "),
        (93, 0.01, 3, "head is slower than base by 99 %: "),
        (9_850, 1, 0, "head is slower than base by at least 0.34 %, and could be up to 1.8 %: "),
        (10_000, 1, 0, "head is not shown slower than base; could be up to 0.34 % slower: "),
        (9_800, 3, 0, "head is not shown slower than base; could be up to 3.0 % slower: "),
        (12_000, 1, 0, "head is not slower than base: it serves at least 20 % more: "),
    ],
)
def test_the_decision_says_how_much_slower_it_is_and_how_much_it_could_be(
    head_per_s: float, noise: float, code: int, said: str
) -> None:
    made = gated(head_per_s, noise=noise)
    assert exit_codes.of(made) == code
    first = comparison.in_sentences(made).headline[0]
    assert first.startswith(said), first
    undecided = first.endswith("whether the limit of 2 % is kept cannot be told")
    assert undecided or first.endswith(f"the limit of 2 % is {'broken' if code else 'kept'}")
    assert undecided == bool(comparison.in_sentences(made).advice)


def test_it_ends_when_the_limit_is_decided_and_not_before() -> None:
    for head_per_s, noise in ((10_000, 1), (9_000, 1)):
        assert next_trial(gated(head_per_s, noise=noise)) is None
    open_still = gated(9_800, noise=3)
    assert next_trial(open_still) is not None
    surer = comparison.in_sentences(open_still).advice
    assert surer.startswith("Not decided: about ")
    budget = re.search(r"--budget (\S+),", surer)
    assert budget is not None and time_ns(budget[1]) > load_ns(open_still)  # it can be typed as it is told


def test_a_server_that_differs_from_itself_breaks_no_limit() -> None:
    alone, biased = gated(9_700, noise=0.2), gated(9_700, noise=0.2, control_per_s=9_500)
    assert exit_codes.of(alone) == 3
    gate = answer(biased).gate
    assert gate is not None and gate.outcome == "could not tell"
    assert exit_codes.of(biased) == 0


def test_a_limit_that_cannot_be_told_names_what_widened_the_ratio() -> None:
    [first, *_] = comparison.in_sentences(gated(9_700, control_per_s=10_500)).headline
    assert first.endswith(
        "whether the limit of 2 % is kept cannot be told (a server differed from itself (D1))"
    )


def test_two_records_are_held_to_a_limit_as_a_comparison_is() -> None:
    made = gated(9_700, noise=0.2, control_per_s=9_500)
    gate = answer(made).gate
    assert gate is not None
    (change, *_) = compare(made, made, {"throughput": 0.02}, [("base", "head")]).changes
    assert (change.change, change.outcome) == (gate.ratio, gate.outcome)
    other = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, run_id="another"))
    (change, memory, *_) = (
        one
        for one in compare(made, other, {"throughput": 0.02, "memory": 0.02}, [("base", "head")]).changes
        if one.metric in ("throughput", "memory")
    )
    assert change.outcome == "could not tell"
    assert memory.outcome == "kept"  # the load's bias says nothing of memory
    alone = gated(9_700, noise=0.2)
    other = msgspec.structs.replace(alone, header=other.header)
    (change, *_) = compare(alone, other, {"throughput": 0.02}, [("base", "head")]).changes
    assert change.outcome == "broken"


def test_a_figure_that_is_not_there_or_void_holds_no_limit() -> None:
    made = gated(9_000)
    failed = Failure(stage="start", reason="it ended")
    trials = tuple(one if one.case == "base" else trial("head", one.block, failed) for one in made.trials)
    lacking = msgspec.structs.replace(made, trials=trials)
    lacking = msgspec.structs.replace(lacking, judgement=judge(lacking, 0))
    assert exit_codes.of(lacking) == 1
    assert (
        comparison.in_sentences(lacking)
        .headline[0]
        .startswith("base and head were not both measured: the limit of 2 %")
    )
    wrong = tuple(
        one if one.case == "base" else trial("head", one.block, measurement(9_000, failed=90_000))
        for one in made.trials
    )
    void = msgspec.structs.replace(made, trials=wrong)
    void = msgspec.structs.replace(void, judgement=judge(void, 0))
    assert exit_codes.of(void) == 1
    assert comparison.in_sentences(void).headline[0].startswith("The throughput is invalid (W2")
