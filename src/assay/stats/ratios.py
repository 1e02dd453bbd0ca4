"""Ratios of two cases, paired by block.

Each block presents every case once, so the machine's state at that time is in both values of a
pair and cancels in their ratio. On the logarithmic scale A/B and B/A are the same distance from 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.stats.estimates import exponentiated, mean, median
from assay.values.estimate import Estimate

NOISE_FLOOR = 0.01
"""Differences below 1 % are never claimed, however sure: code layout alone moves as much
(Mytkowicz et al.)."""

Blocks = Mapping[int, float]
"""One value for each block of a case."""


def log_ratios(a: Blocks, b: Blocks) -> list[float]:
    """ln(a/b) for each block that holds a positive value of both."""
    common = sorted(block for block in a.keys() & b.keys() if a[block] > 0 and b[block] > 0)
    return [math.log(a[block] / b[block]) for block in common]


def paired_ratio(a: Blocks, b: Blocks) -> Estimate | None:
    """a/b with the t interval on its paired log ratios; None without a common block."""
    logs = mean(log_ratios(a, b), "ratio")
    return logs and exponentiated(logs, "ratio", "t interval on log ratios, paired by block")


def paired_median_ratio(a: Blocks, b: Blocks) -> Estimate | None:
    """The median of the paired ratios with its order-statistic interval (6 blocks or more)."""
    return median([math.exp(value) for value in log_ratios(a, b)], "ratio")
