"""Findings in words: what was seen, what it means, what to do; each rule said once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.report.format import safe, times
from assay.report.style import FAINT, HEADING, SEVERITY_MARK, SEVERITY_ORDER, SEVERITY_STYLE
from assay.values.finding import Effect, Finding, Severity, Subject

MOST_SUBJECTS = 6
"""How many subjects of one finding are named before the rest is counted."""


@dataclass
class Grouped:
    """Findings of one rule that say the same thing about several subjects."""

    first: Finding
    subjects: list[tuple[str, str]] = field(default_factory=list)
    """Subject and evidence."""

    @property
    def code(self) -> str:
        """The rule."""
        return self.first.code

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        return self.first.severity


def grouped(findings: Iterable[Finding], name_of: Callable[[str], str] = str) -> list[Grouped]:
    """Put together what one rule says in the same words; gravest first.

    `name_of` turns a case's id into the name that the reader knows it by.
    """
    groups: dict[tuple[str, ...], Grouped] = {}
    for finding in findings:
        words = (finding.title, finding.meaning, finding.remedy, effect_words(finding))
        key = (finding.severity, finding.code, *words)
        group = groups.setdefault(key, Grouped(finding))
        group.subjects.append((subject_words(finding.subject, name_of), finding.evidence))
    return sorted(groups.values(), key=lambda group: (SEVERITY_ORDER.index(group.severity), group.code))


def effect_words(finding: Finding) -> str:
    """What a finding did to the answer."""
    said = [_ON_THROUGHPUT[finding.on_throughput]] if finding.on_throughput != "none" else []
    if finding.at_most_times is not None:
        said.append(f"and at most {times(finding.at_most_times)} times what was measured")
    if finding.on_comparison is not None:
        said.append(_ON_COMPARISON.get(finding.on_comparison, "what it does to comparisons is not known"))
    if finding.on_times != "none":
        said.append("its times are " + ("not shown" if finding.on_times == "void" else finding.on_times))
    return "; ".join(said).replace("; and at most", ", and at most") or "none: shown and marked"


_ON_THROUGHPUT: dict[Effect, str] = {
    "void": "its throughput is no result and has no place",
    "at least": "its throughput is at least what was measured",
    "at most": "its throughput is at most what was measured",
    "wider": "its interval is wider",
    "one way": "its throughput holds in one direction",
    "unknown": "not known to this version: ranked with this mark",
}
_ON_COMPARISON: dict[Effect, str] = {
    "void": "the two are not compared",
    "one way": "the comparison holds in one direction: who sends more and is faster all the same, is faster",
    "at least": "paired comparisons hold, as the least distance of the two",
    "wider": "every ratio is widened by it",
    "none": "paired comparisons hold",
}


def subject_words(subject: Subject, name_of: Callable[[str], str] = str) -> str:
    """Say what a finding is about; empty where it is about everything."""
    words = name_of(subject.case) if subject.case is not None else ""
    if subject.other_case is not None:
        words = f"{words} against {name_of(subject.other_case)}"
    if subject.trial is not None:
        words = f"{words}, trial {subject.trial}".removeprefix(", ")
    return words


def in_words(findings: Iterable[Finding], name_of: Callable[[str], str] = str) -> RenderableType:
    """Render the findings for a terminal."""
    parts: list[RenderableType] = []
    for group in grouped(findings, name_of):
        first = group.first
        style = SEVERITY_STYLE[group.severity]
        mark = f"{SEVERITY_MARK[group.severity]} {group.code} {group.severity}"
        head = Text.assemble(
            (mark, style),
            "  ",
            (safe(first.title), HEADING),
        )
        if group.severity == "note":
            parts.append(_in_short(head, group))
            continue
        body = Table.grid(padding=(0, 2, 0, 0), expand=True)
        body.add_column(style=FAINT, no_wrap=True)
        body.add_column(overflow="fold", ratio=1)
        for label, text in _said(group):
            body.add_row(label, text)
        parts += [head, Padding(body, (0, 0, 1, 2))]
    return Group(*parts)


def _in_short(head: Text, group: Grouped) -> RenderableType:
    """A note stands in no figure's way: one line, and `assay explain` has the rest."""
    subjects = [subject for subject, _ in group.subjects if subject]
    about = ", ".join(subjects[:MOST_SUBJECTS]) or group.subjects[0][1]
    more = f" and {len(subjects) - MOST_SUBJECTS} more" if len(subjects) > MOST_SUBJECTS else ""
    return Text.assemble(head, (f": {safe(about + more)}", FAINT))


def _said(group: Grouped) -> Iterable[tuple[str, str]]:
    shown = group.subjects[:MOST_SUBJECTS]
    for number, (subject, evidence) in enumerate(shown):
        text = f"{safe(subject)}: {safe(evidence)}" if subject else safe(evidence)
        yield ("seen" if number == 0 else "", text)
    if len(group.subjects) > len(shown):
        yield "", f"and {len(group.subjects) - len(shown)} more"
    yield "effect", effect_words(group.first)
    yield "means", safe(group.first.meaning, 1000)
    yield "do", safe(group.first.remedy, 1000)
