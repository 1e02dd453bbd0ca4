"""Changes of level in a history: one figure a run, months of runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from assay.stats.partition import partition

FEWEST = 6
"""Below this many runs a change cannot be told from noise."""

PENALTY = 6.0
"""Times ln n, in noise variances: the penalty that the steady-state rule uses too."""

MINIMUM_EFFECT = 0.01
"""Runs of one program on one machine differ by 1 % without a reason (code layout, placement)."""

_MAD_TO_DEVIATION = 1.4826


def level_changes(values: Sequence[float]) -> list[int]:
    """The indices at which a new level begins, oldest value first; positive values only.

    Exact segmentation with a squared-error cost on the logarithms, so that a change is a
    ratio. Noise is estimated from neighbours' differences, which a change of level touches once.
    """
    if len(values) < FEWEST or min(values) <= 0:
        return []
    logs = [math.log(value) for value in values]
    steps = [abs(after - before) for before, after in zip(logs, logs[1:], strict=False)]
    noise = max(_MAD_TO_DEVIATION * statistics.median(steps) / math.sqrt(2), MINIMUM_EFFECT)
    return partition([value / noise for value in logs], PENALTY * math.log(len(values)))[:-1]
