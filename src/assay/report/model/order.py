"""The order of one workload and load: who is fastest, by what factor, and why no more can be said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from assay import verdict
from assay.core import units as fmt
from assay.core.units import called, joined, shortened
from assay.model.estimate import Compared, Limit
from assay.model.run import Run
from assay.report.model.rows import LoadRows, Row
from assay.report.model.unranked import Forbidden, left_out, measured, nobody
from assay.report.model.values import Answer
from assay.report.model.warned import short
from assay.stats.sequential import MINIMUM_EFFECT

MOST_OTHERS = 3
"""So many ratios stand in the headline; of more the table has them."""
_MANY_ROWS = 3
"""Rows of one server from which a sentence counts them: the table names them."""


def in_sentences(run: Run, section: LoadRows) -> Answer:
    """The answer of a section; and what to do where it has none."""
    if len(section.rows) == 1 and section.candidates:
        return Answer((_only(section.candidates[0]),))
    placed = [row for row in section.candidates if row.rank is not None]
    if not placed:
        return _no_ranking(run, section)
    return Answer((_ranking(run, placed),), (*_ties(run, placed), *left_out(run, section)))


def _ranking(run: Run, placed: Sequence[Row]) -> str:
    """ "A is fastest: 1.67× B [1.61, 1.72], 18.2× C [17.4, 19.0]"."""
    first = [row for row in placed if row.rank == 1]
    behind = [row for row in placed if row.rank != 1]
    names = [called(short(row.name)) for row in first]
    alone = len(first) == 1
    if alone:
        said = f"{names[0]} is fastest" + ("" if behind else f", with {_rate(first[0])}")
    else:
        forbidden = all(Forbidden(run, first).with_all(row) for row in first)
        why = "they may not be compared" if forbidden else "no difference shown"
        said = f"{' and '.join(names) if len(first) == 2 else f'{len(first)} servers'} share rank 1: {why}"
    if not behind:
        return said
    named = behind if len(behind) <= MOST_OTHERS else [*behind[: MOST_OTHERS - 1], behind[-1]]
    ratios = ", ".join(factor(compared(run, first[0], row), row) for row in named)
    return f"{said}: {ratios}" if alone else f"{said}; {names[0]} is {ratios}"


def factor(found: Compared | None, slower: Row) -> str:
    """How many times as fast as the slower one: "1.67× Go [1.61, 1.72]", "≥ 1.57× Go"."""
    name = called(short(slower.name))
    if found is not None and found.ratio is not None and found.known is not None:
        known = found.known
        return fmt.factor(found.ratio.value, known.low, known.high, name, bounds=bool(known.limits))
    back = slower.relative
    return f"ahead of {name}" if back is None or not back.value else ahead(slower, name)


def ahead(slower: Row, name: str = "") -> str:
    """How many times as fast as this row the best is, from the ratio of the row to the best."""
    back = slower.relative
    assert back is not None and back.value  # the caller asked
    low, high = (1 / end if end else None for end in (back.high, back.low))
    return fmt.factor(1 / back.value, low, high, name)


def _ties(run: Run, placed: Sequence[Row]) -> Iterator[str]:
    """Each shared rank, and why none of its rows is ahead of another."""
    for rank in sorted({row.rank for row in placed if row.rank}):
        rows = [row for row in placed if row.rank == rank]
        if len(rows) > 1:
            yield f"{_all(run, rows)} share rank {rank}: {_tie(run, rows)}."


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
    pair = f"{called(faster.name)} is {factor(compared(run, faster, slower), slower)}"
    return f"{said} after Holm's correction, though by itself {pair}"


def _why(run: Run, rows: Sequence[Row]) -> str:
    """What limits the comparisons of these cases with each other, and what widens them."""
    findings = run.judgement.findings if run.judgement else ()
    names = combinations([row.case.id for row in rows], 2)
    wider = (limit for pair in names for limit in verdict.widening(findings, *pair))
    limits = verdict.words_of(tuple(dict.fromkeys((*_limits_within(run, rows), *wider))))
    return f" ({limits})" if limits else ""


def compared(run: Run, a: Row, b: Row) -> Compared | None:
    """The comparison of a with b in the judgement, a over b."""
    pairs = run.judgement.comparisons if run.judgement else ()
    return next((one for one in pairs if (one.a, one.b) == (a.case.id, b.case.id)), None)


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
        return f"{called(row.name)} serves {_rate(row)}"
    if row.failure is not None and not row.trials:
        return f"{called(row.name)} was not measured"
    reason = row.place.reason if row.place else ""
    return f"What {called(row.name)} serves is not known{f': {reason}' if reason else ''}"


def _no_ranking(run: Run, section: LoadRows) -> Answer:
    figures = [row for row in section.candidates if measured(row)]
    if not figures:
        none = "Nothing was measured that may be shown" if section.candidates else "Nothing competes here"
        return Answer((none,))
    valid = [row for row in figures if row.throughput is not None and not row.invalid]
    if len(valid) == 1:
        alone = f"{called(valid[0].name)} serves {_rate(valid[0])}; nothing is left to compare it with"
        return Answer((alone,), tuple(left_out(run, section, without=valid[0])))
    why = nobody(run, section)
    few = all(row.place and "an order needs" in row.place.reason for row in figures)
    advice = "run more blocks (--blocks)" if few else ""
    return Answer((f"No ranking: {why}" if why else "No ranking",), advice=advice)


def limits_of(section: LoadRows) -> Iterator[tuple[Limit, str]]:
    """What limits the section's throughputs, each with the name of the case."""
    for row in section.candidates:
        for limit in row.known.limits if row.known and not row.invalid else ():
            yield limit, row.name
