"""Simulated runs of known truth, and how often the library's answers about them are right.

Each function simulates whole runs (blocks, machine drift, noise of a kind) from a fixed seed. The
suite calls them with few runs, `benches/simulate.py` with many.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.model.design import WarmUp
from assay.model.estimate import Estimate
from assay.model.measurement import Window
from assay.plan.next.warming import warmed_up
from assay.stats import mean, shown_faster
from assay.stats.capacity import CapacitySearch
from assay.stats.pairing import PairedRatio, pair, settled
from assay.stats.scatter import pool
from assay.stats.sequential import SPENT_ERROR, more_for_precision
from assay.stats.sides import Side, paired_logs
from assay.stats.steady import steady_state

Numbers = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Numbers]
SEED = 20261121
WARM_UP = WarmUp(min_ns=2_000_000_000, max_ns=40_000_000_000)


# --- what machines do to trials ----------------------------------------------------------


def normal(rng: np.random.Generator, n: int) -> Numbers:
    """Independent normal deviations of one."""
    return rng.normal(0, 1, n)


def autocorrelated(rng: np.random.Generator, n: int) -> Numbers:
    """Successive trials correlate by 0.5."""
    noise = rng.normal(0, 1, n)
    for place in range(1, n):
        noise[place] = 0.5 * noise[place - 1] + noise[place] * math.sqrt(0.75)
    return noise


def contaminated(rng: np.random.Generator, n: int) -> Numbers:
    """One trial in twenty is preempted and loses about eight deviations."""
    preempted = rng.random(n) < 0.05
    return rng.normal(0, 1, n) - preempted * rng.uniform(4, 12, n)


def heavy_tailed(rng: np.random.Generator, n: int) -> Numbers:
    """Student's t with 3 degrees of freedom, scaled to a deviation of one."""
    tailed: Numbers = rng.standard_t(3, n) / math.sqrt(3)
    return tailed


def skewed(rng: np.random.Generator, n: int) -> Numbers:
    """Mostly a little above, sometimes far below: the mirror of an exponential."""
    tailed: Numbers = 1 - rng.exponential(1, n)
    return tailed


NOISES: Mapping[str, Noise] = {
    "normal": normal,
    "autocorrelated (0.5)": autocorrelated,
    "contaminated (5 %)": contaminated,
    "heavy tails (t, 3)": heavy_tailed,
    "skewed": skewed,
}


class Setting(NamedTuple):
    """A simulated run: relative levels of the cases, blocks, deviation of a trial, drift over the run."""

    levels: Sequence[float]
    blocks: int = 10
    deviation: float = 0.02
    drift: float = 0.04
    noise: Noise = normal
    interleaved: bool = True


def simulate(rng: np.random.Generator, setting: Setting) -> list[dict[int, float]]:
    """One value a block for each case: level x (1 + drift at that time) x (1 + noise)."""
    cases, blocks = len(setting.levels), setting.blocks
    total = cases * blocks
    machine = 1 + setting.drift * np.arange(total) / max(1, total - 1)
    machine *= 1 + setting.deviation * setting.noise(rng, total)
    values: list[dict[int, float]] = [{} for _ in range(cases)]
    for block in range(blocks):
        for place, case in enumerate(rng.permutation(cases)):
            when = block * cases + place if setting.interleaved else int(case) * blocks + block
            values[int(case)][block] = float(setting.levels[int(case)] * machine[when])
    return values


# --- what is counted ----------------------------------------------------------------------


def ratio_coverage(setting: Setting, runs: int, median: bool = False) -> float:
    """How often the 95 % interval of the first two cases' ratio holds the truth."""
    rng = np.random.default_rng(SEED)
    truth = setting.levels[0] / setting.levels[1]
    estimate = median_ratio if median else mean_ratio
    drawn = (simulate(rng, setting) for _ in range(runs))
    return _share(_holds(estimate(Side(a), Side(b)), truth) for a, b, *_ in drawn)


