"""What a benchmark is and what it found: plain values, and the arithmetic between them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Metric = Literal["cpu", "throughput"]
Http = Literal["1", "2", "3"]


@dataclass(frozen=True)
class Load:
    """What every contender of a comparison is asked to do; `requests` in a full run."""

    connections: int = 64
    requests: int = 1_000_000
    target: str = "/"
    pipeline: int = 1
    keep_alive: bool = True
    streams: int = 1
    http: Http = "1"


@dataclass(frozen=True)
class Sample:
    """One run of one contender: `cpu_s` is user + system of the whole process, from wait4.

    `loop_cpu_s` is what the threads that offer the load used by their own clocks, where the
    contender says so: the rest is its start and its report.
    """

    requests: int
    elapsed_s: float
    cpu_s: float
    loop_cpu_s: float | None = None

    def get(self, metric: Metric) -> float:
        """CPU microseconds a request, or requests a second."""
        return self.cpu_s / self.requests * 1e6 if metric == "cpu" else self.requests / self.elapsed_s


@dataclass(frozen=True)
class Spread:
    """A median with the least and the most of its rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least one value."""
        return cls(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Bound:
    """A ratio that is required, or only shown without a limit: `metric` of `contender` over `against`'s."""

    metric: Metric
    against: str
    limit: float | None
    contender: str = "assay"

    @property
    def at_most(self) -> bool:
        """CPU is to be low, throughput high."""
        return self.metric == "cpu"


@dataclass(frozen=True)
class Figure:
    """A figure beside the limit it has to keep; None where none is required."""

    name: str
    spread: Spread
    unit: str
    limit: float | None = None
    at_most: bool = True

    @property
    def passed(self) -> bool | None:
        """None where nothing is required."""
        if self.limit is None:
            return None
        return self.spread.median <= self.limit if self.at_most else self.spread.median >= self.limit


@dataclass(frozen=True)
class Row:
    """A contender's figures in a comparison."""

    contender: str
    cpu_us: Spread
    loop_cpu_us: Spread | None
    per_s: Spread


@dataclass(frozen=True)
class Outcome:
    """What one benchmark found. `missing` says why there is nothing, or less than there should be."""

    name: str
    title: str
    how: str
    rows: tuple[Row, ...] = ()
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Effort:
    """How much is run: `rounds` of every comparison, and the share of its full number of requests; `tries`
    of what is tried, and after how many `minutes` no more is begun, where that is said."""

    rounds: int
    share: float
    tries: int | None = None
    minutes: float | None = None

    def requests(self, full: int) -> int:
        """So many requests in this run."""
        return max(1000, round(full * self.share))


@dataclass(frozen=True)
class Benchmark:
    """One entry of the catalogue: its name on the command line, its title, and what runs it.

    A `long` one takes minutes, some half an hour or more; it runs when it, or its `family` if it has one, is
    named, and in a full run.
    """

    name: str
    title: str
    run: Callable[[Effort], Outcome]
    long: bool = False
    family: str = ""


def ratio(bound: Bound, samples: dict[str, list[Sample]]) -> Figure:
    """The ratio round by round: contenders of a round met the machine in the same mood."""
    pairs = zip(samples[bound.contender], samples[bound.against], strict=True)
    values = [one.get(bound.metric) / other.get(bound.metric) for one, other in pairs]
    what = "CPU a request" if bound.metric == "cpu" else "throughput"
    name = f"{what}, {bound.contender} / {bound.against}"
    return Figure(name, Spread.of(values), "×", bound.limit, bound.at_most)


def loop_ratio(against: str, samples: dict[str, list[Sample]]) -> Figure | None:
    """The loop of Assay alone over the whole of another; None where it does not say."""
    pairs = zip(samples["assay"], samples[against], strict=True)
    values = [
        one.loop_cpu_s / one.requests / (other.cpu_s / other.requests)
        for one, other in pairs
        if one.loop_cpu_s is not None
    ]
    return Figure(f"CPU a request, loop of assay / {against}", Spread.of(values), "×") if values else None


def row(contender: str, samples: Sequence[Sample]) -> Row:
    """A contender's medians over its rounds."""
    cpu = Spread.of([sample.get("cpu") for sample in samples])
    loops = [each.loop_cpu_s / each.requests * 1e6 for each in samples if each.loop_cpu_s is not None]
    per_s = Spread.of([sample.get("throughput") for sample in samples])
    return Row(contender, cpu, Spread.of(loops) if loops else None, per_s)
