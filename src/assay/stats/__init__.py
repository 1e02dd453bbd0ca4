"""Statistics: pure functions on plain sequences and values. No I/O, nothing of the engine but its reader of
histograms, which loads when a function needs it. Plain Python throughout.
"""

from assay.stats.estimates import kept_per_s, mean, positive_mean, rate_per_s, throughput
from assay.stats.quantiles import (
    UNITS,
    Quantile,
    by_block,
    case_quantile,
    quantiles,
    recorded,
    requests_needed,
    spectrum,
    value_of,
)
from assay.stats.ranking import holm, ranks, shown_faster
from assay.stats.sequential import MINIMUM_EFFECT, trials_for_half_width

__all__ = [
    "MINIMUM_EFFECT",
    "UNITS",
    "Quantile",
    "by_block",
    "case_quantile",
    "holm",
    "kept_per_s",
    "mean",
    "positive_mean",
    "quantiles",
    "recorded",
    "rate_per_s",
    "requests_needed",
    "shown_faster",
    "spectrum",
    "throughput",
    "ranks",
    "trials_for_half_width",
    "value_of",
]
