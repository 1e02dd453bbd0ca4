"""The best cut of a series into stretches of one level each.

Optimal partitioning (Jackson et al. 2005; the objective of PELT): over all cuts, the least of

    sum over stretches of the squared deviations from the stretch's mean  +  penalty * stretches

With F(t) the least for the first t values and C(s, t) the squared deviations of values s to t,

    F(t) = min over s of  F(s) + C(s, t) + penalty

Our own, because the library that has it takes as long to import as a million requests to send.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHORTEST = 2
"""One value alone is no level."""


def partition(series: NDArray[np.float64], penalty: float) -> list[int]:
    """The ends of the stretches, the last of which is the series' own; quadratic in its length."""
    import numpy as np

    n = len(series)
    # About the mean: squares of large numbers would swallow the differences between them.
    sums = np.concatenate([[0.0], np.cumsum(series - np.mean(series))])
    # The squares of the values are in every cut alike; what is left of C(s, t) is -(sum)^2 / length.
    least = np.full(n + 1, np.inf)
    least[0] = -penalty
    before = np.zeros(n + 1, dtype=np.int64)
    starts = np.arange(n + 1)
    for end in range(SHORTEST, n + 1):
        until = end - SHORTEST + 1
        whole = least[:until] - (sums[end] - sums[:until]) ** 2 / (end - starts[:until])
        before[end] = int(np.argmin(whole))
        least[end] = whole[before[end]] + penalty
    ends = [n]
    while before[ends[-1]] > 0:
        ends.append(int(before[ends[-1]]))
    return ends[::-1]
