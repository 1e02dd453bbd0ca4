"""Time to an answer: how soon, and how surely, two builds of our own server are told apart, in three ways.

Two null servers that differ by a known share of the CPU time of a request, set by the work that each burns
and checked by their own CPU clocks, are compared by `assay versus` interleaved, by `assay versus` with trials
one after the other, and by wrk: runs interleaved until a paired t test has said p < 0.05 three times in a
row. So is one build with itself (A/A). All of it on the machine as it is, and beside a program that is busy
for half of the time. A try is right when the leaner build is called faster and the command has exited within
the time that the question allows, from its begin on; no A/A control, as wrk has none.

What the machine's own noise forbids stands beside it: the load that a test would take which knew the
deviation of a round (a slice of each build) and looked once, without a warm-up. It would be right in nine of
ten tries, and wrong in one of twenty alike. A comparison that does not know it takes no less on average.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import psutil
from answers import another_program
from model import Benchmark, Effort, Figure, Outcome, Spread
from programs import Cores, Unavailable, need, need_assay, null_server, pinned, serving_null_process

from assay.model.trial import Arm, Trial
from assay.stats.estimates import student_t_cdf

BASE_COST_NS = 10_000
"""What the leaner build burns for each request: enough for its core, not the client's, to be the limit."""
TRIES = 10
MINUTES = 14.0
_OURS = 0.75
"""The share of the minutes that slices have, which come first: what is required is required of them."""
LONGEST_S = 600.0
_QUICK_S = 30
"""A question that allows more load than this is a long one."""
WRK_S = 10
"""How long people let wrk run."""
_POWER = 1.96 + 1.28
"""Standard errors: those of a two-sided test at 5 %, and of a power of nine tenths."""
_ROW = 3
_CALIBRATION_S = 2
_CALIBRATIONS = 5

Told = Literal["lean", "heavy", "alike", "open"]


@dataclass(frozen=True)
class Question:
    """Builds so far `apart`, and the time (s) from command to exit within which they are to be told
    apart `alone`, and `beside` a program; it is the budget, too. `right`: the share of tries that must be."""

    apart: float
    alone_s: int
    beside_s: int
    right: float

    @property
    def name(self) -> str:
        """As the tables call it."""
        return f"{self.apart:.0%} apart" if self.apart else "A/A"


QUESTIONS = (
    Question(0.05, 8, 20, 0.9),
    Question(0.0, 8, 20, 0.0),
    Question(0.01, 40, 120, 0.8),
)


@dataclass(frozen=True)
class Try:
    """What one comparison said, after how much load (and warm-up of it), and how long a person waited."""

    outcome: Told
    load_s: float
    wall_s: float
    warm_up_s: float = 0.0
    noise: Noise | None = None


@dataclass(frozen=True)
class Noise:
    """Of interleaved blocks: the deviations of log ratios from `round` to round, and between `blocks` beyond
    that (of processes, and of a machine that wanders); and how long a round is (s)."""

    round: float
    blocks: float
    round_s: float

    def least_load_s(self, apart: float) -> float:
        """What a z test needs to find builds so far apart in nine of ten tries (`_POWER`), where each round
        has processes of its own, for nothing."""
        return (_POWER / math.log1p(apart)) ** 2 * (self.round**2 + self.blocks**2) * self.round_s


@dataclass(frozen=True)
class Asked:
    """One comparison: what the two builds burn, the load that is allowed, and when it is settled as alike."""

    first_ns: int
    second_ns: int
    seed: int
    load_s: int
    within: float


Way = Callable[[Asked], Try]


@dataclass(frozen=True)
class Cell:
    """One question in one way, in one condition."""

    question: Question
    way: str
    beside: bool

    @property
    def name(self) -> str:
        """As the tables call it."""
        return f"{self.question.name}{', beside a program' if self.beside else ''}: {self.way}"

    @property
    def load_s(self) -> int:
        """How much time is allowed, and how much load."""
        return self.question.beside_s if self.beside else self.question.alone_s


