"""A document as Markdown: what a terminal shows, as paragraphs, lists and tables that a README can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.core import units as fmt
from assay.report.document import (
    Cell,
    Document,
    FindingGroup,
    Findings,
    Items,
    Labelled,
    Log,
    Paragraph,
    Part,
    Pictures,
    Subheading,
    Table,
)

_MOST_LISTED = 24
"""How many subjects of one finding are listed: a sweep of pools makes a hundred pairs of unequal means."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~$&])")


def render(told: Document, *, brief: bool = False) -> str:
    """Write all of it; where it is to be `brief`, as for the summary of a CI step, without its background."""
    lines = [f"# {escape(told.title)}", ""]
    lines += [escape(told.question), ""] if told.question else []
    for said in told.headline:
        lines += [f"**{escape(said)}**", ""]
    lines += [f"{escape(told.state)}.", ""] if told.state else []
    if told.table is not None and told.table.lines:
        lines += drawn(told.table)
    for said in told.below:
        lines += [f"{escape(said)}.", ""]
    lines += [*_items((*told.warnings, *([f"→ {told.advice}"] if told.advice else [])))]
    lines += [f"{escape('; '.join(told.footer))}.", ""]
    for one in told.sections:
        if not (brief and one.background):
            lines += [f"## {escape(one.title)}", "", *(line for part in one.parts for line in _part(part))]
    return "\n".join(lines).rstrip("\n") + "\n"


def escape(text: str, longest: int = 2000) -> str:
    """Make text from a server or a file plain: no markup, no line break, no table cell of its own."""
    return _SPECIAL.sub(r"\\\1", fmt.safe(text, longest))


def drawn(table: Table, level: int = 2) -> Iterator[str]:
    """A table under its title, with how to read it."""
    if table.title:
        yield from (f"{'#' * level} {escape(table.title)}", "")
    yield "| " + " | ".join(escape(column.head) for column in table.columns) + " |"
    yield "|" + "|".join("---:" if column.right else "---" for column in table.columns) + "|"
    for line in table.lines:
        cells = [_cell(cell) for cell in line.cells]
        cells[0] = f"– {cells[0]}" if line.inner else cells[0]
        yield "| " + " | ".join(cells) + " |"
        yield from (f"| {escape(said.text)} |" + " |" * (len(cells) - 1) for said in line.below)
    yield ""
    if table.note:
        yield f"{escape(table.note)}."
        yield ""


def _part(part: Part) -> Iterator[str]:
    match part:
        case Subheading():
            yield from (f"### {escape(part.text)}", "")
        case Paragraph():
            yield from (f"**{escape(part.text)}**" if part.tone == "strong" else escape(part.text), "")
        case Items():
            yield from _items(part.lines)
        case Labelled():
            yield from _items(f"{what}: {how}" if what else how for what, how in part.lines)
        case Log():
            yield from _items((f"{part.title}: {fmt.safe(part.reason, 500)}",))
        case Findings():
            yield from _findings(part.groups)
        case Table():
            yield from drawn(part, 3)
        case Pictures():
            yield from ()


def _items(lines: Iterable[str]) -> Iterator[str]:
    told = [f"- {escape(line)}" for line in lines]
    yield from [*told, ""] if told else ()


def _findings(groups: Iterable[FindingGroup]) -> Iterator[str]:
    """What was found, each rule once: seen, effect, what to do."""
    for group in groups:
        head = f"{group.code} {group.severity}: {escape(group.title)}"
        yield f"- **{head}.** {escape(' '.join(group.meanings))}"
        for seen in group.subjects[:_MOST_LISTED]:
            yield "  - " + ": ".join(escape(said) for said in (seen.subject, seen.evidence) if said)
        if len(group.subjects) > _MOST_LISTED:
            yield f"  - and {len(group.subjects) - _MOST_LISTED} more; the run record has them all"
        yield f"  - *Effect on the answer:* {escape(group.effect)}"
        yield from (f"  - *What to do:* {escape(remedy)}" for remedy in group.remedies)
        yield f"  - *Source:* {escape(group.source)}"
        yield ""


def _cell(cell: Cell) -> str:
    return f"**{escape(cell.text)}**" if cell.tone == "strong" and cell.text else escape(cell.text)
