"""Several generators as one whose arms are interleaved: all switch at the same instants of the agreed clock.

Each settles the slices by itself, from the plan and from changes that name the round from which they hold.
The driver settles them a moment ahead, so that it names a round of which everybody hears before it begins;
who does not would take other slices than the rest, and spoils the block.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from assay.cluster import calls
from assay.cluster.calls import Agent, NodeFailed, NodeLost
from assay.core.errors import AssayError
from assay.engine.driver import AgreedSlices, slices_without_secrets
from assay.engine.merge import NotOneLoad, arm_together, merged_slices
from assay.model.account import TimeAccount
from assay.model.interleaving import (
    ArmMeasurement,
    Change,
    EndArm,
    Ended,
    InterleavedMeasurement,
    InterleavedPlan,
    InterleavedSnapshot,
    SliceTimes,
)
from assay.model.trial import ClockSeen, GeneratorSeen, HostSeen


class ClockReading(NamedTuple):
    """When a reading was asked for and came back by this clock, and what the other showed in between."""

    asked_ns: int
    there_ns: int
    came_ns: int

    @property
    def round_trip_ns(self) -> int:
        """How long it took."""
        return self.came_ns - self.asked_ns


def clock_of(readings: Sequence[ClockReading]) -> ClockSeen:
    """The other clock, from the reading that took the shortest way (as NTP chooses, RFC 5905, 10).

    The other clock was read at some moment between the asking and the coming, nobody knows which: its
    offset is that of the middle, and half the round trip to either side bounds it, however the way there
    and the way back differ.
    """
    best = min(readings, key=lambda reading: reading.round_trip_ns)
    middle_ns = (best.asked_ns + best.came_ns) // 2
    return ClockSeen(
        offset_ns=best.there_ns - middle_ns,
        uncertainty_ns=(best.round_trip_ns + 1) // 2,
        round_trip_ns=best.round_trip_ns,
    )


_READINGS = 12


def read_clocks(agents: Sequence[Agent]) -> tuple[ClockSeen, ...]:
    """Each agent's clock against ours, all asked in turn so that no answer waits for another."""
    return tuple(_clock(agent) for agent in agents)


def _clock(agent: Agent, enough_ns: int = 0) -> ClockSeen:
    """An agent's clock, from a dozen readings, or fewer where one took no longer than `enough_ns`."""
    readings: list[ClockReading] = []
    while len(readings) < _READINGS and (not readings or readings[-1].round_trip_ns > enough_ns):
        asked_ns = time.time_ns()
        there_ns = calls.ask(agent, "now_ns")
        readings.append(ClockReading(asked_ns, there_ns, time.time_ns()))
    return clock_of(readings)


def clock_after(agent: Agent, before: ClockSeen) -> ClockSeen | None:
    """The clock once more, about as well; None where the agent went when all was measured, which spoils
    nothing."""
    try:
        return _clock(agent, 2 * before.round_trip_ns)
    except NodeLost:
        return None


_LATER_S = 0.005
"""When a slice is asked for again whose round nobody has drawn yet."""


def monotonic_of(unix_ns: int) -> int:
    """What the monotonic clock shows at an instant of this machine's calendar, as both stand now: whoever
    counts by it is not moved where the calendar is set."""
    before_ns, calendar_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return (before_ns + after_ns) // 2 - (calendar_ns - unix_ns)


