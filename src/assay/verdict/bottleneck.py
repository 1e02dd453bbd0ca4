"""What limited a load: from where the time of its cores went, what was asked for, and what waited.

`shares_of` reads the time account of a trial, or the older figures where it has none. `bottleneck_of` names
who was busy (operational analysis: Denning, Buzen 1978). `at_most` is the bound that follows, as
docs/bottleneck.md explains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay.core.units import counted, rate
from assay.core.units import share as percent
from assay.core.units import time as duration
from assay.model.account import HARNESS, CoreTime, ThreadTime, TimeAccount
from assay.verdict.load import Load, intended_between
from assay.verdict.silence import patience_ns, silent_ns

Who = Literal["server", "generator", "others", "link", "limit", "waiting", "unknown"]

FULL = 0.9
"""Share of its cores from which a side can be the bottleneck."""
STRAINED, FULLY = 0.8, 0.95
"""Shares of its time between which a generator begins to hold a server back, and does so wholly."""
HALF = 0.5
"""A generator that idled for more than this was not the bottleneck."""
KERNEL = 0.1
"""Less of the generator's cores than this may be the kernel's work for the generator's own traffic."""
CLOCKS = 0.02
"""What a full core may seem to idle by."""
TICK_NS = 10e6
"""What a kernel that counts by ticks may be off by at either end of a load."""
MISSING = 0.1
"""More of the connections than this were not served where their number limited the load."""
WAITED = 0.05
"""Share of the time that requests wait for streams or windows where these limit the load."""
LINK_FULL = 0.9
"""Share of what the link carries from which it is full."""


class Bottleneck(msgspec.Struct, frozen=True):
    """Who limited a load, by which `share` of their time (known to within `uncertainty`), and what says so.

    `name` tells who of the others, which service or limit; `evidence` is short, for a line of 80 columns.
    """

    who: Who
    share: float | None
    uncertainty: float
    evidence: str
    name: str = ""

    @property
    def words(self) -> str:
        """ "the server (98 % of its core)"."""
        return f"{self.name or _NAMES[self.who]} ({self.evidence})"


_NAMES: dict[Who, str] = {
    "server": "the server",
    "generator": "the generator",
    "others": "other programs",
    "link": "the link",
    "limit": "a limit that was asked for",
    "waiting": "waiting",
    "unknown": "not known",
}


class Shares(msgspec.Struct, frozen=True, kw_only=True):
    """Where the time of both sides went, as shares of their cores' time; None where nobody looked.

    `generator` is its busiest thread, or all of them on the cores they share. `generator_lost` is what others
    had of its time, `server_lost` of the server's; `paused` is its longest stall. `server` holds its services
    and the kernel's work for it, `program` its own threads alone; `polling` is what it burns at no load.
    `programs` names them by the cores that they kept busy. `stolen` is by the host, `throttled` by a
    control group.
    """

    generator: float | None
    generator_lost: float = 0.0
    paused: float = 0.0
    link: float = 0.0
    server: float | None = None
    server_lost: float | None = None
    program: float | None = None
    services: float | None = None
    polling: float | None = None
    programs: tuple[tuple[str, float], ...] = ()
    stolen: float = 0.0
    throttled: float = 0.0
    uncertainty: float = 0.0

    @property
    def strain(self) -> float:
        """How far the generator may have held the server back: 0 where it had time to spare, 1 where it had
        none. Continuous, so that no figure jumps at a threshold."""
        busy = (self.generator or 0.0) + self.generator_lost + self.link
        return min(1.0, max(0.0, (busy - STRAINED) / (FULLY - STRAINED)))

    @property
    def works(self) -> float | None:
        """The server's busy share that says who set the pace; None where it burns its cores at no load."""
        return None if self.polls else self.server

    @property
    def polls(self) -> bool:
        """Whether its CPU time says nothing, as it takes as much without a load."""
        return self.polling is not None and self.polling >= HALF * (self.server or 1.0)


