"""For how many blocks the budget of a comparison has room, before anything of its servers is known. Pure."""

from __future__ import annotations

from typing import NamedTuple

from assay.model.block import LONGEST_NS, Interleaving, Lengths
from assay.model.design import ComparisonDesign
from assay.plan.next.lengths import PILOT_CYCLES, cycles_of

_PILOT = 3 * PILOT_CYCLES
"""Slices of the shorter length that a pilot of two lengths is as long as, for each server."""
_FOR_A_PILOT = 4
"""A pilot of slices of a quarter of the longest ones is a tenth of the budget."""


class Room(NamedTuple):
    """The load of a block, and how many of them there is room for: where servers take long to warm up, and
    where they are warm at once."""

    least_ns: int
    most_ns: int
    fewest: int
    most: int


def room_of(design: ComparisonDesign) -> Room:
    """The room that the design's budget has for blocks of all its cases, the first with a pilot."""
    interleave, cases = design.interleave, len(design.warm_ups)
    warm_ups = design.warm_ups.values()
    measured_ns = cases * measured_for_ns(interleave, design.measure_ns)
    least_ns = measured_ns + sum(one.min_ns for one in warm_ups)
    most_ns = measured_ns + sum(one.max_ns for one in warm_ups)
    left_ns = design.budget_ns - cases * pilot_ns(interleave)
    fewest, most = (max(1, left_ns // each) if each else 1 for each in (most_ns, least_ns))
    return Room(least_ns, most_ns, fewest, most)


def measured_for_ns(interleave: Interleaving | None, measure_ns: int) -> int:
    """For how long a server is measured in a block: in whole slices of the usual length, or the given one."""
    if interleave is None:
        return measure_ns
    slice_ns = interleave.given_slice_ns or interleave.usual_slice_ns
    return slice_ns * cycles_of(measure_ns, Lengths(slice_ns=slice_ns, washout_ns=0))


def pilot_ns(interleave: Interleaving | None) -> int:
    """What a pilot costs of the load of each server, where there is one: its slices are at least so long."""
    by_hand = interleave is None or interleave.alike or interleave.given_slice_ns is not None
    return 0 if interleave is None or by_hand else _PILOT * interleave.least_slice_ns


def has_room_for_pilot(interleave: Interleaving, slice_ns: int) -> bool:
    """Whether there is time for a pilot of slices of that length: it needs twice as long ones, and where a
    budget bounds their length, it may not take more of that than was set aside for it, or than a tenth."""
    if 2 * slice_ns > interleave.most_slice_ns:
        return False
    bounded = interleave.most_slice_ns < LONGEST_NS
    return not bounded or slice_ns <= max(interleave.least_slice_ns, interleave.most_slice_ns // _FOR_A_PILOT)
