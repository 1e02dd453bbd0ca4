"""How figures are written in the sentences of rules: as everywhere else."""

from __future__ import annotations

from assay import quantities
from assay.quantities import counted, rate
from assay.quantities import share as percent
from assay.quantities import time as duration

__all__ = ["counted", "duration", "exact_duration", "exact_percent", "percent", "rate"]


def exact_percent(share: float) -> str:
    """A share that was set: "5 %"."""
    return quantities.share(share, exact=True)


def exact_duration(ns: float) -> str:
    """A time that was set: "10 s"."""
    return quantities.time(ns, exact=True)
