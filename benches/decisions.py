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
from assay.stats.scatter import ASSUMED
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
Shape = tuple[int, ...]
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
    """Mirrored exponentials; those of the last server deviate half as much as the others'."""
    made: Numbers = 1 - rng.exponential(1, shape)
    made[:-1] *= 1.27
    made[-1] *= 0.62
    return made


def correlated(rng: np.random.Generator, shape: Shape) -> Numbers:
    """Neighbouring blocks correlate by 0.3."""
    noise = rng.normal(0, 1, shape)
    for place in range(1, shape[-1]):
        noise[..., place] = 0.3 * noise[..., place - 1] + noise[..., place] * math.sqrt(1 - 0.3**2)
    return noise


def bursts(rng: np.random.Generator, shape: Shape) -> Numbers:
    """Of all but the last server one block in six has a burst of five deviations of a ratio."""
    made = rng.normal(0, 1, shape)
    made[:-1] -= 5 * math.sqrt(2) * (rng.random(made[:-1].shape) < 1 / 6)
    return made


def noisier(rng: np.random.Generator, shape: Shape) -> Numbers:
    """Normal; the last server deviates one and a half times as much as the others."""
    made = rng.normal(0, 1, shape)
    made[-1] *= 1.5
    return made


NOISES: dict[str, Noise] = {
    "normal": normal,
    "heavy tails (t, 3)": heavy_tailed,
    "skewed": skewed,
    "correlated (0.3)": correlated,
    "one-sided bursts": bursts,
}
"""What a machine does to blocks, by server, run and block; the last axis are blocks."""
BURSTS = -5 / 6
"""What bursts add to the mean of a ratio, in its deviations."""


class Decided(NamedTuple):
    """Shares of runs called different, alike, and whose last interval held the truth; blocks in the mean."""

    different: float
    alike: float
    covered: float
    blocks: float


@functools.cache
def half_widths(most: int, servers: int = 2, alpha: float = SPENT_ERROR) -> Numbers:
    """The half-widths in deviations of each look of a budget of so many blocks, the deviation known from so
    many servers; infinite before the first."""
    used = [block / most for block in range(1, most + 1)]
    found = [
        half_width(n, level(used[:n], alpha), (servers - 1) * (n - 1)) if n > 1 else None
        for n in range(1, most + 1)
    ]
    return np.array([math.inf if one is None else one for one in found])


def widenings(rows: Numbers, independent: int) -> Numbers:
    """`assay.stats.scatter.allowed_correlation` and `widening` of many runs: server, run, block."""
    n = rows.shape[-1]
    about = rows - rows.mean(-1, keepdims=True)
    power = (about**2).sum(-1)
    lagged = (about[..., 1:] * about[..., :-1]).sum(-1)
    shown = np.divide(lagged, power, out=np.zeros_like(power), where=power > 1e-30).mean(0)
    bound = shown + 1 / n + 1.645 / math.sqrt(independent * (n - 1))
    allowed = np.clip(np.maximum(shown, np.minimum(ASSUMED, bound)), 0, 0.9)
    made: Numbers = np.sqrt((1 + allowed) / (1 - allowed))
    return made


class Reading(NamedTuple):
    """What looks at runs see: the ratio, and how far its interval reaches to each side; and the bias that D1
    finds of it."""

    centre: Numbers
    half: Numbers
    bias: Numbers


def reading(servers: Numbers, most: int, alike: bool, widened: bool = True) -> Reading:
    """At log rates by server (the first, its A/A control if there are three, the other), run and block."""
    count, _, n = servers.shape
    first = servers[:-1].mean(0)
    ratio = first - servers[-1]
    wide = widenings(servers - servers.mean(0), count - 1) if widened else np.ones(ratio.shape[0])
    own = ratio.std(-1, ddof=1)
    if not alike or count < 3:
        half = half_widths(most)[n - 1] * own * wide
    else:
        left = servers - servers.mean(0)
        left = left - left.mean(-1, keepdims=True)
        pooled = np.sqrt(1.5 * (left**2).sum((0, -1)) / (2 * (n - 1)))
        half = half_widths(most, count)[n - 1] * np.maximum(own, pooled) * wide
    if count < 3:
        return Reading(ratio.mean(-1), half, np.zeros_like(half))
    again = servers[1] - servers[0]
    apart = np.abs(again.mean(-1))
    reach = half_widths(most, alpha=0.05)[n - 1] * again.std(-1, ddof=1) * widenings(again[None], 1)
    return Reading(ratio.mean(-1), half, np.where(apart > reach, apart + reach, 0.0))


