"""`Report`: all that is said of a run, settled once; and its findings, grouped by rule and severity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from assay.core import units as fmt
from assay.model.finding import Effect, Finding, Severity, Subject
from assay.report.document import FindingGroup, FindingSubject
from assay.verdict import RULES


class Answer(msgspec.Struct, frozen=True):
    """The answer in at most three lines (`headline`), how sure it is and what limits it (`more`), and what to
    do where it is open (`advice`)."""

    headline: tuple[str, ...]
    more: tuple[str, ...] = ()
    advice: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of it, in the order in which a reader asks."""
        return (*self.headline, *self.more, *filter(None, (self.advice,)))


ORDER: tuple[Severity, ...] = ("error", "warning", "note")
_NAMED = 3
"""How many subjects are named before a remedy that is theirs alone."""

_ON_THROUGHPUT: dict[Effect, str] = {
    "void": "its throughput is no result and has no place",
    "at least": "its throughput is at least what was measured",
    "at most": "its throughput is at most what was measured",
    "wider": "its interval is wider",
    "one way": "its throughput holds in one direction",
    "unknown": "not known to this version: ranked with this mark",
}
_ON_TIMES: dict[Effect, str] = {
    "void": "its times are not shown",
    "at least": "its times are at least what was measured",
    "at most": "its times are at most what was measured",
}
_ON_COMPARISON: dict[Effect, str] = {
    "void": "the two are not compared",
    "at least": "paired comparisons hold, as the least distance of the two",
    "none": "paired comparisons hold",
}


def groups(findings: Iterable[Finding], name_of: Callable[[str], str] = str) -> tuple[FindingGroup, ...]:
    """The findings of each rule that do the same, gravest first.

    `name_of` turns a case's id into the name that the reader knows it by.
    """
    found: dict[tuple[object, ...], list[Finding]] = {}
    for one in findings:
        key = (one.severity, one.code, one.on_throughput, one.on_times, one.on_comparison)
        found.setdefault(key, []).append(one)
    made = [_group(each, name_of) for each in found.values()]
    return tuple(sorted(made, key=lambda group: (ORDER.index(group.severity), group.code)))


def _group(found: Sequence[Finding], name_of: Callable[[str], str]) -> FindingGroup:
    first = found[0]
    return FindingGroup(
        code=first.code,
        severity=first.severity,
        title=fmt.safe(first.title),
        effect=effect_words(found),
        source=fmt.safe(first.source),
        subjects=tuple(_subject(one, name_of) for one in found),
        meanings=_texts([(one, one.meaning) for one in found], name_of),
        remedies=_texts([(one, one.remedy) for one in found], name_of),
    )


def _subject(one: Finding, name_of: Callable[[str], str]) -> FindingSubject:
    about = (one.subject.case, one.subject.other_case)
    return FindingSubject(
        subject=fmt.safe(subject_words(one.subject, name_of), 200),
        evidence=fmt.safe(one.evidence, 500),
        cases=tuple(case for case in about if case is not None),
    )


def _texts(told: Sequence[tuple[Finding, str]], name_of: Callable[[str], str]) -> tuple[str, ...]:
    """Each text once; where there are several, each after those it is said of."""
    texts: dict[str, list[str]] = {}
    for one, text in told:
        texts.setdefault(text, []).append(subject_words(one.subject, name_of))
    if len(texts) == 1:
        return (fmt.safe(told[0][1], 1000),)
    return tuple(fmt.safe(_for(subjects) + text, 1200) for text, subjects in texts.items())


def _for(subjects: Sequence[str]) -> str:
    names = [subject for subject in dict.fromkeys(subjects) if subject]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}: " if names else ""


def effect_words(found: Sequence[Finding]) -> str:
    """What findings that do the same did to the answer."""
    first = found[0]
    said = [_ON_THROUGHPUT[first.on_throughput]] if first.on_throughput != "none" else []
    factors = sorted({one.at_most_times for one in found if one.at_most_times is not None})
    if factors:
        most = " – ".join(dict.fromkeys(fmt.times(factor) for factor in (factors[0], factors[-1])))
        said.append(f"and ≤ {most}× what was measured")
    least = [one.figures["at_least_times"] for one in found if "at_least_times" in one.figures]
    if least:
        said.append(f"and ≥ {fmt.share(min(least))} of it")
    if first.on_comparison is not None:
        said.append(_on_comparison(first, first.on_comparison))
    if first.on_times != "none":
        said.append(_ON_TIMES.get(first.on_times, f"its times are {first.on_times}"))
    told = "; ".join(said).replace("; and ", ", and ")
    return told or first.because or "none: shown and marked"


def _on_comparison(one: Finding, effect: Effect) -> str:
    if effect == "wider" and "moved" in one.figures:
        return "the ratio of the two is that of the last four fifths of slices, and is widened by it"
    if effect == "wider" and "times" in one.figures:
        times = one.figures["times"]
        return f"the ratio of the two is known to a factor of {times:.3g} towards who sends more"
    if effect == "wider":
        return ("every ratio" if one.subject.case is None else "the ratio of the two") + " is widened by it"
    if effect == "one way":
        known = RULES[one.code].effects if one.code in RULES else ()
        way = next((effects.way for effects in known if effects.way), one.because)
        return f"the comparison holds in one direction: {way}"
    return _ON_COMPARISON.get(effect, "what it does to comparisons is not known")


def subject_words(subject: Subject, name_of: Callable[[str], str] = str) -> str:
    """Say what a finding is about; empty where it is about everything."""
    words = name_of(subject.case) if subject.case is not None else ""
    if subject.other_case is not None:
        words = f"{words} against {name_of(subject.other_case)}"
    if subject.trial is not None:
        words = f"{words}, trial {subject.trial}".removeprefix(", ")
    return words
