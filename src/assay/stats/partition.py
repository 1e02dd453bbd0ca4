"""The best cut of a series into stretches of one level each.

Optimal partitioning (Jackson et al. 2005; the objective of PELT): over all cuts, the least of

    sum over stretches of the squared deviations from the stretch's mean  +  penalty * stretches

With F(t) the least for the first t values and C(s, t) the squared deviations of values s to t,

    F(t) = min over s of  F(s) + C(s, t) + penalty

Our own, because the library that has it takes as long to import as a million requests to send.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

SHORTEST = 2
"""One value alone is no level."""


def partition(series: Sequence[float], penalty: float) -> list[int]:
    """The ends of the stretches, the last of which is the series' own; quadratic in its length.

    A thousand values take some 80 ms. PELT's pruning would save nothing: it drops a start only once a
    change lies behind it, and the usual series has none.
    """
    n = len(series)
    # About the mean: squares of large numbers would swallow the differences between them.
    mean = math.fsum(series) / n
    sums = [0.0, *accumulate(value - mean for value in series)]
    # The squares of the values are in every cut alike; what is left of C(s, t) is -(sum)^2 / length.
    least = [-penalty, *[math.inf] * (SHORTEST - 1)]
    before = [0] * (n + 1)
    for end in range(SHORTEST, n + 1):
        here, lengths = sums[end], range(end, SHORTEST - 1, -1)
        whole = [
            cost - (here - s) ** 2 / length for cost, s, length in zip(least, sums, lengths, strict=False)
        ]
        best = min(whole)
        before[end] = whole.index(best)
        least.append(best + penalty)
    ends = [n]
    while before[ends[-1]] > 0:
        ends.append(before[ends[-1]])
    return ends[::-1]
