"""Slices against trials one after the other: how much a comparison scatters, and whether it is biased.

Two servers stand, the same engine loads them, and each block gives both the same time: at one go, one after
the other, or interleaved of some length; all layouts meet the machine in the same minutes. A block comes to
one log ratio. The same program twice says how much a layout scatters where there is nothing to see; unlike
programs whether the mean moves with the length of a slice, and how far the product is off with the length
that it begins with for them, without the first fifths of slices, as it takes such ratios, and with them;
builds whose CPU time a request is known, by their own clocks, whether it is right.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from answers import another_program
from model import Benchmark, Effort, Figure, Outcome, Spread
from programs import Cores, Unavailable, serving_nginx, serving_null_process

from assay.core.errors import AssayError
from assay.core.settings import Settings
from assay.engine import driver
from assay.model.block import UNLIKE_NS, Interleaving, Lengths
from assay.model.interleaving import ArmMeasurement, InterleavedPlan, Slice
from assay.model.plan import Closed, LoadPlan, Request, StopAfter
from assay.plan.next.lengths import lengths_for
from assay.servers import find_server, prepare, read_contract
from assay.servers.server import start
from assay.stats.interleaved import ratio_by_round

WASHOUT_NS = 5_000_000
LAYOUTS_MS = (0, 1000, 500, 250, 100, 50)
"""Length of a slice; 0 is one after the other."""
_PRODUCT = -1
"""Slices and washout as the product begins with for a pair."""
_AGREES = 1.0
"""By how much (%) the product's ratio of unlike programs may be off that of trials one after the other."""
BLOCK_S = 2.0
BLOCKS = 12
_WARM_BLOCKS = 6
"""Of unlike programs, before any counts: one may compile itself while it runs."""
MORE_WORK = (0.01, 0.02, 0.05, 0.1, 0.5)
"""Shares by which builds of known cost differ."""
MINUTES = 20.0
"""For how long blocks go on at most, all pairs together."""
_COST_NS = 10_000
_CONNECTIONS = 64


@dataclass(frozen=True)
class RunningServer:
    """A server that stands: its URL and target, and its process, where its CPU clock is to be read."""

    url: str
    target: str = "/"
    process: psutil.Process | None = None

    def cpu_s(self) -> float:
        """User and system time so far."""
        used = self.process.cpu_times() if self.process else None
        return used.user + used.system if used else math.nan


Serving = Callable[[], AbstractContextManager[RunningServer]]


@dataclass(frozen=True)
class Pair:
    """Two servers to be compared. `clocked`: the true ratio is that of their CPU times a request."""

    name: str
    a: Serving
    b: Serving
    clocked: bool = False
    same: bool = False


def run(effort: Effort) -> Outcome:
    """Every pair in every layout, a block of each in turn, until the blocks or the minutes are over."""
    blocks = effort.tries or max(3, round(BLOCKS * min(1.0, 4 * effort.share)))
    deadline = time.monotonic() + 60 * (effort.minutes or MINUTES)
    figures: list[Figure] = []
    missing: list[str] = []
    pairs = _pairs()
    for left, pair in zip(range(len(pairs), 0, -1), pairs, strict=True):
        until = time.monotonic() + (deadline - time.monotonic()) / left
        try:
            with another_program() if pair.name.endswith(_BESIDE) else ExitStack():
                figures += _compared(pair, blocks, until)
        except (Unavailable, AssayError) as problem:
            missing.append(f"{pair.name}: {problem}")
    how = f"up to {blocks} blocks of {BLOCK_S:g} s of each server in each layout, {_CONNECTIONS} connections"
    return Outcome(BENCHMARK.name, BENCHMARK.title, how, figures=tuple(figures), missing=tuple(missing))


_BESIDE = ", beside a program"


