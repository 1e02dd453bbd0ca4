"""What a search for a capacity has found: from the run's record alone, while it runs and after.

Each trial answers whether the objective held at its rate. One that ended with the server's death did
not. One that missed while a rule found something else than the server that makes times longer (a saturated
generator, a full link) says nothing of the server and moves nothing of what is known. Behind two of them the
search asks for less than they did.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from assay.core.errors import InputError
from assay.core.units import rate
from assay.model.design import Bounds, SearchDesign
from assay.model.estimate import Estimate
from assay.model.plan import Closed, LoadPlan, Open, Stage, StopAfter
from assay.model.run import Environment, Run
from assay.model.trial import Case, Trial
from assay.stats import rate_per_s
from assay.stats.capacity import CapacitySearch, SearchState
from assay.verdict.objective import Objective, objective_of, parse, rate_of
from assay.verdict.rule import hit_of
from assay.verdict.rules.bottleneck import G1, G6, H2, LATE
from assay.verdict.rules.host import H3
from assay.verdict.see import see_trial

_BELOW_LIMIT = 0.95
"""Where the generator reached its limit twice, nothing is asked above this share of it."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One trial of the search. `holds` is None where it says nothing: the server was not there, or the
    generator, or what is between the two, was `limited`."""

    rate_per_s: float
    holds: bool | None
    why: str
    died: bool = False
    limited: bool = False


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The search as it stands; `limited_per_s` is where the generator reached its limit, if it did."""

    bounds: Bounds
    steps: tuple[Step, ...]
    search: CapacitySearch
    limited_per_s: float | None

    @property
    def state(self) -> SearchState:
        """How it stands."""
        return self.search.state

    @property
    def capacity(self) -> Estimate | None:
        """The capacity as far as trials show it: one-sided where none held, or none missed."""
        return self.search.capacity

    @property
    def deaths(self) -> tuple[Step, ...]:
        """The trials that the server did not survive."""
        return tuple(step for step in self.steps if step.died)


def answer_of(run: Run) -> SearchAnswer:
    """The answer of the trials of the record of a search. InputError where its objective is not readable."""
    assert isinstance(run.header.design, SearchDesign)  # the caller chose it for that
    bounds = run.header.design.bounds
    objective = objective_of(bounds)
    return answer(bounds, [step_of(trial, objective, run.header.environment) for trial in run.trials])


def answer_in_study(case: Case, trials: Sequence[Trial], environment: Environment) -> SearchAnswer | None:
    """Where a study's search stands after these trials of all its cases; None where its closed loop has
    not been measured yet. InputError where the objective cannot be told of a server as slow as that."""
    search = case.search
    assert search is not None  # the caller chose it for that
    closed = [
        rate_per_s(trial.measurement) for trial in trials if trial.case == search.case and trial.measurement
    ]
    if not closed:
        return None
    objective = parse(search.objective)
    # The best that was seen: a first trial that was not warm yet must not bound the search.
    bounds = range_of(objective, max(closed), search.measure_ns)
    return answer(
        bounds, [step_of(trial, objective, environment) for trial in trials if trial.case == case.id]
    )


def answers_of(run: Run) -> dict[str, SearchAnswer | None]:
    """The answer of every case that is a search, in a record of either kind; None where nothing is known."""
    if isinstance(run.header.design, SearchDesign):
        return {case.id: answer_of(run) for case in run.header.cases}
    found: dict[str, SearchAnswer | None] = {}
    for case in run.header.cases:
        if case.search:
            try:
                found[case.id] = answer_in_study(case, run.trials, run.header.environment)
            except InputError:  # there is no range to search: its trials say so
                found[case.id] = None
    return found


def answer(bounds: Bounds, steps: Sequence[Step]) -> SearchAnswer:
    """The answer of these trials."""
    limited = sorted(step.rate_per_s for step in steps if step.limited)
    limit = limited[1] if len(limited) > 1 else None
    search = CapacitySearch(
        lowest_per_s=bounds.lowest_per_s,
        highest_per_s=bounds.highest_per_s,
        resolution=bounds.resolution,
        first_per_s=bounds.first_per_s,
        answers=tuple((step.rate_per_s, step.holds) for step in steps if step.holds is not None),
        most_per_s=None if limit is None else max(limit * _BELOW_LIMIT, bounds.lowest_per_s),
    )
    return SearchAnswer(bounds=bounds, steps=tuple(steps), search=search, limited_per_s=limit)


