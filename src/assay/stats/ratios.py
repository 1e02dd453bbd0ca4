"""Ratios of two cases, paired by block.

Each block presents every case once, so the machine's state at that time is in both values of a
pair and cancels in their ratio. On the logarithmic scale A/B and B/A are the same distance from 1.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import NamedTuple

from assay.stats.estimates import exponentiated, mean, median
from assay.values.estimate import Estimate

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


class PairedTest(NamedTuple):
    """Whether two cases differ: the two-sided p value of "no difference" and the ratio seen."""

    p_value: float
    ratio: float


def paired_test(a: Blocks, b: Blocks) -> PairedTest | None:
    """Paired t test of the log ratios; None with fewer than two common blocks."""
    logs = log_ratios(a, b)
    n = len(logs)
    if n < 2:
        return None
    centre, deviation = statistics.fmean(logs), statistics.stdev(logs)
    if deviation == 0:  # only constructed data get here: a difference without noise is certain
        return PairedTest(0.0 if centre else 1.0, math.exp(centre))
    from scipy.special import stdtr

    t = centre / (deviation / math.sqrt(n))
    return PairedTest(float(2 * stdtr(n - 1, -abs(t))), math.exp(centre))
