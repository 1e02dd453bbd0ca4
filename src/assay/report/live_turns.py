"""The turns of an interleaved block while it goes on: whose turn it is, what each server serves in its own,
and how each ratio's interval shrinks from cycle to cycle."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from assay.core import format as fmt
from assay.model.interleaving import ArmSnapshot, InterleavedSnapshot, Slice
from assay.report.style import FAINT
from assay.stats.estimates import t_quantile
from assay.stats.interleaved import FEWEST_CYCLES, Cycles, error_of_mean, ratio_by_cycle

_MOST_PAIRS = 5
_LEAST_NAME = 8


def lines(names: Sequence[str], snapshot: InterleavedSnapshot) -> Iterator[Text]:
    """A line for the block, one for each server, one for each pair. `names` are those of the arms."""
    turn = snapshot.turn
    yield Text(_head(snapshot), no_wrap=True, overflow="ellipsis")
    room = max(_LEAST_NAME, *map(len, names))
    for place, (name, arm) in enumerate(zip(names, snapshot.arms, strict=True)):
        on_turn = turn is not None and turn.arm == place
        said = f"{'▶' if on_turn else ' '} {name:<{room}}  {_doing(arm)}"
        yield Text(said, "" if on_turn else FAINT, no_wrap=True, overflow="ellipsis")
    for said in _pairs(names, snapshot.arms):
        yield Text(f"  {said}", no_wrap=True, overflow="ellipsis")


def _head(snapshot: InterleavedSnapshot) -> str:
    measured = [_measured(arm) for arm in snapshot.arms]
    cycles = max(map(len, measured), default=0)
    slices = [one for arm in snapshot.arms for one in arm.slices[-1:]]
    length = f" of {fmt.time(slices[0].length_ns, exact=True)}" if slices else ""
    so_far = f", {fmt.counted(cycles, 'cycle')} measured" if cycles else ""
    return f"in slices{length} for {snapshot.elapsed_ns / 1e9:.1f} s{so_far}"


def _doing(arm: ArmSnapshot) -> str:
    if arm.ended is not None and arm.ended != "asked":
        return "ended"
    own = arm.slices[-1].length_ns if arm.slices else 0
    if not own:
        return "waiting for its first turn"
    rates = [one.completed / one.length_ns * 1e9 for one in arm.slices if one.length_ns]
    failed = sum(one.failed for one in arm.slices)
    doing = "measuring" if arm.snapshot.phase == "measured" else "warming up"
    also = f", {fmt.count(failed)} failed" if failed else ""
    return f"{doing}: {fmt.rate(statistics.fmean(rates))} in {fmt.counted(len(rates), 'slice')}{also}"


def _pairs(names: Sequence[str], arms: Sequence[ArmSnapshot]) -> Iterator[str]:
    """The fastest so far against the others: the ratio and its interval within this block."""
    cycles = {name: _cycles(arm) for name, arm in zip(names, arms, strict=True)}
    known = {name: rates for name, rates in cycles.items() if len(rates) >= FEWEST_CYCLES}
    if len(known) < 2:
        return
    best = max(known, key=lambda name: statistics.fmean(known[name].values()))
    others = [name for name in known if name != best]
    for other in others[:_MOST_PAIRS]:
        yield _ratio(best, other, known)
    if len(others) > _MOST_PAIRS:
        yield f"and {fmt.counted(len(others) - _MOST_PAIRS, 'more pair')}"


def _ratio(a: str, b: str, known: Mapping[str, Cycles]) -> str:
    logs = ratio_by_cycle(known[a], known[b])
    if len(logs) < FEWEST_CYCLES:
        return f"{a} / {b}"
    half = t_quantile(len(logs) - 1) * error_of_mean(logs)
    centre = statistics.fmean(logs)
    low, high = math.exp(centre - half), math.exp(centre + half)
    return f"{a} / {b}  {math.exp(centre):.3f} [{low:.3f}, {high:.3f}] in this block"


def _cycles(arm: ArmSnapshot) -> Cycles:
    return {one.cycle: one.completed / one.length_ns * 1e9 for one in _measured(arm) if one.length_ns}


def _measured(arm: ArmSnapshot) -> list[Slice]:
    return [one for one in arm.slices if one.phase == "measured"]