def decide(
    effect: float,
    deviation: float,
    most: int,
    noise: Noise,
    runs: int,
    *,
    control: bool = False,
    alike: bool = False,
    widened: bool = True,
) -> Decided:
    """Comparisons of two with a budget of so many blocks, looked at after each, whose ratios deviate so.

    `alike` are builds of one program. Not `widened`: as if blocks were independent.
    """
    rates = noise(np.random.default_rng(SEED), (2 + control, runs, most)) * deviation / math.sqrt(2)
    rates[:-1] += effect
    truth = effect + deviation * (BURSTS if noise is bursts else 0.0)
    ended, outcome = np.zeros(runs, bool), np.zeros((4, runs))
    for n in range(LEAST_BLOCKS, most + 1):
        found = reading(rates[..., :n], most, alike, widened)
        beyond = np.maximum(found.half, math.log1p(MINIMUM_EFFECT)) + found.bias
        different = np.abs(found.centre) > beyond
        equal = np.abs(found.centre) + found.half + found.bias < math.log1p(MARGIN)
        covered = np.abs(found.centre - truth) <= found.half + found.bias
        now = (different | equal | (n == most)) & ~ended
        outcome[:, now] = np.array([different, equal & ~different, covered, np.full(runs, n)])[:, now]
        ended |= now
    return Decided(*map(float, outcome.mean(1)))


def covers(noise: Noise, servers: int, blocks: int, runs: int, *, widened: bool = True) -> float:
    """How often the 95 % interval of the first server's ratio to the last holds the truth in a study."""
    rates = noise(np.random.default_rng(SEED), (servers, runs, blocks)) / math.sqrt(2)
    ratio = rates[0] - rates[-1] - (BURSTS if noise is bursts else 0.0)
    half = (half_width(blocks) or math.inf) * ratio.std(-1, ddof=1)
    if widened:
        half = half * widenings(rates - rates.mean(0), servers - 1)
    return float(np.mean(np.abs(ratio.mean(-1)) <= half))


def at_end(blocks: int) -> float | None:
    """The half-width in deviations of so many blocks, where they are the last."""
    return half_width(blocks, last_level(blocks, SPENT_ERROR))


def wider(logs: Numbers) -> list[float]:
    """The values as far apart as what neighbours may share makes them worth."""
    centre = logs.mean()
    made: list[float] = (centre + widenings(logs[None, None], 1)[0] * (logs - centre)).tolist()
    return made


class Forecasts(NamedTuple):
    """Shares that came true of "n more blocks would do" and of "this run would have found"."""

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
        would_have = detectable_by_now(wider(logs), at_end(blocks))
        assert would_have is not None  # there are blocks enough
        again = rng.normal(math.log(would_have), deviation, blocks)
        half = half_widths(blocks)[-1] * float(np.std(wider(again), ddof=1))
        shown.append(abs(again.mean()) > max(half, math.log1p(MINIMUM_EFFECT)))
        needed = blocks_to_settle(wider(logs), MARGIN, at_end)
        if needed is not None and needed <= 100:
            settled.append(_decided(rng.normal(effect, deviation, needed), needed))
    return Forecasts(float(np.mean(settled)), float(np.mean(shown)), len(settled))


def _decided(logs: Numbers, most: int) -> bool:
    for n in range(LEAST_BLOCKS, len(logs) + 1):
        centre, half = abs(logs[:n].mean()), half_widths(most)[n - 1] * np.std(wider(logs[:n]), ddof=1)
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
        wide = widenings((logs - logs.mean(0))[:, None], servers - 1)[0]
        statistic = apart_by.mean(1) / apart_by.std(1, ddof=1) / wide * math.sqrt(blocks)
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