class AgreedCourse:
    """Slices from an instant on, waited for until they are over or `end` is called."""

    def __init__(self, plan: InterleavedPlan, starts_at_unix_ns: int) -> None:
        """`starts_at_unix_ns` is by this machine's calendar. PlanRefused where the plan is wrong."""
        self.agreed = AgreedSlices(plan)
        self.zero_ns = monotonic_of(starts_at_unix_ns)
        self._ended = threading.Event()

    def now_ns(self) -> int:
        """Time since the start."""
        return time.monotonic_ns() - self.zero_ns

    def wait_begin(self, number: int, timeout_s: float) -> SliceTimes | None:
        """The slice, once its slice begins; None where the time passed or the slices ended before."""
        return self._wait_for(number, lambda one: one.start_ns, timeout_s)

    def wait_end(self, number: int, timeout_s: float) -> SliceTimes | None:
        """The slice, once its slice is over; None where the time passed or the slices ended before."""
        return self._wait_for(number, lambda one: one.end_ns, timeout_s)

    def wait(self, timeout_s: float) -> bool:
        """Whether they are over, for good; waits for somebody to `end` them for at most so long."""
        return self._ended.wait(timeout_s) or self.agreed.is_over()

    def end(self) -> None:
        """Nobody waits any more."""
        self._ended.set()

    def _wait_for(
        self, number: int, point: Callable[[SliceTimes], int], timeout_s: float
    ) -> SliceTimes | None:
        give_up_ns = self.now_ns() + round(timeout_s * 1e9)
        while not self._ended.is_set():
            now_ns = self.now_ns()
            times = self.agreed.slice(number, now_ns)
            if times is not None and point(times) <= now_ns:
                return times
            if now_ns >= give_up_ns or (times is None and self.agreed.is_over()):
                return None
            look_again_ns = point(times) if times is not None else now_ns + round(_LATER_S * 1e9)
            self._ended.wait((min(look_again_ns, give_up_ns) - now_ns) / 1e9)
        return None


AHEAD_NS = 300_000_000
"""How far ahead of now a change is named: three hundred round trips on a quiet network."""
_LOOK_EVERY_S = 0.25
_KEEP_S = 1.0
_STOP_S = 2.0

SeenOf = Callable[[int, ArmMeasurement, HostSeen, int], GeneratorSeen]
"""What is kept of a generator (by its number): its part of an arm, its host meanwhile, how late it began."""


class _Came(msgspec.Struct, frozen=True):
    """What the generators sent: their parts, and of each the host and its account by arm."""

    parts: tuple[InterleavedMeasurement, ...]
    hosts: tuple[tuple[HostSeen, ...], ...]
    accounts: tuple[tuple[TimeAccount, ...], ...]


