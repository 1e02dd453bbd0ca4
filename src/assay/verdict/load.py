"""`Load`: one load as the rules look at it; `assay.verdict.see` makes it of a trial.

What the engine counts is always there. Each other part is there where somebody looked, and a rule that needs
a part which is not there stays silent.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property

import msgspec

from assay.model.account import TimeAccount
from assay.model.measurement import Histogram, Measurement, Window
from assay.model.plan import Closed, LoadPlan, Open
from assay.model.run import Environment
from assay.model.trial import (
    Arm,
    ContractSeen,
    GeneratorSeen,
    HostSeen,
    Link,
    ServerSeen,
    ServiceSeen,
    WarmUpSeen,
)
from assay.stats import quantiles, rate_per_s, recorded

_LEFT_OVER_SHARE = 0.01
"""Missed starts, of all, from which an open loop's pool was too small."""

_REACHED = frozenset({"tls_error", "wrong_protocol", "protocol_error", "closed_early", "bad_answer"})
"""Kinds of failure that only a peer can cause."""


class StreamWaits(msgspec.Struct, frozen=True):
    """How long requests of HTTP/2 and HTTP/3 waited, all together: for leave to open a stream, and with their
    bodies for windows. `allowed`: the fewest streams at once that were allowed, where it is known."""

    for_streams_ns: int
    for_windows_ns: int
    allowed: int | None = None


