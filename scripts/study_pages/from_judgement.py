"""The judgement of a stored run as facts of a page: answers, claims, findings."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, permutations

from assay import stats, verdict
from assay.core import units as fmt
from assay.model.estimate import ClaimVerdict, Estimate, Known
from assay.model.finding import Finding
from assay.model.run import Run
from assay.report.document import Table, TableLine
from assay.report.model import order, tables
from assay.report.model.rows import LoadRows, Row, name_of_case
from assay.report.model.unranked import Forbidden
from assay.report.model.values import ORDER, subject_words
from assay.stats.interleaved import more_needed, spread
from assay.stats.sides import round_logs
from assay.verdict.pairs import sides
from study_pages import evidence
from study_pages.schema import Ahead, Claim, Found, LoadResult, Widest

_REASONS = {
    "are no results": "no result",
    "limits on both sides": "bounded",
    "was not measured": "not measured",
    "measures nothing": "not compared",
}
"""How the reason of a claim's verdict begins where it has no ratio, and `Claim.why`."""

_MOST_LISTED = 24
"""Subjects of one finding that a page lists."""


def load_result(run: Run, section: LoadRows) -> LoadResult:
    """The results of a section: who is ahead of whom, and its table."""
    table = tables.results(section)
    rows = section.candidates
    ranks = sorted({row.rank for row in rows if row.rank})
    by_rank = [[row for row in rows if row.rank == rank] for rank in ranks]
    first = by_rank[0] if by_rank else []
    far = next((row.case.emulation for row in section.rows if row.case.emulation), None)
    times = {column.name for column in table.columns} & {"p50", "p99"}
    closed = all(row.closed_loop for row in section.rows)
    return LoadResult(
        load=section.title,
        ahead=tuple(step(run, *link(run, above, below)) for above, below in pairwise(by_rank)),
        by_itself=by_itself(run, first),
        limits=tuple(dict.fromkeys(limits(run, first or rows))),
        unranked=unranked(run, rows),
        link="" if far is None else fmt.emulation(far.round_trip_ns, far.loss, far.congestion),
        clock="" if not times else "service" if closed else "response",
        columns=tuple(column.name for column in table.columns),
        rows=tuple(
            tuple(cells_of(row, line, table))
            for row, line in zip((*rows, *section.shown_apart), table.lines, strict=True)
        ),
    )


def cells_of(row: Row, line: TableLine, table: Table) -> Iterator[str]:
    """The cells of a server: its bare name, its role in place of a ratio, its throughput with the unit."""
    for column, cell in zip(table.columns, line.cells, strict=True):
        known = {
            "server": row.name,
            "ahead": cell.text if row.case.role == "candidate" else row.case.role,
            "throughput": f"{cell.text}/s" if cell.text[-1:].isdigit() else cell.text,
        }
        yield known.get(column.name, cell.text)


def link(run: Run, above: Sequence[Row], below: Sequence[Row]) -> tuple[Row, Row]:
    """The pair that stands for two ranks: shown, and nearest to each other."""
    for slower in below:
        for faster in reversed(above):
            found = order.compared(run, faster, slower)
            if found is not None and found.shown:
                return faster, slower
    return above[-1], below[0]


def step(run: Run, faster: Row, slower: Row) -> Ahead:
    """How many times as fast one row is as another."""
    found = order.compared(run, faster, slower)
    ratio = known_ratio(found.ratio, found.known) if found else ""
    return Ahead(faster=faster.name, ratio=ratio, slower=slower.name)


def known_ratio(ratio: Estimate | None, known: Known | None) -> str:
    """A ratio with its interval, or as the bound that findings leave: empty where nothing is known."""
    if ratio is None:
        return ""
    low, high = (known.low, known.high) if known else (ratio.low, ratio.high)
    if known is None or not known.limits:
        return fmt.times(ratio.value) + (f" [{fmt.end(low)}, {fmt.end(high)}]" if low and high else "")
    if low and high:
        return f"{fmt.end(low)} – {fmt.end(high)}"
    return f"≥ {fmt.end(low)}" if low else f"≤ {fmt.end(high)}" if high else ""


def by_itself(run: Run, rows: Sequence[Row]) -> Ahead | None:
    """The largest difference within a rank that one interval shows and all pairs together do not."""
    apart = [
        (found.ratio.value, faster, slower)
        for faster, slower in permutations(rows, 2)
        if (found := order.compared(run, faster, slower))
        and found.ratio
        and not found.void
        and not found.shown
        if found.known and found.known.low and found.known.low > 1 + stats.MINIMUM_EFFECT
    ]
    if not apart:
        return None
    _, faster, slower = max(apart, key=lambda one: one[0])
    return step(run, faster, slower)


