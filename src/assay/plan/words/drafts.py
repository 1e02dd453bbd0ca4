"""Designs from the words of a command line: what a comparison and a search ask, before anything is
started."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.errors import InputError
from assay.model.block import ALIKE_NS, LONGEST_NS, SHORTEST_NS, UNLIKE_NS, Interleaving, Lengths
from assay.model.design import (
    Bounds,
    Candidate,
    Commands,
    ComparisonDesign,
    RuleSetting,
    SearchDesign,
    Terms,
    WarmUp,
)
from assay.model.plan import LoadPlan
from assay.plan.next.lengths import QUICK_NS, WARMING_NS, rounds_of
from assay.plan.words.case import drafted, one_program
from assay.stats.interleaved import FEWEST_ROUNDS
from assay.stats.sequential import FEWEST_BLOCKS, LEAST_BLOCKS

LEAST_BUDGET_NS = 90_000_000_000
_OVERRUN = 1.05
"""A load ends a little after its time: so much room is left, of the time."""
_MEASURE_NS = 2_000_000_000
_ALIKE_MEASURE_NS = 600_000_000
_LEAST_ALIKE_NS = FEWEST_ROUNDS * ALIKE_NS
_BLOCKS = 8
"""Of builds of one program, where the budget has room for them: at its end the interval of eight is half as
wide as that of four."""
_WATCHED_NS = 10 * WARMING_NS
"""A warm-up of fewer slices shows no level: so long a first one is worth more than another block."""
_S5 = "the interval that is used holds from three blocks on"
_S7 = "the blocks are what is compared: many short windows of fresh servers, not one long one"


def comparison(
    candidates: Sequence[Candidate],
    terms: Terms,
    plan: LoadPlan,
    warm_up: WarmUp,
    *,
    measure_ns: int,
    budget_ns: int,
    margin: float,
    seed: int,
    control: bool,
    unlike_allowed: bool,
    rank_all: bool,
    slower_allowed: float | None,
    commands: Commands,
    unsure_fails: bool = False,
    interleave: Interleaving | None = None,
    why: bool = False,
) -> ComparisonDesign:
    """Which of these serves more? InputError where a candidate's URL cannot be."""
    design = ComparisonDesign(
        title=" against ".join(candidate.name for candidate in candidates),
        question=_question(candidates, slower_allowed),
        seed=seed,
        candidates=tuple(candidates),
        terms=terms,
        commands=commands,
        measure_ns=measure_ns,
        budget_ns=budget_ns,
        margin=margin,
        control=control,
        interleave=interleave,
        unlike_allowed=unlike_allowed,
        rank_all=rank_all,
        slower_allowed=slower_allowed,
        unsure_fails=unsure_fails,
        why=why,
        rules={
            "S5": RuleSetting(thresholds={"trials": float(LEAST_BLOCKS)}, reason=_S5),
            "S7": RuleSetting(thresholds={"window": float(measure_ns)}, reason=_S7),
        },
    )
    return drafted(design, plan, warm_up)


def _question(candidates: Sequence[Candidate], slower_allowed: float | None) -> str:
    if slower_allowed is None:
        return "Which of these serves more requests under this load?"
    base, head = candidates
    return f"Is {head.name} slower than {base.name} by more than {slower_allowed * 100:g} % under this load?"


def affordable(
    budget_ns: int | None,
    entries: int,
    measure_ns: int,
    warm_up: WarmUp,
    pilot_ns: int = 0,
    interleave: Interleaving | None = None,
) -> tuple[int, WarmUp]:
    """A budget, and a warm-up, with which a comparison of so many entries gets to the blocks that can settle
    anything, however long its servers take to warm up, and after a pilot.

    Without a budget it is as large as that may need; a given one shortens the longest warm-up to what it
    leaves room for, between builds of one program after eight blocks that need no more than the least, or
    as many as there is room for. InputError where it leaves no room for the fewest blocks.
    """
    measure_ns = _charged_ns(interleave, measure_ns)
    trials = FEWEST_BLOCKS * entries
    if budget_ns is None:
        most_ns = round((pilot_ns + trials * (measure_ns + warm_up.max_ns)) * _OVERRUN)
        return max(LEAST_BUDGET_NS, most_ns), warm_up
    least_ns = pilot_ns + trials * (measure_ns + warm_up.min_ns)
    if budget_ns < least_ns:
        raise InputError(
            f"--budget is too short: {FEWEST_BLOCKS} blocks, the fewest it is to have room for, are "
            f"{trials} trials and at least {_seconds(least_ns)} of load",
            "give it more, or shorter trials (--duration"
            + (", --slice)" if interleave and interleave.given_slice_ns else ")"),
        )
    room_ns = (budget_ns / _OVERRUN - pilot_ns) / entries
    longest_ns = round(room_ns / FEWEST_BLOCKS) - measure_ns
    if interleave is not None and interleave.alike:
        firsts = (_first_ns(room_ns, n, measure_ns, warm_up) for n in range(_BLOCKS, FEWEST_BLOCKS, -1))
        least_ns = min(longest_ns, _WATCHED_NS)
        longest_ns = min(longest_ns, next((one for one in firsts if one >= least_ns), longest_ns))
    longest_ns = max(warm_up.min_ns, min(warm_up.max_ns, longest_ns))
    return budget_ns, WarmUp(min_ns=warm_up.min_ns, max_ns=longest_ns)


