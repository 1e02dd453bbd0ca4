"""`Document`: a report as one value that terminal, Markdown and page lay out. It knows nothing of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from assay.core import units as fmt
from assay.model.finding import Severity

Tone = Literal["plain", "strong", "faint", "good", "warn", "bad"]
"""What a text means beside what it says; a renderer shows it by colour or weight, never by that alone."""


class Choice(msgspec.Struct, frozen=True):
    """A value of a form's field that a page lets choose; `label` says which. One is `picked` at first."""

    field: str
    value: str
    label: str
    picked: bool


class Cell(msgspec.Struct, frozen=True):
    """A place in a table. `link` is a path below that of the pages around it."""

    text: str = ""
    tone: Tone = "plain"
    link: str | None = None
    choice: Choice | None = None

    @property
    def empty(self) -> bool:
        """Whether it says nothing."""
        return self.text in ("", fmt.UNKNOWN)


class Column(msgspec.Struct, frozen=True):
    """`name` is stable, `head` is shown. `right` aligns figures; a `key` names the line, and stands again
    where a narrow form folds the table. A `sentence` is cut at its end; what is `below` stands below its line
    on a terminal. Columns of one `part` stay together where they can. A summary, which
    is never folded, leaves out the columns of the highest `spare` first, and none of 0; those of 8 always."""

    name: str
    head: str
    right: bool = False
    key: bool = False
    sentence: bool = False
    below: bool = False
    part: int = 0
    spare: int = 0


class Paragraph(msgspec.Struct, frozen=True):
    """A sentence or more. `link` is a path below that of the pages around it."""

    text: str
    tone: Tone = "plain"
    link: str | None = None


class TableLine(msgspec.Struct, frozen=True):
    """A line of a table. `apart`: it does not compete; `inner`: it belongs to the line above it; `detail`: a
    summary leaves it out; `hue`: the colour of its server in charts; `below`: sentences about it."""

    cells: tuple[Cell, ...]
    apart: bool = False
    inner: bool = False
    detail: bool = False
    hue: int | None = None
    below: tuple[Paragraph, ...] = ()


class Table(msgspec.Struct, frozen=True):
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
        lines=tuple(replace(line, cells=tuple(line.cells[place] for place in kept)) for line in found),
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


class Quotation(msgspec.Struct, frozen=True):
    """A line of a text, of which `length` signs from `start` on are meant; none where that is 0."""

    line: int
    text: str
    start: int
    length: int


class FindingSubject(msgspec.Struct, frozen=True):
    """What a rule saw of one subject (empty: of everything), and where it is written. `cases` are the ids it
    is about."""

    subject: str
    evidence: str
    cases: tuple[str, ...] = ()
    quotation: Quotation | None = None


class FindingGroup(msgspec.Struct, frozen=True):
    """The findings of one rule that do the same to the answer; what they mean and ask for may differ.
    `places` say where, in fewer words than the subjects."""

    code: str
    severity: Severity
    title: str
    effect: str
    source: str
    subjects: tuple[FindingSubject, ...]
    meanings: tuple[str, ...]
    remedies: tuple[str, ...]
    places: str = ""

    def about(self, most: int) -> str:
        """Whom it is about, so many by name; what was seen where that is everything."""
        if self.places:
            return self.places
        named = [one.subject for one in self.subjects if one.subject]
        more = f" and {len(named) - most} more" if len(named) > most else ""
        return (", ".join(named[:most]) or self.subjects[0].evidence) + more


class Items(msgspec.Struct, frozen=True):
    """Sentences as a list."""

    lines: tuple[str, ...]


class Labelled(msgspec.Struct, frozen=True):
    """(what, how), a line each; an empty `what` goes on with the one above."""

    lines: tuple[tuple[str, str], ...]


class Log(msgspec.Struct, frozen=True):
    """What failed (`title`), why, and the lines that a program wrote last."""

    title: str
    reason: str
    lines: tuple[str, ...]


