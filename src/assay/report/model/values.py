"""`Report`: all that is said of a run, settled once; and its findings, grouped by rule and severity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.core import units as fmt
from assay.model.finding import Effect, Finding, Severity, Subject
from assay.verdict import RULES

if TYPE_CHECKING:
    from assay.report.model.rows import Section


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
    where a narrow form folds the table. Columns of one `part` stay together where they can. A summary, which
    is never folded, leaves out the columns of the highest `spare` first, and none of 0."""

    name: str
    head: str
    right: bool = False
    key: bool = False
    part: int = 0
    spare: int = 0


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
class Summary:
    """What fits on a screen of 24 lines: the answer in at most three lines, one table, what belongs to the
    whole table, at most three warnings of a line each, what to do where there is no answer, and how it was
    measured and where the rest is (`footer`)."""

    headline: tuple[str, ...]
    table: Table | None = None
    below: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    advice: str = ""
    footer: tuple[str, ...] = ()


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


ORDER: tuple[Severity, ...] = ("error", "warning", "note")
_NAMED = 3
"""How many subjects are named before a remedy that is theirs alone."""

_ON_THROUGHPUT: dict[Effect, str] = {
    "void": "its throughput is no result and has no place",
    "at least": "its throughput is at least what was measured",
    "at most": "its throughput is at most what was measured",
    "wider": "its interval is wider",
    "one way": "its throughput holds in one direction",
    "unknown": "not known to this version: ranked with this mark",
}
_ON_TIMES: dict[Effect, str] = {
    "void": "its times are not shown",
    "at least": "its times are at least what was measured",
    "at most": "its times are at most what was measured",
}
_ON_COMPARISON: dict[Effect, str] = {
    "void": "the two are not compared",
    "at least": "paired comparisons hold, as the least distance of the two",
    "none": "paired comparisons hold",
}


def groups(findings: Iterable[Finding], name_of: Callable[[str], str] = str) -> tuple[FindingGroup, ...]:
    """The findings of each rule that do the same, gravest first.

    `name_of` turns a case's id into the name that the reader knows it by.
    """
    found: dict[tuple[object, ...], list[Finding]] = {}
    for one in findings:
        key = (one.severity, one.code, one.on_throughput, one.on_times, one.on_comparison)
        found.setdefault(key, []).append(one)
    made = [_group(each, name_of) for each in found.values()]
    return tuple(sorted(made, key=lambda group: (ORDER.index(group.severity), group.code)))


def _group(found: Sequence[Finding], name_of: Callable[[str], str]) -> FindingGroup:
    first = found[0]
    return FindingGroup(
        code=first.code,
        severity=first.severity,
        title=fmt.safe(first.title),
        effect=effect_words(found),
        source=fmt.safe(first.source),
        subjects=tuple(_subject(one, name_of) for one in found),
        meanings=_texts([(one, one.meaning) for one in found], name_of),
        remedies=_texts([(one, one.remedy) for one in found], name_of),
    )


def _subject(one: Finding, name_of: Callable[[str], str]) -> FindingSubject:
    about = (one.subject.case, one.subject.other_case)
    return FindingSubject(
        subject=fmt.safe(subject_words(one.subject, name_of), 200),
        evidence=fmt.safe(one.evidence, 500),
        cases=tuple(case for case in about if case is not None),
    )


def _texts(told: Sequence[tuple[Finding, str]], name_of: Callable[[str], str]) -> tuple[str, ...]:
    """Each text once; where there are several, each after those it is said of."""
    texts: dict[str, list[str]] = {}
    for one, text in told:
        texts.setdefault(text, []).append(subject_words(one.subject, name_of))
    if len(texts) == 1:
        return (fmt.safe(told[0][1], 1000),)
    return tuple(fmt.safe(_for(subjects) + text, 1200) for text, subjects in texts.items())


def _for(subjects: Sequence[str]) -> str:
    names = [subject for subject in dict.fromkeys(subjects) if subject]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}: " if names else ""


def effect_words(found: Sequence[Finding]) -> str:
    """What findings that do the same did to the answer."""
    first = found[0]
    said = [_ON_THROUGHPUT[first.on_throughput]] if first.on_throughput != "none" else []
    factors = sorted({one.at_most_times for one in found if one.at_most_times is not None})
    if factors:
        most = " to ".join(dict.fromkeys(fmt.times(factor) for factor in (factors[0], factors[-1])))
        said.append(f"and at most {most} times what was measured")
    least = [one.figures["at_least_times"] for one in found if "at_least_times" in one.figures]
    if least:
        said.append(f"and at least {fmt.share(min(least))} of it")
    if first.on_comparison is not None:
        said.append(_on_comparison(first, first.on_comparison))
    if first.on_times != "none":
        said.append(_ON_TIMES.get(first.on_times, f"its times are {first.on_times}"))
    told = "; ".join(said).replace("; and at ", ", and at ")
    return told or first.because or "none: shown and marked"


def _on_comparison(one: Finding, effect: Effect) -> str:
    if effect == "wider" and "moved" in one.figures:
        return "the ratio of the two is that of the last four fifths of slices, and is widened by it"
    if effect == "wider" and "times" in one.figures:
        times = one.figures["times"]
        return f"the ratio of the two is known to a factor of {times:.3g} towards who sends more"
    if effect == "wider":
        return ("every ratio" if one.subject.case is None else "the ratio of the two") + " is widened by it"
    if effect == "one way":
        known = RULES[one.code].effects if one.code in RULES else ()
        way = next((effects.way for effects in known if effects.way), one.because)
        return f"the comparison holds in one direction: {way}"
    return _ON_COMPARISON.get(effect, "what it does to comparisons is not known")


def subject_words(subject: Subject, name_of: Callable[[str], str] = str) -> str:
    """Say what a finding is about; empty where it is about everything."""
    words = name_of(subject.case) if subject.case is not None else ""
    if subject.other_case is not None:
        words = f"{words} against {name_of(subject.other_case)}"
    if subject.trial is not None:
        words = f"{words}, trial {subject.trial}".removeprefix(", ")
    return words
