"""Findings on a terminal: what was seen, what it did to the answer, what it means, what to do."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group as Together
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from assay.report.model.values import FindingGroup
from assay.report.style import FAINT, HEADING, SEVERITY_MARK, SEVERITY_STYLE

MOST_SUBJECTS = 6
"""How many subjects of one finding are named before the rest is counted."""


def in_words(groups: Iterable[FindingGroup]) -> RenderableType:
    """Render the findings; a note, which stands in no figure's way, in one line."""
    parts: list[RenderableType] = []
    for group in groups:
        mark = f"{SEVERITY_MARK[group.severity]} {group.code} {group.severity}"
        head = Text.assemble((mark, SEVERITY_STYLE[group.severity]), "  ", (group.title, HEADING))
        if group.severity == "note":
            parts.append(Text.assemble(head, (f": {_in_short(group)}", FAINT)))
            continue
        body = RichTable.grid(padding=(0, 2, 0, 0), expand=True)
        body.add_column(style=FAINT, no_wrap=True)
        body.add_column(overflow="fold", ratio=1)
        for label, text in _lines(group):
            body.add_row(label, Text(text))
        parts += [head, Padding(body, (0, 0, 1, 2))]
    return Together(*parts)


def _in_short(group: FindingGroup) -> str:
    """Whom a note is about; `assay explain` has the rest."""
    subjects = [seen.subject for seen in group.subjects if seen.subject]
    about = ", ".join(subjects[:MOST_SUBJECTS]) or group.subjects[0].evidence
    return about + (f" and {len(subjects) - MOST_SUBJECTS} more" if len(subjects) > MOST_SUBJECTS else "")


def _lines(group: FindingGroup) -> Iterable[tuple[str, str]]:
    shown = group.subjects[:MOST_SUBJECTS]
    for number, seen in enumerate(shown):
        text = f"{seen.subject}: {seen.evidence}" if seen.subject else seen.evidence
        yield ("seen" if number == 0 else "", text)
    if len(group.subjects) > len(shown):
        yield "", f"and {len(group.subjects) - len(shown)} more"
    yield "effect", group.effect
    for label, texts in (("means", group.meanings), ("do", group.remedies)):
        yield from ((label if number == 0 else "", text) for number, text in enumerate(texts))
