"""The pages of `assay view`, all but the report itself: server-rendered, no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from assay.compare import Comparison
from assay.report import comparison, html
from assay.report import format as fmt
from assay.report.charts import hues
from assay.report.charts.changes import changes
from assay.report.history import damage
from assay.report.model import answer
from assay.report.model.rows import sections
from assay.store.index import Entry, Filter
from assay.values.run import Run


@dataclass(frozen=True)
class Listed:
    """A run in the list; `going_on` says that it has neither ended nor been judged."""

    entry: Entry
    going_on: bool


def history(listed: Sequence[Listed], chosen: Filter, base: str) -> str:
    """The list of runs with its filter, and the form that sets two side by side."""
    rows = [
        {
            "folder": quote(one.entry.folder, safe=""),
            "value": one.entry.folder,
            "name": fmt.safe(one.entry.run_id, 100),
            "when": f"{datetime.fromtimestamp(one.entry.created_unix_ns / 1e9, UTC):%Y-%m-%d %H:%M}",
            "study": fmt.safe(one.entry.study, 60),
            "profile": fmt.safe(one.entry.profile) + (", quick" if one.entry.quick else ""),
            "trials": one.entry.trials,
            "machine": fmt.safe(one.entry.hostname, 40),
            "commit": fmt.safe((one.entry.git_commit or "")[:9]),
            "verdict": _verdict(one),
            "good": one.entry.hallmark,
            "going_on": one.going_on,
        }
        for one in listed
        if one.entry.problem is None
    ]
    problems = [
        fmt.safe(one.entry.problem or f"{one.entry.run_id}: {damage(one.entry.damaged)}", 500)
        for one in listed
        if one.entry.problem or one.entry.damaged
    ]
    return html.page("history", "Runs", base, rows=rows, problems=problems, chosen=chosen)


def live(run: Run, folder: str, base: str, *, ended: bool) -> str:
    """Where a run stands."""
    total = run.header.trials or len(run.trials)
    findings = run.judgement.findings if run.judgement else ()
    grave = sorted({f"{one.code} {one.severity}" for one in findings if one.severity != "note"})
    return html.page(
        "live",
        fmt.safe(answer.name(run)),
        base,
        refresh=None if ended else 2,
        which=fmt.safe(answer.title(run)),
        folder=quote(folder, safe=""),
        done=len(run.trials),
        total=total,
        ended=ended,
        grave=grave,
        sections=[
            {"title": fmt.safe(section.title), "table": html.results(section, hues(run.header.cases))}
            for section in sections(run)
        ],
    )


def side_by_side(found: Comparison, base: str | None) -> str:
    """Two runs side by side; without `base` a file of its own."""
    drawn = changes(found)
    return html.page(
        "compare",
        "Two runs side by side",
        base,
        conclusion=[*comparison.conclusion(found), _changed(found)],
        charts=[html.chart_words(drawn)] if drawn else [],
        sides=[
            {
                "name": fmt.safe(run.header.run_id, 100),
                "which": fmt.safe(answer.title(run)),
                "standing": answer.standing(run),
            }
            for run in (found.base, found.new)
        ],
        warnings=[fmt.safe(warning) for warning in found.warnings],
        changes=html.table(comparison.HEADS, comparison.cells(found)),
        left_out=[fmt.safe(line, 500) for line in comparison.left_out(found)],
        differences=html.table(("what", "base", "new"), comparison.differences(found)),
        findings=html.table(
            ("run", "rule", "case", "seen"),
            [
                (side, f"{one.code} {one.severity}", one.subject.case or "every case", one.evidence)
                for side, one in found.findings
            ],
        ),
    )


def _changed(found: Comparison) -> str:
    """What is shown to have changed, in a sentence."""
    told = [one for one in found.changes if one.change is not None and one.metric != "errors"]
    shown = []
    for one in told:
        low, high = (one.change.low, one.change.high) if one.change else (None, None)
        if (low is not None and low > 1) or (high is not None and high < 1):
            shown.append(f"{fmt.safe(one.case, 60)}: {comparison.NAMES[one.metric]} {fmt.ratio(one.change)}")
    if not shown:
        return f"No change is shown in any of {len(told)} figures."
    rest = f"; no change is shown in the other {len(told) - len(shown)}" if len(told) > len(shown) else ""
    return f"Changed, with 95 % intervals apart from 1: {'; '.join(shown[:6])}{rest}."


def message(text: str, base: str) -> str:
    """A page with one sentence."""
    return html.page("message", "Assay", base, text=fmt.safe(text, 500))


def _verdict(one: Listed) -> str:
    entry = one.entry
    if one.going_on:
        return "going on, or cut off"
    if entry.damaged:
        return "damaged"
    if entry.hallmark:
        return "hallmark"
    said = [
        f"{number} {word}"
        for number, word in ((entry.withheld, "withheld"), (entry.flagged, "flagged"))
        if number
    ]
    return ", ".join(said) or "not ended"
