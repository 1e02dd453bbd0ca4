"""Steers an interleaved block through its states: a table of transitions, and the loop that drives it.

    WarmingUp ──► Rejoining ──► PilotShort ──► PilotLong ──► Measuring
        └─────────────┴───► Measuring, where the lengths are known or no pilot is needed
    Any state before Measuring ──► Ended, once no arm is left.

`Transitions` is pure: an event gives the next state and the changes to ask of the run. `Steering` tells it
the events of a run and asks for the changes. Everything but a server's death is decided between rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from assay.engine.generator import GoingSlices
from assay.model.block import Lengths, Pilot
from assay.model.design import WarmUp
from assay.model.interleaving import (
    Change,
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
from assay.plan.next.comparison import has_room_for_pilot
from assay.plan.next.lengths import PILOT_ROUNDS, lengths_for, longer_ns, piloted, rounds_of, warming_ns
from assay.plan.next.schedule import DueBlock
from assay.plan.next.warming import NO_WARM_UP, warmed_up
from assay.servers.site import Sampling
from assay.stats.interleaved import FEWEST_ROUNDS

_POLL_S = 0.2
_EVERY_S = 0.5


class WarmingUp(msgspec.Struct, frozen=True):
    """Some arms are cold; slices are `slice_ns` long. Warm arms may have `yielded` theirs to cold ones."""

    slice_ns: int
    yielded: bool = False


class Rejoining(msgspec.Struct, frozen=True):
    """All arms are warm and take a round together from round `since` on (None: the run has not named it)."""

    since: int | None = None


class PilotShort(msgspec.Struct, frozen=True):
    """The pilot's rounds of slices of the length that was found, from round `since` on."""

    since: int | None = None


class PilotLong(msgspec.Struct, frozen=True):
    """The pilot's rounds of slices twice as long, from round `since` on."""

    since: int | None = None


class Measuring(msgspec.Struct, frozen=True):
    """Measuring was asked for; `since` is the first measured round, `rounds` are whole ones since then."""

    since: int | None = None
    rounds: int = 0


class Ended(msgspec.Struct, frozen=True):
    """No arm was left before anything was measured."""


SteeringState: TypeAlias = WarmingUp | Rejoining | PilotShort | PilotLong | Measuring | Ended


class Progress(msgspec.Struct, frozen=True):
    """A block's state, and what is known by then: by arm how its warm-up ended, and which arms are gone."""

    state: SteeringState
    lengths: Lengths
    warm: Mapping[int, WarmUpSeen] = msgspec.field(default_factory=dict)
    gone: frozenset[int] = frozenset()
    pilot: Pilot | None = None

    @property
    def is_whole(self) -> bool:
        """Whether enough rounds were measured for an interleaved block that was cut to count."""
        return isinstance(self.state, Measuring) and self.state.rounds >= FEWEST_ROUNDS


class AskedChange(NamedTuple):
    """A change asked of the run, from that round on or as soon as it can be."""

    change: Change
    from_round: int = 0


class Transition(NamedTuple):
    """What an event leads to."""

    progress: Progress
    asked: tuple[AskedChange, ...] = ()


class RoundBegan(msgspec.Struct, frozen=True):
    """The event: a round began. By arm: its slices in this phase, who was found warm, who ended by itself."""

    round: int
    is_measured: bool = False
    slices: Mapping[int, Sequence[Slice]] = msgspec.field(default_factory=dict)
    warmed: Mapping[int, WarmUpSeen] = msgspec.field(default_factory=dict)
    ended: frozenset[int] = frozenset()


class ArmWatched(msgspec.Struct, frozen=True):
    """An arm as it is steered: whose it is, and until when it warms up."""

    case: str
    warm_up: WarmUp