class Waiting(msgspec.Struct, frozen=True):
    """The requests that were under way at the end of a load: how long they had been so by then (`ages`, in
    ns, each with how many), and for how long nothing had been answered."""

    ages: tuple[tuple[int, int], ...]
    quiet_ns: int

    @property
    def count(self) -> int:
        """How many they are."""
        return self.longer_than(-1)

    @property
    def oldest_ns(self) -> int:
        """How long the first of them had waited."""
        return max((age for age, _ in self.ages), default=0)

    def longer_than(self, ns: float) -> int:
        """How many had waited for longer."""
        return sum(count for age, count in self.ages if age > ns)


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Where client and server ran; CPUs are empty where nobody gave them any of their own."""

    cores: int | None = None
    client_cpus: tuple[int, ...] = ()
    server_cpus: tuple[int, ...] = ()
    link: Link | None = None
    environment: Environment | None = None
    host: HostSeen | None = None

    @property
    def cores_shared(self) -> tuple[int, ...]:
        """Client CPUs that the server runs on too, or whose SMT sibling it runs on."""
        server = set(self.server_cpus)
        for group in self.environment.smt_siblings if self.environment else ():
            if server & set(group):
                server |= set(group)
        return tuple(sorted(server & set(self.client_cpus)))

    @property
    def cores_apart(self) -> bool:
        """Whether client and server have cores of their own."""
        return bool(self.client_cpus and self.server_cpus) and not self.cores_shared

    @property
    def client_cores(self) -> int | None:
        """How many cores the client could use."""
        return len(self.client_cpus) or self.cores


class OfRun(msgspec.Struct, frozen=True, kw_only=True):
    """What the run says of a load that is one of its trials: the fastest clock of any of them, the busy share
    of the server's cores over all trials of its case, whether a claim rests on its tail, and whether it is
    one step of a search, and one in which the objective was `missed`."""

    fastest_mhz: float | None
    busy_share: float | None
    tail_quoted: bool
    of_a_search: bool
    missed: bool = False


class Load(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One load as it was offered (`plan`) and answered (`measured`), and what was seen beside. Where several
    `generators` offered it, `parts` are what each of them had of it, in the same order; of an interleaved
    load `arm` has its slices."""

    plan: LoadPlan
    measured: Measurement
    windows: tuple[Window, ...]
    """Those of the measured time."""
    machine: Machine = Machine()
    arm: Arm | None = None
    server: ServerSeen | None = None
    services: tuple[ServiceSeen, ...] = ()
    contract: ContractSeen | None = None
    warm_up: WarmUpSeen | None = None
    of_run: OfRun | None = None
    generators: tuple[GeneratorSeen, ...] = ()
    parts: tuple[Load, ...] = ()
    beside: tuple[float, ...] = ()
    """For each window what the other servers of its block did in that round, as a share of their mean."""
    resting_cores: float | None = 0.0
    """How many cores those kept busy in its slices, though it was not their slice; None where nobody could
    look at all of them."""
    account: TimeAccount | None = None
    """Where the time of its cores went; None where nobody looked."""
    follows: bool = False
    """Whether it is a load of a command line, where nobody asked for a protocol: what is measured is what the
    server does of itself."""

    @property
    def closed(self) -> bool:
        """Whether a completion triggers the next request."""
        return isinstance(self.plan.load, Closed)

    @property
    def open_loop(self) -> Open | None:
        """The schedule, if it does not."""
        return None if isinstance(self.plan.load, Closed) else self.plan.load

    @property
    def asked(self) -> int:
        """So many connections were asked for, of an open loop at most."""
        loop = self.plan.load
        return loop.connections if isinstance(loop, Closed) else loop.max_connections

    @property
    def streams(self) -> int:
        """The requests that each connection has under way at once."""
        return self.plan.streams if self.measured.http2 or self.measured.http3 else 1

    @property
    def places(self) -> int:
        """So many requests are under way at once, of an open loop at most."""
        return self.asked * self.streams

    @property
    def place(self) -> str:
        """What holds one request at a time."""
        return "connection" if self.streams == 1 else "stream"

    @property
    def think_time_ns(self) -> int:
        """The pause between a completion and its connection's next request."""
        return self.plan.load.think_time_ns if isinstance(self.plan.load, Closed) else 0

    @property
    def keep_alive(self) -> bool:
        """Whether connections are to be kept until the end (RFC 9112, 9.6)."""
        if not self.plan.keep_alive or self.plan.requests_per_connection is not None:
            return False
        return "close" not in _listed(self.plan, "connection")

    @property
    def rate_per_s(self) -> float:
        """Answers a second, as it is reported."""
        return rate_per_s(self.measured)

    @property
    def ended(self) -> int:
        """Requests that ended, well or otherwise."""
        return self.measured.completed + self.measured.failed

    @property
    def service(self) -> Histogram | None:
        """Service times; None where there are none."""
        return _any(self.measured.service_time)

    @property
    def response(self) -> Histogram | None:
        """Response times of an open loop."""
        return _any(self.measured.response_time)

    @cached_property
    def waits(self) -> StreamWaits | None:
        """How long requests waited for streams and windows, where there are any."""
        two, three = self.measured.http2, self.measured.http3
        if two is not None:
            return StreamWaits(two.stream_wait_ns, two.window_stall_ns, two.streams_allowed)
        return None if three is None else StreamWaits(three.stream_limit_ns, three.flow_stall_ns)

    @property
    def held_shares(self) -> tuple[float, float]:
        """For which share of the time requests waited for a stream, and their bodies for a window."""
        waits, duration_ns = self.waits, self.measured.measured_ns
        if waits is None or not duration_ns or not self.places:
            return 0.0, 0.0
        return (
            waits.for_streams_ns / duration_ns / self.places,
            waits.for_windows_ns / duration_ns / self.asked,
        )

    @cached_property
    def waiting(self) -> Waiting | None:
        """What was under way at its end; None where nobody looked. Of an interleaved load its own time
        counts: that of its last slices in which nothing was answered."""
        if self.arm is None:
            seen = self.measured.under_way
            return Waiting(recorded(seen.ages), seen.quiet_ns) if seen else None
        slices = [one for one in self.arm.slices if one.phase == "measured"]
        quiet = list(itertools.takewhile(lambda one: not one.completed, reversed(slices)))
        quiet_ns = sum(one.length_ns for one in quiet)
        waits = quiet[0].carried if quiet else 0
        return Waiting(((quiet_ns, waits),) if waits else (), quiet_ns)

    @property
    def slices(self) -> int:
        """In how many pieces it was offered: those of an interleaved load have edges of their own."""
        return len(self.arm.rounds) if self.arm else 1

    @property
    def edges_ns(self) -> int | None:
        """What the edges of those pieces cut off of service times, less what was brought into them; None
        where nobody looked."""
        if self.arm is not None:
            return self.arm.edges_ns
        return self.measured.under_way.edges_ns if self.measured.under_way else None

    @property
    def washout_ns(self) -> int | None:
        """The shortest washout between those pieces; None where it took no turns."""
        return self.arm.washout_ns if self.arm else None

    @property
    def reached_nothing(self) -> bool:
        """Whether no connection was ever opened, though requests were started, and nothing answered at all:
        a handshake that failed is an answer."""
        if not self.measured.requests.started:
            return False
        failures = self.measured.outcomes
        return not self.measured.connections.opened and all(one.kind not in _REACHED for one in failures)

    @property
    def closed_by_server(self) -> int:
        """Connections that the server closed after an answer: a request that fails costs its connection too.

        Both are counted over the whole run: a cold server's failures cost connections as well. A connection
        of several requests may take many of them with it when it ends, and a failed one need not end it: of
        those at least so many were closed by the server as it announced.
        """
        two, three = self.measured.http2, self.measured.http3
        announced = two.going_away.get("NO_ERROR", 0) if two else three.goaway if three else 0
        reopened = self.measured.connections.reopened
        return max(0, reopened - self.measured.requests.failed, min(reopened, announced))

    @property
    def closes_each(self) -> bool:
        """Whether the server closes connections after an answer as a rule, so that a connection is soon
        another's, and what waits stands in the queue of connections to be accepted."""
        return self.closed_by_server > 0.5 * self.measured.requests.completed

    @property
    def busy_shares(self) -> tuple[float, ...]:
        """The share of the time for which each thread of the generator used its core."""
        return tuple(one.cpu_ns / one.wall_ns for one in self.measured.workers if one.wall_ns > 0)

    @property
    def longest_pause_ns(self) -> int:
        """For how long a thread of the generator did not come round although it was due, at most."""
        return max((one.largest_stall_ns for one in self.measured.workers), default=0)

    @property
    def crowded_share(self) -> float:
        """What all generator threads together used of the generator's cores."""
        cores = self.machine.client_cores
        return sum(self.busy_shares) / cores if cores else 0.0

    @property
    def link_cores(self) -> float:
        """How many of the generator's cores the program of a link with a delay used."""
        carried = self.machine.link.carried if self.machine.link is not None else None
        duration_ns = self.measured.measured_ns
        return carried.cpu_ns / duration_ns if carried is not None and duration_ns else 0.0

    @property
    def client_cores_busy(self) -> float | None:
        """How busy the generator's cores were, with whatever; None where they are not its own, or nobody
        looked."""
        machine = self.machine
        idle = machine.host.client_cpus_idle_share if machine.host is not None else None
        return None if idle is None or not machine.client_cpus or machine.cores_shared else 1 - idle

    @property
    def server_busy_share(self) -> float | None:
        """The busy share of the server's cores, or of its process where its cores are not its own.

        The cores' holds the kernel's work for the server and the server's services, too. The process's is
        exact where a kernel that counts by ticks reads too little from the cores. The larger is nearer.
        """
        process = self.server.cpu_share if self.server is not None else None
        cores = self.machine.host.server_cpus_idle_share if self.machine.host is not None else None
        if cores is not None and self.machine.server_cpus and not self.machine.cores_shared:
            return max(1 - cores, process or 0.0)
        return process

    @property
    def pace_share(self) -> float | None:
        """The busy share of the server's cores that says who set the pace: over the case's trials, if there
        are several, so that one odd reading decides nothing."""
        over_all = self.of_run.busy_share if self.of_run else None
        return self.server_busy_share if over_all is None else over_all

    @property
    def pool_exhausted(self) -> bool:
        """Whether an open loop had to wait for connections of its own pool.

        A few starts that are left over at the end of a run do not say so.
        """
        without = self.measured.missed_starts + (self.measured.waited_starts or 0)
        return without > _LEFT_OVER_SHARE * self.measured.started


