"""A comparison of two runs on the terminal, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from assay import verdict
from assay.compare import Change, Comparison, Watched, environment_differences
from assay.report import format as fmt
from assay.report import markdown
from assay.report.model import answer
from assay.report.style import FAINT, GOOD, HEADING, SEVERITY_STYLE
from assay.report.terminal import plain_table
from assay.values.estimate import Estimate

NAMES: dict[Watched, str] = {
    "throughput": "throughput",
    "p99": "p99 time",
    "memory": "memory",
    "start": "start time",
    "errors": "errors",
}
_STYLES = {
    "kept": GOOD,
    "broken": SEVERITY_STYLE["withheld"],
    "could not tell": SEVERITY_STYLE["flagged"],
    "withheld": SEVERITY_STYLE["withheld"],
    "not measured": SEVERITY_STYLE["withheld"],
    "": "",
}


def summary(comparison: Comparison) -> RenderableType:
    """Render for a terminal."""
    parts: list[RenderableType] = []
    for side, run in (("base", comparison.base), ("new", comparison.new)):
        parts.append(
            Text.assemble((f"{side:<5}", FAINT), fmt.safe(f"{run.header.run_id}  {answer.standing(run)}"))
        )
    parts += [Text(f"! {fmt.safe(warning)}", SEVERITY_STYLE["flagged"]) for warning in comparison.warnings]
    parts += [Text(""), _changes(comparison)]
    parts += [Text(fmt.safe(line)) for line in left_out(comparison)]
    changed = differences(comparison)
    if changed:
        parts += [Text("Differences of the machine and the versions", HEADING)]
        parts += [
            Text(f"  {what}: {fmt.safe(before)} → {fmt.safe(after)}") for what, before, after in changed
        ]
    parts += _findings(comparison)
    parts += [Text(line, HEADING) for line in conclusion(comparison)]
    return Group(*parts)


def as_markdown(comparison: Comparison) -> str:
    """Write for a pull request or the summary of a CI step."""
    sides = (comparison.base, comparison.new)
    lines = ["# " + " → ".join(markdown.escape(side.header.run_id) for side in sides), ""]
    for line in conclusion(comparison):
        lines += [f"**{markdown.escape(line)}**", ""]
    lines += [f"- {markdown.escape(warning)}" for warning in comparison.warnings] + [""]
    rows = ([markdown.escape(cell) for cell in _cells(change)] for change in _shown(comparison))
    lines += markdown.table(HEADS, rows)
    lines += [f"- {markdown.escape(line)}" for line in left_out(comparison)]
    for side, finding in comparison.findings:
        lines.append(f"- {side}: {finding.code} {finding.severity}: {markdown.escape(finding.evidence)}")
    return "\n".join(lines) + "\n"


def as_json(comparison: Comparison) -> str:
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
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def conclusion(comparison: Comparison) -> Iterator[str]:
    """What the limits came to, gravest first; nothing where no limit was set."""
    for change in comparison.changes:
        if change.outcome == "broken":
            yield f"{fmt.safe(change.case)}: {NAMES[change.metric]} is worse: {_change(change)}"
    for change in comparison.changes:
        if change.outcome == "could not tell":
            trials = f"{change.more_trials} more trial{'' if change.more_trials == 1 else 's'}"
            more = f": {trials} on each side needed" if change.more_trials else ""
            more = more or (f": {verdict.words_of(change.limits)}" if change.limits else "")
            yield f"{fmt.safe(change.case)}: {NAMES[change.metric]}: could not tell{more}"
        if change.outcome == "not measured":
            yield f"{fmt.safe(change.case)}: {NAMES[change.metric]} was not measured in new"
        if change.outcome == "withheld":
            yield f"{fmt.safe(change.case)}: {NAMES[change.metric]} is withheld: no limit can be held to it"
    held = [change for change in comparison.changes if change.outcome]
    if held and all(change.outcome == "kept" for change in held):
        yield f"all {len(held)} limits are kept" if len(held) > 1 else "the limit is kept"


def _changes(comparison: Comparison) -> RenderableType:
    """One small table a case, their columns in line."""
    limited = any(change.outcome for change in comparison.changes)
    parts: list[RenderableType] = []
    shown = _shown(comparison)
    for case in dict.fromkeys(change.case for change in shown):
        table = plain_table()
        table.add_column("  metric", no_wrap=True, min_width=12)
        for head in ("base", "new"):
            table.add_column(head, justify="right", no_wrap=True, min_width=9)
        table.add_column("new / base", no_wrap=True, min_width=20)
        if limited:
            table.add_column("limit", no_wrap=True, min_width=14)
        for change in (change for change in shown if change.case == case):
            _, metric, *cells, outcome = _cells(change)
            table.add_row(
                f"  {metric}", *cells, *([Text(outcome, _STYLES[change.outcome])] if limited else [])
            )
        parts += [Text(fmt.safe(case, 80), HEADING), Padding(table, (0, 0, 1, 0))]
    return Group(*parts)


HEADS = ("case", "metric", "base:", "new:", "new / base", "limit")
"""Of `cells`."""


def cells(comparison: Comparison) -> list[tuple[str, ...]]:
    """Case, metric, base, new, change and what became of its limit, of every line, as written."""
    return [_cells(change) for change in _shown(comparison)]


def differences(comparison: Comparison) -> tuple[tuple[str, str, str], ...]:
    """(what, base, new) of what differs in machine and versions."""
    return environment_differences(comparison.base.header.environment, comparison.new.header.environment)


def _shown(comparison: Comparison) -> list[Change]:
    """Errors are shown where there were any, or where they were watched."""
    return [
        change
        for change in comparison.changes
        if change.metric != "errors"
        or change.outcome
        or any(side is not None and side.value > 0 for side in (change.base, change.new))
    ]


def _cells(change: Change) -> tuple[str, str, str, str, str, str]:
    write: dict[Watched, Callable[[float | None], str]] = {
        "throughput": fmt.rate,
        "p99": fmt.time,
        "memory": fmt.size,
        "start": fmt.time,
        "errors": fmt.share,
    }
    base, new = (write[change.metric](_value(side)) for side in (change.base, change.new))
    return fmt.safe(change.case, 80), NAMES[change.metric], base, new, _change(change), change.outcome


def _change(change: Change) -> str:
    if change.metric != "errors" or change.change is None:
        return fmt.ratio(change.change)
    sign = "+" if change.change.value > 0 else ""
    return f"{sign}{fmt.significant(change.change.value * 100, 2)} points"


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def left_out(comparison: Comparison) -> Iterator[str]:
    """Say which cases have nothing to be compared with."""
    for side, cases in (("base", comparison.only_base), ("new", comparison.only_new)):
        if cases:
            yield f"only in {side}: {', '.join(cases)}"
    if comparison.unmeasured:
        yield f"measured in neither: {', '.join(comparison.unmeasured)}"


def _findings(comparison: Comparison) -> list[RenderableType]:
    lines: list[RenderableType] = []
    seen: dict[tuple[str, str, str, str], int] = {}
    for side, finding in comparison.findings:
        key = (side, finding.code, finding.severity, finding.title)
        seen[key] = seen.get(key, 0) + 1
    for (side, code, severity, title), number in seen.items():
        times = f" × {number}" if number > 1 else ""
        style = SEVERITY_STYLE["withheld" if severity == "withheld" else "flagged"]
        lines.append(
            Text.assemble((f"{side:<5}", FAINT), (f"{code} {severity}{times}", style), f"  {fmt.safe(title)}")
        )
    return [*lines, Text("")] if lines else []