class ShellCommands(msgspec.Struct, frozen=True):
    """Commands for a shell, a line each, to be copied: never cut, wrapped or marked up."""

    lines: tuple[str, ...]


class Findings(msgspec.Struct, frozen=True):
    """What rules found. Where that is the `answer`, a summary tells each with what to do, and notes and
    subjects are all told in full."""

    groups: tuple[FindingGroup, ...]
    answer: bool = False


class Drawing(NamedTuple):
    """Elements of SVG within so many pixels."""

    width: float
    height: float
    parts: tuple[str, ...]


class Chart(msgspec.Struct, frozen=True):
    """A chart. `name` is good for a file and an anchor; `note` says how to read it; `draw` draws it in so
    many pixels' width. `small` charts stand beside each other; `first` ones stand below the answer."""

    name: str
    title: str
    note: str
    draw: Callable[[float], Drawing]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    small: bool = False
    first: bool = False


class Pictures(msgspec.Struct, frozen=True):
    """Charts, which a page alone draws."""

    charts: tuple[Chart, ...]


class Form(msgspec.Struct, frozen=True):
    """What a page asks, and opens at `path`: fields (label, name, value), a table whose lines are chosen."""

    path: str
    button: str
    fields: tuple[tuple[str, str, str], ...] = ()
    table: Table | None = None


class ProgressBar(msgspec.Struct, frozen=True):
    """How many of how many are done."""

    done: int
    total: int
    noun: str


class Subheading(msgspec.Struct, frozen=True):
    """The title of what follows within a section."""

    text: str


Part = (
    Subheading
    | Paragraph
    | Items
    | Labelled
    | Log
    | ShellCommands
    | Findings
    | Table
    | Pictures
    | Form
    | ProgressBar
)


class Section(msgspec.Struct, frozen=True):
    """Parts below a title; `name` is good for an anchor, where there is one. `background`: how it was
    measured, which a page folds and the summary of a CI step omits. `long`: a line a trial, in files."""

    name: str
    title: str
    parts: tuple[Part, ...]
    background: bool = False
    long: bool = False


class Document(msgspec.Struct, frozen=True):
    """A report. Up to `footer` it is what fits on a screen of 24 lines: the answer in at most three lines
    (`headline`), one table, what belongs to all of it (`below`), at most three warnings of a line each, what
    to do where there is no answer (`advice`), and how it was measured (`footer`). `subtitle` says which run
    it is of, `question` what that asks, `state` and its `tone` whether any rule stands against it."""

    title: str
    headline: tuple[str, ...]
    table: Table | None = None
    below: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    advice: str = ""
    footer: tuple[str, ...] = ()
    subtitle: str = ""
    question: str = ""
    state: str = ""
    tone: Tone = "plain"
    pictures: tuple[Chart, ...] = ()
    sections: tuple[Section, ...] = ()
    made_by: str = ""


def section(name: str, title: str, *parts: Part | None, background: bool = False) -> tuple[Section, ...]:
    """A section of the parts that are there and not empty; none where nothing is."""
    kept = tuple(part for part in parts if part is not None and _says(part))
    return (Section(name, title, kept, background),) if kept else ()


def _says(part: Part) -> bool:
    match part:
        case Paragraph() | Subheading():
            return bool(part.text)
        case Findings():
            return bool(part.groups)
        case Pictures():
            return bool(part.charts)
        case Log() | Form() | ProgressBar():
            return True
        case _:
            return bool(part.lines)


def nested(told: Document, name: str) -> Section:
    """A document as a section of another: its answer, then each of its sections below a heading."""
    parts: list[Part] = [Paragraph(said, "strong") for said in told.headline]
    parts += [Paragraph(told.state), *([told.table] if told.table else [])]
    parts += [Paragraph(said) for said in (*told.below, *told.warnings, told.advice) if said]
    for one in told.sections:
        if not one.long:
            parts += [Subheading(one.title), *one.parts]
    return Section(name, told.title, tuple(part for part in parts if _says(part)))
