"""The order of one workload and load in a sentence: who is fastest, by how much at least and at most, and why
no more can be said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from assay import verdict
from assay.core import units as fmt
from assay.model.estimate import Compared, Estimate, Known, Limit
from assay.model.run import Run
from assay.report.model.rows import LoadRows, Row
from assay.report.model.unranked import Forbidden, left_out, measured, nobody
from assay.report.model.values import Answer
from assay.stats.sequential import MINIMUM_EFFECT
from assay.verdict.rule import called, joined, shortened

_MANY_ROWS = 3
"""Rows of one server from which a sentence counts them: the table names them."""
_MOST_RANKS = 5
"""How many ranks a sentence follows before it counts the rest."""


def in_sentences(run: Run, section: LoadRows) -> Answer:
    """The answer of a section in a sentence; and what to do where it has none."""
    if len(section.rows) == 1 and section.candidates:
        return Answer(headline=(_only(section.candidates[0]),))
    placed = [row for row in section.candidates if row.rank is not None]
    return Answer(headline=(_ranking(run, section, placed),)) if placed else _no_ranking(run, section)


def _ranking(run: Run, section: LoadRows, placed: Sequence[Row]) -> str:
    ranks = [
        [row for row in placed if row.rank == rank]
        for rank in sorted({row.rank for row in placed if row.rank})
    ]
    first = ranks[0]
    if len(first) == 1:
        said = f"{called(first[0].name)} is fastest"
        said += f": {_chain(run, ranks)}" if len(ranks) > 1 else f", with {_rate(first[0])}"
    else:
        said = f"{_all(run, first)} share the first place: {_tie(run, first)}"
        said += f"; {_chain(run, ranks, named=True)}" if len(ranks) > 1 else ""
    others = left_out(run, section)
    return f"Of those that can be ranked, {said}.{others}" if others else f"{said}."


def _tie(run: Run, rows: Sequence[Row]) -> str:
    """Why none of these is ahead of another: they may not be compared, or no difference was shown."""
    forbidden = Forbidden(run, rows)
    told = list(forbidden.clauses())
    if not told:
        return _not_shown(run, rows)
    if any(len(forbidden.with_whom(row)) < len(rows) - 1 for row in rows):
        told.append(f"else {_not_shown(run, rows)}")
    return ", ".join(told)


def _not_shown(run: Run, rows: Sequence[Row]) -> str:
    """That no difference was shown, and why; and the largest that is one by its own interval, where it takes
    all pairs of the group together, of which some differ by chance, to leave it open."""
    said = f"no difference between them was shown{_why(run, rows)}"
    apart = [
        (found.ratio.value, faster, slower)
        for faster, slower in permutations(rows, 2)
        if (found := compared(run, faster, slower)) and found.ratio and not found.void and not found.shown
        if found.known and found.known.low and found.known.low > 1 + MINIMUM_EFFECT
    ]
    if not apart:
        return said
    _, faster, slower = max(apart, key=lambda one: one[0])
    pair = f"{called(faster.name)} is {_ratio(run, faster, slower)} {called(slower.name)}"
    return f"{said} for all pairs together (Holm), though by itself {pair}"


def _why(run: Run, rows: Sequence[Row]) -> str:
    """What limits the comparisons of these cases with each other, and what widens them."""
    findings = run.judgement.findings if run.judgement else ()
    names = combinations([row.case.id for row in rows], 2)
    wider = (limit for pair in names for limit in verdict.widening(findings, *pair))
    limits = verdict.words_of(tuple(dict.fromkeys((*_limits_within(run, rows), *wider))))
    return f" ({limits})" if limits else ""


def _chain(run: Run, ranks: Sequence[Sequence[Row]], *, named: bool = False) -> str:
    """Each rank against the next: "1.57 to 1.62 times B, which is 9.4 times (8.4 to 10.4) C"."""
    said, last = "", None
    for above, below in zip(ranks, ranks[1:_MOST_RANKS], strict=False):
        faster, slower = _link(run, above, below)
        told = f"{_ratio(run, faster, slower)} {called(slower.name)}"
        others = [row for row in below if row is not slower]
        told += f" (its rank shared by {_all(run, others)})" if others else ""
        if last is None:
            said = f"{called(faster.name)} is {told}" if named else told
        else:
            said += f", which is {told}" if faster is last else f"; {called(faster.name)} is {told}"
        last = slower
    rest = len(ranks) - _MOST_RANKS
    return said + (f"; {fmt.counted(rest, 'more rank')} behind" if rest > 0 else "")


def _link(run: Run, above: Sequence[Row], below: Sequence[Row]) -> tuple[Row, Row]:
    """The pair that stands for two ranks: shown, and nearest to each other as measured."""
    for slower in below:
        for faster in reversed(above):
            found = compared(run, faster, slower)
            if found is not None and found.shown:
                return faster, slower
    return above[-1], below[0]


def compared(run: Run, a: Row, b: Row) -> Compared | None:
    """The comparison of a with b in the judgement, a over b."""
    pairs = run.judgement.comparisons if run.judgement else ()
    return next((one for one in pairs if (one.a, one.b) == (a.case.id, b.case.id)), None)


def _ratio(run: Run, faster: Row, slower: Row) -> str:
    """How many times as fast one is: with both ends, or the one that is known."""
    found = compared(run, faster, slower)
    if found is not None and found.ratio is not None and found.known is not None:
        return _known(found.ratio, found.known)
    return _from_the_best(faster, slower)


def _known(ratio: Estimate, known: Known) -> str:
    if not known.limits:
        between = f" ({fmt.end(known.low)} to {fmt.end(known.high)})" if known.low and known.high else ""
        return f"{fmt.times(ratio.value)} times{between}"
    why = f" ({verdict.words_of(known.limits)})"
    if known.low and known.high:
        return f"{fmt.end(known.low)} to {fmt.end(known.high)} times{why}"
    if known.low:
        return f"at least {fmt.end(known.low)} times{why}"
    return f"at most {fmt.end(known.high)} times{why}" if known.high else f"an unknown number of times{why}"


def _from_the_best(faster: Row, slower: Row) -> str:
    """A judgement of format 1 knows each case against the best alone."""
    ratio = slower.relative
    if ratio is None or faster.relative is None or faster.relative.value != 1:
        return "ahead of"
    if not ratio.low or not ratio.high:
        return f"{fmt.times(1 / ratio.value)} times"
    return f"{fmt.times(1 / ratio.value)} times ({fmt.end(1 / ratio.high)} to {fmt.end(1 / ratio.low)})"


def _limits_within(run: Run, rows: Sequence[Row]) -> tuple[Limit, ...]:
    """What limits the comparisons of these cases with each other."""
    found = (compared(run, a, b) for a in rows for b in rows)
    return tuple(dict.fromkeys(limit for one in found if one and one.known for limit in one.known.limits))


def _rate(row: Row) -> str:
    if row.throughput is None:
        return fmt.UNKNOWN
    bare = fmt.known_rate(row.known, row.throughput.value)
    if row.known is not None and row.known.limits:
        return f"{bare} ({verdict.words_of(row.known.limits)})"
    return f"{bare} {fmt.plus_minus(row.throughput)}".strip()


def _all(run: Run, rows: Sequence[Row]) -> str:
    """Their names; of a server that has many rows here, as where one setting is swept, how many it has."""
    of_server: dict[str, list[Row]] = {}
    for row in rows:
        of_server.setdefault(_base(run, row), []).append(row)
    told: list[str] = []
    for base, each in of_server.items():
        many = len(each) >= _MANY_ROWS
        told += [f"{len(each)} rows of {called(base)}"] if many else [called(row.name) for row in each]
    return joined(shortened(told))


def _base(run: Run, row: Row) -> str:
    """The name that all rows of its server begin with, where one is called just that; else its own."""
    cases = [case for case in run.header.cases if case.server == row.case.server]
    kin = [case.label or case.server_name for case in cases]
    shortest = min(kin, key=len, default=row.name)
    return shortest if row.name.startswith(shortest) else row.name


def _only(row: Row) -> str:
    """Of a load that nothing is compared with, as `assay load` keeps one."""
    if row.throughput is not None:
        return f"{called(row.name)} serves {_rate(row)}."
    if row.failure is not None and not row.trials:
        return f"{called(row.name)} was not measured."
    reason = row.place.reason if row.place else ""
    return f"What {called(row.name)} serves is not known{f': {reason}' if reason else ''}."


def _no_ranking(run: Run, section: LoadRows) -> Answer:
    figures = [row for row in section.candidates if measured(row)]
    if not figures:
        none = "Nothing was measured that may be shown." if section.candidates else "Nothing competes here."
        return Answer(headline=(none,))
    standing = [row for row in figures if row.throughput is not None and not row.invalid]
    if len(standing) == 1:
        alone = f"{called(standing[0].name)} serves {_rate(standing[0])}; nothing is left to compare it with."
        return Answer(headline=(alone + left_out(run, section, without=standing[0]),))
    why = nobody(run, section)
    few = all(row.place and "an order needs" in row.place.reason for row in figures)
    said = f"No ranking: {why}." if why else "No ranking."
    return Answer(headline=(said,), surer=("To rank them: run more blocks (--blocks).",) * few)


def limits_of(section: LoadRows) -> Iterator[tuple[Limit, str]]:
    """What limits the section's throughputs, each with the name of the case."""
    for row in section.candidates:
        for limit in row.known.limits if row.known and not row.invalid else ():
            yield limit, row.name
