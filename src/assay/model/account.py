"""`TimeAccount`: where the time of a trial's cores went, and that of its requests.

Each set of cores divides its time once: `CoreTime`'s parts add up to `time_ns`, within 1 %. None is what
nobody could see; its time is part of `unknown_ns`. 0 says that somebody looked and there was none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import convert

from assay.model.plan import Value

if TYPE_CHECKING:
    from assay.model.measurement import Measurement, Worker

CoreRole = Literal["server", "generator", "shared", "other"]
"""Whose cores they are: `shared` where server and generator may run on the same, `other` where neither does
(services that have cores of their own)."""

ENDED = "ended programs"
"""The name of what programs took that no count saw: they began and ended between two, or are hidden."""
REST = "others"
"""The name of all programs together that took less than those that are named."""
HARNESS = "assay itself"
"""The name of this process' threads other than the generator's: those that watch."""


class ProgramTime(Value, frozen=True, kw_only=True):
    """CPU time of all processes of one name."""

    name: str
    ns: int


class CoreTime(Value, frozen=True, kw_only=True):
    """The time of one core, or of all cores of one role together; `cpus` is empty where they have no numbers.

    `host` is the address of their machine where a load is of several, else empty. `time_ns` is the account's
    `wall_ns` (as of that host) times their number. The server's, the services' and the generator's times are
    by their own CPU clocks. `kernel_ns` is the kernel's work for none of them (interrupts).
    `programs` are all others, the busiest first; one that may run on several sets is divided among them as
    their time for others is. `stolen_ns` is what the host kept. `siblings` are CPUs of another set that share
    a physical core with one of these.
    """

    cpus: tuple[int, ...]
    role: CoreRole
    time_ns: int
    server_user_ns: int | None = None
    server_kernel_ns: int | None = None
    services_ns: int | None = None
    generator_user_ns: int | None = None
    generator_kernel_ns: int | None = None
    kernel_ns: int | None = None
    programs: tuple[ProgramTime, ...] | None = None
    stolen_ns: int | None = None
    idle_ns: int | None = None
    unknown_ns: int
    siblings: tuple[int, ...] = ()
    host: str = ""

    @property
    def server_ns(self) -> int | None:
        """CPU time of the server, user and kernel."""
        return _both(self.server_user_ns, self.server_kernel_ns)

    @property
    def generator_ns(self) -> int | None:
        """CPU time of the generator's threads, user and kernel."""
        return _both(self.generator_user_ns, self.generator_kernel_ns)

    @property
    def others_ns(self) -> int | None:
        """CPU time of all other programs."""
        return None if self.programs is None else sum(one.ns for one in self.programs)

    @property
    def parts(self) -> Mapping[str, int | None]:
        """Its parts in nanoseconds, by name, in the order in which they are shown; together `time_ns`."""
        return {
            "server user": self.server_user_ns,
            "server kernel": self.server_kernel_ns,
            "services": self.services_ns,
            "generator user": self.generator_user_ns,
            "generator kernel": self.generator_kernel_ns,
            "kernel": self.kernel_ns,
            "others": self.others_ns,
            "stolen": self.stolen_ns,
            "idle": self.idle_ns,
            "unknown": self.unknown_ns,
        }

    def share(self, ns: int | None) -> float | None:
        """That time as a share of these cores' time; None where it is not known."""
        return None if ns is None or not self.time_ns else ns / self.time_ns


class ThreadTime(Value, frozen=True, kw_only=True):
    """What became of threads that were ready to run: of the server's processes, or of the generator.

    They `ran_ns` together, and `waited_ns` is what they lost in run queues meanwhile, whoever ran instead
    (their own other threads, too). `busiest_ns` is the CPU time of the busiest: one that ran all the time is
    a bottleneck however idle other cores are. Of the server's `threads` they are as of the last look at
    each, about twice a second: where `ran_ns` is far less than the server used, most work was that of threads
    that nobody saw.
    """

    threads: int
    ran_ns: int
    waited_ns: int | None = None
    busiest_ns: int | None = None

    @classmethod
    def of(cls, workers: Sequence[Worker], waited_ns: int | None = None) -> ThreadTime:
        """The engine's workers in the measured time. `waited_ns` is what they lost, where that is not theirs
        to say."""
        ran_ns = [worker.cpu_ns for worker in workers]
        if waited_ns is None:
            waited_ns = _sum(worker.delayed_ns for worker in workers)
        return cls(
            threads=len(ran_ns), ran_ns=sum(ran_ns), waited_ns=waited_ns, busiest_ns=max(ran_ns, default=None)
        )


