"""What changed: two runs or two profiles side by side (screen, Markdown, JSON), and a run judged again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from assay.core import units as fmt
from assay.model.finding import Finding
from assay.model.run import Judgement, Run
from assay.report import markdown
from assay.report.document import FindingGroup
from assay.report.model.answer import name
from assay.report.model.compared import by_case, compared
from assay.report.model.profiles import ProfilePair, beside
from assay.report.model.report import report_of
from assay.report.model.rows import name_of_case
from assay.report.model.values import subject_words
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE
from assay.report.terminal import drawn
from assay.verdict.compare import RunComparison


def whole(comparison: RunComparison) -> RenderableType:
    """Render all of it for a terminal: what the limits came to first, then a table a case."""
    told = compared(comparison)
    parts: list[RenderableType] = [
        Text.assemble((f"{side:<5}", FAINT), said, overflow="fold") for side, said in told.which
    ]
    parts += [Text(f"! {warning}", SEVERITY_STYLE["warning"]) for warning in told.warnings]
    parts += [Text(""), *(Text(f"{line}\n", HEADING) for line in told.conclusion)]
    for table in (one for made in told.tables for one in by_case(made)):
        parts += drawn(table)
    parts += [Text(line) for line in told.sentences]
    for table in told.extra:
        parts += drawn(table)
    parts += [_finding(side, group) for side, group in told.findings]
    return Group(*parts)


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


def rejudgement(run: Run, judgement: Judgement, *, stored: bool) -> RenderableType:
    """Render what is new and what is gone. `run` holds the judgement before, if there was one."""
    head = "\nJudged again" if run.judgement else "\nJudged"
    lines = [Text(f"{head} by Assay {judgement.assay_version}{'' if stored else ' (not stored)'}", HEADING)]
    lines += [Text(f"  {line}") for line in changes(run, judgement)]
    return Group(*lines)


def changes(run: Run, judgement: Judgement) -> tuple[str, ...]:
    """What changed, in a line each."""
    before = run.judgement
    if before is None:
        return ("it had no judgement that knew all of its trials",)
    said = [f"the judgement before was Assay {before.assay_version}'s"]
    was, now = _lines(run, before.findings), _lines(run, judgement.findings)
    said += [f"new: {told}" for told in now if told not in was]
    said += [f"gone: {told}" for told in was if told not in now]
    if before.clean != judgement.clean:
        said.append("it now is clean" if judgement.clean else "it no longer is clean")
    said += [
        f"claim ({after.claim}): {earlier.verdict}, now {after.verdict}"
        for earlier in before.claims
        for after in judgement.claims
        if earlier.claim == after.claim and earlier.verdict != after.verdict
    ]
    return tuple(said) if len(said) > 1 else (*said, "nothing changed")


def _lines(run: Run, findings: Iterable[Finding]) -> list[str]:
    """Each finding by its code, severity and subject."""
    told = []
    for one in findings:
        about = fmt.safe(subject_words(one.subject, lambda case: name_of_case(run, case)))
        told.append(f"{one.code} {one.severity}{f', {about}' if about else ''}: {fmt.safe(one.title)}")
    return told


def side_by_side(pair: ProfilePair) -> RenderableType:
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


def side_by_side_markdown(pair: ProfilePair) -> str:
    """Write the document."""
    return "\n".join(_pair_lines(pair)) + "\n"


def _pair_lines(pair: ProfilePair) -> Iterator[str]:
    fair, published = report_of(pair.fair), report_of(pair.published)
    yield f"# {markdown.escape(fair.name)}"
    yield ""
    if fair.question:
        yield markdown.escape(fair.question)
        yield ""
    yield from _against(pair, fair.machine)
    for title, told in (("The fair profile", fair), ("The published profile", published)):
        yield f"## {title}"
        yield ""
        for line in markdown.measured(told):
            yield f"#{line}" if line.startswith("#") else line  # one level below ours


def _against(pair: ProfilePair, machine: str) -> Iterator[str]:
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
