"""Which trials of a block are had at once, interleaved: an interleaved block. Pure.

Servers can be interleaved where they are asked the same in the same way: closed loops of one workload and
load, for one time. What is left of a block (open loops, whose arrivals do not wait for a slice; searches,
each at a rate of its own; a load over an emulated network; a null server that is measured for less) is tried
one after the other, as without blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.model.block import Interleaving, Lengths
from assay.model.plan import Closed, LoadPlan, StopAfter
from assay.model.run import Run
from assay.model.trial import Case
from assay.plan.next.lengths import lengths_now
from assay.plan.next.schedule import Due

_SEEDS = 2**64
"""As many does the engine tell apart; a run's own seed may be any number."""


@dataclass(frozen=True)
class DueBlock:
    """The block to have now: its number, its arms, and how long their slices are.

    `lengths` None: this is the first, and it has to find them. `names` are those that a reader knows its
    cases by, within the block; `compared` are those whose ratios are asked for.
    """

    number: int
    block: int
    seed: int
    interleave: Interleaving
    arms: tuple[Due, ...]
    lengths: Lengths | None
    names: Mapping[str, str]
    compared: frozenset[str] = frozenset()


def is_interleavable(case: Case, plan: LoadPlan) -> bool:
    """Whether a load of this kind can be offered interleaved.

    Over an emulated network it cannot: while a connection rests its sender forgets what the way carries and
    begins slowly anew, and a slice holds few round trips.
    """
    offered = isinstance(plan.load, Closed) and isinstance(plan.stop, StopAfter)
    return offered and case.emulation is None


def block_of(run: Run, dues: Sequence[Due]) -> DueBlock | None:
    """The interleaved block of the first of `dues` (trials that are left of one block) with all others that
    can be interleaved with it; None where it is to be tried alone."""
    interleave = run.header.design.interleave
    if interleave is None or not dues:
        return None
    cases = {case.id: case for case in run.header.cases}
    first = dues[0]
    group = _group(first, cases)
    arms = tuple(due for due in dues if due.slot.block == first.slot.block and _group(due, cases) == group)
    if group is None or len(arms) < 2:
        return None
    sat = [block for block in run.blocks if _same_cases(block.trials[0].case, arms[0], cases)]
    number = len(run.blocks)
    seed = (run.header.design.seed * 1_000_003 + number) % _SEEDS
    names = {due.slot.case: _name(cases[due.slot.case]) for due in arms}
    lengths = lengths_now(interleave, sat, names)
    compared = frozenset(case for case in names if cases[case].role in ("candidate", "control"))
    return DueBlock(number, first.slot.block, seed, interleave, arms, lengths, names, compared)


def _name(case: Case) -> str:
    """What tells it from others that are asked the same."""
    return case.label or case.server_name


def _group(due: Due, cases: dict[str, Case]) -> tuple[object, ...] | None:
    """What arms of one block have in common; None for a trial that is not interleaved."""
    case, plan = cases[due.slot.case], due.plan
    if due.failure is not None or case.dependent or not is_interleavable(case, plan):
        return None
    return (case.workload, case.load, plan.stop, plan.threads)


def _same_cases(sat: str, due: Due, cases: dict[str, Case]) -> bool:
    one, other = cases[sat], cases[due.slot.case]
    return (one.workload, one.load) == (other.workload, other.load)