def run(effort: Effort) -> Outcome:
    """Calibrate; then each way by itself, a try of each question in turn, the quick questions first, until
    the tries or the minutes that it has are over: three quarters of them for interleaved blocks."""
    tries = effort.tries or max(1, round(TRIES * effort.share))
    deadline = time.monotonic() + 60 * (effort.minutes or MINUTES)
    made: dict[Cell, list[Try]] = {
        Cell(question, way, beside): [] for beside in (False, True) for question in QUESTIONS for way in WAYS
    }
    missing: dict[str, str] = {}
    heavy: dict[float, int] = {}
    figures: list[Figure] = []
    try:
        for question in QUESTIONS:
            heavy[question.apart], ratio = _heavier(question.apart)
            if question.apart:
                figures.append(
                    Figure(f"{question.name}: CPU a request, heavy / lean", Spread.of([ratio]), "×")
                )
    except Unavailable as problem:
        return Outcome(BENCHMARK.name, BENCHMARK.title, "", missing=(str(problem),))
    for left, way in zip(range(len(WAYS), 0, -1), WAYS, strict=True):
        part = _OURS if left == len(WAYS) else 1 / left
        until = time.monotonic() + (deadline - time.monotonic()) * part
        cells = [cell for cell in made if cell.way == way]
        for seed, cell in _in_order(cells, tries):
            if time.monotonic() < until and way not in missing:
                try:
                    made[cell].append(_tried(cell, heavy[cell.question.apart], seed))
                except Unavailable as problem:
                    missing[way] = str(problem)
    for cell, found in made.items():
        figures += _figures(cell, found)
    how = (
        f"up to {tries} tries of each, at most {MINUTES if effort.minutes is None else effort.minutes:g} min"
    )
    gaps = tuple(f"{way}: {why}" for way, why in missing.items())
    return Outcome(BENCHMARK.name, BENCHMARK.title, how, figures=tuple(figures), missing=gaps)


def _in_order(cells: Sequence[Cell], tries: int) -> Iterator[tuple[int, Cell]]:
    """A try of each in turn; questions that take minutes come last, so that the others have all of theirs."""
    long = [cell for cell in cells if cell.question.alone_s > _QUICK_S]
    quick = [cell for cell in cells if cell not in long]
    for each in (quick, long):
        yield from itertools.product(range(tries), each)


def _tried(cell: Cell, heavy_ns: int, seed: int) -> Try:
    """One try; odd ones name the heavier build first."""
    costs = (BASE_COST_NS, heavy_ns)
    first, second = costs if seed % 2 == 0 else costs[::-1]
    with another_program() if cell.beside else ExitStack():
        within = cell.question.apart / 2 or 0.02
        made = WAYS[cell.way](Asked(first, second, seed, cell.load_s, within))
    if cell.question.apart and seed % 2 and made.outcome in ("lean", "heavy"):
        made = replace(made, outcome="heavy" if made.outcome == "lean" else "lean")
    sys.stderr.write(f"  {cell.name}, try {seed}: {made.outcome} after {made.load_s:.0f} s of load, ")
    sys.stderr.write(f"{made.wall_s:.0f} s in all\n")
    return made


def _figures(cell: Cell, found: Sequence[Try]) -> Iterator[Figure]:
    if not found:
        return
    ours = cell.way == "assay, interleaved"
    right = _share([one.outcome == "lean" and one.wall_s <= cell.load_s for one in found])
    wrong = _share([one.outcome == "heavy" for one in found])
    of = f"of tries (there were {len(found)})"
    if cell.question.apart:
        yield Figure(
            f"{cell.name}: told apart within {cell.load_s} s",
            right,
            of,
            cell.question.right if ours else None,
            at_most=False,
        )
        yield Figure(f"{cell.name}: told apart the wrong way", wrong, of, 0.0 if ours else None)
    else:
        alarms = _share([one.outcome in ("lean", "heavy") for one in found])
        yield Figure(f"{cell.name}: false alarms", alarms, of, 0.05 if ours else None)
    yield Figure(f"{cell.name}: load until it ended", Spread.of([one.load_s for one in found]), "s")
    yield Figure(f"{cell.name}: of it warm-up", Spread.of([one.warm_up_s for one in found]), "s")
    yield Figure(f"{cell.name}: time until it ended", Spread.of([one.wall_s for one in found]), "s")
    noises = [one.noise for one in found if one.noise is not None]
    if noises:
        yield Figure(
            f"{cell.name}: deviation of a round", Spread.of([100 * one.round for one in noises]), "%"
        )
        blocks = Spread.of([100 * one.blocks for one in noises])
        yield Figure(f"{cell.name}: deviation between blocks beyond that", blocks, "%")
    if noises and cell.question.apart:
        least = Spread.of([one.least_load_s(cell.question.apart) for one in noises])
        yield Figure(f"{cell.name}: load of one look that knew the noise", least, "s")


