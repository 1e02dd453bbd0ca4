"""From the clocks of a machine and of its processes to the `TimeAccount` of a load. Pure but for topology.

The processes' own clocks are exact, so they come first. What the kernel's clocks of a core (ticks) show as
busy beyond them is divided among other programs, by what a census saw of them, and the kernel's own work.
Where ticks and clocks disagree the idle time gives way.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from assay.model.account import (
    ENDED,
    HARNESS,
    REST,
    CoreRole,
    CoreTime,
    ProgramTime,
    RequestTime,
    ThreadTime,
    TimeAccount,
)
from assay.model.block import ServerSlice
from assay.model.interleaving import ArmMeasurement
from assay.model.measurement import Measurement
from assay.model.trial import Emulation
from assay.servers.census import CensusPair
from assay.servers.cores import CoreSplit, smt_siblings
from assay.servers.host import HostClocks

_NAMED = 5
"""Programs that have a name of their own in each set of cores."""
_SMALL = 0.002
"""Share of a set's time below which a program has none."""
_THERE = 0.5
"""Clocks that showed less of the time were not there all of it, or stood still."""
_RESTING = "resting servers"


class CoreSet(NamedTuple):
    """Cores of one role. `siblings` are CPUs of another set that share a physical core with one of them,
    `host` is the address of their machine where a load is of several."""

    cpus: tuple[int, ...]
    role: CoreRole
    siblings: tuple[int, ...] = ()
    host: str = ""


def side(role: CoreRole, cpus: Sequence[int], host: str) -> tuple[CoreSet, ...]:
    """The one set of a host that plays a single role; all its cores where none are named."""
    return (CoreSet(tuple(cpus) or tuple(range(os.cpu_count() or 1)), role, host=host),)


def core_sets(split: CoreSplit, smt: Iterable[tuple[int, ...]] | None = None) -> tuple[CoreSet, ...]:
    """The sets of a split: two where client and server have cores of their own, one where they share."""
    client, server = set(split.client), set(split.server)
    if not client or not server or client & server:
        both = client | server if client and server else set(range(split.cores))
        return (CoreSet(tuple(sorted(both)), "shared"),)
    groups = [set(group) for group in (smt_siblings() if smt is None else smt)]

    def beside(own: set[int], other: set[int]) -> tuple[int, ...]:
        return tuple(sorted(cpu for group in groups if group & own for cpu in group & other))

    return (
        CoreSet(split.server, "server", beside(server, client)),
        CoreSet(split.client, "generator", beside(client, server)),
    )


class Clocked(msgspec.Struct, frozen=True, kw_only=True):
    """CPU time by whose it was, in nanoseconds; None where it could not be seen.

    `server` and `generator` are user's and kernel's. `harness_ns` is this process without the generator,
    `resting_ns` that of other servers of a block. `programs` are all others; `exact` says that they were
    counted at the ends of this very time, so what none of them took was of programs that have ended.
    """

    server: tuple[int, int] | None = None
    services_ns: int | None = None
    generator: tuple[int, int] | None = None
    harness_ns: int = 0
    resting_ns: int = 0
    programs: tuple[ProgramTime, ...] | None = None
    kernel_threads_ns: int = 0
    exact: bool = True
    server_hidden: bool = False
    """Whether the server runs here and cannot be seen: what nobody is seen to take is then unknown."""


@dataclass
class _Share:
    """A set of cores while its time is divided."""

    of: CoreSet
    time_ns: int
    idle_ns: int = 0
    stolen_ns: int | None = None
    interrupts_ns: int = 0
    busy_ns: int = 0
    is_read: bool = True
    own_ns: dict[str, int | None] = field(default_factory=dict)
    own_programs: tuple[ProgramTime, ...] = ()

    @property
    def known_ns(self) -> int:
        """The time of those who have clocks."""
        return sum(ns or 0 for ns in self.own_ns.values()) + sum(one.ns for one in self.own_programs)

    @property
    def left_ns(self) -> int:
        """Busy time of nobody who has a clock."""
        return max(0, self.busy_ns - self.known_ns)


