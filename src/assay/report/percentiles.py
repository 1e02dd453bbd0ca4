"""Which percentiles are shown, how they are called, and when a finding takes them away."""

from __future__ import annotations

from collections.abc import Iterable

from assay.values.finding import Finding

PERCENTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


def percentile_name(p: float) -> str:
    """Name a quantile as a percentile: 0.999 is p99.9."""
    return f"p{100 * p:.10g}"


def is_withheld(findings: Iterable[Finding], *what: str) -> bool:
    """Whether a finding takes these figures (or everything) away."""
    return any(finding.withholds in ("everything", *what) for finding in findings)
