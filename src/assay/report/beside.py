"""The two profiles of a study side by side, on the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from assay.core import units as fmt
from assay.report import markdown
from assay.report.model.answer import name
from assay.report.model.beside import beside
from assay.report.model.profiles import ProfilePair
from assay.report.model.report import report_of
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE
from assay.report.terminal import drawn


def summary(pair: ProfilePair) -> RenderableType:
    """The screen that ends a study run under both profiles."""
    told = beside(pair)
    parts: list[RenderableType] = [Text(f"{fmt.safe(name(pair.fair))}: {told.title.lower()}", HEADING)]
    parts += [Text(said, FAINT) for _, said in told.which]
    parts += [Text(said, SEVERITY_STYLE["warning"]) for said in told.warnings]
    parts += [Text(""), *(Text(said, HEADING) for said in told.conclusion), Text("")]
    for table in told.tables:
        parts += drawn(table)
    parts += [*(Text(said) for said in told.sentences), Text(f"{told.note}\n", FAINT)]
    for table in told.extra[:1]:  # the settings are for a page
        parts += drawn(table)
    return Group(*parts)


def render(pair: ProfilePair) -> str:
    """Write the document."""
    return "\n".join(_lines(pair)) + "\n"


def _lines(pair: ProfilePair) -> Iterator[str]:
    fair, published = report_of(pair.fair), report_of(pair.published)
    yield f"# {markdown.escape(fair.name)}"
    yield ""
    if fair.question:
        yield markdown.escape(fair.question)
        yield ""
    yield from _side_by_side(pair, fair.machine)
    for title, told in (("The fair profile", fair), ("The published profile", published)):
        yield f"## {title}"
        yield ""
        for line in markdown.measured(told):
            yield f"#{line}" if line.startswith("#") else line  # one level below ours


def _side_by_side(pair: ProfilePair, machine: str) -> Iterator[str]:
    """The section that sets the profiles against each other."""
    told = beside(pair)
    yield f"## {told.title}"
    yield ""
    yield from markdown.terms(told.which)
    yield f"- machine: {markdown.escape(machine)}"
    yield ""
    for warning in told.warnings:
        yield f"**{markdown.escape(warning)}**"
        yield ""
    for said in told.conclusion:
        yield f"**{markdown.escape(said)}**"
        yield ""
    for table in told.tables:
        yield from markdown.drawn(table, level=3)
    yield from (f"- {markdown.escape(said)}" for said in told.sentences)
    yield ""
    yield told.note
    yield ""
    for table in told.extra:
        yield from markdown.drawn(table, level=3)
