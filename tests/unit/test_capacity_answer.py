"""Objectives, and where a search stands: from records of known content."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import case, histogram, measurement, plan, run, trial

from assay.core.errors import InputError
from assay.model.design import Bounds
from assay.model.measurement import Measurement
from assay.model.plan import LoadPlan, Open, Stage
from assay.model.run import Run
from assay.model.trial import Failure, Trial
from assay.report.model import followers
from assay.report.model.answer import state
from assay.verdict import judge
from assay.verdict.objective import Objective, parse
from assay.verdict.search import SearchAnswer, Step, answer, answer_of

BOUNDS = Bounds(objective="p99<50ms", lowest_per_s=100, highest_per_s=10_000, resolution=0.05)


def at(rate: float, seconds: float = 3.0) -> LoadPlan:
    stage = Stage(duration_ns=int(seconds * 1e9), from_per_s=rate, to_per_s=rate)
    return plan(seconds=seconds, load=Open(stages=(stage,), max_connections=500))


def seen(rate: float, p99_ms: float, seconds: float = 3.0, **changes: object) -> Measurement:
    """An open loop at a rate: one answer in fifty takes `p99_ms`, the others 1 ms."""
    number = round(rate * seconds)
    times = histogram([p99_ms * 1e6 if place % 50 == 0 else 1e6 for place in range(number)])
    made = measurement(rate, seconds, 10, response_time=times, service_time=times, send_lag=histogram([1e4]))
    return msgspec.structs.replace(made, **changes)


def searched(trials: list[Trial], bounds: Bounds = BOUNDS) -> Run:
    study = {
        "kind": "capacity",
        "search": msgspec.to_builtins(bounds),
        "rules": {
            "S5": {"thresholds": {"trials": 1.0}, "reason": "r"},
            "S7": {"thresholds": {"window": 1e9}, "reason": "r"},
        },
    }
    made = run([case("srv")], trials, 0, study)
    return msgspec.structs.replace(made, judgement=judge(made, 0))


def search_with_truth(capacity_per_s: float, bounds: Bounds = BOUNDS) -> SearchAnswer:
    """A search of a server that turns over sharply."""
    found = answer(bounds, ())
    while (rate := found.search.ask()) is not None and len(found.steps) < 100:
        step = Step(rate_per_s=rate, holds=rate < capacity_per_s, why="")
        found = answer(bounds, (*found.steps, step))
    return found


# --- objectives ---------------------------------------------------------------------------


def test_an_objective_is_read_and_written() -> None:
    found = parse(" p99 < 50ms , errors<0.1%,mean<=2s")
    assert found.text == "p99<50ms,errors<0.1%,mean<2s"
    assert [(limit.figure, limit.edge) for limit in found.limits] == [
        ("p99", 50e6),
        ("errors", pytest.approx(0.001)),
        ("mean", 2e9),
    ]
    assert found.requests == 459 and found.longest_ns == 2e9


@pytest.mark.parametrize(
    "word",
    [
        "",
        "p99",
        "p99<50",
        "p99>50ms",
        "99<50ms",
        "errors<1ms",
        "p99<1%",
        "p100<1s",
        "p0<1s",
        "p99<0ms",
        "x<1s",
    ],
)
def test_an_objective_that_is_none(word: str) -> None:
    with pytest.raises(ValueError):
        parse(word)


@given(st.sampled_from(["p50", "p99", "p99.9", "mean", "max"]), st.integers(1, 10**6))
def test_every_objective_reads_back_as_it_is_written(figure: str, ms: int) -> None:
    found = parse(f"{figure}<{ms}ms")
    assert parse(found.text) == found


@pytest.mark.parametrize(
    ("slo", "made", "held", "why"),
    [
        ("p99<50ms", seen(1000, 40), True, "p99 40.0 ms"),
        ("p99<50ms", seen(1000, 60), False, "p99 60.0 ms"),
        ("p50<50ms", seen(1000, 60), True, "p50 1.00 ms"),
        ("max<50ms", seen(1000, 60), False, "max 60.0 ms"),
        ("mean<2ms", seen(1000, 60), False, "mean 2.18 ms"),
        ("p99<50ms", seen(1000, 40, missed_starts=40), False, "40 requests found no free connection"),
        ("p99<50ms", seen(1000, 40, missed_starts=4), True, "p99 40.0 ms"),
        ("errors<0.1%", seen(1000, 40, failed=4), False, "errors 0.13 %"),
        ("errors<0.1%", seen(1000, 40, failed=2), True, "errors 0.067 %"),
        ("errors<0.1%", seen(1000, 40, missed_starts=4), False, "errors 0.13 %"),
        ("errors<50%", seen(800, 40), False, "80 % of the rate was answered"),
        ("p99<50ms", seen(1000, 40, 0.3, completed=1000), False, "too few right answers for p99 (300)"),
    ],
)
def test_an_objective_is_held_to_what_was_measured(slo: str, made: Measurement, held: bool, why: str) -> None:
    told = parse(slo).judge(at(1000, made.measured_ns / 1e9), made)
    assert (told.holds, told.why) == (held, why)


# --- the search ---------------------------------------------------------------------------


@pytest.mark.parametrize("truth", [150.0, 1234.0, 8000.0])
def test_a_capacity_within_the_range_is_found(truth: float) -> None:
    found = search_with_truth(truth)
    assert found.state == "found" and found.capacity is not None
    assert found.capacity.low is not None and found.capacity.high is not None
    assert found.capacity.low <= truth <= found.capacity.high
    assert found.capacity.high / found.capacity.low <= 1.05**2 * 1.025**2 + 1e-9


def test_beyond_the_range_a_capacity_is_known_from_one_side() -> None:
    above, below = search_with_truth(1e9), search_with_truth(1.0)
    assert above.capacity is not None and (above.capacity.low, above.capacity.high) == (10_000, None)
    assert below.capacity is not None and (below.capacity.low, below.capacity.high) == (None, 100)


def test_behind_two_trials_that_the_generator_spoilt_less_is_asked() -> None:
    spoilt = Step(rate_per_s=4000, holds=None, why="", limited=True)
    assert answer(BOUNDS, (spoilt,)).search.most_per_s is None
    found = answer(BOUNDS, (spoilt, spoilt))
    assert found.search.most_per_s == pytest.approx(3800)
    assert found.limited_per_s == 4000
    while (rate := found.search.ask()) is not None:
        found = answer(BOUNDS, (*found.steps, Step(rate_per_s=rate, holds=True, why="")))
    assert found.state == "above the range"
    assert found.capacity is not None and found.capacity.high is None
    assert found.capacity.low == found.search.most_per_s


def test_a_server_that_was_not_there_says_nothing_and_a_dead_one_missed() -> None:
    trials = [
        trial("srv", 0, Failure(stage="start", reason="did not listen"), plan=at(500)),
        trial("srv", 1, Failure(stage="load", reason="exit code 3"), plan=at(2000)),
        trial("srv", 2, seen(500, 10), plan=at(500)),
        trial("srv", 3, seen(1000, 90), plan=at(1000)),
    ]
    found = answer_of(searched(trials))
    assert [step.holds for step in found.steps] == [None, False, True, False]
    assert [step.died for step in found.steps] == [False, True, False, False]
    assert found.search.answers == ((2000, False), (500, True), (1000, False))


def test_a_miss_while_the_generator_was_late_is_no_answer() -> None:
    late = histogram([30e6] * 3000)
    made = seen(1000, 90, send_lag=late)
    [step] = answer_of(searched([trial("srv", 0, made, plan=at(1000))])).steps
    assert step.holds is None and step.limited
    held = seen(1000, 20, send_lag=late)
    [step] = answer_of(searched([trial("srv", 0, held, plan=at(1000))])).steps
    assert step.holds  # late, and held all the same


# --- the record ---------------------------------------------------------------------------


def found_run() -> Run:
    """The record of a search that found about 1,234/s."""
    steps = search_with_truth(1234).steps
    trials = [
        trial("srv", number, seen(step.rate_per_s, 10 if step.holds else 90), plan=at(step.rate_per_s))
        for number, step in enumerate(steps)
    ]
    return searched(trials)


def test_the_answer_is_in_the_record_alone() -> None:
    made = found_run()
    found = answer_of(made)
    assert found.state == "found"
    assert made.judgement is not None
    assert made.judgement.ranking[0].throughput == found.capacity
    [said] = followers.search_sentences(made).headline
    assert said.startswith("capacity with p99<50ms: 1,2") and state(made).startswith("clean")


def test_trials_beyond_the_capacity_are_no_results_and_have_no_findings() -> None:
    made = found_run()
    slow = [
        msgspec.structs.replace(
            one, measurement=seen(one.plan.load.stages[0].to_per_s, 90, missed_starts=400)
        )
        if isinstance(one.plan.load, Open) and one.plan.load.stages[0].to_per_s > 1234
        else one
        for one in made.trials
    ]
    assert judge(msgspec.structs.replace(made, trials=tuple(slow)), 0).clean


def test_a_generator_that_was_late_takes_nothing_from_what_held() -> None:
    late = [
        msgspec.structs.replace(
            one, measurement=msgspec.structs.replace(one.measurement, send_lag=histogram([8e6] * 3000))
        )
        for one in found_run().trials
        if one.measurement
    ]
    made = searched(late)
    assert answer_of(made).capacity == answer_of(found_run()).capacity
    assert made.judgement is not None
    found = {one.code: one.severity for one in made.judgement.findings if one.severity != "note"}
    assert found == {"G1": "warning"}
    assert not made.judgement.ranking[0].invalid


def test_a_capacity_rests_on_right_answers() -> None:
    failing = [
        msgspec.structs.replace(one, measurement=msgspec.structs.replace(one.measurement, failed=100))
        for one in found_run().trials
        if one.measurement
    ]
    made = searched(failing)
    assert made.judgement is not None
    assert "W2" in {one.code for one in made.judgement.findings if one.severity == "error"}
    assert made.judgement.ranking[0].invalid
    assert followers.search_sentences(made).headline[0] == "the capacity with p99<50ms is invalid"


def test_each_ending_has_its_sentence() -> None:
    held = [trial("srv", n, seen(10_000, 10), plan=at(10_000)) for n in range(3)]
    [said] = followers.search_sentences(searched(held)).headline
    assert said.startswith("capacity with p99<50ms: ≥ 10,000/s, the highest that was asked: give --to")
    missed = [trial("srv", n, seen(200, 90), plan=at(100)) for n in range(3)]
    [said] = followers.search_sentences(
        searched(missed, msgspec.structs.replace(BOUNDS, lowest_per_s=100))
    ).headline
    assert said == "p99<50ms does not hold even at 100/s, the lowest that was asked: p99 90.0 ms"
    [said] = followers.search_sentences(searched(held[:1])).headline
    assert said.endswith(", not settled after 1 trial")
    advice = followers.search_sentences(searched(held[:1])).advice
    assert advice.endswith("a larger --budget, or a wider --resolution")
    dead = trial("srv", 0, Failure(stage="load", reason="exit code 3"), plan=at(2000))
    told = followers.search_sentences(searched([dead, *held[:1]])).headline
    assert told[1] == "the server did not survive 2,000/s (1 of 2 trials): exit code 3"


def test_a_record_whose_objective_is_none_is_said() -> None:
    broken = msgspec.to_builtins(msgspec.structs.replace(BOUNDS, objective="fast"))
    trials = [trial("srv", 0, seen(500, 10), plan=at(500))]
    made = run([case("srv")], trials, 0, {"kind": "capacity", "search": broken})
    with pytest.raises(InputError, match="the record's objective is not readable"):
        judge(made)


def test_an_objective_is_a_value() -> None:
    assert isinstance(parse("p99<1s"), Objective) and parse("p99<1s") == parse("p99 < 1s")