class Transitions(msgspec.Struct, frozen=True):
    """What each event leads to in each state of this block. Pure."""

    due: DueBlock
    arms: Sequence[ArmWatched]
    least_washout_ns: int = 0

    def start(self) -> Transition:
        """Before the first round."""
        lengths = self._washed_out(self.due.lengths or lengths_for(self.due.interleave, {}))
        warm = {place: NO_WARM_UP for place, arm in enumerate(self.arms) if arm.warm_up.max_ns == 0}
        least_ns = min(arm.warm_up.min_ns for arm in self.arms)
        first_ns = warming_ns(self.due.lengths, least_ns, far=self.least_washout_ns > 0)  # as the run begins
        slice_ns = min(first_ns, lengths.slice_ns)
        progress = Progress(WarmingUp(slice_ns), lengths, warm)
        return self._measure(progress) if len(warm) == len(self.arms) else Transition(progress)

    def round_began(self, progress: Progress, seen: RoundBegan) -> Transition:
        """What is decided between rounds; the changes hold from the next one on."""
        state = progress.state
        if isinstance(state, Measuring):
            return self._measured(progress, state, seen)
        if isinstance(state, Ended):
            return Transition(progress)
        progress = replace(progress, gone=progress.gone | seen.ended)
        if len(progress.gone) == len(self.arms):
            return Transition(replace(progress, state=Ended()), (AskedChange(End()),))
        if isinstance(state, WarmingUp):
            return self._warming(progress, state, seen)
        if isinstance(state, Rejoining):
            return self._rejoining(progress, state, seen)
        return self._piloting(progress, state, seen)

    def arms_died(self, progress: Progress, dead: Collection[int]) -> Transition:
        """Servers died in the slice that ended: their arms end."""
        fresh = sorted(set(dead) - progress.gone)
        asked = tuple(AskedChange(EndArm(arm=arm)) for arm in fresh)
        return Transition(replace(progress, gone=progress.gone | set(fresh)), asked)

    def holds(self, progress: Progress, from_round: int) -> Progress:
        """The run named the round from which the changes of the last step hold."""
        state = progress.state
        if isinstance(state, Rejoining | PilotShort | PilotLong) and state.since is None:
            return replace(progress, state=replace(state, since=from_round))
        return progress

    def _warming(self, progress: Progress, state: WarmingUp, seen: RoundBegan) -> Transition:
        """Longer slices where these are too short; else arms that are warm yield theirs until all are."""
        if (longer := self._longer_ns(progress, state, seen)) is not None:
            asked = (self._set(progress, longer),)
            return Transition(replace(progress, state=replace(state, slice_ns=longer)), asked)
        progress = replace(progress, warm={**progress.warm, **seen.warmed})
        alive = tuple(place for place in range(len(self.arms)) if place not in progress.gone)
        cold = tuple(place for place in alive if place not in progress.warm)
        given: tuple[AskedChange, ...] = (AskedChange(GiveSlices(arms=cold or alive)),) if seen.warmed else ()
        if cold:
            yielded = state.yielded or bool(given)
            return Transition(replace(progress, state=replace(state, yielded=yielded)), given)
        if self.due.lengths is None:
            slices = self._by_case(progress, seen)
            found = lengths_for(self.due.interleave, slices, self.due.names, self.least_washout_ns)
            progress = replace(progress, lengths=self._washed_out(found))
        if not (state.yielded and self.due.interleave.alike):  # those take a short round together first
            given += (self._set(progress, progress.lengths.slice_ns),)
        if state.yielded:
            return Transition(replace(progress, state=Rejoining()), given)
        if self._needs_pilot(progress):
            return Transition(replace(progress, state=PilotShort()), given)
        return self._measure(progress, given)

    def _rejoining(self, progress: Progress, state: Rejoining, seen: RoundBegan) -> Transition:
        """Measuring or a pilot, after one round of all together."""
        if state.since is None or seen.round <= state.since:
            return Transition(progress)
        if self._needs_pilot(progress):
            return Transition(replace(progress, state=PilotShort(seen.round + 1)))
        return self._measure(progress, (self._set(progress, progress.lengths.slice_ns),))

    def _piloting(self, progress: Progress, state: PilotShort | PilotLong, seen: RoundBegan) -> Transition:
        """One length after the other, then the one that is right; none where too few arms are left."""
        is_over = state.since is not None and seen.round - state.since >= PILOT_ROUNDS
        if self._needs_pilot(progress):
            if not is_over:
                return Transition(progress)
            longer_ns = 2 * progress.lengths.slice_ns
            if isinstance(state, PilotShort):
                return Transition(replace(progress, state=PilotLong()), (self._set(progress, longer_ns),))
            slices = self._by_case(progress, seen)
            compared = {case: each for case, each in slices.items() if case in self.due.compared}
            if (found := piloted(progress.lengths, longer_ns, compared, self.due.names)) is not None:
                progress = replace(progress, lengths=self._washed_out(found.lengths), pilot=found.pilot)
        return self._measure(progress, (self._set(progress, progress.lengths.slice_ns),))

    def _measured(self, progress: Progress, state: Measuring, seen: RoundBegan) -> Transition:
        """The first measured round names the end; the others are counted."""
        if not seen.is_measured:
            return Transition(progress)
        if state.since is not None:
            rounds = seen.round - state.since
            return Transition(replace(progress, state=replace(state, rounds=rounds)))
        stop = self.due.arms[0].plan.stop
        assert isinstance(stop, StopAfter)  # it is interleaved
        ends = seen.round + rounds_of(stop.ns, progress.lengths)
        return Transition(replace(progress, state=Measuring(seen.round)), (AskedChange(End(), ends),))

    def _measure(self, progress: Progress, before: tuple[AskedChange, ...] = ()) -> Transition:
        return Transition(replace(progress, state=Measuring()), (*before, AskedChange(Measure())))

    def _longer_ns(self, progress: Progress, state: WarmingUp, seen: RoundBegan) -> int | None:
        """How long the warm-up's slices should be instead, as it shows; where those that follow it are known,
        no longer than they are."""
        known, watched = self.due.lengths, [arm.warm_up for arm in self.arms]
        most_ns = known.slice_ns if known is not None else self.due.interleave.most_slice_ns
        watched_ns = max((one.max_ns for one in watched if one.min_ns < one.max_ns), default=0)
        return longer_ns(state.slice_ns, most_ns, watched_ns, self._by_case(progress, seen))

    def _needs_pilot(self, progress: Progress) -> bool:
        interleave = self.due.interleave
        if self.due.lengths is not None or interleave.alike or interleave.given_slice_ns is not None:
            return False
        alive = [arm.case for place, arm in enumerate(self.arms) if place not in progress.gone]
        compared = sum(case in self.due.compared for case in alive)
        return compared > 1 and has_room_for_pilot(interleave, progress.lengths.slice_ns)

    def _washed_out(self, lengths: Lengths) -> Lengths:
        """The lengths, with a washout in which nobody works in another's slice for sure."""
        washout_ns = max(lengths.washout_ns, self.least_washout_ns)
        return msgspec.structs.replace(lengths, washout_ns=washout_ns)

    def _set(self, progress: Progress, slice_ns: int) -> AskedChange:
        return AskedChange(SetLengths(slice_ns=slice_ns, washout_ns=progress.lengths.washout_ns))

    def _by_case(self, progress: Progress, seen: RoundBegan) -> dict[str, Sequence[Slice]]:
        slices = seen.slices.items()
        return {self.arms[place].case: each for place, each in slices if place not in progress.gone}


