"""What findings mean for a case: which of its figures are results, and whether it bears the hallmark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from assay.values.finding import Finding, Withholds
from assay.verdict.registry import RULES

Figures = Literal["everything", "times", "percentiles"]

_TAKEN_BY: dict[Figures, frozenset[str]] = {
    "everything": frozenset({"everything"}),
    "times": frozenset({"everything", "times"}),
    "percentiles": frozenset({"everything", "times", "percentiles"}),
}


def concerning(findings: Iterable[Finding], case: str) -> tuple[Finding, ...]:
    """The findings about this case, alone or with all others; not those about a pair."""
    return tuple(
        finding
        for finding in findings
        if finding.subject.other_case is None and finding.subject.case in (None, case)
    )


def withheld(findings: Iterable[Finding], case: str, figures: Figures = "everything") -> bool:
    """Whether these figures of the case are no results."""
    return any(finding.withholds in _TAKEN_BY[figures] for finding in concerning(findings, case))


def understated_by(findings: Iterable[Finding], case: str) -> tuple[str, ...]:
    """Codes that withhold the case's throughput, if each means that it can only be too low.

    Empty where nothing withholds it, and where something else does too.
    """
    taking = [finding.code for finding in concerning(findings, case) if finding.withholds == "everything"]
    known = all(code in RULES and RULES[code].understating for code in taking)
    return tuple(dict.fromkeys(taking)) if known else ()


def comparison_withheld(findings: Iterable[Finding], a: str, b: str) -> bool:
    """Whether the two cases may not be compared (whatever each alone is worth)."""
    return any(finding.withholds == "comparison" for finding in between(findings, a, b))


def between(findings: Iterable[Finding], a: str, b: str) -> tuple[Finding, ...]:
    """The findings about the comparison of these two cases."""
    pair = {a, b}
    return tuple(f for f in findings if {f.subject.case, f.subject.other_case} == pair)


def unranked_by(findings: Iterable[Finding], case: str) -> tuple[str, ...]:
    """Codes of the findings that keep a case's throughput out of the ranking.

    What is about times alone (a wrong mean, a tail from a closed loop) does not.
    """
    return tuple(
        dict.fromkeys(
            finding.code
            for finding in concerning(findings, case)
            if finding.withholds == "everything"
            or (finding.severity == "flagged" and _about(finding) in ("everything", "comparison"))
        )
    )


def _about(finding: Finding) -> Withholds:
    """A code that this version does not know is taken to be about everything."""
    rule = RULES.get(finding.code)
    return rule.about if rule else "everything"


def hallmark(findings: Iterable[Finding], case: str) -> bool:
    """Whether nothing above a note was found about the case."""
    return all(finding.severity == "note" for finding in concerning(findings, case))
