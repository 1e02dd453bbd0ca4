"""Scales: from values to pixels, with ticks at round values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 5.0)
_LINEAR_BELOW = 4.0
"""Up to this ratio of its ends the ticks of a logarithmic scale are evenly spaced values."""


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` onto pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of `value`; of values beyond the ends, the end."""
        held = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(held / self.low) / math.log(self.high / self.low)
        else:
            share = (held - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """At most about so many round values."""
        if not self.log or self.high / self.low < _LINEAR_BELOW:
            return list(_even(self.low, self.high, most))
        for steps in (_STEPS, (1.0, 3.0), (1.0,)):
            found = list(_by_decades(self.low, self.high, steps))
            if len(found) <= most:
                return found if len(found) > 1 else list(_even(self.low, self.high, most))
        apart = -(-len(found) // max(1, most))
        return found[::apart]


def linear(values: Iterable[float], start: float, end: float) -> Scale:
    """From zero to a little above the largest value."""
    return Scale(0.0, 1.04 * max(values, default=0.0) or 1.0, start, end)


def logarithmic(values: Iterable[float], start: float, end: float) -> Scale:
    """Over the values that are above zero, with a little room at both ends."""
    known = [value for value in values if value > 0] or [1.0]
    low, high = min(known), max(known)
    room = max((high / low) ** 0.06, 1.01 if high > 1.03 * low else 1.06)
    return Scale(low / room, high * room, start, end, log=True)


def _even(low: float, high: float, most: int) -> Iterator[float]:
    rough = (high - low) / max(1, most)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((size * times for times in (1, 2, 5, 10) if size * times >= rough), 10 * size)
    first = math.ceil(low / step - 1e-9)
    for place in range(first, math.floor(high / step + 1e-9) + 1):
        yield place * step


def _by_decades(low: float, high: float, steps: tuple[float, ...]) -> Iterator[float]:
    for decade in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for step in steps:
            if low <= step * 10.0**decade <= high:
                yield step * 10.0**decade
