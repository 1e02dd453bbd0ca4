"""`Remark`: what a rule of the audit has to say about a line; and the rule itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from assay.audit.evidence import Evidence
from assay.model.finding import Severity

Takes = Literal["nothing", "everything", "times", "percentiles", "comparison"]
"""What a finding stands against: all figures of a result, its times, its percentiles, a comparison."""


@dataclass(frozen=True, slots=True)
class AuditHit:
    """A rule's answer at one place: where, the words there, and the arithmetic as a sentence.

    `about` are the lines of the results that it stands against; none are all of the text's.
    """

    line: int
    quote: str
    arithmetic: str
    severity: Severity = "flagged"
    about: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRule:
    """A check on what a text shows: words for its reader, and one pure function.

    `takes` names the figures that a withheld or flagged finding stands against. Codes that
    METHODOLOGY.md has for our own runs mean the same here.
    """

    code: str
    title: str
    takes: Takes
    meaning: str
    remedy: str
    source: str
    check: Callable[[Evidence], Iterator[AuditHit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One finding of an audit. `also` are further lines on which the same rule found the same."""

    code: str
    title: str
    severity: Severity
    line: int
    quote: str
    arithmetic: str
    meaning: str
    remedy: str
    source: str
    takes: Takes
    about: tuple[int, ...] = ()
    also: tuple[int, ...] = ()
