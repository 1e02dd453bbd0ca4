"""Time to an answer: how soon, and how surely, `assay versus` tells two builds of our own server apart.

Two null servers that differ by 5 % in the CPU time of a request, set by the work that each burns and
checked by their own CPU clocks, are compared in as many tries as are asked for, and one of them with
itself in twice as many (A/A). A try counts as told apart when the leaner build is called faster by
figures that stand, within 90 seconds of load.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from model import Benchmark, Effort, Figure, Outcome, Spread
from programs import Cores, Unavailable, need_assay, null_server, pinned, serving_null_process

BASE_COST_NS = 10_000
"""What the leaner build burns for each request: enough for its core, not the client's, to be the limit."""
DIFFERENCE = 0.05
BUDGET_S = 90
TRIES = 10
LONGEST_S = 600.0
_CALIBRATION_S = 2
_CALIBRATIONS = 5


@dataclass(frozen=True)
class Try:
    """One comparison: the code it ended with, its outcome, which rival was best, its blocks and load."""

    code: int
    outcome: str
    best: str
    blocks: int
    load_s: float


def run(effort: Effort) -> Outcome:
    """Calibrate, then compare: `effort.tries` of two builds, twice as many of one with itself."""
    tries = effort.tries or max(1, round(TRIES * effort.share))
    how = f"{tries} tries of two builds, {2 * tries} of one with itself, at most {BUDGET_S} s of load each"
    title = BENCHMARK.title
    try:
        (guess_us,) = _costs_us(BASE_COST_NS)
        heavy_ns = BASE_COST_NS + round(1000 * guess_us * DIFFERENCE)
        lean_us, heavy_us = _costs_us(BASE_COST_NS, heavy_ns)
        apart = [_compare(BASE_COST_NS, heavy_ns, seed) for seed in range(tries)]
        same = [_compare(BASE_COST_NS, BASE_COST_NS, seed) for seed in range(tries, 3 * tries)]
    except Unavailable as problem:
        return Outcome(BENCHMARK.name, title, how, missing=(str(problem),))
    return Outcome(BENCHMARK.name, title, how, figures=_figures(heavy_us / lean_us, apart, same))


def _figures(true_ratio: float, apart: Sequence[Try], same: Sequence[Try]) -> tuple[Figure, ...]:
    told = [one.code == 0 and one.outcome == "different" and one.best == "lean" for one in apart]
    wrong = [one.outcome == "different" and one.best != "lean" for one in apart]
    alarms = [one.outcome == "different" for one in same]
    settled = [one.outcome != "open" for one in same]
    return (
        Figure("CPU a request, heavy / lean", Spread.of([true_ratio]), "×"),
        Figure("told apart", _share(told), "of tries", 0.9, at_most=False),
        Figure("told apart the wrong way", _share(wrong), "of tries", 0.0),
        Figure("load until told apart", Spread.of([one.load_s for one in apart]), "s", BUDGET_S),
        Figure("blocks until told apart", Spread.of([float(one.blocks) for one in apart]), "blocks"),
        Figure("false alarms, A/A", _share(alarms), "of tries", 0.05),
        Figure("settled as alike or different, A/A", _share(settled), "of tries"),
    )


def _share(answers: Sequence[bool]) -> Spread:
    return Spread.of([sum(answers) / len(answers)])


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
    answered: int = json.loads(done.stdout)["measurement"]["books"]["completed"]
    return (after.user + after.system - before.user - before.system) / answered * 1e6


def _compare(first_ns: int, second_ns: int, seed: int) -> Try:
    """One `assay versus` as a user would run it, and what its record says."""
    program = null_server()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        command = [need_assay(), "versus"]
        command += [f"exec {program} --port {{port}} --cost-ns {cost}" for cost in (first_ns, second_ns)]
        command += ["--name", "lean", "--name", "heavy", "--budget", f"{BUDGET_S}s", "--json"]
        command += ["--seed", str(seed), "--results", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_S)
        if not done.stdout:
            raise Unavailable(f"a comparison failed: {done.stderr.strip().splitlines()[-1]}")
        made = _read(Path(folder), done.returncode)
    sys.stderr.write(f"  try {seed}: {made.outcome}, best {made.best}, {made.blocks} blocks, ")
    sys.stderr.write(f"{made.load_s:.0f} s of load, exit {made.code}\n")
    return made


def _read(results: Path, code: int) -> Try:
    from assay import store
    from assay.versus.answer import answer

    found = answer(store.load(store.find(results, "latest")))
    outcome = found.pairs[0].outcome if found.pairs else None
    best = found.best.id if found.best else ""
    return Try(code, outcome or "open", best, found.blocks, found.load_s)


BENCHMARK = Benchmark("answer-time", "two builds that differ by 5 % in cost are told apart", run, long=True)
BENCHMARKS = (BENCHMARK,)