def growing_coverage(deviation: float, blocks: int, more: int, precision: float, runs: int) -> float:
    """How often the 95 % interval of a ratio holds the truth in studies that have up to so many blocks more
    where their first ones deviate (`assay.verdict.see_runs`)."""
    rng = np.random.default_rng(SEED)
    held = []
    for _ in range(runs):
        logs = rng.normal(0, deviation, blocks + more)
        count = blocks + more_for_precision([float(log) for log in logs[:blocks]], precision, more)
        values = {block: float(math.exp(log)) for block, log in enumerate(logs[:count])}
        held.append(_holds(mean_ratio(Side(values), Side(dict.fromkeys(values, 1.0))), 1.0))
    return _share(held)


def mean_ratio(a: Side, b: Side) -> Estimate | None:
    """The ratio of a product's report: the t interval on paired log ratios."""
    found = pair(a, b)
    return found.ratio if found else None


def median_ratio(a: Side, b: Side) -> Estimate | None:
    """What it is weighed against: the median of the paired ratios with its order-statistic interval."""
    ratios = sorted(math.exp(log) for log in paired_logs(a, b))
    ranks = median_ranks(len(ratios))
    if not ratios:
        return None
    return Estimate(
        value=float(np.median(ratios)),
        low=ratios[ranks[0] - 1] if ranks else None,
        high=ratios[ranks[1] - 1] if ranks else None,
        n=len(ratios),
        unit="ratio",
        method="order-statistic interval of the median",
    )


@functools.cache
def median_ranks(n: int, confidence: float = 0.95) -> tuple[int, int] | None:
    """1-based ranks whose values enclose the median with at least `confidence`, or None.

    Exact and free of any distribution: the number of values below it is Binomial(n, 1/2).
    """
    from scipy.special import bdtr

    low = next((k for k in range(n) if bdtr(k, n, 0.5) > (1 - confidence) / 2), n)
    return (low, n + 1 - low) if low >= 1 else None


def mean_coverage(noise: Noise, n: int, runs: int) -> float:
    """How often the t interval of a case's mean holds the truth (no drift)."""
    rng = np.random.default_rng(SEED)
    offset = float(np.mean(noise(np.random.default_rng(1), 2_000_000)))  # contamination moves the mean itself
    truth = 100 * (1 + 0.02 * offset)
    return _share(_holds(mean(list(100 * (1 + 0.02 * noise(rng, n))), "x"), truth) for _ in range(runs))


def differences_found(setting: Setting, runs: int, minimum_effect: float = 0.01) -> float:
    """How often any pair of cases is called different."""
    rng = np.random.default_rng(SEED)
    found = 0
    for _ in range(runs):
        found += bool(shown_faster(pairs(simulate(rng, setting)), minimum_effect))
    return found / runs


class Orders(NamedTuple):
    """Of all pairs of simulated runs: the share whose order is shown wrongly, and rightly."""

    wrong: float
    shown: float


def orders(
    noise: Noise, blocks: int, servers: int, spread: float, runs: int, *, pooled: bool = True
) -> Orders:
    """Runs of so many servers, whose true levels lie evenly between 1 and 1 + `spread`.

    A spread of 0 makes them equal, and any order of theirs a false one.
    """
    rng = np.random.default_rng(SEED)
    levels = tuple(1 + spread * place / (servers - 1) for place in range(servers))
    setting = Setting(levels, blocks, noise=noise)
    wrong = found = 0
    for _ in range(runs):
        for faster, slower in shown_faster(pairs(simulate(rng, setting), pooled)):
            right = levels[int(faster[1:])] > levels[int(slower[1:])]
            found += right
            wrong += not right
    all_pairs = runs * math.comb(servers, 2)
    return Orders(wrong / all_pairs, found / all_pairs)


def pairs(values: Sequence[Mapping[int, float]], pooled: bool = True) -> dict[tuple[str, str], PairedRatio]:
    """Every two cases against each other, as a ranking does it."""
    rows = [{block: math.log(value) for block, value in each.items()} for each in values]
    shared = pool(rows, alike=False) if pooled else None
    made = {
        (f"c{a}", f"c{b}"): pair(Side(values[a]), Side(values[b]), pooled=shared)
        for a, b in itertools.combinations(range(len(values)), 2)
    }
    return {names: one for names, one in made.items() if one is not None}