def _pairs() -> tuple[Pair, ...]:
    go, vertx, ruby = (_of_study(f"quotes/{name}") for name in ("go", "java-vertx", "ruby-sinatra"))
    apart = [
        Pair(f"{share:.0%} more work", _null(_COST_NS), _null(round(_COST_NS * (1 + share))), clocked=True)
        for share in MORE_WORK
    ]
    return (
        Pair("the same program twice", _null(_COST_NS), _null(_COST_NS), same=True),
        Pair(f"the same program twice{_BESIDE}", _null(_COST_NS), _null(_COST_NS), same=True),
        *apart,
        Pair("Go / Vert.x", go, vertx),
        Pair("nginx / Go", _nginx, go),
        Pair("Ruby / Go", ruby, go),
    )


def _compared(pair: Pair, blocks: int, until: float) -> Iterator[Figure]:
    """The log ratios of each layout's blocks, told."""
    clocks: list[float] = []
    later: list[float] = []
    order = random.Random(1)
    with pair.a() as a, pair.b() as b:
        unlike = not pair.same and not pair.clocked
        for _ in range(_WARM_BLOCKS if unlike else 1):
            warm = _block((a, b), 250)
        lengths = _of_product(warm) if unlike else None
        layouts = (*LAYOUTS_MS, _PRODUCT) if lengths else LAYOUTS_MS
        logs: dict[int, list[float]] = {layout: [] for layout in layouts}
        for block in range(blocks):
            if block >= 3 and time.monotonic() > until:
                break
            for layout in order.sample(layouts, len(layouts)):
                before = [one.cpu_s() for one in (a, b)]
                arms = _block((a, b), layout, lengths)
                used = [one.cpu_s() - began for one, began in zip((a, b), before, strict=True)]
                logs[layout].append(_log_ratio(arms, _whole))
                if layout == _PRODUCT:
                    later.append(_log_ratio(arms, _trimmed_rate))
                clocks.append(math.log(used[1] / used[0] * _answers(arms[0]) / _answers(arms[1])))
    sys.stderr.write(f"  {pair.name}: {len(logs[0])} blocks\n")
    yield from _figures(pair, logs, clocks)
    if lengths:
        yield from _told_of_product(pair, lengths, logs[_PRODUCT], later, logs[0])


def _of_product(arms: Sequence[ArmMeasurement]) -> Lengths:
    """What the product begins with for unlike servers whose slices were these."""
    seen = {str(number): arm.slices for number, arm in enumerate(arms)}
    return lengths_for(Interleaving(least_slice_ns=UNLIKE_NS), seen)


def _told_of_product(
    pair: Pair, lengths: Lengths, whole: Sequence[float], later: Sequence[float], one_go: Sequence[float]
) -> Iterator[Figure]:
    """How far it is off at its own length, without the first fifths of slices and with them."""
    parts = (("", later, _AGREES), (", had it taken whole slices", whole, None))
    for part, logs, required in parts:
        off = abs(statistics.fmean(logs) - statistics.fmean(one_go))
        error = math.hypot(*(statistics.stdev(each) / math.sqrt(len(each)) for each in (logs, one_go)))
        spread = Spread(*(100 * math.expm1(max(0.0, log)) for log in (off, off - error, off + error)))
        slices = (
            f"slices of {lengths.slice_ns / 1e6:.0f} ms behind {lengths.washout_ns / 1e6:.0f} ms to settle"
        )
        words = f"{pair.name}, in {slices}, as the product begins{part}"
        yield Figure(f"{words}: off one after the other by (± standard error)", spread, "%", required)