def limits(run: Run, rows: Sequence[Row]) -> Iterator[str]:
    """The rules that bound the comparisons of these rows, or the figure of one alone."""
    if len(rows) == 1 and rows[0].known is not None:
        yield from (limit.code for limit in rows[0].known.limits)
    for a, b in permutations(rows, 2):
        found = order.compared(run, a, b)
        if found is not None and found.known is not None:
            yield from (limit.code for limit in found.known.limits)


def unranked(run: Run, rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    """Who has no rank, and by which rules."""
    forbidden, found = Forbidden(run, rows), {}
    for row in rows:
        void = [one.code for one in row.findings if one.on_throughput == "void"]
        codes = tuple(dict.fromkeys(void)) if row.invalid else forbidden.codes(row)
        if row.rank is None and codes:
            found[row.name] = codes
    return found


def claims(verdicts: Iterable[ClaimVerdict]) -> tuple[Claim, ...]:
    """The claims in the study's order."""
    return tuple(
        claim(one, parts=tuple(claim(part) for part in one.parts), identity=one.claim) for one in verdicts
    )


def claim(one: ClaimVerdict, parts: tuple[Claim, ...] = (), identity: str = "") -> Claim:
    """One claim, or a part of one."""
    why = next((why for begins, why in _REASONS.items() if begins in one.reason), "")
    within = re.search(r"factor of ([\d.]+) of 1", one.reason)
    measured = "" if one.measured is None else fmt.ratio(one.measured)
    return Claim(
        statement=one.statement,
        claim=identity,
        published="" if one.published_ratio is None else fmt.times(one.published_ratio),
        measured=measured.replace("×", ""),
        verdict=tables.verdict_words(one),
        why=why,  # type: ignore[arg-type]  # a value of the table above
        missing=one.reason.partition(" was not measured")[0] if why == "not measured" else "",
        within=within[1] if within else "",
        rules=tuple(dict.fromkeys(re.findall(r"\b[A-Z]\d\b", one.reason))),
        parts=parts,
    )


def findings(run: Run, each: Iterable[Finding]) -> tuple[Found, ...]:
    """The findings by rule and by what they do, gravest first."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for one in each:
        key = (one.severity, one.code, one.on_throughput, one.on_times, one.on_comparison)
        groups.setdefault(key, []).append(one)
    made = [found(run, group) for group in groups.values()]
    return tuple(sorted(made, key=lambda one: (ORDER.index(one.severity), one.code)))


def found(run: Run, group: Sequence[Finding]) -> Found:
    """Findings of one rule that do the same."""
    first = group[0]
    factors = sorted(one.at_most_times for one in group if one.at_most_times is not None)
    ends = dict.fromkeys(fmt.times(factor) for factor in factors[:1] + factors[-1:])
    listed = group[:_MOST_LISTED]
    said = (
        (subject_words(one.subject, lambda case: name_of_case(run, case)), one.evidence) for one in listed
    )
    return Found(
        code=first.code,
        severity=first.severity,
        throughput=first.on_throughput,  # type: ignore[arg-type]  # an unknown one is refused when read
        times=first.on_times,  # type: ignore[arg-type]
        comparison=first.on_comparison,  # type: ignore[arg-type]
        at_most=" – ".join(ends),
        evidence=evidence.of((fmt.safe(subject, 200), fmt.safe(text, 500)) for subject, text in said),
        more=len(group) - len(listed),
    )


def widest(run: Run) -> Widest | None:
    """Of servers that were interleaved in several blocks the ratio that scatters most."""
    seen, judged, most = verdict.see_run(run), run.judgement, 0.0
    chosen = None
    for one in judged.comparisons if judged else ():
        a, b = seen.find(one.a), seen.find(one.b)
        if a is None or b is None or one.void or not (one.known and one.known.low and one.known.high):
            continue
        scatter = spread(list(round_logs(*sides(judged.findings if judged else (), a, b)).values()))
        half = math.log(one.known.high / one.known.low) / 2
        if scatter is not None and half > most:
            most, chosen = half, (one, scatter)
    if chosen is None or not run.blocks:
        return None
    one, scatter = chosen
    wanted = math.log1p(stats.MINIMUM_EFFECT)
    more = more_needed(scatter, wanted, seen.half_width)
    return Widest(
        pair=(name_of_case(run, one.a), name_of_case(run, one.b)),
        half=fmt.share(most),
        within=fmt.share(scatter.within),
        rounds=scatter.rounds,
        between=fmt.share(scatter.between),
        more_blocks=None if more is None else max(1, more - scatter.blocks),
    )