def _share(answers: Sequence[bool]) -> Spread:
    return Spread.of([sum(answers) / len(answers)])


# --- the two builds -------------------------------------------------------------------------


def _heavier(apart: float) -> tuple[int, float]:
    """What the heavier build must burn, and the ratio of CPU times a request that this came to."""
    if not apart:
        return BASE_COST_NS, 1.0
    (guess_us,) = _costs_us(BASE_COST_NS)
    heavy_ns = BASE_COST_NS + round(1000 * guess_us * apart)
    lean_us, heavy_us = _costs_us(BASE_COST_NS, heavy_ns)
    return heavy_ns, heavy_us / lean_us


def _costs_us(*costs_ns: int) -> tuple[float, ...]:
    """CPU microseconds of a request by the server's own clock for each of these builds: medians of short
    loads in turn, so that all met the machine in the same moods."""
    rounds = [[_cost_us(cost) for cost in costs_ns] for _ in range(_CALIBRATIONS)]
    return tuple(Spread.of(taken).median for taken in zip(*rounds, strict=True))


def _cost_us(cost_ns: int) -> float:
    cores = Cores.apart()
    with serving_null_process(cores.server, "--cost-ns", str(cost_ns)) as (server, process):
        clock = psutil.Process(process.pid)
        before = clock.cpu_times()
        load = [need_assay(), "load", server.url(), "-d", f"{_CALIBRATION_S}s", "-t", "1", "--json", "-q"]
        done = subprocess.run(
            pinned(load, cores.client), capture_output=True, text=True, check=False, timeout=LONGEST_S
        )
        after = clock.cpu_times()
    if not done.stdout:
        raise Unavailable(f"the calibrating load failed: {done.stderr.strip()}")
    answered: int = json.loads(done.stdout)["measurement"]["requests"]["completed"]
    return (after.user + after.system - before.user - before.system) / answered * 1e6


# --- three ways to ask ----------------------------------------------------------------------


def _interleaved(asked: Asked) -> Try:
    return _versus(asked)


def _one_after_the_other(asked: Asked) -> Try:
    return _versus(replace(asked, load_s=max(asked.load_s, 90)), "--sequential")


def _versus(asked: Asked, *flags: str) -> Try:
    """One `assay versus` as a user would run it, and what its record says of the first build."""
    program = null_server()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        command = [need_assay(), "versus"]
        for cost_ns in (asked.first_ns, asked.second_ns):
            command.append(f"exec {program} --port {{port}} --cost-ns {cost_ns}")
        command += ["--name", "lean", "--name", "heavy", "--budget", f"{asked.load_s}s", "--json"]
        command += ["--no-control", "--margin", str(asked.within), "--seed", str(asked.seed)]
        command += ["--results", folder, *flags]
        began = time.monotonic()
        done = subprocess.run(
            command, env=as_installed(), capture_output=True, text=True, check=False, timeout=LONGEST_S
        )
        wall_s = time.monotonic() - began
        if not done.stdout:
            raise Unavailable(f"a comparison failed: {done.stderr.strip().splitlines()[-1]}")
        return _read(Path(folder), done.returncode, wall_s)


