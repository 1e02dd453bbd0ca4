"""What an audit's rules remark of a line, and how numbers are written in it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from assay.audit.evidence import Evidence
from assay.audit.interval import Interval
from assay.model.finding import Severity


def number(value: float) -> str:
    """At most four digits that mean something, thousands set apart."""
    if value >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def numbered(value: float, noun: str) -> str:
    """A number with its noun: "1 connection", "1,234 connections"."""
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def between(interval: Interval) -> str:
    """The number as it was printed; both bounds where rounding left much open."""
    if interval.low > 0 and interval.high / interval.low > 1.02:
        return f"{number(interval.low)} to {number(interval.high)}"
    return number(interval.middle)


def percent(share: float) -> str:
    """A share: 0.12 %, 3.4 %, 22 %."""
    return f"{share * 100:.2g} %" if share < 0.1 else f"{share * 100:.0f} %"


def time(seconds: float) -> str:
    """A time in the unit that suits it."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(interval: Interval) -> str:
    """How many times: 1.34."""
    return f"{interval.middle:.3g}"


Takes = Literal["nothing", "everything", "times", "percentiles", "comparison"]
"""What a finding stands against: all figures of a result, its times, its percentiles, a comparison."""


class AuditHit(msgspec.Struct, frozen=True):
    """A rule's answer at one place: where, the words there, and the arithmetic as a sentence.

    `about` are the lines of the results that it stands against; none are all of the text's.
    """

    line: int
    quote: str
    arithmetic: str
    severity: Severity = "warning"
    about: tuple[int, ...] = ()


class _Quoted(Protocol):
    """What stands on a line of the text in some words: a figure, a command, a conclusion."""

    @property
    def line(self) -> int: ...  # noqa: D102 - says it itself
    @property
    def quote(self) -> str: ...  # noqa: D102 - says it itself


def hit_at(figure: _Quoted, words: str, *about: int, severity: Severity = "warning") -> AuditHit:
    """A hit at a figure, or at something else that the text quotes."""
    return AuditHit(figure.line, figure.quote, words, severity, about)


Check = Callable[[Evidence], Iterator[AuditHit]]


class AuditRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A check on what a text shows: words for its reader (`rules/rules.toml`), and one pure function.

    `takes` names the figures that an error or warning stands against. A code that
    `assay.verdict` has for our own runs means the same here.
    """

    code: str
    title: str
    takes: Takes
    remedy: str
    source: str
    once: bool = False
    direction: bool = False
    meaning: str = ""
    check: Check


@cache
def _rule_words() -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / "rules" / "rules.toml").read_text(encoding="utf-8"))


def audit_rule(code: str) -> Callable[[Check], AuditRule]:
    """Make a rule of its check, whose docstring says what it means."""

    def made(check: Check) -> AuditRule:
        meaning = " ".join((check.__doc__ or "").split())
        return AuditRule(code=code, meaning=meaning, check=check, **_rule_words()[code])

    return made


class Remark(AuditHit, frozen=True, kw_only=True):
    """One finding of an audit. `also` are further lines on which the same rule found the same."""

    rule: AuditRule
    also: tuple[int, ...] = ()

    @property
    def code(self) -> str:
        """The code of its rule."""
        return self.rule.code
