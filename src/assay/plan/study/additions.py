"""What a run adds to the cases of its study, and under which conditions they are measured.

Added are null servers, the A/A control, open loops at shares of each capacity, and searches for a capacity.
The conditions are whether servers are interleaved, network emulation, and notes for the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from assay.core.errors import InputError
from assay.model.block import LONGEST_NS, UNLIKE_NS, Interleaving
from assay.model.design import Choices
from assay.model.plan import Closed, StopAfter
from assay.model.trial import OfCapacity, Search, case_id
from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.plan.study.load import Study
from assay.plan.study.schema import EmulationSetting, Profile
from assay.servers.manifest import Requirement, ServerSpec
from assay.servers.requires import check_all
from assay.stats.interleaved import FEWEST_ROUNDS
from assay.stats.sequential import LEAST_BLOCKS
from assay.verdict.search import at_rate

AGAIN = " again"
"""What the label of a control ends in."""


def control_for(
    cases: Sequence[ResolvedCase],
    blocks: int,
    wanted: int | None,
    fulfilled: Callable[[Sequence[Requirement]], bool],
) -> ResolvedCase | None:
    """The first candidate under a closed loop that this machine can run, once more, under the same plan.

    In `wanted` of the blocks, spread evenly; in all where it is None. None where nothing is compared, and
    with fewer than three blocks of it. Where no candidate can be had it is the first one. `fulfilled` says
    whether this machine has what a server requires.
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
    there = (one for one in candidates if fulfilled(one.server.requires))
    first = next(there, candidates[0])
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


def fulfilled(requires: Sequence[Requirement]) -> bool:
    """Whether this machine has all of it; a server that lacks something would be an empty row."""
    return all(tool.fulfilled for tool in check_all(requires))


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


def interleave_of(profile: Profile, choices: Choices) -> Interleaving | None:
    """They do under the fair profile, unless that is declined: what was published stays as it was.

    Four rounds are to fit into the time for which the study measures a server in a block, under loads that
    are interleaved.
    """
    if choices.profile != "fair" or not (profile.interleaved and choices.interleave):
        return None
    given_ns = None if profile.slice_ms is None else round(profile.slice_ms * 1e6)
    lengths_s = [load.measure_s or 0.0 for load in profile.loads if load.emulation is None]
    longest_s = max(lengths_s, default=0.0)
    most_ns = round((profile.quick.measure_s if choices.quick else longest_s) / FEWEST_ROUNDS * 1e9)
    most_ns = max(2 * UNLIKE_NS, min(most_ns, LONGEST_NS))
    return Interleaving(least_slice_ns=UNLIKE_NS, most_slice_ns=most_ns, given_slice_ns=given_ns)


def check_emulation(study: Study, load: str, emulation: EmulationSetting | None, server: ServerSpec) -> None:
    """InputError where a server over an emulated network would be without its services: they are not where it
    is."""
    if emulation is not None and server.services:
        raise InputError(
            f"{study.path}: load {load!r} is over an emulated network: {server.id} has no way to its service "
            f"{server.services[0]!r}",
            "name servers for that load that need none, or leave emulation out",
        )


def control_note(made: ResolvedRun) -> tuple[str, ...]:
    """What the A/A control of a run costs; nothing where it has none."""
    again = next((one.case for one in made.cases if one.case.role == "control"), None)
    if again is None:
        return ()
    trials = again.trials(made.blocks)
    of = "each block" if trials == made.blocks else f"{trials} of {made.blocks} blocks"
    cost_s = (sum(made.expected_s()) - sum(made.expected_s({again.id}))) / 2
    return (
        f"A/A control: {again.label.removesuffix(AGAIN)} is measured a second time in {of}, about "
        f"{cost_s:.0f} s more (--no-control leaves it out)",
    )
