"""The rules of the audit: one small pure function each, like those of `assay.verdict`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.audit.finding import AuditRule
from assay.audit.rules import constraints, fairness, load, reporting, runs, samples

_ALL = [
    each
    for module in (constraints, fairness, load, reporting, runs, samples)
    for each in vars(module).values()
    if isinstance(each, AuditRule)
]

AUDIT_RULES: Mapping[str, AuditRule] = MappingProxyType(
    {
        rule.code: rule
        for rule in sorted(_ALL, key=lambda rule: ("AGMWSDR".index(rule.code[0]), int(rule.code[1:])))
    }
)
"""Every rule of the audit by its code."""
