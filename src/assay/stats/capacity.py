"""The highest rate that holds an objective: bisection for answers that are sometimes wrong.

Near its capacity a server holds an objective in one trial and misses it in the next, so plain
bisection follows one unlucky trial to a wrong answer. Here every trial moves a probability instead
(probabilistic bisection). For a capacity c and a spread s, a trial at rate r holds the objective with

    P(holds) = lapse + (1 - 2 lapse) / (1 + (r / c)^(1/s))

c is uniform in the logarithm over the range, s one of `SPREADS`. The next trial goes where it
decides most: to the median of what is believed of c. The interval is the central 95 % of it.

Pure: ask for a rate, run a trial elsewhere, tell whether the objective was held.
"""

from __future__ import annotations

import bisect
import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Literal

from assay.stats.estimates import CONFIDENCE
from assay.values.estimate import Estimate

SPREADS = {0.005: 0.3, 0.02: 0.3, 0.06: 0.25, 0.15: 0.15}
"""Logistic scale of log rate over which holding turns into missing, from sharp to 15 %, and how likely
each is before the first trial."""

LAPSE = 0.02
"""Chance that a trial's answer has nothing to do with its rate (a hiccup of the machine)."""

GRID = 2000
SURE_AT_THE_EDGE = 3
"""Equal answers at an end of the range, without another, that say that capacity lies beyond it."""

_FLAT = 37.0
"""e^-37 is below the rounding of 1: from there on the logistic curve is as flat as it gets."""

SearchState = Literal["searching", "found", "below the range", "above the range"]


@dataclass(frozen=True)
class CapacitySearch:
    """A search in [`lowest_per_s`, `highest_per_s`] until the interval is within `resolution` of its middle.

    `answers` are the trials so far as (rate, held). `first_per_s` starts the search at a guess.
    """

    lowest_per_s: float
    highest_per_s: float
    resolution: float = 0.05
    first_per_s: float | None = None
    answers: tuple[tuple[float, bool], ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for a range that is none."""
        if not 0 < self.lowest_per_s < self.highest_per_s:
            raise ValueError("a capacity search needs 0 < lowest < highest")

    def tell(self, rate_per_s: float, held: bool) -> CapacitySearch:
        """The search after one more trial."""
        return dataclasses.replace(self, answers=(*self.answers, (rate_per_s, held)))

    def ask(self) -> float | None:
        """The rate of the next trial; None when the search is over."""
        if self.state != "searching":
            return None
        if not self.answers and self.first_per_s is not None:
            return min(max(self.first_per_s, self.lowest_per_s), self.highest_per_s)
        rate = self._quantile(0.5)
        # The median never quite reaches an end of the range: ask there once it is the likely answer.
        step = (self.highest_per_s / self.lowest_per_s) ** (1 / GRID)
        near = max(step, 1 + self.resolution)
        if rate > self.highest_per_s / near:
            return self.highest_per_s
        return self.lowest_per_s if rate < self.lowest_per_s * near else rate

    @property
    def state(self) -> SearchState:
        """How the search stands."""
        if self._only(self.highest_per_s, held=True):
            return "above the range"
        if self._only(self.lowest_per_s, held=False):
            return "below the range"
        low, high = self._quantile((1 - CONFIDENCE) / 2), self._quantile((1 + CONFIDENCE) / 2)
        seen_both = len({held for _, held in self.answers}) == 2
        return "found" if seen_both and high / low <= (1 + self.resolution) ** 2 else "searching"

    @property
    def capacity(self) -> Estimate:
        """What is believed of the capacity so far: median and central 95 %."""
        return Estimate(
            value=self._quantile(0.5),
            low=self._quantile((1 - CONFIDENCE) / 2),
            high=self._quantile((1 + CONFIDENCE) / 2),
            n=len(self.answers),
            unit="req/s",
            method="probabilistic bisection, central 95 % of belief",
        )

    def _only(self, rate: float, held: bool) -> bool:
        answers = [answer for told, answer in self.answers if told == rate]
        return len(answers) >= SURE_AT_THE_EDGE and set(answers) == {held}

    def _quantile(self, p: float) -> float:
        """The capacity below which lies `p` of the belief, straight between the points of the grid."""
        up_to = self._belief_up_to
        place = bisect.bisect_left(up_to, p)
        if place in (0, GRID):
            return self.lowest_per_s if place == 0 else self.highest_per_s
        share = (p - up_to[place - 1]) / (up_to[place] - up_to[place - 1])
        step = math.log(self.highest_per_s / self.lowest_per_s) / (GRID - 1)
        return self.lowest_per_s * math.exp((place - 1 + share) * step)

    @cached_property
    def _belief_up_to(self) -> list[float]:
        """The probability of a capacity up to each point of the grid, the spread summed out."""
        told = _log_belief(self.lowest_per_s, self.highest_per_s, self.answers)
        top = max(map(max, told))
        exp = math.exp
        belief = [
            exp(a - top) + exp(b - top) + exp(c - top) + exp(d - top)
            for a, b, c, d in zip(*told, strict=True)
        ]
        whole = math.fsum(belief)
        return [share / whole for share in accumulate(belief)]


Beliefs = tuple[list[float], ...]
"""For each of `SPREADS`, the logarithm of the belief in each capacity of the grid."""


@lru_cache(maxsize=4)
def _log_belief(lowest: float, highest: float, answers: tuple[tuple[float, bool], ...]) -> Beliefs:
    """What is believed after these answers; kept, so that one more answer is one more step."""
    if not answers:
        return tuple([math.log(share)] * GRID for share in SPREADS.values())
    before = _log_belief(lowest, highest, answers[:-1])
    rate, held = answers[-1]
    sign = 1 if held else -1
    away, step = math.log(rate / lowest), math.log(highest / lowest) / (GRID - 1)
    log, exp, share = math.log, math.exp, 1 - 2 * LAPSE
    surely = (log(1 - LAPSE), log(LAPSE))
    told: list[list[float]] = []
    for spread, beliefs in zip(SPREADS, before, strict=True):
        first, by = sign * away / spread, sign * step / spread
        above = [first - by * place for place in range(GRID)]
        told.append(
            [
                belief + (log(LAPSE + share / (1 + exp(x))) if -_FLAT < x < _FLAT else surely[x > 0])
                for belief, x in zip(beliefs, above, strict=True)
            ]
        )
    return tuple(told)
