"""Simulated comparisons of many servers: the load of all in each block, and of decided ones leaving.

One block of one server is a unit of load. `benches/simulate.py` writes the table, the suite calls this with
few runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from decisions import MARGIN, SEED, Noise, Numbers, normal

from assay.stats.pairing import PairedRatio, pair, settled
from assay.stats.ranking import implied, taking_part
from assay.stats.scatter import fitted, pool
from assay.stats.sequential import LEAST_BLOCKS, per_pair
from assay.stats.sides import Side, in_common


class Field(NamedTuple):
    """Servers by the logarithm of what they serve, how far that scatters, and how many blocks of all the
    budget holds."""

    levels: Sequence[float]
    deviations: Sequence[float]
    budget: int = 20


class Raced(NamedTuple):
    """Of runs: the mean load, the share in which any order shown is false, the share of intervals that hold
    the truth, and the share of questions that were decided."""

    load: float
    wrong: float
    covered: float
    decided: float


class _Run:
    """A comparison as far as it has come: `values` are those of each server by block."""

    def __init__(self, field: Field, logs: Numbers, leaving: bool, ranked: bool) -> None:
        self.field, self.logs, self.leaving, self.ranked = field, logs, leaving, ranked
        self.names = [str(server) for server in range(len(field.levels))]
        self.values: list[dict[int, float]] = [{} for _ in self.names]
        self.load = self.blocks = 0
        self.asked = frozenset(self.names)
        self.room = field.budget * len(self.names)

    def go(self) -> None:
        """To its end: all is decided, or the budget holds no other block."""
        while self.asked and self.load + len(self.asked) <= self.room:
            for name in self.asked:
                self.values[int(name)][self.blocks] = math.exp(self.logs[int(name), self.blocks])
            self.load, self.blocks = self.load + len(self.asked), self.blocks + 1
            self.sides = [Side(values) for values in self.values]
            if self.blocks < LEAST_BLOCKS:
                continue
            rows = in_common(self.sides)
            self.pool = pool(rows, alike=False)
            levels = fitted(rows).levels
            self.order = sorted(self.names, key=lambda name: -levels[int(name)])
            left = self.open()
            asked = taking_part(self.names, left if self.leaving else ())
            self.asked = asked if left else frozenset()

    def questions(self) -> list[tuple[str, str]]:
        """The pairs that are asked for: the best and each other, or all, the faster first."""
        asked = list(itertools.combinations(self.order, 2))
        return asked if self.ranked else asked[: len(self.order) - 1]

    def open(self) -> list[tuple[str, str]]:
        """Those of them that are not settled, and follow from none that are."""
        found = {one: (self.ratio(*one), settled(self.ratio(*one), MARGIN)) for one in self.questions()}
        known = implied(
            [one if made and made.ratio.value > 1 else one[::-1] for one, (made, how) in found.items()
             if how == "different"]
        )  # fmt: skip
        return [one for one, (_, how) in found.items() if how is None and one not in known]

    def ratio(self, a: str, b: str) -> PairedRatio | None:
        """As `RunSeen.budget_shares` and `pair_of` make it."""
        one, other = self.sides[int(a)], self.sides[int(b)]
        common = len(one.values.keys() & other.values.keys())
        each = 2 if self.leaving else len(self.names)
        looks = [min(1.0, block * each / self.room) for block in range(1, common + 1)]
        alpha = per_pair(len(self.names))
        return pair(one, other, manner="looked at", alpha=alpha, looks=looks, pooled=self.pool)


def race(field: Field, runs: int, *, leaving: bool, noise: Noise = normal, ranked: bool = False) -> Raced:
    """Comparisons of these servers, of which those that are decided leave, or all are in each block; all are
    to be `ranked`, or compared with the best."""
    rng, servers = np.random.default_rng(SEED), len(field.levels)
    most = field.budget * servers // 2
    noises = noise(rng, (servers, runs, most)) * np.array(field.deviations)[:, None, None]
    load = wrong = held = intervals = 0
    decided = 0.0
    for number in range(runs):
        run = _Run(field, noises[:, number] + np.array(field.levels)[:, None], leaving, ranked)
        run.go()
        load += run.load
        decided += (1 - len(run.open()) / len(run.questions())) / runs
        false = False
        for a, b in itertools.combinations(run.order, 2):
            found, truth = run.ratio(a, b), field.levels[int(a)] - field.levels[int(b)]
            assert found is not None  # all are in the first blocks
            low, high = found.ratio.low or 0.0, found.ratio.high or math.inf
            held, intervals = held + (low <= math.exp(truth) <= high), intervals + 1
            shown = settled(found, MARGIN) == "different"
            false = false or (shown and truth * math.log(found.ratio.value) <= 0)
        wrong += false
    return Raced(load / runs, wrong / runs, held / intervals, decided)


def even(servers: int, apart: float) -> tuple[float, ...]:
    """So many levels, each so far from the next."""
    return tuple(-math.log1p(apart) * place for place in range(servers))


COSTS = (1.0, 1.02, 1.05, 1.1, 1.12, 1.2, 1.3, 1.45, 1.6, 2.0, 2.5, 4.0)
"""What an answer costs twelve servers, of the cheapest's."""

_DEVIATION = 0.014
"""Of one server; a ratio deviates by the root of two times as much."""
FIELDS: dict[str, Field] = {
    "12, 3 % from the next": Field(even(12, 0.03), (_DEVIATION,) * 12),
    "12 of known cost": Field(tuple(-math.log(cost) for cost in COSTS), (_DEVIATION,) * 12),
    "6, 3 % from the next, the last 6 times as noisy": Field(
        even(6, 0.03), (*(_DEVIATION,) * 5, 6 * _DEVIATION)
    ),
    "4, 3 % from the next": Field(even(4, 0.03), (_DEVIATION,) * 4),
    "12 alike": Field((0.0,) * 12, (_DEVIATION,) * 12),
}
