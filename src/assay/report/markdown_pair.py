"""A study under both its profiles as one Markdown document: side by side, then each profile by itself."""

from __future__ import annotations

from collections.abc import Iterator

from assay.report import markdown
from assay.report.model.beside import beside
from assay.report.model.profiles import ProfilePair
from assay.report.model.report import report_of


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
