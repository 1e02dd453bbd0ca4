"""The pages of `assay view`, and those of runs and comparisons for files: server-rendered, no script."""

from __future__ import annotations

from collections.abc import Container, Sequence

from assay.core import units as fmt
from assay.model.run import Run
from assay.report import html
from assay.report.charts import charts
from assay.report.charts.answer import changes
from assay.report.document import Document, Paragraph, Section
from assay.report.model import compared, profiles
from assay.report.model import history as history_of
from assay.report.model.profiles import ProfilePair
from assay.report.model.run_document import document, so_far
from assay.store.index import Filter, ListedRun
from assay.verdict.compare import RunComparison

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
    return html.render(so_far(run, folder, again_s), base, again_s)


def message(text: str, base: str) -> str:
    """A page with one sentence."""
    parts = (Paragraph(fmt.safe(text, 500)), Paragraph("All runs", link=""))
    return html.render(Document("Assay", headline=(), sections=(Section("", "", parts),)), base)
