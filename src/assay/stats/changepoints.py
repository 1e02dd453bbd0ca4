"""Changes of level in a series: of a load's throughput, or of a history (one figure a run, months of runs).

The best cut of a series into stretches of one level each is optimal partitioning (Jackson et al. 2005; the
objective of PELT): over all cuts, the least of

    sum over stretches of the squared deviations from the stretch's mean  +  penalty * stretches

With F(t) the least for the first t values and C(s, t) the squared deviations of values s to t,

    F(t) = min over s of  F(s) + C(s, t) + penalty

Our own, because the library that has it takes as long to import as a million requests to send.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from statistics import median

MAD_TO_DEVIATION = 1.4826
"""What makes the median absolute deviation of a normal distribution its standard deviation."""
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


FEWEST = 6
"""Below this many runs a change cannot be told from noise."""

PENALTY = 6.0
"""Times ln n, in noise variances: the penalty that the steady-state rule uses too."""

MINIMUM_EFFECT = 0.01
"""Runs of one program on one machine differ by 1 % without a reason (code layout, placement)."""


def level_changes(values: Sequence[float]) -> list[int]:
    """The indices at which a new level begins, oldest value first; positive values only.

    Exact segmentation with a squared-error cost on the logarithms, so that a change is a
    ratio. Noise is estimated from neighbours' differences, which a change of level touches once.
    """
    if len(values) < FEWEST or min(values) <= 0:
        return []
    logs = [math.log(value) for value in values]
    steps = [abs(after - before) for before, after in zip(logs, logs[1:], strict=False)]
    noise = max(MAD_TO_DEVIATION * median(steps) / math.sqrt(2), MINIMUM_EFFECT)
    return partition([value / noise for value in logs], PENALTY * math.log(len(values)))[:-1]
