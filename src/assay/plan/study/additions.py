"""What a study adds to its closed loops.

The A/A control, open loops at shares of each capacity, and searches for a capacity."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from assay.model.plan import Closed, StopAfter
from assay.model.trial import OfCapacity, Search, case_id
from assay.plan.resolved import ResolvedCase
from assay.servers.requires import check_all
from assay.verdict.search_range import at_rate

AGAIN = " again"
"""What the label of a control ends in."""

LEAST_BLOCKS = 3
"""With fewer pairs the interval of the control would say nothing."""


def control_for(cases: Sequence[ResolvedCase], blocks: int, wanted: int | None) -> ResolvedCase | None:
    """The first candidate under a closed loop that this machine can run, once more, under the same plan.

    In `wanted` of the blocks, spread evenly; in all where it is None. None where nothing is compared, and
    with fewer than three blocks of it. Where no candidate can be had it is the first one.
    """
    groups: dict[tuple[str, str], list[ResolvedCase]] = {}
    for entered in cases:
        if entered.case.role == "candidate" and isinstance(entered.plan.load, Closed):
            groups.setdefault((entered.case.workload, entered.case.load), []).append(entered)
    compared = [group for group in groups.values() if len(group) > 1]
    number = blocks if wanted is None else min(wanted, blocks)
    if not compared or number < LEAST_BLOCKS:
        return None
    candidates = [entered for group in compared for entered in group]
    first = next(filter(_to_be_had, candidates), candidates[0])
    again = f"{first.case.entry}+again"
    case = msgspec.structs.replace(
        first.case,
        id=case_id(again, first.case.where),
        entry=again,
        role="control",
        label=f"{first.case.label or first.case.entry}{AGAIN}",
        control_of=first.case.id,
        blocks=() if number == blocks else spread(number, blocks),
    )
    return replace(first, case=case)


def _to_be_had(case: ResolvedCase) -> bool:
    """Whether this machine has what the case's server requires; another would be an empty row."""
    return all(tool.fulfilled for tool in check_all(case.server.requires))


def spread(number: int, blocks: int) -> tuple[int, ...]:
    """`number` of the blocks, as evenly as they go."""
    return tuple(
        block for block in range(blocks) if (block + 1) * number // blocks > block * number // blocks
    )


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