def _any(times: Histogram | None) -> Histogram | None:
    return times if times is not None and times.count else None


def quantile(times: Histogram | None, p: float) -> float | None:
    """The p-quantile of times, in ns; None where too few requests stand behind it."""
    found = quantiles(times, (p,))[0] if times is not None else None
    return found.value_ns if found else None


def encodings_asked(plan: LoadPlan) -> frozenset[str]:
    """The content encodings that the plan's requests accept, without their weights."""
    asked = (encoding.partition(";")[0].strip() for encoding in _listed(plan, "accept-encoding"))
    return frozenset(encoding for encoding in asked if encoding)


def _listed(plan: LoadPlan, name: str) -> Iterator[str]:
    """The elements of the requests' fields of a name, in lower case as the name."""
    for request in plan.requests:
        # A raw head takes the place of the fields.
        lines = (request.head or "").split("\r\n")[1:]
        raw = ((given, value) for given, _, value in (line.partition(":") for line in lines))
        for given, value in raw if request.head else request.headers:
            if given.strip().lower() == name:
                yield from (element.strip().lower() for element in value.split(","))


def intended_between(load: Open, from_ns: int, to_ns: int) -> float:
    """Requests that the stages of an open loop ask for between two times after its begin.

    The rate moves linearly within a stage, so the requests are the trapezoid under it. After the last
    stage its last rate holds.
    """
    total, begin = 0.0, 0
    for stage in load.stages:
        low, high = max(from_ns, begin), min(to_ns, begin + stage.duration_ns)
        if low < high:
            slope = (stage.to_per_s - stage.from_per_s) / stage.duration_ns
            middle = stage.from_per_s + slope * ((low + high) / 2 - begin)
            total += middle * (high - low) / 1e9
        begin += stage.duration_ns
    beyond = max(0, to_ns - max(from_ns, begin))
    return total + (load.stages[-1].to_per_s * beyond / 1e9 if load.stages else 0.0)
