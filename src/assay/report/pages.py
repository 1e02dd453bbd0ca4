"""The pages of `assay view`, all but the report itself: server-rendered, no script."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from assay.core import units as fmt
from assay.model.run import Run
from assay.report import html
from assay.report.charts import hues
from assay.report.charts.answer import changes
from assay.report.history import damage, over_previous_words, served_words
from assay.report.model.circumstances import circumstances
from assay.report.model.compared import by_case, compared, direction, with_directions
from assay.report.model.report import report_of
from assay.store.index import Filter, ListedRun
from assay.verdict.compare import RunComparison
from assay.verdict.see_runs import trials_of


@dataclass(frozen=True)
class Listed:
    """A run in the list; `going_on` says that it has neither ended nor been judged."""

    entry: ListedRun
    going_on: bool


def history(listed: Sequence[Listed], chosen: Filter, base: str) -> str:
    """The list of runs with its filter, and the form that sets two side by side."""
    rows: list[dict[str, object]] = [
        {
            "folder": quote(one.entry.folder, safe=""),
            "value": one.entry.folder,
            "name": fmt.safe(one.entry.run_id, 100),
            "when": f"{datetime.fromtimestamp(one.entry.created_unix_ns / 1e9, UTC):%Y-%m-%d %H:%M}",
            "study": fmt.safe(one.entry.study, 60),
            "profile": fmt.safe(one.entry.profile) + (", quick" if one.entry.quick else ""),
            "fastest": fmt.safe(one.entry.server, 60),
            "served": served_words(one.entry),
            "before": over_previous_words(one.entry),
            "machine": fmt.safe(one.entry.hostname, 40),
            "commit": fmt.safe((one.entry.git_commit or "")[:9]),
            "verdict": _verdict(one),
            "answer": fmt.safe(one.entry.answer),
            "good": one.entry.clean,
            "going_on": one.going_on,
        }
        for one in listed
        if one.entry.problem is None
    ]
    _preselect(rows)
    problems = [
        fmt.safe(one.entry.problem or f"{one.entry.run_id}: {damage(one.entry.damaged)}", 500)
        for one in listed
        if one.entry.problem or one.entry.damaged
    ]
    return html.page("history", "Runs", base, rows=rows, problems=problems, chosen=chosen)


def _preselect(rows: list[dict[str, object]]) -> None:
    """The newest run against the one before it of the same study and profile: those two compare."""
    if not rows:
        return
    first, *others = rows
    alike = [row for row in others if (row["study"], row["profile"]) == (first["study"], first["profile"])]
    base = [*alike, *others, first][0]
    for row in rows:
        row["is_base"], row["is_new"] = row is base, row is first


def live(run: Run, folder: str, base: str, *, ended: bool) -> str:
    """Where a run stands."""
    told, colours = report_of(run), hues(run.header.cases)
    grave = [f"{one.code} {one.severity}" for one in told.findings if one.severity != "note"]
    return html.page(
        "live",
        told.name,
        base,
        refresh=None if ended else 2,
        which=told.which,
        folder=quote(folder, safe=""),
        done=len(run.trials),
        total=trials_of(run) or len(run.trials),
        ended=ended,
        grave=list(dict.fromkeys(grave)),
        sections=[
            {"title": one.title, "table": html.table(one, colours)} for one in (*told.results, *told.tables)
        ],
    )


def side_by_side(found: RunComparison, base: str | None) -> str:
    """Two runs side by side; without `base` a file of its own."""
    told, drawn = compared(found), changes(found)
    compared_figures = [one for one in found.changes if one.change is not None]
    words = [word for one in compared_figures if (word := direction(one)) or one.metric != "errors"]
    sides = (
        (side, list(html.finding_words(group for which, group in told.findings if which == side)))
        for side, _ in told.which
    )
    figures = [one for made in told.tables for one in by_case(with_directions(found, made))]
    return html.page(
        "compare",
        "Two runs side by side",
        base,
        told=told,
        worse=words.count("worse"),
        better=words.count("better"),
        same=words.count(""),
        charts=[html.chart_words(drawn)] if drawn else [],
        tables=[{"title": one.title, "table": html.table(one)} for one in figures],
        extra=[{"title": one.title, "table": html.table(one)} for one in told.extra],
        findings=[(side, groups) for side, groups in sides if groups],
        how=[
            (side, list(circumstances(run)), fmt.safe(shlex.join(run.header.command), 2000))
            for side, run in (("base", found.base), ("new", found.new))
        ],
    )


def message(text: str, base: str) -> str:
    """A page with one sentence."""
    return html.page("message", "Assay", base, text=fmt.safe(text, 500))


def _verdict(one: Listed) -> str:
    entry = one.entry
    if one.going_on:
        return "going on, or cut off"
    if entry.damaged:
        return "damaged"
    if entry.clean:
        return "clean"
    said = [
        fmt.counted(number, word)
        for number, word in ((entry.errors, "error"), (entry.warnings, "warning"))
        if number
    ]
    return ", ".join(said) or "not ended"
