"""Several generators' measurements and live views of one load, added up exactly, by the engine itself.

The Rust side (`record/merge.rs`) writes each whole field by field: a new field does not compile until it is
said there how it adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from assay import _engine
from assay.model.interleaving import ArmSnapshot, InterleavedMeasurement
from assay.model.measurement import Measurement, Snapshot

_T = TypeVar("_T", Measurement, InterleavedMeasurement, Snapshot, ArmSnapshot)


class NotOneLoad(ValueError):
    """The parts do not belong together; the text says why."""


def merged(parts: Sequence[Measurement]) -> Measurement:
    """The measurement of the whole load. NotOneLoad where a part's accounting does not balance, or where the
    parts' windows cannot be laid over each other."""
    return _whole(_engine.merge_measurements, parts, Measurement)


def merged_slices(parts: Sequence[InterleavedMeasurement]) -> InterleavedMeasurement:
    """The measurement of the whole. NotOneLoad where the parts did not take the same slices, or where a
    part's accounting does not balance."""
    return _whole(_engine.merge_interleaved, parts, InterleavedMeasurement)


def together(looks: Sequence[Snapshot]) -> Snapshot:
    """The live view of a load: its totals; of its times the slowest's, since quantiles cannot be added."""
    return _whole(_engine.merge_snapshots, looks, Snapshot)


def arm_together(looks: Sequence[ArmSnapshot]) -> ArmSnapshot:
    """The live view of an arm: of its slices those that all have ended, while all are in one phase."""
    return _whole(_engine.merge_arm_snapshots, looks, ArmSnapshot)


def _whole(merge: Callable[[bytes], bytes], parts: Sequence[_T], kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(merge(msgspec.json.encode(parts)), type=kind)
    except ValueError as error:
        raise NotOneLoad(str(error)) from error