def core_times(sets: Sequence[CoreSet], host: HostClocks, clocked: Clocked) -> tuple[CoreTime, ...]:
    """Divide the time of each set of cores once."""
    shares = [_of_clocks(one, host) for one in sets]
    for share in shares:
        _take_own(share, clocked, alone=len(shares) == 1)
    left_ns = sum(share.left_ns for share in shares)
    return tuple(_divided(share, clocked, share.left_ns / left_ns if left_ns else 0.0) for share in shares)


def _of_clocks(one: CoreSet, host: HostClocks) -> _Share:
    """What the kernel's clocks say of a set.

    Idle and stolen time are exact clocks, busy time is counted in ticks that short bursts between idle times
    escape: busy is what is left of the set's time. Only of cores whose clocks stood still is that unknown.
    """
    cpus = [host.cpus[cpu] for cpu in one.cpus if cpu < len(host.cpus)]
    time_ns = host.elapsed_ns * len(one.cpus)
    total_ns = sum(cpu.total_ns for cpu in cpus)
    if not total_ns:
        return _Share(one, time_ns, is_read=False)
    stolen = [cpu.stolen_ns for cpu in cpus if cpu.stolen_ns is not None]
    idle_ns = min(time_ns, sum(cpu.idle_ns for cpu in cpus))
    stolen_ns = min(time_ns - idle_ns, sum(stolen))
    whole_ns = total_ns if total_ns < _THERE * time_ns else time_ns
    return _Share(
        one,
        time_ns,
        idle_ns,
        stolen_ns if stolen else None,
        sum(cpu.interrupts_ns for cpu in cpus),
        max(0, whole_ns - idle_ns - stolen_ns),
    )


def _take_own(share: _Share, clocked: Clocked, *, alone: bool) -> None:
    """Give a set the times of those with clocks that run there; idle time gives way to them. This process'
    own is where its generator is, or in the only set."""
    role = share.of.role
    if role in ("server", "shared"):
        user, kernel = clocked.server or (None, None)
        share.own_ns |= {"server_user_ns": user, "server_kernel_ns": kernel}
        share.own_ns["services_ns"] = clocked.services_ns
        share.own_programs += _program(_RESTING, clocked.resting_ns)
    if role in ("generator", "shared"):
        user, kernel = clocked.generator or (None, None)
        share.own_ns |= {"generator_user_ns": user, "generator_kernel_ns": kernel}
    if role != "server" or alone:
        share.own_programs += _program(HARNESS, clocked.harness_ns)
    over_ns = share.known_ns - share.busy_ns
    if over_ns > 0:
        share.busy_ns += over_ns
        _give_way(share, over_ns)


def _give_way(share: _Share, over_ns: int) -> None:
    """Make room for busy time beyond what ticks showed: idle time goes first, then stolen time; a clock that
    was read over a little longer than the set was looked at is cut."""
    room_ns = share.time_ns - share.busy_ns + over_ns - share.idle_ns - (share.stolen_ns or 0)
    over_ns -= max(0, room_ns)
    taken_ns = max(0, min(over_ns, share.idle_ns))
    share.idle_ns, over_ns = share.idle_ns - taken_ns, over_ns - taken_ns
    if share.stolen_ns and over_ns > 0:
        taken_ns = min(over_ns, share.stolen_ns)
        share.stolen_ns, over_ns = share.stolen_ns - taken_ns, over_ns - taken_ns
    if over_ns > 0:
        factor = (share.known_ns - over_ns) / share.known_ns
        share.own_ns = {name: None if ns is None else int(ns * factor) for name, ns in share.own_ns.items()}
        share.own_programs = tuple(
            ProgramTime(name=one.name, ns=int(one.ns * factor)) for one in share.own_programs
        )
        share.busy_ns -= over_ns


