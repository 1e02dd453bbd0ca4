"""Simulated comparisons that stop by themselves: how soon they decide, and what their sentences are worth.

Vectorised over runs. `benches/simulate.py` writes the tables, the suite calls the functions with few runs.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.stats.pairing import half_width
from assay.stats.ranking import holm
from assay.stats.sequential import (
    LEAST_BLOCKS,
    MINIMUM_EFFECT,
    SPENT_ERROR,
    blocks_to_settle,
    detectable_by_now,
    last_level,
    level,
)

Numbers = NDArray[np.float64]
Shape = tuple[int, int]
Noise = Callable[[np.random.Generator, Shape], Numbers]
SEED = 20261126
MARGIN = 0.02


def normal(rng: np.random.Generator, shape: Shape) -> Numbers:
    """Independent normal deviations of one."""
    return rng.normal(0, 1, shape)


def heavy_tailed(rng: np.random.Generator, shape: Shape) -> Numbers:
    """Student's t with 3 degrees of freedom, scaled to a deviation of one."""
    tailed: Numbers = rng.standard_t(3, shape) / math.sqrt(3)
    return tailed


def skewed(rng: np.random.Generator, shape: Shape) -> Numbers:
    """The difference of two skewed trials: of exponentials with deviations of 0.9 and 0.44."""
    made: Numbers = 0.9 * (1 - rng.exponential(1, shape)) - 0.44 * (1 - rng.exponential(1, shape))
    return made


def correlated(rng: np.random.Generator, shape: Shape) -> Numbers:
    """Neighbouring blocks correlate by 0.3."""
    noise = rng.normal(0, 1, shape)
    for place in range(1, shape[1]):
        noise[:, place] = 0.3 * noise[:, place - 1] + noise[:, place] * math.sqrt(1 - 0.3**2)
    return noise


def one_bad(rng: np.random.Generator, shape: Shape) -> Numbers:
    """One block in six is a burst that met one side: five deviations, always in the same direction."""
    return rng.normal(0, 1, shape) - 5 * (rng.random(shape) < 1 / 6)


NOISES: dict[str, Noise] = {
    "normal": normal,
    "heavy tails (t, 3)": heavy_tailed,
    "skewed": skewed,
    "correlated (0.3)": correlated,
    "one-sided bursts": one_bad,
}


class Decided(NamedTuple):
    """Shares of runs called different, alike, and whose last interval held the truth; blocks in the mean."""

    different: float
    alike: float
    covered: float
    blocks: float


@functools.cache
def half_widths(most: int, alpha: float = SPENT_ERROR) -> Numbers:
    """The half-widths in deviations of each look of a budget of so many blocks; infinite before the first."""
    used = [block / most for block in range(1, most + 1)]
    found = [half_width(n, level(used[:n], alpha)) if n > 1 else None for n in range(1, most + 1)]
    return np.array([math.inf if one is None else one for one in found])


def decide(effect: float, deviation: float, most: int, noise: Noise, runs: int) -> Decided:
    """Comparisons of two with a budget of so many blocks, looked at after each."""
    logs = effect + deviation * noise(np.random.default_rng(SEED), (runs, most))
    counts = np.arange(1, most + 1)
    centres = np.cumsum(logs, 1) / counts
    left = np.maximum(0.0, np.cumsum(logs**2, 1) - counts * centres**2)
    half = np.full_like(centres, math.inf)
    half[:, 2:] = np.sqrt(left[:, 2:] / (counts[2:] - 1)) * half_widths(most)[2:]
    different = np.abs(centres) > np.maximum(half, math.log1p(MINIMUM_EFFECT))
    alike = np.abs(centres) + half < math.log1p(MARGIN)
    ended = different | alike
    at = np.where(ended.any(1), ended.argmax(1), most - 1)
    rows = np.arange(runs)
    truth = effect + deviation * float(np.mean(noise(np.random.default_rng(1), (4000, 25))))
    covered = np.abs(centres - truth)[rows, at] <= half[rows, at]
    return Decided(
        float(different[rows, at].mean()),
        float((alike & ~different)[rows, at].mean()),
        float(covered.mean()),
        float(at.mean() + 1),
    )