@dataclass
class GeneratorsSlices:
    """Arms that are interleaved and that several generators load; as `engine.InterleavedRun` is one."""

    plan: InterleavedPlan
    agents: Sequence[Agent]
    clocks: Sequence[ClockSeen]
    starts_ns: int
    seen_of: SeenOf
    least_washout_ns: int
    shares_cores: bool
    course: AgreedCourse = field(init=False)
    _ends: list[Any] = field(init=False)
    _followers: list[Agent] = field(default_factory=list)
    _came: _Came | None = None
    _spoilt: AssayError | None = None
    _asked: dict[int, Ended] = field(default_factory=dict)
    _looked_s: float = 0.0
    _heard_s: float = 0.0

    def __post_init__(self) -> None:
        """Ask each for its end at once: who is lost is heard of without asking."""
        self.course = AgreedCourse(self.plan, self.starts_ns)
        self._ends = [calls.begin(agent, "finish_slices") for agent in self.agents]

    def followed_by(self, agent: Agent) -> None:
        """From now on that agent is told of changes, too."""
        self._followers.append(agent)

    def change(self, change: Change, from_round: int = 0) -> int:
        """Change the slices from a round on, the same for all; which one that is.

        NodeFailed where somebody heard of it too late.
        """
        ahead_ns = AHEAD_NS + 4 * max(clock.round_trip_ns for clock in self.clocks)
        named = max(from_round, self.course.agreed.next_round(self.course.now_ns() + ahead_ns))
        holds = self.course.agreed.change(change, named)
        everybody = [*self.agents, *self._followers]
        with self._spoiling():
            answers = calls.ask_all(everybody, "change", msgspec.json.encode(change), named)
            for agent, theirs in zip(everybody, answers, strict=True):
                if theirs != named:
                    said = f"node {agent.node.address} heard of a change of the slices after it had to hold"
                    raise NodeFailed(said, "is the machine there busy with something else?")
        return holds

    def stop(self, at_ns: int = 0) -> None:
        """End the turns on all of them at one instant, wherever somebody still answers."""
        slowest_ns = max(clock.round_trip_ns for clock in self.clocks)
        soon_ns = max(at_ns, self.course.now_ns() + AHEAD_NS + 4 * slowest_ns)
        calls.tell(self.agents, "stop", soon_ns, within_s=_STOP_S)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end. NodeLost as soon as a generator is lost, and from then on."""
        if self._spoilt is not None:
            raise self._spoilt
        done = calls.ended(self._ends, timeout_s)
        self._look_after(done=done)
        return done

    def started_at_monotonic_ns(self) -> int:
        """What `time.monotonic_ns()` showed here at the start."""
        return self.course.zero_ns

    def wait_begin(self, number: int, timeout_s: float) -> SliceTimes | None:
        """Wait until a slice begins; None where the time passed or the slices ended before."""
        return self._waited(self.course.wait_begin(number, timeout_s), timeout_s)

    def wait_end(self, number: int, timeout_s: float) -> SliceTimes | None:
        """Wait until a slice is over; None where the time passed or the slices ended before."""
        return self._waited(self.course.wait_end(number, timeout_s), timeout_s)

    def snapshot(self) -> InterleavedSnapshot:
        """The live view. An arm ends on all of them where one saw a failure on which its plan ends, or where
        none found anybody there."""
        with self._spoiling():
            answers = calls.ask_all(self.agents, "look_at_slices")
        self._heard_s = time.monotonic()
        looks = [msgspec.json.decode(answer, type=InterleavedSnapshot) for answer in answers]
        for place, arms in enumerate(zip(*(look.arms for look in looks), strict=True)):
            ended = {arm.ended_here for arm in arms}
            why: Ended | None = None
            if "failure" in ended:
                why = "failure"
            elif ended == {"unreachable"}:
                why = "unreachable"
            if why is not None and place not in self._asked:
                self._asked[place] = why
                self.change(EndArm(arm=place, why=why))
        return InterleavedSnapshot(
            elapsed_ns=min(look.elapsed_ns for look in looks),
            slice=looks[0].slice,
            arms=tuple(map(arm_together, zip(*(look.arms for look in looks), strict=True))),
        )

    def result(self) -> InterleavedMeasurement:
        """The measurement of the whole. NodeLost where a part of it is: no part stands for the whole."""
        while not self.wait(_LOOK_EVERY_S):
            pass
        self.course.end()
        told = [calls.collect(agent, end) for agent, end in zip(self.agents, self._ends, strict=True)]
        self._came = _Came(
            tuple(
                slices_without_secrets(msgspec.json.decode(measured, type=InterleavedMeasurement))
                for measured, _, _ in told
            ),
            tuple(msgspec.json.decode(hosts, type=tuple[HostSeen, ...]) for _, hosts, _ in told),
            tuple(msgspec.json.decode(accounts, type=tuple[TimeAccount, ...]) for _, _, accounts in told),
        )
        try:
            whole = merged_slices(self._came.parts)
        except NotOneLoad as problem:
            raise NodeFailed(str(problem), "measure it again") from None
        return msgspec.structs.replace(
            whole, started_at_unix_ns=self.starts_ns, started_at_monotonic_ns=self.course.zero_ns
        )

    def generators(self, arm: int) -> tuple[GeneratorSeen, ...]:
        """What was seen of each in an arm, once the result is there."""
        if self._came is None:
            return ()
        came = enumerate(zip(self._came.parts, self._came.hosts, strict=True))
        return tuple(
            self.seen_of(number, part.arms[arm], hosts[arm], part.started_late_ns)
            for number, (part, hosts) in came
        )

    def accounts(self, arm: int) -> Sequence[TimeAccount]:
        """Where the time of each one's cores went in an arm's slices, once the result is there; nothing where
        one's are the server's, too."""
        return [each[arm] for each in self._came.accounts] if self._came and not self.shares_cores else ()

    def _waited(self, times: SliceTimes | None, timeout_s: float) -> SliceTimes | None:
        """What came of waiting; looks in between whether everybody is still there."""
        over = times is None and self.course.wait(0.0)
        done = over and calls.ended(self._ends, timeout_s)  # only results are still to come
        self._look_after(done=done)
        return times

    def _look_after(self, *, done: bool) -> None:
        """Whether everybody is still there: who is cut off says nothing, and is asked now and then."""
        now_s = time.monotonic()
        if done or now_s - self._looked_s >= _LOOK_EVERY_S:
            self._looked_s = now_s
            with self._spoiling():
                calls.broken(self.agents, self._ends)
        if not done and now_s - self._heard_s >= _KEEP_S:
            self.snapshot()

    @contextlib.contextmanager
    def _spoiling(self) -> Iterator[None]:
        """What fails in the block has ended the slices for good."""
        try:
            yield
        except AssayError as problem:
            self._spoilt = self._spoilt or problem
            raise
