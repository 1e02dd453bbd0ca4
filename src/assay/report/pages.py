"""The pages of `assay view`, and those of runs and comparisons for files: server-rendered, no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from assay.core import units as fmt
from assay.model.run import Run
from assay.report import html
from assay.report.charts import charts
from assay.report.charts.answer import changes
from assay.report.document import Table
from assay.report.model import compared, profiles
from assay.report.model.history import damage, over_previous_words, served_words
from assay.report.model.profiles import ProfilePair
from assay.report.model.rows import ordered_findings
from assay.report.model.run_document import document
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


def of_run(run: Run, pair: ProfilePair | None = None) -> str:
    """A run's page; `pair` is the run with that under the other profile, if there is one."""
    told = document(run, charts(run))
    return html.render(profiles.beside_run(told, pair) if pair else told)


def of_comparison(found: RunComparison, base: str | None = None) -> str:
    """Two runs side by side; without `base` a file of its own."""
    drawn = changes(found)
    return html.render(compared.document(found, (drawn,) if drawn else ()), base)


def live(run: Run, folder: str, base: str, *, ended: bool) -> str:
    """Where a run stands."""
    told = document(run)
    grave = [one for one in ordered_findings(run) if one.severity != "note"]
    results = [
        told.table,
        *(part for one in told.sections if one.name.startswith("results") for part in one.parts),
    ]
    return html.page(
        "live",
        told.title,
        base,
        refresh=None if ended else 2,
        which=told.subtitle,
        folder=quote(folder, safe=""),
        done=len(run.trials),
        total=trials_of(run) or len(run.trials),
        ended=ended,
        grave=list(dict.fromkeys(f"{one.code} {one.severity}" for one in grave)),
        tables=[html.table(one) for one in results if isinstance(one, Table)],
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
