"""Several generators as one: each runs its part of a plan, begun, measured and ended at agreed instants.

Each generator's own engine keeps the instants, so that no message stands in a request's way: the start by the
calendar of its machine, corrected by its clock's offset, all others as so long after that start.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import structs
from msgspec.structs import replace

from assay.cluster import calls
from assay.cluster.agent import GeneratorAgent
from assay.cluster.calls import Agent, NodeFailed, NodeLost
from assay.cluster.generators_slices import GeneratorsSlices, clock_after, monotonic_of, read_clocks
from assay.core import vault
from assay.core.credentials import without_secrets
from assay.core.errors import AssayError
from assay.engine.driver import AgreedSlices, check
from assay.engine.merge import NotOneLoad, merged, together
from assay.model.account import TimeAccount
from assay.model.interleaving import ArmMeasurement, InterleavedPlan
from assay.model.measurement import Measurement, Snapshot
from assay.model.plan import Closed, LoadPlan, Part
from assay.model.run import About
from assay.model.trial import ClockSeen, GeneratorSeen, HostSeen

_LEAD_NS = 150_000_000
"""How far ahead the start is agreed: what preparing threads and connections may take on a slow machine."""
_ARM_LEAD_NS = 5_000_000
"""And for each arm: its server may have to be asked which HTTP it speaks."""
_AHEAD_NS = 60_000_000
"""How far ahead of now a change under load is agreed: sixty round trips on a quiet network."""
_LOOK_EVERY_S = 0.25
_KEEP_S = 1.0
"""How often generators are asked while they measure: each answer takes time of a core that may be a worker's,
and ten of them a second are in the p99 of the send lag of a load of some hundred requests a second."""
_BACK_S = 8.0
"""How long a load waits for a node that was lost in this run, asking it included."""
_LEAST_BACK_S = 2.0
"""What is left of that for a new agent at the least, however long the lost one was asked."""
_STOP_S = 2.0
"""How long those that still answer may take to stop, where one is lost."""
ASKED_A_SECOND = 1_000
"""The most calls a second that the driver makes under load: it needs time for what comes back."""


class Member(msgspec.Struct, frozen=True):
    """A generator of the generators, and what is known of its machine."""

    agent: Agent
    about: About
    server_too: bool = False
    """Whether its node is the one that serves: they share its cores."""
    same_machine: bool = False
    link_bytes_per_s: float | None = None
    shares_cores: bool = False
    """Whether the server may run on the cores of its workers: whose time was whose is then not known."""
    chosen_cpus: tuple[int, ...] | None = None
    """The cores that somebody has named for it; none where its workers go where they can."""

    @property
    def cpus(self) -> tuple[int, ...]:
        """The cores that its workers may use."""
        if self.chosen_cpus is not None:
            return self.chosen_cpus
        return self.about.client_cpus if self.server_too else self.about.cpus


def dealt(threads: int, members: int) -> tuple[Part, ...]:
    """So many workers on so many generators; the first ones take the remainder, none is left empty."""
    parts, first = [], 0
    for number in range(members):
        workers = threads // members + (number < threads % members)
        parts.append(Part(first_worker=first, workers=workers))
        first += workers
    return tuple(part for part in parts if part.workers)


def dealt_out(plan: LoadPlan, members: Sequence[Member], threads: int | None = None) -> LoadPlan:
    """The plan with workers for all generators: `threads` in all, or as many on each as the smallest has
    cores. What the plan itself says of threads and cores is of one machine.

    No more than connections, each of which is one worker's: with fewer than there are generators, the last
    of them have no part.
    """
    each = min(len(member.cpus) or member.about.cores for member in members)
    wanted = threads or each * len(members)
    return replace(plan, threads=min(connections_of(plan), wanted), cpus=())


def asked_every_s(members: int, *, measuring: bool) -> float:
    """How often so many generators are asked: soon in the warm-up, whose end is judged by what they say, and
    later where they are very many, as asking all of them takes a while."""
    return max(_KEEP_S if measuring else _LOOK_EVERY_S, members / ASKED_A_SECOND)


def connections_of(plan: LoadPlan) -> int:
    """How many connections a load has, or may have."""
    load = plan.load
    return load.connections if isinstance(load, Closed) else load.max_connections


_PartOf: TypeAlias = "Callable[[_Dealt, int], LoadPlan | InterleavedPlan]"
"""What a generator is told, with the instant of the start by its clock."""


class Generators(msgspec.Struct, frozen=True):
    """Generators on a cluster; a `Generator` as this process is one."""

    members: tuple[Member, ...]
    allowed: bool = False
    """Whether the driver has leave to load what is not on a private network."""
    threads: int | None = None
    """How many workers somebody has asked for, on all of them together."""
    _again: dict[str, tuple[Agent, NodeLost | None]] = msgspec.field(default_factory=dict)
    """Agents in place of those that were lost, by node; where there is none, why the last one was lost."""

    def planned(self, plan: LoadPlan, threads: int | None = None) -> LoadPlan:
        """The plan with workers for all of them, or as many as its study names."""
        return dealt_out(plan, self.members, self.threads or threads)

    def start(self, plan: LoadPlan) -> GeneratorsRun:
        """Start a load on all of them. Nothing goes on where one cannot."""
        check(plan)
        crew = self._crew(plan.threads)

        def part(one: _Dealt, starts_ns: int) -> LoadPlan:
            return replace(plan, cpus=one.member.cpus, part=replace(one.part, starts_at_unix_ns=starts_ns))

        starts_ns = self._begin(crew, "start", part, _LEAD_NS)
        return GeneratorsRun(plan, crew.members, crew.parts, crew.clocks, starts_ns)

    def start_interleaved(self, plan: InterleavedPlan) -> GeneratorsSlices:
        """Start arms that are interleaved on all of them.

        The washout is no shorter than two of their clocks may be apart: no two load two arms at once.
        """
        AgreedSlices(plan)  # it says what is wrong with the plan
        crew = self._crew(plan.arms[0].threads)
        least_ns = 2 * max(clock.uncertainty_ns for clock in crew.clocks)
        plan = replace(plan, washout_ns=max(plan.washout_ns, least_ns))

        def part(one: _Dealt, starts_ns: int) -> InterleavedPlan:
            arms = tuple(replace(arm, cpus=one.member.cpus) for arm in plan.arms)
            return replace(plan, arms=arms, part=replace(one.part, starts_at_unix_ns=starts_ns))

        lead_ns = _LEAD_NS + _ARM_LEAD_NS * len(plan.arms)
        starts_ns = self._begin(crew, "start_slices", part, lead_ns)

        def seen_of(number: int, arm: ArmMeasurement, host: HostSeen, late_ns: int) -> GeneratorSeen:
            return _generator_seen(crew.dealt[number], arm.measurement, host, late_ns)

        shares_cores = any(member.shares_cores for member in crew.members)
        return GeneratorsSlices(plan, crew.agents, crew.clocks, starts_ns, seen_of, least_ns, shares_cores)

    def _crew(self, threads: int) -> _Crew:
        """Who is there for so many workers, and their clocks."""
        parts = dealt(threads, len(self.members))
        members = tuple(map(self._at_hand, self.members[: len(parts)]))
        return _Crew(members, parts, read_clocks([member.agent for member in members]))

    def _begin(self, crew: _Crew, what: str, part: _PartOf, lead_ns: int) -> int:
        """Have each begin its part at one instant, so far ahead; the instant, by our clock."""
        starts_ns = time.time_ns() + lead_ns + 4 * max(clock.round_trip_ns for clock in crew.clocks)
        asked = [
            calls.begin(
                one.member.agent,
                what,
                vault.revealed_json(msgspec.json.encode(part(one, starts_ns + one.clock.offset_ns))),
                self.allowed,
            )
            for one in crew.dealt
        ]
        try:
            for agent, reference in zip(crew.agents, asked, strict=True):
                calls.collect(agent, reference)
        except BaseException:
            calls.tell(crew.agents, "stop", 0, within_s=_STOP_S)
            raise
        return starts_ns

    def _at_hand(self, member: Member) -> Member:
        """The member, with a new agent where its own was lost.

        NodeLost, with why it was lost, where there can be none soon.
        """
        node, began_s = member.agent.node, time.monotonic()
        agent, lost = self._again.get(node.id, (member.agent, None))
        if lost is None:
            try:
                calls.ask(agent, "hello")
                return structs.replace(member, agent=agent)
            except NodeLost as silent:
                calls.dismiss([agent])  # it may only have been cut off: it would hold the node for ever
                lost = silent
        left_s = max(_LEAST_BACK_S, _BACK_S - (time.monotonic() - began_s))
        try:
            [agent] = calls.place(GeneratorAgent, "generator", [node], left_s)
        except NodeLost:
            self._again[node.id] = (agent, lost)
            raise NodeLost(f"{lost.message}, and it is not back", lost.remedy) from None
        self._again[node.id] = (agent, None)
        return structs.replace(member, agent=agent)


class _Dealt(NamedTuple):
    """A generator, its part, and its clock before it."""

    member: Member
    part: Part
    clock: ClockSeen


class _Crew(msgspec.Struct, frozen=True):
    """Those of the generators that offer one load together."""

    members: tuple[Member, ...]
    parts: tuple[Part, ...]
    clocks: tuple[ClockSeen, ...]

    @property
    def dealt(self) -> tuple[_Dealt, ...]:
        """Each of them."""
        return tuple(map(_Dealt, self.members, self.parts, self.clocks))

    @property
    def agents(self) -> list[Agent]:
        """Those that are asked for them."""
        return [member.agent for member in self.members]


def _generator_seen(one: _Dealt, measurement: Measurement, host: HostSeen, late_ns: int) -> GeneratorSeen:
    return GeneratorSeen(
        node=one.member.agent.node.address,
        cores=one.member.about.cores,
        cpus=one.member.cpus,
        first_worker=one.part.first_worker,
        clock=one.clock,
        clock_after=clock_after(one.member.agent, one.clock),
        started_late_ns=late_ns,
        measurement=measurement,
        host=host,
        same_machine=one.member.same_machine,
        link_bytes_per_s=one.member.link_bytes_per_s,
    )


@dataclass
class GeneratorsRun:
    """A load that several generators offer, going on or ended. A warm-up that was ended from outside is over
    at `measured_from_ns`, by this monotonic clock."""

    plan: LoadPlan
    members: tuple[Member, ...]
    parts: tuple[Part, ...]
    clocks: tuple[ClockSeen, ...]
    starts_ns: int
    measured_from_ns: int | None = None
    _zero_ns: int = field(init=False)
    _ends: list[Any] = field(default_factory=list)
    _members_seen: tuple[GeneratorSeen, ...] = ()
    _accounts: list[TimeAccount] = field(default_factory=list)
    _last: Snapshot | None = None
    _heard_s: float = 0.0
    _lost: AssayError | None = None
    """Why the load has ended before its time. Nobody is asked any more: each silent one takes seconds."""

    def __post_init__(self) -> None:
        """Ask each for its end at once: who is lost is heard of without asking."""
        self._zero_ns = monotonic_of(self.starts_ns)
        self._ends = [calls.begin(agent, "finish") for agent in self._agents]

    def snapshot(self) -> Snapshot:
        """The totals of all; of their times the slowest generator's, since quantiles cannot be added.

        As they were when `wait` looked last, which may be a moment ago.
        """
        if self._last is not None:
            return self._last
        with self._losing():
            return self._live_views()

    def begin_measuring(self, at_ns: int = 0) -> None:
        """End the warm-up on all of them at one instant. NodeLost as `wait`."""
        with self._losing():
            at_ns = max(at_ns, self._soon_ns())
            calls.ask_all(self._agents, "begin_measuring", at_ns)
            self.measured_from_ns = self._zero_ns + at_ns

    def stop(self, at_ns: int = 0) -> None:
        """End the load on all of them at one instant; what became of one that is silent `wait` says."""
        if self._lost is None:
            calls.tell(self._agents, "stop", max(at_ns, self._soon_ns()), within_s=_STOP_S)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end. NodeLost as soon as a generator is lost, and from then on."""
        if self._lost is not None:
            raise self._lost
        with self._losing():
            done = calls.ended(self._ends, timeout_s)
            calls.broken(self._agents, self._ends)
            if not done and self._is_due:
                self._live_views()
        return done

    def result(self) -> Measurement:
        """The measurement of the whole load. NodeLost where a part of it is: no part stands for the whole."""
        while not self.wait(_LOOK_EVERY_S):
            pass
        self._accounts.clear()
        self._members_seen = tuple(
            self._member_seen(*one)
            for one in zip(self.members, self.parts, self.clocks, self._ends, strict=True)
        )
        try:
            return merged([one.measurement for one in self._members_seen])
        except NotOneLoad as problem:
            raise NodeFailed(str(problem), "measure it again") from None

    def generators(self) -> tuple[GeneratorSeen, ...]:
        """What was seen of each, once the result is there."""
        return self._members_seen

    def accounts(self) -> Sequence[TimeAccount]:
        """Where the time of each one's cores went, once the result is there; nothing where it shares them."""
        return () if any(member.shares_cores for member in self.members) else self._accounts

    def _member_seen(self, member: Member, part: Part, clock: ClockSeen, end: object) -> GeneratorSeen:
        measured, watched, account = calls.collect(member.agent, end)
        self._accounts.append(msgspec.json.decode(account, type=TimeAccount))
        measurement = without_secrets(msgspec.json.decode(measured, type=Measurement))
        host = msgspec.json.decode(watched, type=HostSeen)
        late_ns = measurement.started_at_unix_ns - clock.offset_ns - self.starts_ns
        return _generator_seen(_Dealt(member, part, clock), measurement, host, late_ns)

    @contextlib.contextmanager
    def _losing(self) -> Iterator[None]:
        """What fails in the block has ended the load before its time: all others are stopped."""
        try:
            yield
        except AssayError as lost:
            self._lost = lost
            calls.tell(self._agents, "stop", 0, within_s=_STOP_S)
            raise

    def _live_views(self) -> Snapshot:
        """Look at all of them: each says by its answer that it is still there."""
        looks = [
            msgspec.json.decode(answer, type=Snapshot) for answer in calls.ask_all(self._agents, "live_view")
        ]
        self._heard_s, self._last = time.monotonic(), together(looks)
        return self._last

    @property
    def _is_due(self) -> bool:
        """Whether the generators are to be asked again."""
        measuring = self._last is not None and self._last.phase == "measured"
        return time.monotonic() - self._heard_s >= asked_every_s(len(self.members), measuring=measuring)

    @property
    def _agents(self) -> list[Agent]:
        return [member.agent for member in self.members]

    def _soon_ns(self) -> int:
        """An instant that every generator hears of before it comes, as so long after the start."""
        slowest = max(clock.round_trip_ns for clock in self.clocks)
        return max(0, time.monotonic_ns() - self._zero_ns) + _AHEAD_NS + 4 * slowest
