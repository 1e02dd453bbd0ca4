"""Why is A faster than B: what each answer costs, side by side, and how much of the difference that explains.

Each block gives one value of each server, so a difference is paired by block, with a t interval. Throughput
is the busy time of a server's cores in a second over the CPU time of an answer (the utilisation law, Denning
and Buzen 1978). So a ratio of throughputs is the inverse ratio of CPU times of an answer, times the ratio of
how busy the cores were. The first is the server's own work; the second is left unexplained by it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from assay.model.costs import Costs
from assay.model.estimate import Estimate
from assay.model.run import Run
from assay.stats.estimates import exponentiated, mean

FULL = 0.9
"""So much of a core a server keeps busy that is limited by its CPU."""


class Quantity(msgspec.Struct, frozen=True):
    """What an answer costs: `of` gives it of one trial, None where it was not counted."""

    name: str
    title: str
    unit: str
    of: Callable[[Costs], float | None]


def _each(value: float | None, answers: int) -> float | None:
    return value / answers if value is not None and answers else None


def _counter(name: str) -> Callable[[Costs], float | None]:
    return lambda costs: _each(costs.counters.get(name), costs.answers)


def _inspected(name: str) -> Callable[[Costs], float | None]:
    def of(costs: Costs) -> float | None:
        seen = costs.inspection
        return _each(seen.counters.get(name), seen.answers) if seen is not None else None

    return of


def _user(costs: Costs) -> float | None:
    cpu_ns, kernel_ns = _counter("cpu_ns")(costs), _kernel(costs)
    return None if cpu_ns is None or kernel_ns is None else cpu_ns - kernel_ns


def _kernel(costs: Costs) -> float | None:
    cpu_ns, share = _counter("cpu_ns")(costs), costs.kernel_share
    return None if cpu_ns is None or share is None else cpu_ns * share


def _in_services(costs: Costs) -> float | None:
    return _each(sum(costs.services_ns.values()) if costs.services_ns else None, costs.answers)


def _reads_and_writes(costs: Costs) -> float | None:
    reads, writes = _counter("read_calls")(costs), _counter("write_calls")(costs)
    return None if reads is None or writes is None else reads + writes


QUANTITIES = (
    Quantity("cpu_ns", "CPU time", "time", _counter("cpu_ns")),
    Quantity("user_ns", "in user mode", "time", _user),
    Quantity("kernel_ns", "in the kernel", "time", _kernel),
    Quantity("services_ns", "CPU time of services", "time", _in_services),
    Quantity("waited_ns", "waited in run queues", "time", _counter("waited_ns")),
    Quantity("system_calls", "system calls", "count", _inspected("system_calls")),
    Quantity("calls_at_least", "reads and writes, no send or recv", "count", _reads_and_writes),
    Quantity("voluntary_switches", "context switches, voluntary", "count", _counter("voluntary_switches")),
    Quantity(
        "involuntary_switches",
        "context switches, involuntary",
        "count",
        _counter("involuntary_switches"),
    ),
    Quantity("switches", "context switches, counted apart", "count", _inspected("switches")),
    Quantity("minor_faults", "page faults, minor", "count", _counter("minor_faults")),
    Quantity("major_faults", "page faults, major", "count", _counter("major_faults")),
    Quantity("memory_bytes", "memory growth", "bytes", _counter("memory_bytes")),
    Quantity("bytes_in", "bytes received", "bytes", _counter("bytes_in")),
    Quantity("bytes_out", "bytes sent", "bytes", _counter("bytes_out")),
    Quantity("segments_in", "TCP segments received", "count", _counter("segments_in")),
    Quantity("segments_out", "TCP segments sent", "count", _counter("segments_out")),
    Quantity("retransmitted", "TCP segments sent again", "count", _counter("retransmitted")),
    Quantity("instructions", "instructions", "count", _inspected("instructions")),
    Quantity("cycles", "cycles", "count", _inspected("cycles")),
    Quantity("cache_misses", "cache misses", "count", _inspected("cache_misses")),
    Quantity("branch_misses", "branch misses", "count", _inspected("branch_misses")),
)
BY_NAME = {one.name: one for one in QUANTITIES}

ByBlock = Mapping[int, Costs]
"""What was counted of one case, by block."""


def costs_by_block(run: Run, case: str) -> ByBlock:
    """What was counted of a case in its closed loops."""
    return {
        trial.block: trial.costs
        for trial in run.trials
        if trial.case == case and trial.costs is not None and trial.costs.answers > 0
    }


def cost(of: ByBlock, quantity: Quantity) -> Estimate | None:
    """What an answer costs: the mean of blocks, with its interval."""
    values = [value for costs in of.values() if (value := quantity.of(costs)) is not None]
    return mean(values, quantity.unit)


def is_lower_bound(of: ByBlock, name: str) -> bool:
    """Whether something that ended is missing in it."""
    return name == "calls_at_least" or any(name in costs.lower_bounds for costs in of.values())


def difference(a: ByBlock, b: ByBlock, quantity: Quantity) -> Estimate | None:
    """How much more of it b's answer costs than a's, paired by block; None where no block has both."""
    pairs = [(quantity.of(a[block]), quantity.of(b[block])) for block in sorted(a.keys() & b.keys())]
    return mean(
        [late - early for early, late in pairs if early is not None and late is not None], quantity.unit
    )


def is_shown(estimate: Estimate | None) -> bool:
    """Whether the interval excludes zero."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return False
    return estimate.low > 0 or estimate.high < 0


