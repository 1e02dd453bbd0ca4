"""The pages of `assay view`, and those of runs and comparisons for files: server-rendered, no script."""

from __future__ import annotations

from collections.abc import Container, Sequence
from urllib.parse import quote

from msgspec.structs import replace

from assay.core import units as fmt
from assay.model.run import Run
from assay.report import html
from assay.report.charts import charts
from assay.report.charts.answer import changes
from assay.report.document import Document, Paragraph, ProgressBar, Section, section
from assay.report.model import compared, profiles
from assay.report.model import history as history_of
from assay.report.model.profiles import ProfilePair
from assay.report.model.rows import ordered_findings
from assay.report.model.run_document import document
from assay.store.index import Filter, ListedRun
from assay.verdict.compare import RunComparison
from assay.verdict.see_runs import trials_of

_ASKS_AGAIN_S = 2


def history(
    entries: Sequence[ListedRun], chosen: Filter, base: str, going_on: Container[str] = frozenset()
) -> str:
    """The list of runs with its filter, and the form that sets two side by side."""
    return html.render(history_of.document(entries, chosen, going_on), base)


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
    again_s = None if ended else _ASKS_AGAIN_S
    return html.render(_so_far(run, folder, again_s), base, again_s)


def _so_far(run: Run, folder: str, again_s: int | None) -> Document:
    """Where a run stands, for a page that asks again after `again_s`, or not at all: then it has ended."""
    whole, done, total = document(run), len(run.trials), trials_of(run)
    until = Paragraph(f"{done} trials so far; the run ends when it is settled")
    said = "It has ended: read its report" if again_s is None else "Report of what is there so far"
    again = f"This page asks again every {again_s} seconds." if again_s is not None else ""
    grave = [one for one in ordered_findings(run) if one.severity != "note"]
    codes = ", ".join(dict.fromkeys(f"{one.code} {one.severity}" for one in grave))
    dependent = (one for one in whole.sections if one.name.startswith("results"))
    return Document(
        title=whole.title,
        headline=(),
        sections=(
            *section(
                "",
                "",
                Paragraph(whole.subtitle, "faint"),
                ProgressBar(done, total, "trials") if total else until,
                Paragraph(again, "faint"),
                Paragraph(said, link=f"run/{quote(folder, safe='')}"),
                Paragraph(f"Findings so far: {codes}" if codes else ""),
            ),
            *section("", "So far", whole.table and replace(whole.table, title="")),
            *(Section("", one.title, one.parts) for one in dependent),
        ),
    )


def message(text: str, base: str) -> str:
    """A page with one sentence."""
    parts = (Paragraph(fmt.safe(text, 500)), Paragraph("All runs", link=""))
    return html.render(Document("Assay", headline=(), sections=(Section("", "", parts),)), base)
