"""A run as Markdown: the end screen's content as tables that a README can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assay.core import units as fmt
from assay.model.run import Run
from assay.report.document import Cell, FindingGroup, Table
from assay.report.model.report import report_of
from assay.report.model.values import Answer, Report

_MOST_LISTED = 24
"""How many subjects of one finding are listed: a sweep of pools makes a hundred pairs of unequal means."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~$&])")


def render(run: Run) -> str:
    """Write the whole report."""
    told = report_of(run)
    parts = (
        *_opening(told),
        *_findings(told),
        *_about(told),
        *(drawn(told.trials) if told.trials else ()),
        *_circumstances(told),
    )
    return "\n".join(parts) + "\n"


def summary(run: Run) -> str:
    """Write the report without its single trials: for the summary of a CI step."""
    told = report_of(run)
    return "\n".join((*_opening(told), *_findings(told))) + "\n"


def measured(told: Report) -> Iterator[str]:
    """The lines that tell what was measured, without title, question and single trials."""
    yield from _answers(told)
    yield from _findings(told)
    yield from _about(told)
    yield from _circumstances(told)
    yield ""


def escape(text: str, longest: int = 2000) -> str:
    """Make text from a server or a file plain: no markup, no line break, no table cell of its own."""
    return _SPECIAL.sub(r"\\\1", fmt.safe(text, longest))


def drawn(table: Table, level: int = 2) -> Iterator[str]:
    """A table under its title, with how to read it."""
    yield f"{'#' * level} {escape(table.title)}"
    yield ""
    yield "| " + " | ".join(escape(column.head) for column in table.columns) + " |"
    yield "|" + "|".join("---:" if column.right else "---" for column in table.columns) + "|"
    for line in table.lines:
        cells = [_cell(cell) for cell in line.cells]
        cells[0] = f"– {cells[0]}" if line.inner else cells[0]
        yield "| " + " | ".join(cells) + " |"
    yield ""
    if table.note:
        yield f"{escape(table.note)}."
        yield ""


def findings(groups: Iterable[FindingGroup]) -> Iterator[str]:
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
    return f"**{escape(cell.text)}**" if cell.tone == "strong" else escape(cell.text)


def _opening(told: Report) -> Iterator[str]:
    yield f"# {escape(told.name)}"
    yield ""
    if told.question:
        yield escape(told.question)
        yield ""
    yield from _answers(told)


def _answers(told: Report) -> Iterator[str]:
    """The answer, how sure, why, what would make it surer; what stands against it; the results behind it."""
    yield from answer(told.answer)
    for table in (*told.results, *told.tables):
        yield from drawn(table)


def answer(told: Answer) -> Iterator[str]:
    """The sentences of an answer, a paragraph each."""
    more = (*told.sure, *told.why, *told.surer)
    for sentence in (*(f"**{escape(said)}**" for said in told.headline), *(escape(said) for said in more)):
        yield sentence
        yield ""
    yield f"{escape(told.state)}."
    yield ""


def _findings(told: Report) -> Iterator[str]:
    """What was not measured, the claims, and the findings."""
    if told.failures:
        yield "## Not measured"
        yield ""
        for failure in told.failures:
            yield f"- {escape(failure.name)}: {escape(failure.where)}: {escape(failure.reason, 500)}"
        yield ""
    if told.claims is not None:
        yield from drawn(told.claims)
    if told.findings:
        yield "## Findings"
        yield ""
        yield from findings(told.findings)


def _about(told: Report) -> Iterator[str]:
    """As published, and how each server was configured."""
    for table in told.about:
        yield from drawn(table)


def _circumstances(told: Report) -> Iterator[str]:
    yield "## How it was measured"
    yield ""
    yield from terms((*told.circumstances, ("record", told.run_id), ("command", told.command)))


def terms(said: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What and how, a line each."""
    yield from (f"- {escape(what)}: {escape(how)}" for what, how in said)
