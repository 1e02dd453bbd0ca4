"""`TimeAccount`: where the time of a trial's cores went, and that of its requests.

Each set of cores divides its time once: `CoreTime`'s parts add up to `time_ns`, within 1 %. None is what
nobody could see; its time is part of `unknown_ns`. 0 says that somebody looked and there was none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from assay.model.plan import Value

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

    `time_ns` is the account's `wall_ns` times their number. The server's, the services' and the generator's
    times are by their own CPU clocks. `kernel_ns` is the kernel's work for none of them (interrupts).
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


class RequestTime(Value, frozen=True, kw_only=True):
    """The time of all completed requests together, from when each was to start to its last byte.

    `unsent_ns` they waited to be sent (send lag of an open loop; a closed one has no such instant, and None).
    `wire_ns` they were on an emulated network at least. `server_ns` and `client_ns` are in the server and
    waiting in the client for its threads. `unknown_ns` is the rest.
    """

    requests: int
    time_ns: int
    unsent_ns: int | None = None
    wire_ns: int | None = None
    server_ns: int | None = None
    client_ns: int | None = None
    unknown_ns: int


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
        """The time of that role's cores, or of those that both share; None where none was seen."""
        return next((one for one in self.cores if one.role in (role, "shared")), None)


def _both(user_ns: int | None, kernel_ns: int | None) -> int | None:
    return None if user_ns is None or kernel_ns is None else user_ns + kernel_ns
