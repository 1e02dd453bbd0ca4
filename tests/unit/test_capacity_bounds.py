"""What a search publishes was seen: it held at the lower end and was missed at the upper one."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_runs import histogram, trial
from test_capacity_answer import BOUNDS, at, search_with_truth, searched, seen

from assay.model.estimate import Estimate
from assay.model.trial import HostSeen
from assay.report.model import followers
from assay.report.model.answer import state
from assay.verdict.search import SearchAnswer, Step, answer, answer_of

LOWEST, HIGHEST = BOUNDS.lowest_per_s, BOUNDS.highest_per_s
STEPS = st.lists(
    st.tuples(
        st.floats(LOWEST, HIGHEST) | st.sampled_from([LOWEST, HIGHEST]),
        st.sampled_from(["held", "missed", "limited", "away"]),
    ),
    max_size=14,
)
WHATEVER_COMES = st.lists(st.sampled_from(["held", "missed", "limited", "away"]), max_size=25)


def step(rate: float, ended: str) -> Step:
    held = {"held": True, "missed": False}.get(ended)
    return Step(rate_per_s=rate, holds=held, why=ended, limited=ended == "limited")


def was_seen(found: SearchAnswer) -> None:
    """A lower end was held by a trial, an upper one missed by a trial, and the figure lies between."""
    held = [one.rate_per_s for one in found.steps if one.holds is True]
    missed = [one.rate_per_s for one in found.steps if one.holds is False]
    capacity = found.capacity
    if capacity is None:
        return
    assert capacity.low is not None or capacity.high is not None
    if capacity.low is not None:
        assert any(capacity.low <= rate <= capacity.value for rate in held)
    if capacity.high is not None:
        assert any(capacity.value <= rate <= capacity.high for rate in missed)
    if found.state == "found":
        assert capacity.low in held and capacity.high in missed
    if capacity.high is None:
        assert capacity.low in held
    if capacity.low is None:
        assert capacity.high in missed


@given(STEPS)
@settings(deadline=None, max_examples=60)
def test_whatever_came_of_trials_what_is_published_was_seen(steps: list[tuple[float, str]]) -> None:
    was_seen(answer(BOUNDS, [step(*one) for one in steps]))


@given(WHATEVER_COMES)
@settings(deadline=None, max_examples=25)
def test_whatever_comes_of_the_rates_that_are_asked(endings: list[str]) -> None:
    found = answer(BOUNDS, ())
    for ended in endings:
        if (rate := found.search.ask()) is None:
            break
        assert LOWEST <= rate <= HIGHEST
        found = answer(BOUNDS, (*found.steps, step(rate, ended)))
        was_seen(found)


@given(STEPS)
@settings(deadline=None, max_examples=60)
def test_trials_without_an_answer_move_nothing(steps: list[tuple[float, str]]) -> None:
    """No figure; where the generator reached its limit, less is asked, and the search may end there."""
    made = [step(*one) for one in steps]
    told = [one for one in made if one.holds is not None]
    if answer(BOUNDS, made).state == answer(BOUNDS, told).state:
        assert answer(BOUNDS, made).capacity == answer(BOUNDS, told).capacity
    away = [one for one in made if not one.limited]
    assert answer(BOUNDS, away).search == answer(BOUNDS, told).search


def test_a_server_that_never_held_is_known_from_above_alone() -> None:
    """Every answer took longer than the objective allows, and the budget ended it on the way down."""
    missed = [trial("srv", n, seen(rate, 60), plan=at(rate)) for n, rate in enumerate((600, 330, 190))]
    made = searched(missed)
    found = answer_of(made)
    assert found.capacity is not None
    assert (found.capacity.low, found.capacity.high) == (None, 190)
    [said] = followers.search_sentences(made).headline
    assert said == "capacity with p99<50ms: ≤ 190/s, not settled after 3 trials"


def test_what_held_twice_is_a_bound_from_below() -> None:
    held = [trial("srv", n, seen(1_830, 10), plan=at(1_830)) for n in range(2)]
    [said] = followers.search_sentences(searched(held)).headline
    assert said == "capacity with p99<50ms: ≥ 1,830/s, not settled after 2 trials"


def test_what_held_although_the_generator_was_late_stands() -> None:
    """Lateness makes response times longer: the objective held all the more."""
    late = histogram([8e6] * 3000)
    held = [trial("srv", n, seen(1_830, 10, send_lag=late), plan=at(1_830)) for n in range(2)]
    made = searched(held)
    assert made.judgement is not None
    [place] = made.judgement.ranking
    assert not place.invalid and place.throughput is not None
    assert (place.throughput.low, place.throughput.high) == (1_830, None)
    [late_too] = [one for one in made.judgement.findings if one.code == "G1"]
    assert (late_too.severity, late_too.on_times, late_too.on_throughput) == ("warning", "none", "none")
    assert "≥ 1,830/s" in followers.search_sentences(made).headline[0]


def test_a_finding_about_trials_that_missed_counts() -> None:
    """No trial held, so no rule looked at any; another program may have been what it met."""
    stolen = HostSeen(load_average_1m=1.0, steal_share=0.2, client_cpus_idle_share=0.9)
    missed = [trial("srv", n, seen(100, 60), plan=at(100), host=stolen) for n in range(3)]
    made = searched(missed)
    assert made.judgement is not None
    assert {one.code for one in made.judgement.findings} == {"H2"}
    assert not state(made).startswith("clean")


def test_a_miss_while_the_generator_stood_still_is_no_answer() -> None:
    made = seen(1000, 90)
    [worker] = made.workers
    stalled = msgspec.structs.replace(
        made, workers=(msgspec.structs.replace(worker, largest_stall_ns=300_000_000),)
    )
    made_run = searched([trial("srv", 0, stalled, plan=at(1000))])
    [only] = answer_of(made_run).steps
    assert only.holds is None and only.limited and "bottleneck: other programs" in only.why
    assert made_run.judgement is not None
    assert [one.code for one in made_run.judgement.findings] == ["H2"]


@pytest.mark.parametrize("truth", [150.0, 1234.0, 8000.0])
def test_both_ends_of_a_capacity_were_tried(truth: float) -> None:
    found = search_with_truth(truth)
    was_seen(found)
    assert found.state == "found"


def test_loads_at_four_and_six_fifths_agree_with_what_simulated_servers_publish() -> None:
    """Servers that slice over sharply or slowly, hiccup, and lie below, within or above the range."""
    rng = np.random.default_rng(34)
    contradicted, ends = 0, 0
    for _ in range(120):
        truth = math.exp(rng.uniform(math.log(LOWEST / 3), math.log(HIGHEST * 3)))
        spread, lapse = rng.choice([0.002, 0.02, 0.04]), rng.choice([0.0, 0.03])
        found = answer(BOUNDS, ())
        most = int(rng.integers(1, 40))
        while (rate := found.search.ask()) is not None and len(found.steps) < most:
            ended = rng.choice(["held", "limited", "away"], p=[0.8, 0.1, 0.1])
            if ended == "held":
                holds = rng.random() < 1 / (1 + math.exp(np.clip(math.log(rate / truth) / spread, -50, 50)))
                ended = "held" if holds != (rng.random() < lapse) else "missed"
            found = answer(BOUNDS, (*found.steps, step(rate, ended)))
        was_seen(found)
        for low, high in _ends(found.capacity, settled=found.state != "searching"):
            ends += 1
            contradicted += 0.8 * low > truth or 1.2 * high < truth
    assert ends > 60
    assert contradicted / ends < 0.05


def _ends(capacity: Estimate | None, *, settled: bool) -> list[tuple[float, float]]:
    """The rates that a published capacity says are held, and missed; of one that is not settled its ends."""
    if capacity is None:
        return []
    if settled and capacity.low is not None and capacity.high is not None:
        return [(capacity.value, capacity.value)]
    return [(capacity.low or 0.0, capacity.high or math.inf)]


def test_a_generator_that_kept_up_once_at_its_limit_reached_it_there() -> None:
    late = histogram([30e6] * 3000)
    made: list[tuple[float, float]] = [
        (1_140, 90),
        (1_140, 90),
        (1_080, 20),
        (1_080, 90),
        (1_080, 90),
        (1_026, 90),
        (1_026, 90),
    ]
    made += [(974.7, 20), (974.7, 20)]
    trials = [
        trial("srv", n, seen(rate, p99, send_lag=late), plan=at(rate)) for n, (rate, p99) in enumerate(made)
    ]
    [said] = followers.search_sentences(searched(trials)).headline
    assert said == "capacity with p99<50ms: ≥ 1,080/s, and the generator reached its own limit there"
