"""The A/A control: one case of the study entered twice, to see what its runs take for a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from assay.model.plan import Closed
from assay.model.trial import case_id
from assay.plan.resolved import ResolvedCase
from assay.servers.requires import check_all

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
