"""The rules of the audit: one small pure function each, like those of `assay.verdict`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.audit.finding import AuditRule
from assay.audit.rules import constraints, fairness, load, reporting, runs, samples

_ALL: tuple[AuditRule, ...] = (
    load.A1,
    load.A2,
    load.A3,
    runs.A4,
    load.G3,
    load.G8,
    constraints.M1,
    constraints.M2,
    constraints.M3,
    samples.M5,
    load.W2,
    load.W3,
    fairness.W6,
    fairness.W7,
    samples.S1,
    samples.S2,
    runs.S5,
    samples.S7,
    samples.D3,
    reporting.R1,
    reporting.R2,
    reporting.R3,
    reporting.R4,
    runs.R5,
    reporting.R6,
    reporting.R7,
    reporting.R8,
    runs.R9,
    reporting.R10,
)

AUDIT_RULES: Mapping[str, AuditRule] = MappingProxyType({rule.code: rule for rule in _ALL})
"""Every rule of the audit by its code."""
