"""All that is said of a run, on the terminal (`--verbose`): reads well in 80 columns and without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from assay.model.run import Run
from assay.report.model.report import report_of
from assay.report.model.values import Answer, NotMeasured, Table
from assay.report.style import FAINT, GOOD, HEADING, SEVERITY_STYLE, Folded, in_words

_LOG_LINES = 4


def whole(run: Run, paths: Sequence[tuple[str, str]] = ()) -> RenderableType:
    """Render the run. `paths` are (what, where) of the files it left."""
    told = report_of(run)
    parts: list[RenderableType] = [Text(told.name, HEADING), Text(told.which)]
    if told.question:
        parts.append(Text(told.question))
    parts += [Text(told.machine, FAINT), Text(""), *answer(told.answer), Text("")]
    for results in told.results:
        parts += drawn(results, named=len(told.results) > 1)
    for table in told.tables:
        parts += drawn(table)
    for failure in told.failures:
        parts += _failure(failure)
    if told.claims is not None:
        parts += drawn(told.claims, named=False)
    if told.findings:
        parts += [Text("Findings", HEADING), Text(""), in_words(told.findings)]
    if paths:
        parts += [Text(""), _paths(paths)]
    return Group(*parts)


def answer(told: Answer) -> Iterable[RenderableType]:
    """The answer first, then how sure, why, and what would make it surer; last what stands against it."""
    yield from (Text(said, HEADING) for said in told.headline)
    yield from (Text(said) for said in (*told.sure, *told.why, *told.surer))
    yield Text(told.state, GOOD if told.clean else "")


def drawn(table: Table, *, named: bool = True) -> Iterable[RenderableType]:
    """A table with its title and how to read it, and an empty line."""
    if named:
        yield Text(table.title, HEADING)
    yield Folded(table)
    if table.note:
        yield Text(f"{table.note}\n", FAINT)


def _failure(failure: NotMeasured) -> Iterable[RenderableType]:
    """What was not measured in every block: the reason and the end of the log."""
    yield Text(f"{failure.name}: {failure.where}", SEVERITY_STYLE["error"])
    yield Padding(Text(failure.reason), (0, 0, 0, 2))
    for line in failure.log[-_LOG_LINES:]:
        yield Padding(Text(line, FAINT), (0, 0, 0, 4))
    yield Text("")


def _paths(paths: Sequence[tuple[str, str]]) -> RenderableType:
    table = RichTable.grid(padding=(0, 2, 0, 0))
    table.add_column(style=FAINT)
    table.add_column(overflow="fold")
    for what, where in paths:
        table.add_row(what, Text(where))
    return table
