"""A comparison of two runs on the terminal, as Markdown and as JSON."""

from __future__ import annotations

from rich.console import Group as Together
from rich.console import RenderableType
from rich.text import Text

from assay.core import format as fmt
from assay.report import markdown
from assay.report.model.compared import by_case, compared
from assay.report.model.values import FindingGroup
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE
from assay.report.terminal import drawn
from assay.verdict.compare import RunComparison


def summary(comparison: RunComparison) -> RenderableType:
    """Render for a terminal: what the limits came to first, then a table a case."""
    told = compared(comparison)
    parts: list[RenderableType] = [
        Text.assemble((f"{side:<5}", FAINT), said, overflow="fold") for side, said in told.which
    ]
    parts += [Text(f"! {warning}", SEVERITY_STYLE["flagged"]) for warning in told.warnings]
    parts += [Text(""), *(Text(f"{line}\n", HEADING) for line in told.conclusion)]
    for table in (one for made in told.tables for one in by_case(made)):
        parts += drawn(table)
    parts += [Text(line) for line in told.sentences]
    for table in told.extra:
        parts += drawn(table)
    parts += [_finding(side, group) for side, group in told.findings]
    return Together(*parts)


def as_markdown(comparison: RunComparison) -> str:
    """Write for a pull request or the summary of a CI step."""
    told = compared(comparison)
    lines = [f"# {markdown.escape(told.title)}", ""]
    for said in told.conclusion:
        lines += [f"**{markdown.escape(said)}**", ""]
    lines += [f"- {markdown.escape(warning)}" for warning in told.warnings] + [""]
    for table in (*told.tables, *told.extra):
        lines += markdown.drawn(table)
    lines += [f"- {markdown.escape(line)}" for line in told.sentences]
    for side, group in told.findings:
        seen = "; ".join(": ".join(filter(None, (one.subject, one.evidence))) for one in group.subjects)
        lines.append(f"- {side}: {group.code} {group.severity}: {markdown.escape(seen)}")
    return "\n".join(lines) + "\n"


def as_json(comparison: RunComparison) -> str:
    """The comparison as data."""
    document = {
        "format": 1,
        "base": comparison.base.header.run_id,
        "new": comparison.new.header.run_id,
        "broken": comparison.broken,
        "warnings": comparison.warnings,
        "changes": comparison.changes,
        "only_base": comparison.only_base,
        "only_new": comparison.only_new,
        "unmeasured": comparison.unmeasured,
        "findings": [{"side": side, "finding": finding} for side, finding in comparison.findings],
    }
    return fmt.as_json(document)


def _finding(side: str, group: FindingGroup) -> Text:
    times = f" × {len(group.subjects)}" if len(group.subjects) > 1 else ""
    mark = f"{group.code} {group.severity}{times}"
    return Text.assemble((f"{side:<5}", FAINT), (mark, SEVERITY_STYLE[group.severity]), f"  {group.title}")
