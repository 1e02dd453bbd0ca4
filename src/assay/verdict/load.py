"""`Load`: one load as the rules look at it; `assay.verdict.see` makes it of a trial.

What the engine counts is always there. Each other part is there where somebody looked, and a rule that needs
a part which is not there stays silent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.model.account import TimeAccount
from assay.model.measurement import Connections, Outcome, RequestAccounting, Stray, Window, Worker
from assay.model.plan import Closed, Open
from assay.model.run import Environment
from assay.model.trial import ContractSeen, GeneratorSeen, HostSeen, Link, ServerSeen, ServiceSeen, WarmUpSeen

_LEFT_OVER_SHARE = 0.01
"""Missed starts, of all, from which an open loop's pool was too small."""

_REACHED = frozenset({"tls_error", "wrong_protocol", "protocol_error", "closed_early", "bad_answer"})
"""Kinds of failure that only a peer can cause."""


@dataclass(frozen=True)
class Times:
    """A distribution of times in ns; `quantiles` by p, only those with enough requests."""

    count: int
    min_ns: float
    mean_ns: float
    max_ns: float
    quantiles: Mapping[float, float]


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """The times of a load by the clock that took them; None where none were taken.

    `opening_ns` is what all connections together spent being opened: connects and handshakes.
    """

    service: Times | None = None
    response: Times | None = None
    send_lag: Times | None = None
    first_byte: Times | None = None
    opening_ns: float = 0.0


@dataclass(frozen=True)
class StreamWaits:
    """How long requests of HTTP/2 and HTTP/3 waited, all together: for leave to open a stream, and with their
    bodies for windows. `allowed`: the fewest streams at once that were allowed, where it is known."""

    for_streams_ns: int
    for_windows_ns: int
    allowed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked for. `encodings` are those that answers may have, `keep_alive` is to keep connections
    until the end. `streams` are the requests that each connection has under way at once."""

    loop: Closed | Open
    threads: int
    http_version: str = "1.1"
    http: str = "1"
    streams: int = 1
    encodings: frozenset[str] = frozenset()
    keep_alive: bool = True
    counted: bool = False
    """Whether a number of requests ends it: its connections come to rest one by one."""

    @property
    def closed(self) -> bool:
        """Whether a completion triggers the next request."""
        return isinstance(self.loop, Closed)

    @property
    def open_loop(self) -> Open | None:
        """The schedule, if it does not."""
        return None if isinstance(self.loop, Closed) else self.loop

    @property
    def connections(self) -> int:
        """So many connections, of an open loop at most."""
        return self.loop.connections if isinstance(self.loop, Closed) else self.loop.max_connections

    @property
    def places(self) -> int:
        """So many requests are under way at once, of an open loop at most."""
        return self.connections * self.streams

    @property
    def place(self) -> str:
        """What holds one request at a time."""
        return "connection" if self.streams == 1 else "stream"

    @property
    def think_time_ns(self) -> int:
        """The pause between a completion and its connection's next request."""
        return self.loop.think_time_ns if isinstance(self.loop, Closed) else 0


@dataclass(frozen=True, kw_only=True)
class Access:
    """What advice to the user depends on: how the server was addressed, and with which statuses it answered.

    `server_name` is what --sni gave, `handshakes` counts those of TLS that were completed.
    """

    tls: bool
    host: str
    server_name: str | None = None
    insecure: bool = False
    authorized: bool = False
    cookies: bool = False
    follows: bool = False
    timeout_ns: int
    handshakes: int = 0
    statuses: Mapping[str, int]
    any_redirect_is_right: bool = False
    """Whether nobody asked for a redirect in particular: all of 2xx and 3xx pass, or everything does."""
    bytes_are_of_answers: bool = True
    """HTTP/2 and HTTP/3 have bytes of their own, before the first of an answer."""

    @property
    def asks_for_name(self) -> bool:
        """Whether the handshake names the server (an address is no name, RFC 6066)."""
        return self.server_name is not None or not re.fullmatch(r"[\d.]+|.*:.*", self.host)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What was counted over the measured time; `rate_per_s` is as it was reported."""

    duration_ns: int
    rate_per_s: float
    completed: int
    failed: int
    bytes_read: int = 0
    outcomes: tuple[Outcome, ...] = ()

    @property
    def ended(self) -> int:
        """Requests that ended, well or otherwise."""
        return self.completed + self.failed


@dataclass(frozen=True)
class Starts:
    """Requests of the measured time that were started, those that were due and could not be, and of those
    started how many came due while no connection was free."""

    started: int
    missed: int
    waited: int = 0


@dataclass(frozen=True)
class Waiting:
    """The requests that were under way at the end of a load: how long they had been so by then (`ages`, in
    ns, each with how many), and for how long nothing had been answered."""

    ages: tuple[tuple[int, int], ...]
    quiet_ns: int

    @property
    def count(self) -> int:
        """How many they are."""
        return sum(count for _, count in self.ages)

    @property
    def oldest_ns(self) -> int:
        """How long the first of them had waited."""
        return max((age for age, _ in self.ages), default=0)

    def longer_than(self, ns: float) -> int:
        """How many had waited for longer."""
        return sum(count for age, count in self.ages if age > ns)


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What the answers were looked at for: how many were checked, how they were encoded and in which version
    of HTTP they came, and bytes that belonged to none."""

    checked: int
    encodings: Mapping[str, int]
    http_versions: Mapping[str, int]
    resent: int = 0
    stray: Stray


