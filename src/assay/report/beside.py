"""The two profiles of a study side by side on the terminal; reads well in 80 columns."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from assay.core import format as fmt
from assay.report.model.answer import name
from assay.report.model.beside import beside
from assay.report.model.profiles import ProfilePair
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE
from assay.report.terminal import drawn


def summary(pair: ProfilePair) -> RenderableType:
    """The screen that ends a study run under both profiles."""
    told = beside(pair)
    parts: list[RenderableType] = [Text(f"{fmt.safe(name(pair.fair))}: {told.title.lower()}", HEADING)]
    parts += [Text(said, FAINT) for _, said in told.which]
    parts += [Text(said, SEVERITY_STYLE["flagged"]) for said in told.warnings]
    parts += [Text(""), *(Text(said, HEADING) for said in told.conclusion), Text("")]
    for table in told.tables:
        parts += drawn(table)
    parts += [*(Text(said) for said in told.sentences), Text(f"{told.note}\n", FAINT)]
    for table in told.extra[:1]:  # the settings are for a page
        parts += drawn(table)
    return Group(*parts)