def _divided(share: _Share, clocked: Clocked, part: float) -> CoreTime:
    """The set's time; `part` of what other programs took is here."""
    left_ns = share.left_ns
    listed = clocked.programs or ()
    all_ns = sum(one.ns for one in listed) + clocked.kernel_threads_ns
    factor = min(part, left_ns / all_ns) if all_ns else 0.0
    programs = [ProgramTime(name=one.name, ns=int(one.ns * factor)) for one in listed]
    threads_ns = int(clocked.kernel_threads_ns * factor)
    left_ns -= sum(one.ns for one in programs) + threads_ns
    kernel_ns = min(share.interrupts_ns, left_ns)
    left_ns -= kernel_ns
    if clocked.programs is not None and not clocked.server_hidden:
        programs += _program(ENDED if clocked.exact else REST, left_ns)
        left_ns = 0
    named = _named([*share.own_programs, *programs], share.time_ns) if clocked.programs is not None else None
    known_ns = share.known_ns - sum(one.ns for one in share.own_programs) + sum(one.ns for one in named or ())
    known_ns += kernel_ns + threads_ns + share.idle_ns + (share.stolen_ns or 0)
    return CoreTime(
        cpus=share.of.cpus,
        role=share.of.role,
        time_ns=share.time_ns,
        kernel_ns=kernel_ns + threads_ns if share.is_read else None,
        programs=named,
        stolen_ns=share.stolen_ns,
        idle_ns=share.idle_ns if share.is_read else None,
        unknown_ns=max(0, share.time_ns - known_ns),
        siblings=share.of.siblings,
        host=share.of.host,
        **share.own_ns,
    )


def _program(name: str, ns: int) -> tuple[ProgramTime, ...]:
    return (ProgramTime(name=name, ns=ns),) if ns > 0 else ()


def _named(programs: Iterable[ProgramTime], time_ns: int) -> tuple[ProgramTime, ...]:
    """The busiest by name, the rest of them together as the last."""
    ranked = sorted((one for one in programs if one.ns > 0), key=lambda one: -one.ns)
    own = [one for one in ranked if one.name != REST]
    kept = [one for one in own[:_NAMED] if one.ns >= _SMALL * time_ns]
    return (*kept, *_program(REST, sum(one.ns for one in ranked) - sum(one.ns for one in kept)))


def trimmed(host: HostClocks, measured_ns: int) -> HostClocks:
    """The clocks without the moment between the end of the load and the last look, where every core could
    have been idle in it."""
    late_ns = host.elapsed_ns - measured_ns
    if late_ns <= 0 or any(cpu.idle_ns < late_ns for cpu in host.cpus):
        return host
    cpus = tuple(
        cpu._replace(idle_ns=cpu.idle_ns - late_ns, total_ns=max(0, cpu.total_ns - late_ns))
        for cpu in host.cpus
    )
    return host._replace(elapsed_ns=measured_ns, cpus=cpus)


SERVER = "server"
"""The name of the server's tree in a census of a load."""


def of_load(
    sets: Sequence[CoreSet],
    host: HostClocks,
    between: CensusPair,
    measured: Measurement | None,
    *,
    looked_ns: int = 0,
    threads: ThreadTime | None = None,
    emulation: Emulation | None = None,
    hidden: str = "",
    hidden_user: int | None = None,
) -> TimeAccount:
    """The account of one load, which had its cores to itself between two counts.

    The census has the server's tree as `SERVER`, and those of services by other names. `hidden` says why a
    server on this machine has none; it may be any process of the user `hidden_user`. `measured` is what this
    process offered of it, None where that was on other machines. The load went on for `looked_ns` of the time
    that was looked at, or for as long as it was measured.
    """
    server = between.tree(SERVER)
    services = [between.tree(name) for name in between.late.trees if name != SERVER]
    generator_ns = 0
    if measured is not None:
        looked_ns = looked_ns or measured.measured_ns
        part = min(host.elapsed_ns, looked_ns) / measured.measured_ns if measured.measured_ns else 1.0
        generator_ns = round(sum(worker.cpu_ns for worker in measured.workers) * part)
    clocked = Clocked(
        server=(server.user_ns, server.kernel_ns) if server else None,
        services_ns=sum(one.total_ns for one in services if one),
        generator=_parted(generator_ns, between.own_user_share),
        harness_ns=max(0, host.own_ns - generator_ns),
        programs=between.programs(hidden_user if hidden else None) if between.can_see else None,
        kernel_threads_ns=between.kernel_threads_ns(),
        server_hidden=bool(hidden),
    )
    kept = trimmed(host, looked_ns)
    return TimeAccount(
        wall_ns=kept.elapsed_ns,
        cores=core_times(sets, kept, clocked),
        server=threads,
        generator=ThreadTime.of(measured.workers) if measured else None,
        requests=RequestTime.of(measured, emulation.round_trip_ns if emulation else 0) if measured else None,
        unseen=tuple(unseen(between, hidden)),
    )