def shares_of(load: Load) -> Shares:
    """The shares of a load; of several generators, of the busiest."""
    duration_ns = load.measured.measured_ns or 1
    host = load.machine.host
    cores = load.machine.client_cores
    own = max((*load.busy_shares, load.crowded_share), default=None)
    used = load.client_cores_busy
    by_link = load.link_cores / cores if cores else 0.0
    lost = used - load.crowded_share - by_link if used is not None else 0.0
    paused = load.longest_pause_ns / duration_ns
    seen = Shares(
        generator=None if spins(load) else own,
        generator_lost=max(0.0, lost - KERNEL),
        paused=min(1.0, paused),
        link=by_link,
        server=load.pace_share,
        program=load.server.cpu_share if load.server else None,
        stolen=(host.steal_share or 0.0) if host else 0.0,
        throttled=(host.throttled_ns or 0) / duration_ns if host else 0.0,
        uncertainty=min(1.0, 2 * TICK_NS / duration_ns),
    )
    return seen if load.account is None else _by_account(seen, load.account)


def _by_account(older: Shares, account: TimeAccount) -> Shares:
    """The same by a time account, as far as it tells.

    What others had of a side's cores is lost as far as its threads waited for it meanwhile: a program of idle
    priority takes what nobody wants. Where both share cores, the server had what the generator left.
    """
    server, generator = account.of("server"), account.of("generator")
    found = older
    if server is not None and server.time_ns and server.server_ns is not None:
        shared = server.role == "shared"
        room = max(1, server.time_ns - (server.generator_ns or 0 if shared else 0))
        used = server.server_ns + (server.services_ns or 0) + (0 if shared else server.kernel_ns or 0)
        busiest = (account.server.busiest_ns or 0) / account.wall_ns if account.server else 0.0
        found = replace(
            found,
            server=min(1.0, max(used / room, busiest)),
            services=server.share(server.services_ns),
            server_lost=_lost(server, account.server),
            uncertainty=max(older.uncertainty, server.unknown_ns / server.time_ns),
        )
    if generator is not None and generator.time_ns:
        lost = _lost(generator, account.generator)
        found = replace(found, generator_lost=older.generator_lost if lost is None else lost)
    home = server.host if server is not None else ""  # of several hosts the server's; parts have their own
    here = [one for cores in account.cores if cores.host == home or not home for one in cores.programs or ()]
    programs = {one.name: one.ns / account.wall_ns for one in here if one.name != HARNESS}
    return replace(found, polling=account.idle_cpu_share, programs=tuple(programs.items()))


def _lost(cores: CoreTime, threads: ThreadTime | None) -> float | None:
    """What a side lost of its cores to others and to the host; None where nobody could see the others."""
    others = cores.share(cores.others_ns)
    if others is None:
        return None
    waited = threads.waited_ns if threads is not None else None
    lost = others if waited is None else min(others, waited / cores.time_ns)
    return min(1.0, lost + (cores.share(cores.stolen_ns) or 0.0))


def spins(load: Load) -> bool:
    """Whether its pacer spins, and is busy by design."""
    return load.open_loop is not None and load.open_loop.pacer == "spin"


def at_most(busy_share: float | None, strain: float = 1.0) -> float | None:
    """How many times the measured throughput the server can reach at most, where its generator held it back
    so far; None where its busy share is not known.

    Continuous: 1 at a full core, X / U^3 where 6 % or more of it idled, and never below X / U. A core reads
    as full from 98 % on: what is missing there are the clocks' own steps.
    """
    if strain <= 0:
        return 1.0
    if busy_share is None or busy_share <= 0:
        return None
    idle = max(0.0, 1 - busy_share - CLOCKS)
    batched = (busy_share**-3 - 1) * min(1.0, idle / (0.06 - CLOCKS))
    return 1 + strain * max(1 / (1 - idle) - 1, batched)


def background_cores(load: Load) -> float | None:
    """Cores kept busy by neither client, server nor services.

    Each group of cores is looked at by itself: of a kernel that counts by ticks, what is missing on the
    server's cores must not hide what is too much on the client's (H2's page).
    """
    machine, host, duration_ns = load.machine, load.machine.host, load.measured.measured_ns
    here = machine.link is None or machine.link.same_machine
    if host is None or host.busy_cores is None or (load.server is None and here) or not duration_ns:
        return None
    served = load.server if here or not load.measured.workers else None
    used_ns = [served.cpu_ns if served is not None else 0, *(service.cpu_ns for service in load.services)]
    if None in used_ns:
        return None  # what they used would be blamed on others
    client = max(sum(load.busy_shares), (host.own_cpu_ns or 0) / duration_ns) + load.link_cores
    server = sum(filter(None, used_ns)) / duration_ns
    client_idle, server_idle = host.client_cpus_idle_share, host.server_cpus_idle_share
    if not machine.cores_apart or client_idle is None or server_idle is None:
        return host.busy_cores - client - server
    on_client = len(machine.client_cpus) * (1 - client_idle)
    on_server = len(machine.server_cpus) * (1 - server_idle)
    elsewhere = host.busy_cores - on_client - on_server
    return sum(max(0.0, left) for left in (on_client - client, on_server - server, elsewhere))