def _figures(pair: Pair, logs: Mapping[int, Sequence[float]], clocks: Sequence[float]) -> Iterator[Figure]:
    one_go = statistics.stdev(logs[0])
    for layout in LAYOUTS_MS:
        each = logs[layout]
        words = f"{pair.name}, {'one after the other' if not layout else f'interleaved of {layout} ms'}"
        centre, error = statistics.fmean(each), statistics.stdev(each) / math.sqrt(len(each))
        more = Spread(*(100 * math.expm1(log) for log in (centre, centre - error, centre + error)))
        yield Figure(f"{words}: the first serves more by (± standard error)", more, "%")
        deviation = 100 * statistics.stdev(each)
        required = round((25.0 if pair.same else 50.0) * one_go, 2) if layout == 100 else None
        yield Figure(f"{words}: deviation of a block", Spread.of([deviation]), "%", required)
    if pair.clocked:
        true = statistics.fmean(clocks)
        yield Figure(
            f"{pair.name}: more CPU a request of the second", Spread.of([100 * math.expm1(true)]), "%"
        )
        off = 100 * abs(statistics.fmean(logs[100]) - true)
        yield Figure(f"{pair.name}, interleaved of 100 ms: off the true ratio by", Spread.of([off]), "%", 0.5)


def _block(
    servers: Sequence[RunningServer], layout: int, lengths: Lengths | None = None
) -> tuple[ArmMeasurement, ...]:
    """One block: each server for the same time, interleaved of that length or at one go; or as `lengths`
    say."""
    cores = Cores.apart()
    slice_ns, washout_ns = layout * 1_000_000 or round(BLOCK_S * 1e9), WASHOUT_NS
    if layout == _PRODUCT and lengths:
        slice_ns, washout_ns = lengths.slice_ns, lengths.washout_ns
    plans = tuple(
        LoadPlan(
            url=one.url,
            requests=(Request(target=one.target),),
            load=Closed(connections=_CONNECTIONS),
            stop=StopAfter(ns=round(BLOCK_S * 1e9)),
            cpus=(cores.client,),
        )
        for one in servers
    )
    plan = InterleavedPlan(arms=plans, slice_ns=slice_ns, washout_ns=washout_ns, seed=random.randrange(2**31))
    measured = driver.start_interleaved(plan).result().arms
    for one, arm in zip(servers, measured, strict=True):
        if arm.measurement.failed or not arm.measurement.completed:
            raise Unavailable(f"{one.url} failed {arm.measurement.failed} requests")
    return measured


def _whole(one: Slice) -> float:
    return one.completed / one.length_ns


def _trimmed_rate(one: Slice) -> float:
    """The rate of the last four fifths."""
    return (one.completed - one.early_completed) / (0.8 * one.length_ns)


def _log_ratio(arms: Sequence[ArmMeasurement], rate: Callable[[Slice], float]) -> float:
    a, b = ({one.round: rate(one) for one in arm.slices if one.phase == "measured"} for arm in arms)
    return statistics.fmean(ratio_by_round(a, b))


def _answers(arm: ArmMeasurement) -> int:
    """All that the server answered, also outside of its slices: its clock counts them all."""
    return arm.measurement.requests.completed


def _null(cost_ns: int) -> Serving:
    @contextmanager
    def serving() -> Iterator[RunningServer]:
        with serving_null_process(Cores.apart().server, "--cost-ns", str(cost_ns)) as (server, process):
            yield RunningServer(server.url(), process=psutil.Process(process.pid))

    return serving


@contextmanager
def _nginx() -> Iterator[RunningServer]:
    with serving_nginx(Cores.apart().server) as server:
        yield RunningServer(server.url())


def _of_study(name: str) -> Serving:
    """A server of this checkout, built where it is not yet."""

    @contextmanager
    def serving() -> Iterator[RunningServer]:
        settings, cores = Settings.resolve(), Cores.apart()
        server = find_server(name, settings)
        contract = read_contract(server.contract_folder)
        spec = server.variant("fair")
        route, ready = contract.routes_of(spec.routes)[0], prepare(spec, settings, 1)
        with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
            running = start(ready, contract, route, cpus=(cores.server,), log=Path(folder) / "log")
            try:
                yield RunningServer(running.url, route.target)
            finally:
                running.stop()

    return serving


BENCHMARK = Benchmark("interleaved", "the same comparison interleaved and sequential", run, long=True)
BENCHMARKS = (BENCHMARK,)
