"""`Finding`: what a verdict rule has to say about a trial, a case, a comparison or the run."""

from __future__ import annotations

from typing import Literal

from assay.values.plan import Value

Severity = Literal["withheld", "flagged", "note"]


class Subject(Value):
    """What a finding is about. Empty fields mean "all of them": no case is the whole run."""

    case: str | None = None
    other_case: str | None = None
    trial: int | None = None


class Finding(Value):
    """One judgement. `evidence` holds the figures as a sentence; `figures` as numbers."""

    code: str
    severity: Severity
    subject: Subject
    title: str
    evidence: str
    figures: dict[str, float]
    meaning: str
    remedy: str
    source: str
