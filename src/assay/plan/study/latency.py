"""Open loops after the closed ones: each server at shares of its own capacity, and all at one rate.

A closed loop at saturation finds how much a server carries; how long users wait is a question for
arrivals that do not wait for answers, at rates below that. The rates are not known before the run:
a case says of whose throughput it takes which share, and the trial fills in the rate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import msgspec

from assay.model.plan import Closed
from assay.model.trial import OfCapacity, case_id
from assay.plan.resolved import ResolvedCase
from assay.plan.study.control import spread
from assay.verdict.search_range import at_rate

SHARES = (0.25, 0.5, 0.75, 0.9)
COMMON_SHARE = 0.5
"""The rate that all are asked for: half of what the slowest carries, so that each carries it with ease."""


def latency_cases(
    cases: Sequence[ResolvedCase], loads: Collection[str], blocks: int, wanted: int
) -> Iterator[ResolvedCase]:
    """The open-loop cases of every candidate under one of these closed `loads`, in `wanted` of the blocks."""
    chosen = () if wanted >= blocks else spread(wanted, blocks)
    for closed in cases:
        if (
            closed.case.role != "candidate"
            or closed.case.load not in loads
            or not isinstance(closed.plan.load, Closed)
        ):
            continue
        load = closed.case.load
        rates = {
            f"{share:.0%}": OfCapacity(cases=(closed.case.id,), load=load, share=share) for share in SHARES
        }
        candidates = _candidates(closed, cases)
        rates["common"] = OfCapacity(cases=candidates, load=load, share=COMMON_SHARE, common=True)
        for name, rate in rates.items():
            case = msgspec.structs.replace(
                closed.case,
                id=case_id(closed.case.entry, (*closed.case.where, name)),
                where=(*closed.case.where, name),
                load=f"{closed.case.load}, {name}{' rate' if name == 'common' else ' of capacity'}",
                rate=rate,
                blocks=chosen,
            )
            yield replace(closed, case=case, plan=at_rate(closed.plan, 1.0))


def _candidates(closed: ResolvedCase, cases: Sequence[ResolvedCase]) -> tuple[str, ...]:
    """The closed loops of all candidates under the same workload and load."""
    same = [
        other for other in cases if other.case.role == "candidate" and other.case.load == closed.case.load
    ]
    return tuple(other.case.id for other in same if other.case.workload == closed.case.workload)