def arm_tree(place: int) -> str:
    """The name of an arm's server in the census of a block."""
    return f"arm {place}"


def of_arm(
    sets: Sequence[CoreSet],
    between: CensusPair,
    host: HostClocks,
    samples: Sequence[ServerSlice],
    place: int,
    arm: ArmMeasurement | None,
    threads: ThreadTime | None,
    hidden: str = "",
) -> TimeAccount:
    """The account of an arm in those of its slices that were looked at in time.

    Clocks of processes and cores are read at both ends of each slice. A slice of its own has none: the cores'
    clocks count in steps of 10 ms. What is known of the whole block alone (programs by name, user's part of
    the server's time, what threads lost) is taken to be in its slices as it is in all. `arm` is None where
    other machines offered it. `between` is of the whole block.
    """
    looked = [one for one in samples if one.arm == place]
    slices = {one.number: one for one in arm.slices} if arm else {}
    mine = [slices[one.number] for one in looked if one.number in slices]
    used = [ns for one in looked if (ns := one.cpu_ns[place]) is not None]
    tree, server = between.tree(arm_tree(place)), None
    if used and tree is not None:
        server = _parted(sum(used), tree.user_ns / tree.total_ns if tree.total_ns else None)
    generator_ns = sum(one.client_cpu_ns for one in mine)
    waits = [one.client_delayed_ns for one in mine]
    known = [ns for ns in waits if ns is not None]
    part = min(1.0, host.elapsed_ns / between.length_ns) if between.length_ns else 0.0
    others = between.programs()
    clocked = Clocked(
        server=server,
        services_ns=sum(ns for one in looked for ns in one.services_cpu_ns.values()),
        generator=_parted(generator_ns, between.own_user_share),
        harness_ns=max(0, host.own_ns - generator_ns),
        resting_ns=sum(ns or 0 for one in looked for at, ns in enumerate(one.cpu_ns) if at != place),
        programs=tuple(ProgramTime(name=one.name, ns=round(one.ns * part)) for one in others)
        if between.can_see
        else None,
        kernel_threads_ns=round(between.kernel_threads_ns() * part),
        exact=False,
        server_hidden=bool(hidden),
    )
    lost_ns = sum(known) if known and len(known) == len(waits) else None
    served = [len(one.cpus) for one in sets if one.role != "generator"]
    return TimeAccount(
        wall_ns=host.elapsed_ns,
        cores=core_times(sets, host, clocked),
        server=threads,
        generator=ThreadTime.of(arm.measurement.workers, lost_ns) if arm else None,
        requests=RequestTime.of(arm.measurement) if arm else None,
        idle_cpu_share=resting_share(samples, place, served[0]) if served else None,
        unseen=tuple(unseen(between, hidden)),
    )


def resting_share(samples: Iterable[ServerSlice], place: int, cores: int) -> float | None:
    """An arm's CPU use in other arms' slices, of the servers' cores; None where it was never seen there."""
    rested = [
        (ns, one.length_ns) for one in samples if one.arm != place and (ns := one.cpu_ns[place]) is not None
    ]
    length_ns = sum(length_ns for _, length_ns in rested)
    return sum(ns for ns, _ in rested) / length_ns / cores if length_ns else None


def unseen(between: CensusPair, hidden: str) -> Iterator[str]:
    """What could not be seen, and why."""
    if hidden:
        yield hidden
    elif between.early.trees.get(SERVER) and between.tree(SERVER) is None:
        yield "the server's processes ended within the load"
    if not between.can_see:
        yield "this system does not list processes"
    elif between.hides:
        yield "processes of other users are hidden here (hidepid)"


def _parted(cpu_ns: int, user_share: float | None) -> tuple[int, int]:
    """User and kernel time; in halves where it was too short to tell."""
    user_ns = round(cpu_ns * (0.5 if user_share is None else user_share))
    return user_ns, cpu_ns - user_ns