def bottleneck_of(load: Load) -> Bottleneck:
    """Who limited the load. Of several generators the busiest speaks for all."""
    shares = shares_of(load)
    for part in load.parts:
        own = shares_of(part)
        if own.strain > shares.strain:
            programs = own.programs or shares.programs
            lost = own.generator_lost
            shares = replace(shares, generator=own.generator, generator_lost=lost, programs=programs)
    for cause in _CAUSES:
        found = cause(load, shares)
        if found is not None:
            return found
    return Bottleneck("unknown", None, 1.0, _what_is_known(shares))


def blamed(load: Load, *but: Who) -> str:
    """What evidence of other rules adds: "; the bottleneck was the server (98 % of its core)". Empty where
    nobody is to blame, or one of those that they have named (`but`)."""
    found = bottleneck_of(load)
    return "" if found.who in ("waiting", "unknown", *but) else f"; the bottleneck was {found.words}"


def _silence(load: Load, shares: Shares) -> Bottleneck | None:
    """A server that answered nothing any more, or nothing at all."""
    quiet_ns = silent_ns(load, patience_ns(load))
    if not quiet_ns or load.waiting is None:
        return None if load.measured.completed else Bottleneck("unknown", None, 1.0, "nothing was answered")
    return Bottleneck(
        "waiting",
        quiet_ns / load.measured.measured_ns,
        shares.uncertainty,
        f"no answer in the last {duration(quiet_ns)}, {counted(load.waiting.count, 'request')} waiting",
        "the server hung",
    )


def _full_link(load: Load, shares: Shares) -> Bottleneck | None:
    """The bytes were as many as the way carries, or an emulated way's round trip is most of every time. What
    a loopback carries is a matter of cores: a generator that is full says more."""
    link = load.machine.link
    if link is None or (link.same_machine and link.emulation is None and (shares.generator or 0.0) >= FULL):
        return None
    seconds = load.measured.measured_ns / 1e9
    if link.bytes_per_s and seconds and link.carried is None:
        share = load.measured.bytes_read / seconds / link.bytes_per_s
        if share >= LINK_FULL:
            return Bottleneck("link", share, 0.05, f"{percent(share)} of the bytes that it carries")
    times = load.service
    if link.emulation is not None and times is not None and times.mean_ns:
        share = link.emulation.round_trip_ns / times.mean_ns
        if share >= HALF and (shares.server or 0.0) < FULL:
            trip = duration(link.emulation.round_trip_ns)
            said = f"its round trip of {trip} is {percent(min(1.0, share))} of the mean time"
            return Bottleneck("link", min(1.0, share), 0.05, said)
    return None


def _schedule(load: Load, shares: Shares) -> Bottleneck | None:
    """An open loop whose rate was served, and a closed one that thinks for most of its time."""
    schedule, duration_ns = load.open_loop, load.measured.measured_ns
    if schedule is None:
        times, think_ns = load.service, load.think_time_ns
        share = think_ns / (think_ns + times.mean_ns) if times and think_ns else 0.0
        if share < HALF:
            return None
        said = f"{duration(think_ns)} of think time"
        return Bottleneck("limit", share, shares.uncertainty, said, "the think time that was asked for")
    intended = intended_between(schedule, 0, duration_ns)
    served = load.measured.completed / intended if intended else 0.0
    if served < 0.97 or load.pool_exhausted:
        return None
    per_s = rate(intended / (duration_ns / 1e9))
    return Bottleneck("limit", min(1.0, served), 0.03, f"{per_s} were served", "the rate that was asked for")


