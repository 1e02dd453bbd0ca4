"""Open loops after the closed ones: each server at shares of its own capacity, and all at one rate.

A closed loop at saturation finds how much a server carries; how long users wait is a question for
arrivals that do not wait for answers, at rates below that. The rates are not known before the run:
a case says of whose throughput it takes which share, and the trial fills in the rate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import msgspec

from assay.study.control import spread
from assay.study.resolved import ResolvedCase
from assay.values.plan import Closed, LoadPlan, Open, Stage, StopAfter
from assay.values.trial import OfCapacity

SHARES = (0.25, 0.5, 0.75, 0.9)
COMMON_SHARE = 0.5
"""The rate that all are asked for: half of what the slowest carries, so that each carries it with ease."""

POOL = 4
"""Connections that the open loop may use for each one of the closed loop: a stall needs more of them."""


def latency_cases(
    cases: Sequence[ResolvedCase], loads: Collection[str], blocks: int, wanted: int
) -> Iterator[ResolvedCase]:
    """The open-loop cases of every candidate under one of these closed `loads`, in `wanted` of the blocks."""
    chosen = () if wanted >= blocks else spread(wanted, blocks)
    for one in cases:
        if (
            one.case.role != "candidate"
            or one.case.load not in loads
            or not isinstance(one.plan.load, Closed)
        ):
            continue
        rates = {f"{share:.0%}": OfCapacity(case=one.case.id, share=share) for share in SHARES}
        rates["common"] = OfCapacity(case="", share=COMMON_SHARE)
        for name, rate in rates.items():
            case = msgspec.structs.replace(
                one.case,
                id=f"{one.case.id}@{name}",
                load=f"{one.case.load}, {name}{' rate' if name == 'common' else ' of capacity'}",
                rate=rate,
                blocks=chosen,
            )
            yield replace(one, case=case, plan=at_rate(one.plan, 1.0))


def at_rate(plan: LoadPlan, per_s: float) -> LoadPlan:
    """The plan as an open loop of Poisson arrivals at that rate."""
    now = plan.load
    pool = now.connections * POOL if isinstance(now, Closed) else now.max_connections
    measured_ns = plan.stop.ns if isinstance(plan.stop, StopAfter) else round(plan.stop.count / per_s * 1e9)
    stage = Stage(duration_ns=measured_ns, from_per_s=per_s, to_per_s=per_s)
    arrivals = Open(stages=(stage,), max_connections=pool, arrivals="poisson")
    return msgspec.structs.replace(plan, load=arrivals, stop=StopAfter(ns=measured_ns))