def step_of(trial: Trial, objective: Objective, environment: Environment) -> Step:
    """What one trial says."""
    rate = rate_of(trial.plan)
    if trial.measurement is None:
        reason = trial.failure.reason if trial.failure else "it was not measured"
        died = trial.failure is not None and trial.failure.stage == "load"
        return Step(rate_per_s=rate, holds=False if died else None, why=reason, died=died)
    verdict = objective.judge(trial.plan, trial.measurement)
    if not verdict.holds:
        seen = see_trial(trial, trial.measurement, environment)
        # What else than the server may have made the times so long that they missed.
        for rule in (G1, G6, H2, H3):
            hit = hit_of(rule, seen, rule.defaults)
            if hit is not None and (hit.severity == "error" or not LATE.isdisjoint(hit.figures)):
                return Step(rate_per_s=rate, holds=None, why=f"{rule.title} ({verdict.why})", limited=True)
    return Step(rate_per_s=rate, holds=verdict.holds, why=verdict.why)


POOL = 4
"""Connections that the open loop may use for each one of the closed loop: a stall needs more of them."""

RESOLUTION = 0.05
"""A search ends when the capacity is known to this share, 95 % sure, where nothing else is asked."""

_ABOVE_CLOSED = 1.15
"""An open loop gets no more out of a server than a closed one at saturation; the rest is its own error."""
_SPAN = 200.0
_FIRST_GUESS = 0.6
_FEWEST_CONNECTIONS, _MOST_CONNECTIONS = 256, 4096
_TO_SPARE = 1.2
_LONGEST_NS = 30_000_000_000
"""A trial takes no longer than this for its percentiles' sake."""


def range_of(
    objective: Objective,
    closed_per_s: float,
    measure_ns: int,
    *,
    resolution: float = RESOLUTION,
    lowest_per_s: float | None = None,
    highest_per_s: float | None = None,
) -> Bounds:
    """The range of the search, and where it begins; `lowest_per_s` and `highest_per_s` where they are given.

    A closed loop that got nothing (0) was not needed. InputError where there is no such range.
    """
    highest = highest_per_s or max(1.0, closed_per_s * _ABOVE_CLOSED)
    slowest = _requests(objective) / (max(measure_ns, _LONGEST_NS) / 1e9)
    lowest = lowest_per_s or max(slowest, highest / _SPAN)
    if lowest < slowest or slowest >= highest:
        raise InputError(
            f"{objective.text} needs {objective.requests} requests a trial, and at "
            f"{rate(min(lowest, highest))} they take longer than a trial may",
            "give a longer --duration, a lower percentile, or higher rates (--from, --to)",
        )
    if lowest >= highest:
        raise InputError(
            f"the search would go from {rate(lowest)} to {rate(highest)}, a little above a closed loop",
            "give --from a rate below --to",
        )
    guess = min(max(closed_per_s * _FIRST_GUESS, lowest), highest) if closed_per_s else None
    return Bounds(
        objective=objective.text,
        lowest_per_s=lowest,
        highest_per_s=highest,
        resolution=resolution,
        first_per_s=guess,
    )


def at_rate(plan: LoadPlan, per_s: float) -> LoadPlan:
    """The plan as an open loop of Poisson arrivals at that rate, for as long as it was."""
    now = plan.load
    pool = now.connections * POOL if isinstance(now, Closed) else now.max_connections
    measured_ns = plan.stop.ns if isinstance(plan.stop, StopAfter) else round(plan.stop.count / per_s * 1e9)
    stage = Stage(duration_ns=measured_ns, from_per_s=per_s, to_per_s=per_s)
    arrivals = Open(stages=(stage,), max_connections=pool, arrivals="poisson")
    return msgspec.structs.replace(plan, load=arrivals, stop=StopAfter(ns=measured_ns))


def plan_at(
    plan: LoadPlan, objective: Objective, per_s: float, measure_ns: int, max_connections: int | None = None
) -> LoadPlan:
    """The plan as an open loop of Poisson arrivals, long enough for the objective's percentiles."""
    stop_ns = max(measure_ns, math.ceil(_requests(objective) / per_s * 1e9))
    stage = Stage(duration_ns=stop_ns, from_per_s=per_s, to_per_s=per_s)
    # Four times what the rate holds in flight where every answer takes as long as the objective allows: a
    # short stall must not run out of them.
    in_flight = 4 * per_s * objective.longest_ns / 1e9
    connections = max_connections or int(min(max(in_flight, _FEWEST_CONNECTIONS), _MOST_CONNECTIONS))
    load = Open(stages=(stage,), max_connections=connections, arrivals="poisson")
    threads = min(plan.threads, connections)
    return msgspec.structs.replace(plan, load=load, stop=StopAfter(ns=stop_ns), threads=threads)


def _requests(objective: Objective) -> float:
    """With some to spare: arrivals are random, and some may fail."""
    return objective.requests * _TO_SPARE
