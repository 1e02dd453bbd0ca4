"""`Costs`: what a trial's answers cost its server, as `--why` counted it."""

from __future__ import annotations

from assay.model.plan import Value


class Inspection(Value, frozen=True, kw_only=True):
    """What was seen of a server in loads of their own, whose times and rates enter no figure.

    `counters` are sums over `answers` answers: system calls, context switches, and what the machine's own
    counters tell (instructions, cycles, cache misses, branch misses). `calls` holds every `call_period`-th
    system call, by name. `stacks` are samples by call stack, outermost frame first, with ";" between frames.
    `missing` are sentences: what the machine does not allow, and how to allow it.
    """

    answers: int = 0
    counters: dict[str, int] = {}
    call_period: int = 1
    calls: dict[str, int] = {}
    stacks: dict[str, int] = {}
    missing: tuple[str, ...] = ()


class Costs(Value, frozen=True, kw_only=True):
    """What a server used for `answers` right answers, over `length_ns` of load.

    `counters` are sums by name, without those that could not be read; times are in nanoseconds. `cpu_ns` is
    of the process clocks. `user_ns` and `kernel_ns` are in ticks of 10 ms, over the whole measured phase:
    they divide `cpu_ns`. Those named in `lower_bounds` miss what threads, processes or connections did that
    ended between two readings. `services_ns` is the CPU time of each service. `missing` are sentences: what
    could not be read, and how to allow it.
    """

    answers: int
    length_ns: int
    counters: dict[str, int] = {}
    lower_bounds: tuple[str, ...] = ()
    services_ns: dict[str, int] = {}
    inspection: Inspection | None = None
    missing: tuple[str, ...] = ()

    @property
    def kernel_share(self) -> float | None:
        """The share of the CPU time that was the kernel's; None where it is not known."""
        user_ns, kernel_ns = self.counters.get("user_ns"), self.counters.get("kernel_ns")
        if user_ns is None or kernel_ns is None or user_ns + kernel_ns <= 0:
            return None
        return kernel_ns / (user_ns + kernel_ns)


class CountedCosts(Value, frozen=True, kw_only=True):
    """What was counted of one server, before it is known what it served meanwhile: fields of `Costs`.

    `lengths_ns` is the time between the two readings of each slice that was counted, by its number.
    """

    lengths_ns: dict[int, int] = {}
    counters: dict[str, int] = {}
    lower_bounds: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
