"""The range of a search, and the open loops in it: what follows from an objective. Pure."""

from __future__ import annotations

import math

import msgspec

from assay.core.errors import InputError
from assay.core.units import rate
from assay.model.design import Bounds
from assay.model.plan import Closed, LoadPlan, Open, Stage, StopAfter
from assay.verdict.objective import Objective

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
    connections = max_connections or _connections(per_s, objective)
    load = Open(stages=(stage,), max_connections=connections, arrivals="poisson")
    threads = min(plan.threads, connections)
    return msgspec.structs.replace(plan, load=load, stop=StopAfter(ns=stop_ns), threads=threads)


def _connections(per_s: float, objective: Objective) -> int:
    """Four times what the rate holds in flight where every answer takes as long as the objective allows:
    a short stall must not run out of them."""
    in_flight = 4 * per_s * objective.longest_ns / 1e9
    return int(min(max(in_flight, _FEWEST_CONNECTIONS), _MOST_CONNECTIONS))


def _requests(objective: Objective) -> float:
    """With some to spare: arrivals are random, and some may fail."""
    return objective.requests * _TO_SPARE