def sequential_answers(
    effect: float, deviation: float, noise: Noise, runs: int
) -> tuple[float, float, float]:
    """Share of runs that end "different", share that end "alike", and the median number of blocks."""
    rng = np.random.default_rng(SEED)
    answers, blocks = [], []
    for _ in range(runs):
        logs = math.log(effect) + deviation * noise(rng, 40)
        answer = None
        for n in range(1, 41):
            ratios = dict(enumerate(np.exp(logs[:n]).tolist()))
            looks = [block / 40 for block in range(1, n + 1)]
            even = Side(dict.fromkeys(ratios, 1.0))
            met = pair(Side(ratios), even, manner="looked at", alpha=SPENT_ERROR, looks=looks)
            answer = settled(met, 0.02, 0.01)
            if answer:
                break
        answers.append(answer)
        blocks.append(n)
    return answers.count("different") / runs, answers.count("alike") / runs, float(np.median(blocks))


def naive_false_alarms(runs: int) -> float:
    """A/A runs in which an ordinary t interval, looked at after each of 40 blocks, ever excludes 1."""
    from scipy.special import stdtrit

    rng = np.random.default_rng(SEED)
    n = np.arange(3, 41)
    logs = rng.normal(0, 1, (runs, 40))
    means = np.cumsum(logs, axis=1)[:, 2:] / n
    squares = np.cumsum(logs**2, axis=1)[:, 2:]
    errors = np.sqrt((squares - n * means**2) / (n - 1) / n)
    return float(np.mean(np.any(np.abs(means) > stdtrit(n - 1, 0.975) * errors, axis=1)))


def capacity_searches(spread: float, lapse: float, runs: int) -> tuple[float, float, float]:
    """Coverage, median trials and median relative error of whole searches (resolution 5 %)."""
    rng = np.random.default_rng(SEED)
    covered, trials, errors = 0, [], []
    for _ in range(runs):
        truth = math.exp(rng.uniform(math.log(200), math.log(50_000)))
        search = CapacitySearch(100, 100_000)
        while (rate := search.ask()) is not None and len(search.answers) < 100:
            above = min(50.0, max(-50.0, math.log(rate / truth) / spread))
            holds = rng.random() < 1 / (1 + math.exp(above))
            search = search.tell(rate, bool(holds != (rng.random() < lapse)))
        found = search.capacity
        assert found is not None  # each search had answers
        covered += _holds(found, truth)
        trials.append(len(search.answers))
        errors.append(abs(found.value / truth - 1))
    return covered / runs, float(np.median(trials)), float(np.median(errors))


TRACES = ("flat", "warm-up", "slow-down", "dips", "late change", "wave", "growth")
SETTLED = TRACES[:4]


def trace(kind: str, rng: np.random.Generator) -> tuple[Numbers, int]:
    """Ten seconds of windows of 100 ms, and where the true change lies (0: none)."""
    level, change = np.full(100, 7000.0), 0
    if kind in ("warm-up", "slow-down"):
        change = int(rng.integers(8, 30))
        part = slice(None, change) if kind == "warm-up" else slice(change, None)
        level[part] *= rng.uniform(0.3, 0.85)
    elif kind == "dips":
        for at in rng.choice(np.arange(5, 95, 10), 3, replace=False):
            level[at : at + 2] *= 0.4
    elif kind == "late change":
        change = int(rng.integers(45, 85))
        level[change:] *= rng.uniform(0.5, 0.85)
    elif kind == "wave":
        level *= 1 + 0.3 * np.sin(np.arange(100) / 100 * 2 * np.pi * rng.uniform(1, 3) + rng.uniform(0, 6))
    elif kind == "growth":
        level *= np.linspace(1, 1.4, 100)
    return level, change


