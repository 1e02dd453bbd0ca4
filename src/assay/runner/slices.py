"""The slices of an interleaved block while they go on: warming up, a pilot, measuring. What is to be done is
asked of pure functions; here it is done.

Only what has to be known at once is looked at in the midst, by whoever is where the servers are (`sampling`).
All else waits for the end of a round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from assay.engine.generator import GoingSlices
from assay.model.block import Lengths, Pilot
from assay.model.design import WarmUp
from assay.model.interleaving import (
    End,
    EndArm,
    GiveSlices,
    InterleavedSnapshot,
    Measure,
    SetLengths,
    Slice,
    SliceTimes,
)
from assay.model.measurement import Window
from assay.model.plan import StopAfter
from assay.model.trial import WarmUpSeen
from assay.plan.next.block import DueBlock
from assay.plan.next.comparison import has_room_for_pilot
from assay.plan.next.lengths import PILOT_ROUNDS, lengths_for, longer_ns, piloted, rounds_of, warming_ns
from assay.runner.warmup import NO_WARM_UP, warmed_up
from assay.servers.sampling import Sampling
from assay.stats.interleaved import FEWEST_ROUNDS

_LOOK_S = 0.2
_EVERY_S = 0.5


@dataclass(frozen=True)
class ArmWatched:
    """An arm as it is steered: whose it is, and until when it warms up."""

    case: str
    warm_up: WarmUp


@dataclass
class SliceOrder:
    """Steers an interleaved run from its first turn to its last.

    `begins` is called when measuring does, `looked` with the live view about twice a second.
    """

    run: GoingSlices
    due: DueBlock
    arms: Sequence[ArmWatched]
    sampling: Sampling
    begins: Callable[[], None]
    looked: Callable[[InterleavedSnapshot], None]
    lengths: Lengths = field(init=False)
    pilot: Pilot | None = None
    warm: dict[int, WarmUpSeen] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    measured_rounds: int = 0
    _measures: bool = False
    _measures_from: int | None = None
    _warming_ns: int = field(init=False)
    _own: Sequence[OwnTime] = field(init=False)
    _lent: bool = False
    _all_take: int = 0
    _rejoins: int | None = None
    _pilots: int = 0
    _pilot_from: int | None = None
    _longer: bool = True
    _looked_s: float = 0.0

    def __post_init__(self) -> None:
        """The lengths that are known before the warm-up."""
        due = self.due
        self._use(due.lengths or lengths_for(due.interleave, {}))
        self._warming_ns = min(warming_ns(due.lengths), self.lengths.slice_ns)  # as the run begins
        self._own = tuple(OwnTime() for _ in self.arms)
        for place, arm in enumerate(self.arms):
            if arm.warm_up.max_ns == 0:
                self.warm[place] = NO_WARM_UP

    def go(self) -> None:
        """Until the run has ended by itself."""
        if len(self.warm) == len(self.arms):
            self._measure()
        number, round_number = 0, -1
        while (times := self._wait(self.run.wait_begin, number)) is not None:
            if times.round != round_number:
                self._round_began(times, round_number)
                round_number = times.round
            self._slice(times)
            if self._measures:
                self._sample(often=False)
            number += 1

    def _wait(self, wait: Callable[[int, float], SliceTimes | None], number: int) -> SliceTimes | None:
        while (times := wait(number, _LOOK_S)) is None:
            if self.run.wait(0.0):
                return None
        return times

    def _slice(self, times: SliceTimes) -> None:
        """One slice, looked at at both ends; the arm of a server that died in it ends."""
        self.sampling.begins(times)
        if self._wait(self.run.wait_end, times.number) is None:
            return
        self.sampling.ends(times)
        for place in self.sampling.dead():
            if place not in self.gone:
                self.gone.add(place)
                self.run.change(EndArm(arm=place))

    def _round_began(self, times: SliceTimes, before: int) -> None:
        """Decide what is decided between rounds; changes hold from the next one on."""
        if self._measures:
            if times.phase == "measured":
                if self._measures_from is None:
                    self._measures_from = times.round
                    self.run.change(End(), times.round + self._wanted)
                self.measured_rounds = times.round - self._measures_from
            return
        snapshot = self._sample(often=True)
        if snapshot is None or before < 0:
            return
        slices = {place: arm.slices for place, arm in enumerate(snapshot.arms)}
        self.gone |= {place for place, arm in enumerate(snapshot.arms) if arm.ended}
        if len(self.gone) == len(self.arms):
            self.run.change(End())
        elif (longer := self._longer_ns(slices)) is not None:
            self._warming_ns = longer
            self._set(longer)
        elif not self._warm(slices):
            return
        elif self._settled_lengths(slices, times.round):
            self._measure()

    @property
    def _wanted(self) -> int:
        stop = self.due.arms[0].plan.stop
        assert isinstance(stop, StopAfter)  # it is interleaved
        return rounds_of(stop.ns, self.lengths)

    def _measure(self) -> None:
        self.run.change(Measure())
        self._measures = True
        self.begins()

    def _sample(self, *, often: bool) -> InterleavedSnapshot | None:
        """The live view, and the samples: at each round's begin while `often` is asked, else now and then."""
        now_s = time.monotonic()
        due = now_s - self._looked_s >= _EVERY_S
        if not (often or due):
            return None
        snapshot = self.run.snapshot()
        if due:
            self._looked_s = now_s
            self.looked(snapshot)
        return snapshot

    def _warm(self, slices: Mapping[int, Sequence[Slice]]) -> bool:
        """Whether all are; those that are yields their slices to those that are not."""
        fresh = False
        for place, arm in enumerate(self.arms):
            if place not in self.warm and place not in self.gone:
                found = warmed_up(self._own[place].of(slices[place]), arm.warm_up)
                if found is not None:
                    self.warm[place] = found
                    fresh = True
        cold = [place for place in range(len(self.arms)) if place not in self.warm | dict.fromkeys(self.gone)]
        if fresh:
            alive = [place for place in range(len(self.arms)) if place not in self.gone]
            self._all_take = self.run.change(GiveSlices(arms=tuple(cold or alive)))
            self._lent = self._lent or bool(cold)
        return not cold

    def _settled_lengths(self, slices: Mapping[int, Sequence[Slice]], round_number: int) -> bool:
        """Whether the lengths are found: all are interleaved again for a round, then a pilot may look."""
        if self._rejoins is None:
            self._rejoins = self._all_take + 1 if self._lent else round_number
            if self.due.lengths is None:
                named, least_ns = self._named(slices), self.run.least_washout_ns
                self._use(lengths_for(self.due.interleave, named, self.due.names, least_ns))
            self._pilots = self._set(self.lengths.slice_ns)
        if round_number < self._rejoins:
            return False
        if self.due.lengths is not None or not self._needs_pilot:
            return True
        if self._pilot_from is None:
            self._pilot_from, self._longer = max(round_number + 1, self._pilots), False
            return False
        done = round_number - self._pilot_from
        if not self._longer and done >= PILOT_ROUNDS:
            self._longer, self._pilot_from = True, self._set(2 * self.lengths.slice_ns)
            return False
        if done < PILOT_ROUNDS:
            return False
        asked = {case: each for case, each in self._named(slices).items() if case in self.due.compared}
        found = piloted(self.lengths, 2 * self.lengths.slice_ns, asked, self.due.names)
        if found is not None:
            self._use(found.lengths)
            self.pilot = found.pilot
        self._set(self.lengths.slice_ns)
        return True

    def _longer_ns(self, slices: Mapping[int, Sequence[Slice]]) -> int | None:
        """How long the warm-up's slices should be instead, as it shows; where those that follow it are known,
        no longer than they are."""
        if self._rejoins is not None:
            return None
        known, watched = self.due.lengths, [arm.warm_up for arm in self.arms]
        most_ns = known.slice_ns if known is not None else self.due.interleave.most_slice_ns
        watched_ns = max((one.max_ns for one in watched if one.min_ns < one.max_ns), default=0)
        return longer_ns(self._warming_ns, most_ns, watched_ns, self._named(slices))

    @property
    def _needs_pilot(self) -> bool:
        interleave = self.due.interleave
        compared = sum(
            arm.case in self.due.compared for place, arm in enumerate(self.arms) if place not in self.gone
        )
        by_hand = interleave.alike or interleave.given_slice_ns is not None
        return not by_hand and compared > 1 and has_room_for_pilot(interleave, self.lengths.slice_ns)

    def _use(self, lengths: Lengths) -> None:
        """The lengths, with a washout in which nobody works in another's slice for sure."""
        washout_ns = max(lengths.washout_ns, self.run.least_washout_ns)
        self.lengths = msgspec.structs.replace(lengths, washout_ns=washout_ns)

    def _set(self, slice_ns: int) -> int:
        """Set the length of slices; the round from which it holds."""
        return self.run.change(SetLengths(slice_ns=slice_ns, washout_ns=self.lengths.washout_ns))

    def _named(self, slices: Mapping[int, Sequence[Slice]]) -> dict[str, Sequence[Slice]]:
        return {self.arms[place].case: each for place, each in slices.items() if place not in self.gone}

    @property
    def whole(self) -> bool:
        """Whether enough rounds were measured for an interleaved block that was cut to count."""
        return self.measured_rounds >= FEWEST_ROUNDS


class OwnTime:
    """An arm's slices as windows of its own time, in which others had no turns. That counts from its first
    one on, also when the live view shows the latest alone."""

    def __init__(self) -> None:
        """Nothing seen yet."""
        self._starts: dict[int, int] = {}
        self._end_ns = 0

    def of(self, slices: Sequence[Slice]) -> tuple[Window, ...]:
        """Those of a view; it is looked at so often that none is missed."""
        for one in slices:
            if one.number not in self._starts:
                self._starts[one.number] = self._end_ns
                self._end_ns += one.length_ns
        return tuple(
            Window(
                start_ns=self._starts[one.number],
                length_ns=one.length_ns,
                phase=one.phase,
                started=one.started,
                completed=one.completed,
                failed=one.failed,
                bytes_read=one.bytes_read,
            )
            for one in slices
        )
