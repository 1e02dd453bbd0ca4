"""Searches for a capacity after the closed loops: the highest rate at which each server holds an objective.

How much a server carries at saturation is not how much it can be asked for: that is the rate at which its
users are still served well. A case says what must hold; each of its trials is an open loop at the rate
that the search asks for next, a few in each block, so that all servers meet the same moods of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from assay.model.plan import Closed, StopAfter
from assay.model.trial import Search, case_id
from assay.plan.resolved import ResolvedCase
from assay.verdict.search_range import at_rate

CAPACITY = "capacity"
"""What tells a search's case from that of its closed loop."""


def capacity_cases(
    cases: Sequence[ResolvedCase], objectives: Mapping[str, str], trials: int, measure_ns: int
) -> Iterator[ResolvedCase]:
    """The search of every candidate under a closed load that has an objective, by the load's name."""
    for closed in cases:
        objective = objectives.get(closed.case.load)
        if closed.case.role != "candidate" or not isinstance(closed.plan.load, Closed) or not objective:
            continue
        search = Search(case=closed.case.id, objective=objective, trials=trials, measure_ns=measure_ns)
        case = msgspec.structs.replace(
            closed.case,
            id=case_id(closed.case.entry, (*closed.case.where, CAPACITY)),
            where=(*closed.case.where, CAPACITY),
            load=f"{closed.case.load}, {objective}",
            search=search,
        )
        plan = msgspec.structs.replace(at_rate(closed.plan, 1.0), stop=StopAfter(ns=measure_ns))
        yield replace(closed, case=case, plan=plan)
