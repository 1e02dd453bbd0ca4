"""`Finding`: what a verdict rule has to say about a trial, a case, a comparison or the run."""

from __future__ import annotations

from typing import Literal

from assay.values.plan import Value

Severity = Literal["withheld", "flagged", "note"]

Withholds = Literal["nothing", "everything", "times", "percentiles", "comparison"]
"""What a finding takes away: every figure of its subject, its times, its percentiles beyond the
median, the comparison of its two cases, or nothing."""


class Subject(Value, frozen=True, kw_only=True):
    """What a finding is about. Empty fields mean "all of them": no case is the whole run."""

    case: str | None = None
    other_case: str | None = None
    trial: int | None = None


class Finding(Value, frozen=True, kw_only=True):
    """One judgement. `evidence` holds the figures as a sentence; `figures` as numbers.

    `trials` says in how many trials of the subject it was seen (0 where that has no meaning).
    """

    code: str
    severity: Severity
    subject: Subject
    title: str
    evidence: str
    figures: dict[str, float]
    meaning: str
    remedy: str
    source: str
    withholds: Withholds = "nothing"
    trials: int = 0
