"""A study under both its profiles as one Markdown document: side by side, then each profile by itself."""

from __future__ import annotations

from collections.abc import Iterator

from assay.report import beside, markdown
from assay.report.markdown import escape, table
from assay.report.model import answer, profiles
from assay.report.model.profiles import Pair


def render(found: Pair) -> str:
    """Write the document."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Pair) -> Iterator[str]:
    yield f"# {escape(answer.name(found.fair))}"
    yield ""
    if answer.question(found.fair):
        yield escape(answer.question(found.fair), 2000)
        yield ""
    yield from side_by_side(found)
    for title, run in (("The fair profile", found.fair), ("The published profile", found.published)):
        yield f"## {title}"
        yield ""
        for line in markdown.measured(run):
            yield f"#{line}" if line.startswith("#") else line  # one level below ours


def side_by_side(found: Pair) -> Iterator[str]:
    """The section that a run's own report has too."""
    yield f"## {beside.TITLE}"
    yield ""
    for profile, said in beside.which(found):
        yield f"- {escape(profile)}: {escape(said)}"
    yield f"- {escape(answer.machine(found.fair))}"
    yield ""
    for warning in profiles.warnings(found):
        yield f"**{escape(warning)}**"
        yield ""
    for one in profiles.tables(found):
        yield f"### {escape(beside.title_of(one))}"
        yield ""
        lines = sorted(one.lines, key=lambda line: not line.competes)
        yield from table(beside.HEADS, ([escape(cell) for cell in beside.cells(line)] for line in lines))
        for said in profiles.told(one):
            yield f"- {escape(said, 1000)}"
        yield ""
    yield beside.NOTE
    yield ""
    yield from _claims(found)
    yield from _settings(found)


def _claims(found: Pair) -> Iterator[str]:
    lines = profiles.claims(found)
    if not lines:
        return
    yield "### Claims under both profiles"
    yield ""
    yield from table(
        beside.CLAIM_HEADS, ([escape(cell) for cell in beside.claim_cells(one)] for one in lines)
    )
    for said in beside.changes(found):
        yield f"- {escape(said)}"
    yield ""


def _settings(found: Pair) -> Iterator[str]:
    lines = profiles.settings(found)
    if lines:
        yield "### What the fair profile sets otherwise"
        yield ""
        cells = ((one.name, one.setting, one.published, one.fair) for one in lines)
        yield from table(beside.SETTING_HEADS, ([escape(cell) for cell in row] for row in cells))