def as_installed() -> dict[str, str]:
    """The environment, in which modules keep their bytecode as those of an installed package do: to compile
    all of them anew takes as long as a block."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _read(results: Path, code: int, wall_s: float) -> Try:
    from assay import store
    from assay.verdict.answer import answer

    run = store.load(store.find(results, "latest"))
    found = answer(run)
    # Servers that are interleaved share a warm-up: of its time each has its own slices alone.
    measured_s = sum(one.measurement.measured_ns for one in run.trials if one.measurement) / 1e9
    settled = found.pairs[0].settled if found.pairs and code == 0 else None
    outcome: Told = "alike" if settled == "alike" else "open"
    if settled == "different" and found.best is not None:
        outcome = "lean" if found.best.id == "lean" else "heavy"
    return Try(outcome, found.load_s, wall_s, found.load_s - measured_s, _noise(run.trials))


def _noise(trials: Sequence[Trial]) -> Noise | None:
    """From the rounds within blocks, and what their means deviate by beyond that; None where fewer than two
    blocks have two rounds."""
    from assay.stats.interleaved import ratio_by_round

    arms: dict[int, list[Arm]] = {}
    for trial in trials:
        if trial.arm is not None:
            arms.setdefault(trial.block, []).append(trial.arm)
    pairs = [pair for pair in arms.values() if len(pair) == 2]
    blocks = [ratio_by_round(one.rounds, other.rounds) for one, other in pairs]
    blocks = [rounds for rounds in blocks if len(rounds) > 1]
    if len(blocks) < 2:
        return None
    within = statistics.fmean(map(statistics.variance, blocks))
    of_means = within * statistics.fmean(1 / len(rounds) for rounds in blocks)
    beyond = statistics.variance(map(statistics.fmean, blocks)) - of_means
    lengths_ns = [
        one.length_ns for arm in itertools.chain(*pairs) for one in arm.slices if one.phase == "measured"
    ]
    round_s = 2 * statistics.fmean(lengths_ns) / 1e9
    return Noise(math.sqrt(within), math.sqrt(max(0.0, beyond)), round_s)


def _wrk(asked: Asked) -> Try:
    """wrk interleaved, until three tests in a row have said that they differ; given twice the usual time."""
    cores, began = Cores.apart(), time.monotonic()
    need("wrk", "wrk")
    logs: list[float] = []
    shown = 0
    with (
        serving_null_process(cores.server, "--cost-ns", str(asked.first_ns)) as (one, _),
        serving_null_process(cores.server, "--cost-ns", str(asked.second_ns)) as (two, _),
    ):
        longest_s = max(2 * asked.load_s, 2 * WRK_S * (_ROW + 2))
        while shown < _ROW and 2 * WRK_S * (len(logs) + 1) <= longest_s:
            rates = [_wrk_rate(server.url(), cores.client) for server in (one, two)]
            logs.append(math.log(rates[0] / rates[1]))
            shown = shown + 1 if _p_value(logs) < 0.05 else 0
    load = 2.0 * WRK_S * len(logs)
    if shown < _ROW:
        return Try("open", load, time.monotonic() - began)
    return Try("lean" if statistics.fmean(logs) > 0 else "heavy", load, time.monotonic() - began)


def _wrk_rate(url: str, core: int) -> float:
    command = pinned([need("wrk", "wrk"), "-t1", "-c64", f"-d{WRK_S}s", url], core)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_S)
    found = re.search(r"Requests/sec:\s*([\d.]+)", done.stdout)
    if found is None:
        raise Unavailable(f"wrk said no rate: {done.stderr.strip()}")
    return float(found[1])


def _p_value(logs: Sequence[float]) -> float:
    """Of a paired t test, as people do it after each pair."""
    if len(logs) < 2 or statistics.stdev(logs) == 0:
        return 1.0
    t = abs(statistics.fmean(logs)) / (statistics.stdev(logs) / math.sqrt(len(logs)))
    return 2 * (1 - student_t_cdf(len(logs) - 1, t))


WAYS: dict[str, Way] = {
    "assay, interleaved": _interleaved,
    "assay, one after the other": _one_after_the_other,
    "wrk": _wrk,
}

BENCHMARK = Benchmark("answer-time", "two builds are told apart: how soon, and how surely", run, long=True)
BENCHMARKS = (BENCHMARK,)