def _busy(load: Load, shares: Shares) -> Bottleneck | None:
    """Whose cores were full: the server's, the generator's, or by others."""
    own, server = shares.generator or 0.0, shares.works
    taken = max(shares.generator_lost, shares.paused)
    by_others = _unaccounted(load, shares) if shares.server_lost is None else shares.server_lost
    if server is not None and server >= FULL and server >= min(own, 0.97) and by_others < KERNEL:
        return _of_server(load, shares, server)
    if by_others >= KERNEL and (shares.server or 0.0) + by_others >= FULL:
        return _taken(shares, by_others, "the server's")
    if own + (taken if taken < KERNEL else 0.0) >= STRAINED:  # without the others it were as good as full
        which = "its core" if len(load.measured.workers) == 1 else "its busiest core"
        said = f"{percent(min(1.0, own))} of {which}"
        return Bottleneck("generator", min(1.0, own), shares.uncertainty, said)
    if own + shares.link >= STRAINED:
        said = f"its program used {percent(shares.link)} of the client's cores"
        return Bottleneck("link", shares.link, 0.05, said)
    if own + taken >= STRAINED or taken >= HALF:
        return _taken(shares, taken, "the generator's")
    stolen = max(shares.stolen, shares.throttled)
    if stolen >= KERNEL:
        name = "the host" if shares.stolen >= shares.throttled else "the control group's limit"
        return Bottleneck("others", stolen, shares.uncertainty, f"{percent(stolen)} of the CPU time", name)
    return None


def _unaccounted(load: Load, shares: Shares) -> float:
    """Without an account: what kept the server's cores busy beside it, as far as others were busy at all."""
    cores, others = len(load.machine.server_cpus), background_cores(load) or 0.0
    if not cores or shares.server is None or shares.program is None:
        return 0.0
    return max(0.0, min(shares.server - shares.program, others / cores))


def _of_server(load: Load, shares: Shares, share: float) -> Bottleneck:
    services = shares.services or 0.0
    if services > HALF * share and load.services:
        named = max(load.services, key=lambda one: one.cpu_ns or 0)
        said = f"{percent(min(1.0, services))} of the cores"
        return Bottleneck("server", services, shares.uncertainty, said, f"the service {named.name}")
    cores = len(load.machine.server_cpus)
    whose = "its core" if cores == 1 else f"its {counted(cores, 'core')}" if cores else "its cores"
    return Bottleneck("server", share, shares.uncertainty, f"{percent(min(1.0, share))} of {whose}")


def _taken(shares: Shares, share: float, whose: str) -> Bottleneck:
    """Of one side's time others had so much."""
    most, _ = max(shares.programs, key=lambda one: one[1], default=("", 0.0))
    name = "the host" if shares.stolen >= share / 2 else most
    return Bottleneck("others", share, shares.uncertainty, f"{percent(share)} of {whose} time", name)


def _few_places(load: Load, shares: Shares) -> Bottleneck | None:
    """Fewer requests under way than were asked for: of streams, of connections, of an open loop's pool."""
    held = max(load.held_shares)
    if held > WAITED:
        said = f"requests waited for {percent(held)} of the time"
        return Bottleneck("limit", held, 0.05, said, "streams that the server allows")
    if load.pool_exhausted:
        said = f"arrivals waited for all {load.places:,}"
        return Bottleneck("limit", 1.0, 0.05, said, "the connections that were asked for")
    asked = load.asked
    served = min(load.measured.connections.opened, load.measured.connections.answered)
    if load.closed and not load.closes_each and served < (1 - MISSING) * asked:
        said = f"{served:,} of {asked:,} were served"
        return Bottleneck("limit", 1 - served / asked, 0.05, said, "connections that the server takes")
    return None


def _waiting(load: Load, shares: Shares) -> Bottleneck | None:
    """Cores idle on both sides while requests are under way."""
    own, server = shares.generator, shares.works
    if own is None or own >= HALF or server is None or shares.generator_lost >= HALF:
        return None
    what = f"cores idle: the server's {percent(1 - server)}, the generator's {percent(1 - own)}"
    return Bottleneck("waiting", 1 - server, shares.uncertainty, what)


def _what_is_known(shares: Shares) -> str:
    said = []
    if shares.generator is not None:
        said.append(f"generator {percent(min(1.0, shares.generator))} busy")
    if shares.polls:
        said.append(f"server burns {percent(shares.polling)} at no load")
    elif shares.server is None:
        said.append("server not seen")
    else:
        said.append(f"server {percent(min(1.0, shares.server))} busy")
    return ", ".join(said)


_CAUSES: Sequence[Callable[[Load, Shares], Bottleneck | None]] = (
    _silence,
    _full_link,
    _schedule,
    _busy,
    _few_places,
    _waiting,
)