def _first_ns(room_ns: float, blocks: int, measure_ns: int, warm_up: WarmUp) -> int:
    """What is left for a candidate's first warm-up where there are to be so many blocks, and the others need
    no more than the least, and two short slices until all have learnt that they measure."""
    return round(room_ns - blocks * measure_ns - (blocks - 1) * (warm_up.min_ns + 2 * QUICK_NS))


def _seconds(ns: float) -> str:
    return f"{ns / 1e9:,.0f} s" if ns >= 1e12 else f"{ns / 1e9:.3g} s"


def _charged_ns(interleave: Interleaving | None, measure_ns: int) -> int:
    """For how long a candidate is measured in a block: in whole slices, where their length is given."""
    if interleave is None or interleave.given_slice_ns is None:
        return measure_ns
    slice_ns = interleave.given_slice_ns
    return slice_ns * rounds_of(measure_ns, Lengths(slice_ns=slice_ns, washout_ns=0))


def interleave_of(
    candidates: Sequence[Candidate], slice_ns: int | None, slower_allowed: float | None
) -> Interleaving:
    """That they are interleaved: in slices of `slice_ns`, or of a length that is found. A gate compares two
    builds of one program, whatever they are called."""
    alike = slower_allowed is not None or one_program(candidates)
    return Interleaving(
        least_slice_ns=SHORTEST_NS if alike else UNLIKE_NS,
        given_slice_ns=slice_ns,
        alike=alike,
    )


def within(interleave: Interleaving | None, budget_ns: int, entries: int) -> Interleaving | None:
    """The same with slices no longer than a budget has room for: four rounds of so many entries in each of
    the fewest blocks that settle anything, and as much again for all else."""
    if interleave is None:
        return None
    most_ns = budget_ns // (2 * FEWEST_BLOCKS * FEWEST_ROUNDS * entries)
    return msgspec.structs.replace(
        interleave, most_slice_ns=max(interleave.usual_slice_ns, min(most_ns, LONGEST_NS))
    )


def usual_measure_ns(
    interleave: Interleaving | None, budget_ns: int | None, entries: int, warm_up: WarmUp
) -> int:
    """For how long a candidate is measured in a block, unless it is said. Six slices of builds of one program
    tell more than a trial in three times that time, and more blocks tell more than longer ones: four
    slices, where a budget has no room for eight blocks of six."""
    if interleave is None or not interleave.alike:
        return _MEASURE_NS
    if budget_ns is None:
        return _ALIKE_MEASURE_NS
    first_ns = _first_ns(budget_ns / _OVERRUN / entries, _BLOCKS, _ALIKE_MEASURE_NS, warm_up)
    return _ALIKE_MEASURE_NS if first_ns >= min(_WATCHED_NS, warm_up.max_ns) else _LEAST_ALIKE_NS


def search(
    candidate: Candidate,
    terms: Terms,
    plan: LoadPlan,
    warm_up: WarmUp,
    *,
    bounds: Bounds,
    measure_ns: int,
    budget_ns: int,
    seed: int,
    max_connections: int | None,
) -> SearchDesign:
    """What is the highest rate that holds the objective of `bounds`? InputError as of a comparison."""
    design = SearchDesign(
        title=f"Capacity of {candidate.name}",
        question=f"What is the highest rate at which {bounds.objective} holds?",
        seed=seed,
        candidates=(candidate,),
        terms=terms,
        measure_ns=measure_ns,
        budget_ns=budget_ns,
        bounds=bounds,
        max_connections=max_connections,
        rules={"S5": RuleSetting(thresholds={"trials": 1.0}, reason="a search is no ranking")},
    )
    return drafted(design, plan, warm_up)
