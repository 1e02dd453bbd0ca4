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

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from assay.stats.estimates import CONFIDENCE
from assay.values.estimate import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Belief = NDArray[np.float64]

SPREADS = {0.005: 0.3, 0.02: 0.3, 0.06: 0.25, 0.15: 0.15}
"""Logistic scale of log rate over which holding turns into missing, from sharp to 15 %, and how likely
each is before the first trial."""

LAPSE = 0.02
"""Chance that a trial's answer has nothing to do with its rate (a hiccup of the machine)."""

GRID = 2000
SURE_AT_THE_EDGE = 3
"""Equal answers at an end of the range, without another, that say that capacity lies beyond it."""

Outcome = Literal["searching", "found", "below the range", "above the range"]


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
        if self.outcome != "searching":
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
    def outcome(self) -> Outcome:
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
        import numpy as np

        log_rates, belief = self._belief
        return math.exp(float(np.interp(p, np.cumsum(belief), log_rates)))

    @cached_property
    def _belief(self) -> tuple[Belief, Belief]:
        """The grid of log capacities and the probability of each, the spread summed out."""
        import numpy as np

        log_rates = np.linspace(math.log(self.lowest_per_s), math.log(self.highest_per_s), GRID)
        spreads = np.array(list(SPREADS))[:, None]
        log_belief = np.log(np.array(list(SPREADS.values())))[:, None] + np.zeros(GRID)
        for rate, held in self.answers:
            above = np.clip((math.log(rate) - log_rates[None, :]) / spreads, -50, 50)
            holds = LAPSE + (1 - 2 * LAPSE) / (1 + np.exp(above))
            log_belief += np.log(holds if held else 1 - holds)
        belief = np.exp(log_belief - log_belief.max()).sum(axis=0)
        return log_rates, belief / belief.sum()
