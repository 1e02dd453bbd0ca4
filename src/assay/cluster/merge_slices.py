"""Several generators' measurements of arms that took turns, added up exactly: slices by number. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.cluster.merge import NotOneLoad, merged
from assay.model.interleaving import ArmMeasurement, InterleavedMeasurement, Slice


def merged_turns(parts: Sequence[InterleavedMeasurement]) -> InterleavedMeasurement:
    """The measurement of the whole. NotOneLoad where the parts did not take the same turns, or where a
    part's accounting does not balance."""
    if not parts:
        raise NotOneLoad("no generator has measured anything")
    arms = zip(*(part.arms for part in parts), strict=True)
    return replace(
        parts[0],
        started_late_ns=max(part.started_late_ns for part in parts),
        length_ns=max(part.length_ns for part in parts),
        interrupted=any(part.interrupted for part in parts),
        arms=tuple(_arm(arm) for arm in arms),
    )


def _arm(parts: Sequence[ArmMeasurement]) -> ArmMeasurement:
    taken = {tuple(map(_where, part.slices)) for part in parts}
    if len(taken) > 1:
        raise NotOneLoad("the generators did not take the same turns")
    slices = slices_of_all([part.slices for part in parts])
    measurement = merged([part.measurement for part in parts])
    return ArmMeasurement(
        measurement=replace(measurement, windows=tuple(one.window for one in slices)),
        late=sum(part.late for part in parts),
        ended=next((part.ended for part in parts if part.ended), None),
        slices=slices,
    )


def _where(one: Slice) -> tuple[object, ...]:
    """Which slice it is, and where it lies."""
    return one.turn, one.cycle, one.place, one.phase, one.start_ns, one.length_ns, one.washout_ns


def slices_of_all(parts: Sequence[Sequence[Slice]]) -> tuple[Slice, ...]:
    """The slices that all parts have, added up by the number of their turn."""
    by_turn: dict[int, list[Slice]] = {}
    for one in (one for part in parts for one in part):
        by_turn.setdefault(one.turn, []).append(one)
    return tuple(_added(same) for _, same in sorted(by_turn.items()) if len(same) == len(parts))


_SUMS = (
    "started", "completed", "failed", "bytes_read", "early_completed", "service_time_sum_ns", "carried",
    "unsettled", "late", "reopened", "client_cpu_ns",
)  # fmt: skip


def _added(same: Sequence[Slice]) -> Slice:
    """One slice. Its median is the mean of theirs by answers, as that of several workers is."""
    completed = sum(one.completed for one in same)
    medians = sum(one.service_time_p50_ns * one.completed for one in same)
    sums = {name: sum(getattr(one, name) for one in same) for name in _SUMS}
    return replace(
        same[0],
        **sums,
        service_time_p50_ns=medians // completed if completed else 0,
        edges_ns=_known_of_all([one.edges_ns for one in same]),
        client_delayed_ns=_known_of_all([one.client_delayed_ns for one in same]),
    )


def _known_of_all(figures: Sequence[int | None]) -> int | None:
    """Their sum; None where one of them is not known."""
    known = [one for one in figures if one is not None]
    return sum(known) if len(known) == len(figures) else None
