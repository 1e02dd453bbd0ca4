"""Which percentiles are shown, how they are called, and when findings of a load take figures away."""

from __future__ import annotations

from collections.abc import Iterable

from assay import verdict
from assay.model.estimate import Estimate, Known
from assay.model.finding import Finding
from assay.model.measurement import Measurement
from assay.model.plan import LoadPlan
from assay.stats import kept_per_s
from assay.verdict.effects import Bounded, Figures

PERCENTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


def percentile_name(p: float) -> str:
    """Name a quantile as a percentile: 0.999 is p99.9."""
    return f"p{100 * p:.10g}"


def is_withheld(findings: Iterable[Finding], figures: Figures = "throughput") -> bool:
    """Whether these figures of a load are no results. Its findings name no case."""
    return verdict.withheld(findings, "", figures)


def known_throughput(plan: LoadPlan, measured: Measurement, findings: Iterable[Finding]) -> Known | None:
    """What is known of a load's throughput; None where nothing was measured. One load has no interval:
    without a limit both ends are open."""
    rate = kept_per_s(plan, measured)
    return None if rate is None else _known(rate, "req/s", verdict.bounded(findings, ""))


def known_time(ns: float, findings: Iterable[Finding]) -> Known:
    """What is known of one of a load's times."""
    return _known(ns, "ns", verdict.bounded(findings, "", "times"))


def _known(value: float, unit: str, left: Bounded) -> Known:
    alone = Estimate(value=value, low=None, high=None, n=1, unit=unit, method="one load")
    found = verdict.known(alone, left)
    assert found is not None  # there is a value
    return found