def at_end(blocks: int) -> float | None:
    """The half-width in deviations of so many blocks, where they are the last."""
    return half_width(blocks, last_level(blocks, SPENT_ERROR))


class Forecasts(NamedTuple):
    """Shares that came true of "n more blocks would do" and of "this run would have seen"."""

    settled: float
    shown: float
    forecasts: int


def forecasts(blocks: int, deviation: float, runs: int) -> Forecasts:
    """Of runs with so many blocks that are not decided; true effects lie evenly between 0 and 5 %."""
    rng = np.random.default_rng(SEED)
    settled, shown = [], []
    for _ in range(runs):
        effect = rng.uniform(0, 0.05)
        logs = rng.normal(effect, deviation, blocks)
        if _decided(logs, blocks):
            continue
        would_have = detectable_by_now(logs.tolist(), at_end(blocks))
        assert would_have is not None  # there are blocks enough
        again = rng.normal(math.log(would_have), deviation, blocks)
        half = half_widths(blocks)[-1] * again.std(ddof=1)
        shown.append(abs(again.mean()) > max(half, math.log1p(MINIMUM_EFFECT)))
        needed = blocks_to_settle(logs.tolist(), MARGIN, at_end)
        if needed is not None and needed <= 100:
            settled.append(_decided(rng.normal(effect, deviation, needed), needed))
    return Forecasts(float(np.mean(settled)), float(np.mean(shown)), len(settled))


def _decided(logs: Numbers, most: int) -> bool:
    for n in range(LEAST_BLOCKS, len(logs) + 1):
        centre, half = abs(logs[:n].mean()), half_widths(most)[n - 1] * logs[:n].std(ddof=1)
        if centre > max(half, math.log1p(MINIMUM_EFFECT)) or centre + half < math.log1p(MARGIN):
            return True
    return False


class Ranked(NamedTuple):
    """Shares of runs in which any shown difference is false, and any two ranks are in the wrong order."""

    difference: float
    rank: float


def ranked(servers: int, apart: float, blocks: int, noisy: float, runs: int) -> Ranked:
    """Servers `apart` from the next, of 2 % deviation (the last of `noisy` times that), paired by block."""
    from assay.stats.ranking import ranks

    rng, levels = np.random.default_rng(SEED), apart * np.arange(servers)[::-1]
    deviations = np.array([0.02] * (servers - 1) + [0.02 * noisy])
    pairs = list(itertools.combinations(range(servers), 2))
    false = reversed_ranks = 0
    for _ in range(runs):
        logs = levels[:, None] + deviations[:, None] * rng.normal(0, 1, (servers, blocks))
        apart_by = np.array([logs[a] - logs[b] for a, b in pairs])
        statistic = apart_by.mean(1) / apart_by.std(1, ddof=1) * math.sqrt(blocks)
        adjusted = np.array(holm(_p_values(statistic, blocks - 1)))
        shown = (adjusted < 0.05) & (np.abs(apart_by.mean(1)) > math.log1p(MINIMUM_EFFECT))
        faster = {
            (str(a), str(b)) if middle > 0 else (str(b), str(a))
            for (a, b), middle, is_shown in zip(pairs, apart_by.mean(1), shown, strict=True)
            if is_shown
        }
        false += any(int(a) > int(b) for a, b in faster)
        places = ranks([str(server) for server in range(servers)], faster)
        reversed_ranks += any(places[str(a)] > places[str(b)] for a, b in pairs)
    return Ranked(false / runs, reversed_ranks / runs)


def _p_values(statistic: Numbers, degrees: int) -> list[float]:
    from scipy.special import stdtr

    return [float(one) for one in 2 * stdtr(degrees, -np.abs(statistic))]
