"""`Report`: all that is said of a run, settled once. A terminal, a page and a file only lay it out.

Its texts are fit to be shown (control characters visible, lengths bounded); what a form needs beyond that,
as the escapes of Markdown, is the form's own business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.core import units as fmt
from assay.model.finding import Severity

if TYPE_CHECKING:
    from assay.report.model.rows import Section  # with all that a run is told with

Tone = Literal["plain", "strong", "faint", "good", "warn", "bad"]
"""What a figure means beside what it says; a form shows it by colour or weight, never by that alone."""


@dataclass(frozen=True)
class Cell:
    """A place in a table."""

    text: str = ""
    tone: Tone = "plain"

    @property
    def empty(self) -> bool:
        """Whether it says nothing."""
        return self.text in ("", fmt.UNKNOWN)


@dataclass(frozen=True)
class Column:
    """`name` is stable, `head` is shown. `right` aligns figures; a `key` names the line, and stands again
    where a narrow form folds the table. Columns of one `part` stay together where they can."""

    name: str
    head: str
    right: bool = False
    key: bool = False
    part: int = 0


@dataclass(frozen=True)
class TableLine:
    """A line of a table. `apart`: it does not compete; `inner`: it belongs to the line above it."""

    cells: tuple[Cell, ...]
    apart: bool = False
    inner: bool = False


@dataclass(frozen=True)
class Table:
    """Lines under columns. `note` says how to read it."""

    title: str
    columns: tuple[Column, ...]
    lines: tuple[TableLine, ...]
    note: str = ""

    def texts(self, name: str) -> tuple[str, ...]:
        """What stands in a column, from above; empty where there is no such column."""
        places = [place for place, column in enumerate(self.columns) if column.name == name]
        return tuple(line.cells[place].text for line in self.lines for place in places)


def table(title: str, columns: Sequence[Column], lines: Iterable[TableLine], note: str = "") -> Table:
    """A table without the columns in which no line has anything to say."""
    found = tuple(lines)
    kept = [
        place
        for place, column in enumerate(columns)
        if column.key or not all(line.cells[place].empty for line in found)
    ]
    return Table(
        title=title,
        columns=tuple(columns[place] for place in kept),
        lines=tuple(
            TableLine(tuple(line.cells[place] for place in kept), line.apart, line.inner) for line in found
        ),
        note=note,
    )


def plain(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    note: str = "",
    longest: int = 200,
    keys: int = 1,
) -> Table:
    """A table of words. A head that ends in a colon stands over figures; the first `keys` columns name the
    line."""
    columns = [
        Column(head.removesuffix(":"), head.removesuffix(":"), right=head.endswith(":"), key=place < keys)
        for place, head in enumerate(fmt.safe(head, 60) for head in heads)
    ]
    lines = (TableLine(tuple(Cell(fmt.safe(cell, longest)) for cell in row)) for row in rows)
    return table(fmt.safe(title), columns, lines, note)


@dataclass(frozen=True)
class Answer:
    """The answer (`headline`, a sentence for each question), how sure it is, why it is no surer, and what
    would make it so. `state` says once whether the run is clean, or what stands against it."""

    headline: tuple[str, ...]
    sure: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    surer: tuple[str, ...] = ()
    state: str = ""
    clean: bool = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of it but the state, in the order in which a reader asks."""
        return (*self.headline, *self.sure, *self.why, *self.surer)


@dataclass(frozen=True)
class FindingSubject:
    """What a rule saw of one subject (empty: of everything). `cases` are the ids it is about."""

    subject: str
    evidence: str
    cases: tuple[str, ...] = ()


@dataclass(frozen=True)
class FindingGroup:
    """The findings of one rule that do the same to the answer; what they mean and ask for may differ."""

    code: str
    severity: Severity
    title: str
    effect: str
    source: str
    subjects: tuple[FindingSubject, ...]
    meanings: tuple[str, ...]
    remedies: tuple[str, ...]


@dataclass(frozen=True)
class NotMeasured:
    """A case that was not measured in every block: where it failed, why, and the end of its log."""

    name: str
    where: str
    reason: str
    log: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """A run, told. `figures` are its rows by workload and load, of which `results` and charts are made;
    `tables` follow the results; `about` says what was published and how servers were set up."""

    name: str
    question: str
    which: str
    answer: Answer
    figures: tuple[Section, ...] = ()
    results: tuple[Table, ...] = ()
    tables: tuple[Table, ...] = ()
    failures: tuple[NotMeasured, ...] = ()
    claims: Table | None = None
    findings: tuple[FindingGroup, ...] = ()
    about: tuple[Table, ...] = ()
    trials: Table | None = None
    circumstances: tuple[tuple[str, str], ...] = ()
    machine: str = ""
    command: str = ""
    version: str = ""
    run_id: str = ""
    profile: str = ""


@dataclass(frozen=True)
class Beside:
    """Two runs side by side: a study's two profiles, or base and new. `which` are (side, run), `sentences`
    the sentences below the tables, `findings` are (side, group)."""

    title: str
    which: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...] = ()
    conclusion: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    sentences: tuple[str, ...] = ()
    findings: tuple[tuple[str, FindingGroup], ...] = ()
    note: str = ""
    extra: tuple[Table, ...] = ()
