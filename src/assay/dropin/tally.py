"""Values and how often each occurred: what the tools' statistics are made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.model.measurement import Histogram


@dataclass(frozen=True)
class Tally:
    """Distinct values in ascending order, each with its count. `low` and `high` are the extremes seen."""

    counts: Sequence[tuple[int, int]]
    low: int
    high: int

    @classmethod
    def of(cls, values: Iterable[int]) -> Tally:
        """Count plain values."""
        counts = sorted(Counter(values).items())
        return cls(counts, counts[0][0] if counts else 0, counts[-1][0] if counts else 0)

    @property
    def total(self) -> int:
        """How many values there are, equal ones counted."""
        return sum(count for _, count in self.counts)

    @property
    def mean(self) -> float:
        """The arithmetic mean; 0 where there is nothing."""
        total = self.total
        return sum(value * count for value, count in self.counts) / total if total else 0.0

    @property
    def stdev(self) -> float:
        """The standard deviation of the sample (n - 1); 0 with fewer than two values."""
        total = self.total
        if total < 2:
            return 0.0
        mean = self.mean
        return math.sqrt(sum((value - mean) ** 2 * count for value, count in self.counts) / (total - 1))

    def share_within(self, low: float, high: float) -> float:
        """The share of the values in [low, high]; not a number where there is nothing."""
        total = self.total
        inside = sum(count for value, count in self.counts if low <= value <= high)
        return inside / total if total else math.nan

    def at_rank(self, rank: int) -> int:
        """The value at a rank counted from 1, from the smallest; 0 beyond the last."""
        for value, count in self.counts:
            rank -= count
            if rank <= 0:
                return value
        return 0


def tally_us(times: Histogram) -> Tally:
    """The engine's times in whole microseconds.

    The engine keeps three significant digits; its smallest and largest are exact.
    """
    from assay.stats.quantiles import decode

    low, high = times.min_ns // 1000, times.max_ns // 1000
    counts: Counter[int] = Counter()
    if times.count:
        for item in decode(times).get_recorded_iterator():
            middle_ns = item.value_iterated_to * times.unit_ns
            counts[min(max(middle_ns // 1000, low), high)] += item.count_added_in_this_iter_step
    return Tally(sorted(counts.items()), low, high)