@dataclass(frozen=True, kw_only=True)
class Machine:
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


@dataclass(frozen=True, kw_only=True)
class OfRun:
    """What the run says of a load that is one of its trials: the fastest clock of any of them, the busy share
    of the server's cores over all trials of its case, whether a claim rests on its tail, and whether it is
    one step of a search, and one in which the objective was `missed`."""

    fastest_mhz: float | None
    busy_share: float | None
    tail_quoted: bool
    of_a_search: bool
    missed: bool = False


@dataclass(frozen=True, kw_only=True)
class Load:
    """One load as it was offered and answered. `requests` and `connections` are of the whole run, warm-up
    included; `windows` and `workers` of the measured time. Where several `generators` offered it, `parts` are
    what each of them had of it, in the same order."""

    asked: Asked
    counts: Counts
    way: Access
    starts: Starts
    answers: Answers
    clocks: Clocks
    requests: RequestAccounting
    connections: Connections
    waits: StreamWaits | None = None
    goaways: int = 0
    """Connections whose end the server announced in the measured time, where they carry several requests."""
    windows: tuple[Window, ...] = ()
    workers: tuple[Worker, ...] = ()
    machine: Machine = Machine()
    server: ServerSeen | None = None
    services: tuple[ServiceSeen, ...] = ()
    contract: ContractSeen | None = None
    warm_up: WarmUpSeen | None = None
    of_run: OfRun | None = None
    generators: tuple[GeneratorSeen, ...] = ()
    parts: tuple[Load, ...] = ()
    slices: int = 1
    """In how many pieces it was offered: those of a load that were interleaved have edges of their own."""
    edges_ns: int | None = None
    """What the edges of those pieces cut off of service times, less what was brought into them; None where
    nobody looked."""
    waiting: Waiting | None = None
    """What was under way at its end; None where nobody looked."""
    washout_ns: int | None = None
    """The shortest washout between those pieces; None where it took no turns."""
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
    def reached_nothing(self) -> bool:
        """Whether no connection was ever opened, though requests were started, and nothing answered at all:
        a handshake that failed is an answer."""
        if not self.requests.started:
            return False
        return not self.connections.opened and all(one.kind not in _REACHED for one in self.counts.outcomes)

    @property
    def closed_by_server(self) -> int:
        """Connections that the server closed after an answer: a request that fails costs its connection too.

        Both are counted over the whole run: a cold server's failures cost connections as well. A connection
        of several requests may take many of them with it when it ends, and a failed one need not end it: of
        those at least so many were closed by the server as it announced.
        """
        reopened = self.connections.reopened
        return max(0, reopened - self.requests.failed, min(reopened, self.goaways))

    @property
    def closes_each(self) -> bool:
        """Whether the server closes connections after an answer as a rule, so that a connection is soon
        another's, and what waits stands in the queue of connections to be accepted."""
        return self.closed_by_server > 0.5 * self.requests.completed

    @property
    def busy_shares(self) -> tuple[float, ...]:
        """The share of the time for which each thread of the generator used its core."""
        return tuple(worker.cpu_ns / worker.wall_ns for worker in self.workers if worker.wall_ns > 0)

    @property
    def crowded_share(self) -> float:
        """What all generator threads together used of the generator's cores."""
        cores = self.machine.client_cores
        return sum(self.busy_shares) / cores if cores else 0.0

    @property
    def link_cores(self) -> float:
        """How many of the generator's cores the program of a link with a delay used."""
        carried = self.machine.link.carried if self.machine.link is not None else None
        duration_ns = self.counts.duration_ns
        return carried.cpu_ns / duration_ns if carried is not None and duration_ns else 0.0

    @property
    def client_idle_share(self) -> float | None:
        """The idle share of the generator: of its busiest thread, or of its cores if those are its own.

        Threads that share cores are never busy for all of their time: the cores are what they exhaust.
        """
        if not self.busy_shares:
            return None
        idle = max(0.0, 1 - max(*self.busy_shares, self.crowded_share))
        machine = self.machine
        alone = bool(machine.client_cpus) and not machine.cores_shared
        cores = machine.host.client_cpus_idle_share if alone and machine.host is not None else None
        return idle if cores is None else min(idle, cores)

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
        return self.starts.missed + self.starts.waited > _LEFT_OVER_SHARE * self.starts.started


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