@dataclass
class Steering:
    """Drives an interleaved run from its first slice to its last.

    `begins` is called when measuring does, `looked` with the live view about twice a second.
    """

    run: GoingSlices
    transitions: Transitions
    sampling: Sampling
    begins: Callable[[], None]
    looked: Callable[[InterleavedSnapshot], None]
    progress: Progress = field(init=False)
    _own: Sequence[OwnTime] = field(init=False)
    _shown_s: float = 0.0

    def __post_init__(self) -> None:
        """Nothing is asked of the run yet."""
        self.progress = self.transitions.start().progress
        self._own = tuple(OwnTime() for _ in self.transitions.arms)

    def go(self) -> None:
        """Until the run has ended by itself."""
        self._take(self.transitions.start())
        number, round_number = 0, -1
        while (times := self._wait(self.run.wait_begin, number)) is not None:
            if times.round != round_number:
                self._round_began(times)
                round_number = times.round
            self.sampling.begins(times)
            if self._wait(self.run.wait_end, number) is not None:
                self.sampling.ends(times)
                self._take(self.transitions.arms_died(self.progress, self.sampling.dead()))
            if isinstance(self.progress.state, Measuring) and self._is_due():
                self._show()
            number += 1

    def _wait(self, wait: Callable[[int, float], SliceTimes | None], number: int) -> SliceTimes | None:
        while (times := wait(number, _POLL_S)) is None:
            if self.run.wait(0.0):
                return None
        return times

    def _take(self, step: Transition) -> None:
        """Ask the run for the changes of a step, which then is where the block stands."""
        self.progress = step.progress
        for change, from_round in step.asked:
            holds = self.run.change(change, from_round)
            self.progress = self.transitions.holds(self.progress, holds)
        if any(isinstance(change, Measure) for change, _ in step.asked):
            self.begins()

    def _round_began(self, times: SliceTimes) -> None:
        state, seen = self.progress.state, RoundBegan(times.round, times.phase == "measured")
        if not isinstance(state, Measuring):
            arms = dict(enumerate(self._show().arms))
            slices = {place: arm.slices for place, arm in arms.items()}
            ended = frozenset(place for place, arm in arms.items() if arm.ended)
            warmed = self._warmed(slices, ended) if isinstance(state, WarmingUp) else {}
            seen = replace(seen, slices=slices, warmed=warmed, ended=ended)
        self._take(self.transitions.round_began(self.progress, seen))

    def _warmed(
        self, slices: Mapping[int, Sequence[Slice]], ended: Collection[int]
    ) -> Mapping[int, WarmUpSeen]:
        """The arms that are found warm now, and how."""
        found = {}
        for place, arm in enumerate(self.transitions.arms):
            if place not in self.progress.warm and place not in self.progress.gone | set(ended):
                windows = self._own[place].of(slices[place])
                if (seen := warmed_up(windows, arm.warm_up)) is not None:
                    found[place] = seen
        return found

    def _show(self) -> InterleavedSnapshot:
        """The live view; the observer gets it too, if it has had none for half a second."""
        snapshot = self.run.snapshot()
        if self._is_due():
            self._shown_s = time.monotonic()
            self.looked(snapshot)
        return snapshot

    def _is_due(self) -> bool:
        return time.monotonic() - self._shown_s >= _EVERY_S


class OwnTime:
    """An arm's slices as windows of its own time, in which others had no slices. That counts from its first
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
        return tuple(as_window(one, self._starts[one.number]) for one in slices)


def as_window(one: Slice, start_ns: int) -> Window:
    """A slice as what stands among its arm's windows."""
    return Window(
        start_ns=start_ns,
        length_ns=one.length_ns,
        phase=one.phase,
        started=one.started,
        completed=one.completed,
        failed=one.failed,
        bytes_read=one.bytes_read,
    )
