"""Who was measured and has no place in the order, and why: servers with the same reason are told once.

It is known who may not be compared with whom, and by which rules. Servers that the same rules keep from the
same others are told together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from assay import verdict
from assay.core import units as fmt
from assay.core.units import listed
from assay.model.run import Run
from assay.report.model.rows import LoadRows, Row, ordered_findings

_MOST_PAIRS = 3
"""Pairs of groups that a sentence tells before it counts the rest."""


def rules_words(run: Run, codes: Iterable[str]) -> str:
    """Rules with what they found: "W6: unequal cores, workers or pools"."""
    titles = {one.code: one.title for one in ordered_findings(run)}
    return "; ".join(f"{code}: {titles[code]}" if titles.get(code) else code for code in codes)


class Forbidden:
    """The comparisons of a judgement as they concern these rows."""

    def __init__(self, run: Run, rows: Sequence[Row]) -> None:
        """`rows` are all that are looked at, or those of one rank."""
        self._run, self._rows = run, rows
        self._codes: dict[str, dict[str, tuple[str, ...]]] = {row.case.id: {} for row in rows}
        for one in run.judgement.comparisons if run.judgement else ():
            if one.a in self._codes and one.b in self._codes:
                self._codes[one.a][one.b] = self._codes[one.b][one.a] = one.void

    def with_whom(self, row: Row) -> Mapping[str, tuple[str, ...]]:
        """The others with which the row may not be compared, each with the codes of the rules."""
        return {other: codes for other, codes in self._codes[row.case.id].items() if codes}

    def with_all(self, row: Row) -> bool:
        """Whether it may be compared with no other at all."""
        return bool(self.with_whom(row)) and all(self._codes[row.case.id].values())

    def codes(self, row: Row) -> tuple[str, ...]:
        """The rules that keep it from others."""
        return tuple(sorted({code for codes in self.with_whom(row).values() for code in codes}))

    def groups(self, rows: Iterable[Row]) -> list[list[Row]]:
        """The rows that the same rules keep from the same others, together; within a group all may be
        compared with each other, or none."""
        found: list[list[Row]] = []
        for row in rows:
            group = next((group for group in found if self._alike(group[0], row)), None)
            if group is None:
                found.append([row])
            else:
                group.append(row)
        return found

    def clauses(self) -> tuple[str, ...]:
        """Who may not be compared with whom, each a clause; empty where all may."""
        void = [codes for a, b in combinations(self._rows, 2) if (codes := self._between(a, b))]
        if 0 < len(void) == len(self._rows) * (len(self._rows) - 1) // 2 and len(set(void)) == 1:
            return (f"they may not be compared ({self._sentence(void[0])})",)
        groups = self.groups(row for row in self._rows if self.with_whom(row))
        told = [clause for group in groups if (clause := self._within(group))]
        met = [self._between(g[0], h[0]) for g, h in combinations(groups, 2)]
        if not told and len(met) > 1 and len(set(met)) == 1:
            each = " / ".join(listed(row.name for row in group) for group in groups)
            one = "no server of one of these groups may be compared with one of another"
            return (f"{one}: {each} ({self._sentence(met[0])})",)
        told += [clause for g, h in combinations(groups, 2) if (clause := self._across(g, h))]
        more = len(told) - _MOST_PAIRS
        return (*told[:_MOST_PAIRS], f"nor may {more} more such pairs") if more > 1 else tuple(told)

    def _within(self, group: Sequence[Row]) -> str:
        codes = self._between(*group[:2]) if len(group) > 1 else ()
        if not codes:
            return ""
        names = listed(row.name for row in group)
        each = "" if len(group) == 2 else " with each other"
        return f"{names} may not be compared{each} ({self._sentence(codes)})"

    def _across(self, group: Sequence[Row], other: Sequence[Row]) -> str:
        codes = self._between(group[0], other[0])
        if not codes:
            return ""
        if len(group) == len(other) == 1:
            return f"{listed((group[0].name, other[0].name))} may not be compared ({self._sentence(codes)})"
        with_whom = listed((row.name for row in other), "or")
        names = listed(row.name for row in group)
        return f"{names} may not be compared with {with_whom} ({self._sentence(codes)})"

    def _sentence(self, codes: tuple[str, ...]) -> str:
        return rules_words(self._run, codes)

    def _between(self, a: Row, b: Row) -> tuple[str, ...]:
        return self._codes[a.case.id].get(b.case.id, ())

    def _alike(self, a: Row, b: Row) -> bool:
        """Whether the same rules keep both from the same others, themselves aside."""
        pair = {a.case.id, b.case.id}
        mine, theirs = (
            {other: codes for other, codes in self.with_whom(row).items() if other not in pair}
            for row in (a, b)
        )
        return mine == theirs


_LONGEST_REASON = 300


class Reason(NamedTuple):
    """Why these rows have no place: `text` after their names, `named` with them. `whole` is what remains to
    be said where it holds of everyone."""

    rows: tuple[Row, ...]
    text: str
    named: str
    whole: str


def left_out(run: Run, section: LoadRows, without: Row | None = None) -> Iterator[str]:
    """A sentence for each reason, of those that have no place and may be ahead of all that have."""
    rows = [row for row in section.candidates if row.rank is None and row is not without and measured(row)]
    for reason in reasons(run, section, rows):
        names = listed(row.name for row in reason.rows)
        are = "is" if len(reason.rows) == 1 else "are"
        yield f"{names} {are} not ranked{f': {reason.text}' if reason.text else ''}."


def nobody(run: Run, section: LoadRows) -> str:
    """Why nobody has a place."""
    rows = [row for row in section.candidates if measured(row)]
    found = [reason for reason in reasons(run, section, rows) if reason.text]
    if len(found) == 1 and len(found[0].rows) == len(rows):
        return found[0].whole
    return "; ".join(reason.named for reason in found)


def measured(row: Row) -> bool:
    """Whether there is a figure of it, be it one that no one may rank."""
    return row.place is not None and row.place.throughput is not None


def reasons(run: Run, section: LoadRows, rows: Sequence[Row]) -> Iterator[Reason]:
    """The rows by what keeps them from a place: rules that forbid to compare them, void figures, all else."""
    forbidden = Forbidden(run, section.candidates)
    void = {row.case.id: _void(run, row) for row in rows}
    with_none = [row for row in rows if not void[row.case.id] and forbidden.with_all(row)]
    for codes in dict.fromkeys(map(forbidden.codes, with_none)):
        yield _with_none(run, forbidden, [row for row in with_none if forbidden.codes(row) == codes])
    with_some = [
        row
        for row in rows
        if not void[row.case.id] and forbidden.with_whom(row) and not forbidden.with_all(row)
    ]
    for group in forbidden.groups(with_some):
        yield _with_some(run, section, forbidden, group)
    for codes in dict.fromkeys(filter(None, void.values())):
        yield _of_void(run, [row for row in rows if void[row.case.id] == codes], codes)
    rest = [row for row in rows if not void[row.case.id] and not forbidden.with_whom(row)]
    for words in dict.fromkeys(map(_words, rest)):
        group = [row for row in rest if _words(row) == words]
        yield Reason(tuple(group), words, f"{listed(row.name for row in group)}: {words}", words)


def _void(run: Run, row: Row) -> tuple[str, ...]:
    """The rules that make its throughput void, where one was to be found."""
    searched = row.case.search is not None
    return () if searched or not row.closed_loop else verdict.void_by(ordered_findings(run), row.case.id)


def _words(row: Row) -> str:
    return fmt.safe(row.place.reason, _LONGEST_REASON) if row.place else ""


def _with_none(run: Run, forbidden: Forbidden, group: Sequence[Row]) -> Reason:
    said_by = f"({rules_words(run, forbidden.codes(group[0]))})"
    names, they = listed(row.name for row in group), "it" if len(group) == 1 else "they"
    ids = {row.case.id for row in group}
    if forbidden.with_whom(group[0]).keys() | {group[0].case.id} > ids:
        said = f"may be compared with none of the others {said_by}"
    else:  # they are all that could be compared
        said = f"may not be compared with each other {said_by}"
    named = f"{names} {said}"
    whole = named if len(group) == 2 else f"none may be compared with another {said_by}"
    return Reason(tuple(group), f"{they} {said}", named, whole)


def _with_some(run: Run, section: LoadRows, forbidden: Forbidden, group: Sequence[Row]) -> Reason:
    """Forbidden with these; with the rest there is too little in common."""
    met = forbidden.with_whom(group[0])
    ids = {row.case.id for row in group}
    others = [row.name for row in section.candidates if row.case.id in met and row.case.id not in ids]
    with_others = ["each other"] if ids & met.keys() else []
    with_others += [listed(others, "or")] if others else []
    names, one = listed(row.name for row in group), len(group) == 1
    said = (
        f"may not be compared with {' or with '.join(with_others)} "
        f"({rules_words(run, forbidden.codes(group[0]))}) and {'shares' if one else 'share'} too few blocks "
        "with the rest"
    )
    named = f"{names} {said}"
    return Reason(tuple(group), f"{'it' if one else 'they'} {said}", named, named)


def _of_void(run: Run, group: Sequence[Row], codes: Sequence[str]) -> Reason:
    names, why = listed(row.name for row in group), rules_words(run, codes)
    if len(group) == 1:
        named = f"the throughput of {names} is void ({why})"
        return Reason(tuple(group), f"its throughput is void ({why})", named, named)
    named = f"the throughputs of {names} are void ({why})"
    return Reason(tuple(group), f"their throughputs are void ({why})", named, named)