class RequestTime(Value, frozen=True, kw_only=True):
    """The time of all completed requests together, from when each was to start to its last byte.

    `unsent_ns` they waited to be sent (send lag of an open loop; a closed one has no such instant, and None).
    `wire_ns` they were on an emulated network at least. `server_ns` and `client_ns` are in the server and
    waiting in the client for its threads. `unknown_ns` is the rest: without the kernel's times of each
    connection (TCP_INFO), which the engine does not read, wire, kernel and server cannot be told apart.
    """

    requests: int
    time_ns: int
    unsent_ns: int | None = None
    wire_ns: int | None = None
    server_ns: int | None = None
    client_ns: int | None = None
    unknown_ns: int

    @classmethod
    def of(cls, measured: Measurement, round_trip_ns: int = 0) -> RequestTime:
        """Where the requests' time went, as far as the engine knows; over an emulated network with that time
        there and back."""
        times = measured.response_time or measured.service_time
        lag = measured.send_lag
        time_ns = round(times.mean_ns * times.count)
        unsent_ns = min(time_ns, round(lag.mean_ns * lag.count)) if lag else None
        left_ns = time_ns - (unsent_ns or 0)
        wire_ns = min(left_ns, round_trip_ns * times.count) if round_trip_ns else None
        return cls(
            requests=times.count,
            time_ns=time_ns,
            unsent_ns=unsent_ns,
            wire_ns=wire_ns,
            unknown_ns=left_ns - (wire_ns or 0),
        )


class TimeAccount(Value, frozen=True, kw_only=True):
    """Where the time of a trial went, in its measured phase; of an interleaved arm in its own slices.

    `wall_ns` is the time that was looked at. `idle_cpu_share` is the server's CPU use without any load, of
    its cores' time: the lowest of what was seen before the first load, after the last, and in other arms'
    slices. `unseen` says in a line each what could not be seen, and why.
    """

    wall_ns: int
    cores: tuple[CoreTime, ...] = ()
    server: ThreadTime | None = None
    generator: ThreadTime | None = None
    requests: RequestTime | None = None
    idle_cpu_share: float | None = None
    unseen: tuple[str, ...] = ()

    def of(self, role: CoreRole) -> CoreTime | None:
        """The time of that role's cores, or of those that both share; None where none was seen, and where
        they are of several hosts."""
        found = [one for one in self.cores if one.role in (role, "shared")]
        return found[0] if len(found) == 1 else None

    def of_generator(self, host: str, workers: Sequence[Worker]) -> TimeAccount | None:
        """What one of several generators had of it; None where nobody looked there."""
        own = tuple(one for one in self.cores if one.host == host and one.role == "generator")
        return TimeAccount(wall_ns=self.wall_ns, cores=own, generator=ThreadTime.of(workers)) if own else None


def together(served: TimeAccount | None, parts: Sequence[TimeAccount]) -> TimeAccount | None:
    """The account of a load from that of its server's host and those of its generators' hosts.

    None where these have none.
    """
    if not parts:
        return None
    threads = [one.generator for one in parts if one.generator is not None]
    requests = [one.requests for one in parts if one.requests is not None]
    every = parts if served is None else (served, *parts)
    nobody = () if served is not None else ("nobody looked at the server's cores",)
    return TimeAccount(
        wall_ns=every[0].wall_ns,
        cores=tuple(core for one in every for core in one.cores),
        server=served.server if served else None,
        generator=ThreadTime(
            threads=sum(one.threads for one in threads),
            ran_ns=sum(one.ran_ns for one in threads),
            waited_ns=_sum(one.waited_ns for one in threads),
            busiest_ns=max((one.busiest_ns or 0 for one in threads), default=None),
        ),
        requests=convert(
            {name: _sum(getattr(one, name) for one in requests) for name in RequestTime.__struct_fields__},
            RequestTime,
        ),
        idle_cpu_share=served.idle_cpu_share if served else None,
        unseen=(*nobody, *(f"{one.cores[0].host}: {said}" for one in every for said in one.unseen)),
    )


def _sum(each: Iterable[int | None]) -> int | None:
    """None where one is not known."""
    known = list(each)
    return None if None in known else sum(filter(None, known))


def _both(user_ns: int | None, kernel_ns: int | None) -> int | None:
    return None if user_ns is None or kernel_ns is None else user_ns + kernel_ns