def steady_answers(kind: str, deviation: float, correlation: float, runs: int) -> tuple[float, float]:
    """Share of traces called steady, and share with a change found within one judged window."""
    rng = np.random.default_rng(SEED)
    steady, near = 0, 0
    for _ in range(runs):
        level, change = trace(kind, rng)
        noise = np.zeros(100)
        for place in range(1, 100):
            fresh = rng.normal(0, deviation * math.sqrt(1 - correlation**2))
            noise[place] = correlation * noise[place - 1] + fresh
        state = steady_state(as_windows(level * (1 + noise)))
        steady += state.steady
        found = [abs(at / 1e8 - change) <= state.window_ns / 1e8 for at in state.changes_ns]
        near += any(found) if change else not found
    return steady / runs, near / runs


def as_windows(counts: Numbers) -> list[Window]:
    """Counts for each 100 ms as the engine's windows."""
    return [
        Window(
            start_ns=place * 100_000_000,
            length_ns=100_000_000,
            phase="measured",
            started=round(count),
            completed=round(count),
            failed=0,
            bytes_read=0,
        )
        for place, count in enumerate(counts)
    ]


def warm_ups(time_constant_s: float, runs: int) -> tuple[float, float]:
    """Median seconds until an exponential warm-up is let go, and the median level it has then."""
    rng = np.random.default_rng(SEED)
    seconds = np.arange(400) / 10
    level = 1 - 0.7 * np.exp(-seconds / time_constant_s) if time_constant_s else np.ones(400)
    times, levels = [], []
    for _ in range(runs):
        series = as_windows(7000 * level * (1 + rng.normal(0, 0.03, 400)))
        count = next((n for n in range(1, 400) if warmed_up(series[:n], WARM_UP)), 400)
        times.append(count / 10)
        levels.append(level[count - 1])
    return float(np.median(times)), float(np.median(levels))


def _holds(estimate: Estimate | None, truth: float) -> bool:
    return (
        estimate is not None
        and estimate.low is not None
        and estimate.high is not None
        and estimate.low <= truth <= estimate.high
    )


def _share(answers: Iterable[bool]) -> float:
    return float(np.mean(list(answers)))


class KeptBlocks(NamedTuple):
    """Bias of the log ratio of blocks that are kept as both servers are shown to be warm: measured in the
    slices that show it, in those but the first, and in as many that follow."""

    same: float
    but_first: float
    following: float


_SLICES = 6
"""Of 100 ms each, in a block."""


def blocks_kept(
    rise: float, constant: float, deviation: float, runs: int, pausing: bool = False
) -> KeptBlocks:
    """Of a server that rises to its level by that share, with that time constant (slices), against one at its
    level. A server is shown to be warm where its halves differ by 3 % or a standard error at most. With
    `pausing` one slice in eight of the first server loses 30 %, for good: no bias is to leave that out."""
    rng, size = np.random.default_rng(SEED), (runs, 2 * _SLICES + 1)
    first, second = (1 + rng.normal(0, deviation, size) for _ in range(2))
    lost = 0.3 * (rng.random(size) < 1 / 8) if pausing else 0.0
    first = (first - lost) * (1 - rise * np.exp(-np.arange(size[1]) / constant))
    truth = math.log1p(-0.3 / 8) if pausing else 0.0

    def bias(judged: slice, measured: slice) -> float:
        kept = _shown_warm(first[:, judged]) & _shown_warm(second[:, judged])
        ratios = np.log(first[kept, measured].mean(1) / second[kept, measured].mean(1))
        return float(ratios.mean()) - truth

    at_once, but_first = slice(0, _SLICES), slice(1, _SLICES + 1)
    return KeptBlocks(
        bias(at_once, at_once), bias(but_first, but_first), bias(but_first, slice(_SLICES + 1, None))
    )


def _shown_warm(slices: Numbers) -> NDArray[np.bool_]:
    early, late = slices[:, : _SLICES // 2], slices[:, _SLICES // 2 :]
    apart = np.abs(early.mean(1) - late.mean(1)) / slices.mean(1)
    error = np.hypot(early.std(1, ddof=1), late.std(1, ddof=1)) / math.sqrt(_SLICES // 2) / slices.mean(1)
    return np.asarray(apart <= np.maximum(0.03, error), np.bool_)
