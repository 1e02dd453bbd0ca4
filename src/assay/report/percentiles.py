"""Which percentiles are shown, how they are called, and when findings of a load take figures away."""

from __future__ import annotations

from collections.abc import Iterable

from assay import verdict
from assay.values.finding import Finding
from assay.verdict.effects import Figures

PERCENTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


def percentile_name(p: float) -> str:
    """Name a quantile as a percentile: 0.999 is p99.9."""
    return f"p{100 * p:.10g}"


def is_withheld(findings: Iterable[Finding], figures: Figures = "everything") -> bool:
    """Whether these figures of a load are no results. Its findings name no case."""
    return verdict.withheld(findings, "", figures)
