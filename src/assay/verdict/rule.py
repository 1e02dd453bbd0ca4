"""What a verdict rule is: its words, its thresholds, and one small pure function.

A rule looks at one of four things, which its class says: a trial, a case, a pair of cases that
are compared, or the whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from assay.values.finding import Finding, Severity, Subject, Withholds
from assay.verdict.seen import CaseSeen, Load, RunSeen

Limits = Mapping[str, float]
"""The thresholds of one rule by name, as they hold for this run."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A named number that a study may set, with a reason."""

    name: str
    value: float
    unit: Literal["share", "ratio", "ns", "count"]
    meaning: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule's answer where it applies: how grave, and the figures as a sentence and as numbers.

    Of several hits of one rule on one case, the one with the highest `gravity` speaks for all.
    `about` narrows or widens what the rule is about, where that depends on the figures.
    """

    severity: Severity
    evidence: str
    figures: dict[str, float] = field(default_factory=dict)
    gravity: float = 0.0
    remedy: str = ""
    about: Withholds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Everything there is to say about a rule; subclasses add its `check`.

    `about` names the figures that a finding concerns: *withheld* takes them away, *flagged* marks
    them. `exempt` are the roles of cases that the rule has nothing to say about. A `shared` rule
    speaks of a cause that the cases have in common: when it meets all of them, it says so once.
    A `passing` rule speaks of disturbances that come and go: one odd trial among many is a note.
    An `understating` rule means that the true throughput is at least what was measured.
    """

    code: str
    title: str
    severities: tuple[Severity, ...]
    about: Withholds = "everything"
    thresholds: tuple[Threshold, ...] = ()
    meaning: str
    remedy: str
    source: str
    example: str
    exempt: frozenset[str] = frozenset()
    shared: bool = False
    passing: bool = False
    understating: bool = False

    @property
    def withholds(self) -> Withholds:
        """What its gravest finding takes away."""
        return self.about if "withheld" in self.severities else "nothing"

    @property
    def limits(self) -> dict[str, float]:
        """The default thresholds by name."""
        return {threshold.name: threshold.value for threshold in self.thresholds}

    def finding(self, subject: Subject, hit: Hit, trials: int = 0) -> Finding:
        """The finding that this rule's `hit` on `subject` makes."""
        return Finding(
            code=self.code,
            severity=hit.severity,
            subject=subject,
            title=self.title,
            evidence=hit.evidence,
            figures=hit.figures,
            meaning=self.meaning,
            remedy=hit.remedy or self.remedy,
            source=self.source,
            withholds=(hit.about or self.about) if hit.severity == "withheld" else "nothing",
            trials=trials,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRule(Rule):
    """Judges one load: a trial of a study, `assay load`, or another tool's output."""

    check: Callable[[Load, Limits], Hit | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRule(Rule):
    """Judges a case by all its trials, within its run."""

    check: Callable[[CaseSeen, RunSeen, Limits], Hit | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRule(Rule):
    """Judges whether two cases may be compared."""

    check: Callable[[CaseSeen, CaseSeen, Limits], Hit | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRule(Rule):
    """Judges the run as a whole."""

    check: Callable[[RunSeen, Limits], Iterator[tuple[Subject, Hit]]]
