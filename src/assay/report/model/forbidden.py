"""Who may not be compared with whom at one workload and load, and by which rules. Servers that the same rules
keep from the same others are told together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from assay.model.run import Run
from assay.report.model.rows import Row, ordered_findings
from assay.verdict.words import listed

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
