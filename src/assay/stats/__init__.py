"""Statistics: pure functions on plain sequences and values. No I/O, and nothing of the engine.

Plain Python throughout; the histogram library loads when a function needs it.
"""

from assay.stats.estimates import mean, median, positive_mean, rate_per_s, throughput
from assay.stats.metrics import UNITS, by_block, value_of
from assay.stats.power import (
    POWER,
    smallest_detectable_ratio,
    trials_for_effect,
    trials_for_half_width,
)
from assay.stats.quantiles import Quantile, case_quantile, decode, quantiles, requests_needed
from assay.stats.ranking import holm, shown_faster, tiers
from assay.stats.ratios import NOISE_FLOOR, log_ratios, paired_median_ratio, paired_ratio

__all__ = [
    "NOISE_FLOOR",
    "POWER",
    "UNITS",
    "Quantile",
    "by_block",
    "case_quantile",
    "decode",
    "holm",
    "log_ratios",
    "mean",
    "median",
    "paired_median_ratio",
    "paired_ratio",
    "positive_mean",
    "quantiles",
    "rate_per_s",
    "requests_needed",
    "shown_faster",
    "smallest_detectable_ratio",
    "throughput",
    "tiers",
    "trials_for_effect",
    "trials_for_half_width",
    "value_of",
]