class Explained(msgspec.Struct, frozen=True):
    """The ratio of throughputs a/b taken apart: `by_cpu` is b's CPU time of an answer over a's, `by_busy` is
    how many cores a kept busy over how many b did. Their product is `ratio`, block by block. `busy_a` and
    `busy_b` are how many cores each kept busy."""

    ratio: Estimate
    by_cpu: Estimate
    by_busy: Estimate
    busy_a: float
    busy_b: float

    @property
    def is_full(self) -> bool:
        """Whether both filled a core, so that the CPU time of an answer decides."""
        return min(self.busy_a, self.busy_b) >= FULL


def explained(a: ByBlock, b: ByBlock) -> Explained | None:
    """How the CPU time of an answer explains throughput, a over b; None where it was not counted of both."""
    rates, cpus, busy = [], [], []
    for block in sorted(a.keys() & b.keys()):
        first, second = a[block], b[block]
        used = first.counters.get("cpu_ns", 0), second.counters.get("cpu_ns", 0)
        if min(*used, first.length_ns, second.length_ns) <= 0:
            continue
        shares = used[0] / first.length_ns, used[1] / second.length_ns
        cpus.append(math.log(used[1] / second.answers / (used[0] / first.answers)))
        rates.append(cpus[-1] + math.log(shares[0] / shares[1]))
        busy.append(shares)
    if not rates:
        return None
    return Explained(
        ratio=_factor(rates),
        by_cpu=_factor(cpus),
        by_busy=_factor([rate - cpu for rate, cpu in zip(rates, cpus, strict=True)]),
        busy_a=sum(one for one, _ in busy) / len(busy),
        busy_b=sum(one for _, one in busy) / len(busy),
    )


def _factor(logs: Sequence[float]) -> Estimate:
    found = mean(logs, "ratio")
    assert found is not None  # there is a value
    return exponentiated(found, "ratio", "t interval on log ratios, paired by block")


def calls_by_name(of: ByBlock) -> dict[str, float]:
    """System calls an answer by name, the most frequent first: the sum's, divided as the samples are."""
    samples: dict[str, int] = {}
    for costs in of.values():
        for name, count in (costs.inspection.calls if costs.inspection else {}).items():
            samples[name] = samples.get(name, 0) + count
    total, all_samples = cost(of, BY_NAME["system_calls"]), sum(samples.values())
    if total is None or not all_samples:
        return {}
    ordered = sorted(samples.items(), key=lambda item: -item[1])
    return {name: count / all_samples * total.value for name, count in ordered}


def stacks(of: ByBlock) -> dict[str, int]:
    """The samples of all blocks by call stack."""
    found: dict[str, int] = {}
    for costs in of.values():
        for stack, count in (costs.inspection.stacks if costs.inspection else {}).items():
            found[stack] = found.get(stack, 0) + count
    return found


def missing(of: ByBlock) -> tuple[str, ...]:
    """What could not be read, each once."""
    said = [text for costs in of.values() for text in costs.missing]
    said += [text for costs in of.values() if costs.inspection for text in costs.inspection.missing]
    return tuple(dict.fromkeys(said))
