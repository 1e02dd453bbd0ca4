"""A document as Markdown: what a terminal shows, as paragraphs, lists and tables that a README can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.core import units as fmt
from assay.report.document import (
    Cell,
    Document,
    Findings,
    Items,
    Labelled,
    Log,
    Paragraph,
    Part,
    Pictures,
    Quotation,
    ShellCommands,
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
    lines += [f"{escape('; '.join(told.footer))}.", ""] if told.footer else []
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
        case ShellCommands():
            yield from ("```sh", *part.lines, "```", "")
        case Findings():
            yield from _findings(part)
        case Table():
            yield from drawn(part, 3)
        case Pictures():
            yield from ()


def _items(lines: Iterable[str]) -> Iterator[str]:
    told = [f"- {escape(line)}" for line in lines]
    yield from [*told, ""] if told else ()


def _findings(found: Findings) -> Iterator[str]:
    """What was found, each rule once: seen, effect, what to do."""
    for group in found.groups:
        most = len(group.subjects) if found.answer else _MOST_LISTED
        head = f"{group.code} {group.severity}: {escape(group.title)}"
        yield f"- **{head}.** {escape(' '.join(group.meanings))}".rstrip()
        for seen in group.subjects[:most]:
            said = [escape(said) for said in (seen.subject, seen.evidence) if said]
            yield "  - " + ": ".join([*said, *([_quoted(seen.quotation)] if seen.quotation else [])])
        if len(group.subjects) > most:
            yield f"  - and {len(group.subjects) - most} more; the run record has them all"
        yield f"  - *Effect on the answer:* {escape(group.effect)}"
        yield from (f"  - *What to do:* {escape(remedy)}" for remedy in group.remedies)
        yield from [f"  - *Source:* {escape(group.source)}"] if group.source else []
        yield ""


def _quoted(quotation: Quotation) -> str:
    """The words that are meant, or all of their line, as code, whatever backticks are in them."""
    start, length = quotation.start, quotation.length
    shown = (quotation.text[start : start + length] or quotation.text).strip()
    fence = "`" * (max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1)
    around = " " if len(fence) > 1 else ""
    return f"{fence}{around}{shown}{around}{fence}" if shown else fmt.UNKNOWN


def _cell(cell: Cell) -> str:
    return f"**{escape(cell.text)}**" if cell.tone == "strong" and cell.text else escape(cell.text)
