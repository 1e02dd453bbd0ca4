"""The summary of a run: its headline, one table, what limits the answer. The report has the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from assay import verdict
from assay.core import units as fmt
from assay.model.design import LoadDesign, SearchDesign
from assay.model.estimate import ClaimVerdict
from assay.model.plan import Closed
from assay.model.run import Run
from assay.report.document import Cell, Column, Document, Table, TableLine, Tone, table
from assay.report.model import circumstances, followers, order
from assay.report.model.costs import cost_sections
from assay.report.model.headline import MOST_OTHERS, factor, headline_of, times
from assay.report.model.report import verdict_words
from assay.report.model.rows import (
    LoadRows,
    Row,
    failed_rows,
    failure_words,
    interval_words,
    name_of_case,
    one_sided,
    ordered_findings,
    response_words,
    sections,
    service_words,
    throughput_words,
)
from assay.report.model.unranked import measured, reasons
from assay.report.model.warned import codes_in, short, warnings
from assay.verdict.search import Step, answer_of
from assay.verdict.see_runs import load_ns

_MOST_LOADS = 10
"""So many loads have a line of their own in the table."""
_MOST_RATES = 5
_CLAIMS = ("supported", "in direction only", "contradicted", "undecided")
_TELLING_CONTROL = 0.1
"""An A/A interval that reaches further than this says nothing of the run."""


def summary(run: Run) -> Document:
    """The summary of a run of any design."""
    found, followed = _loads(run)
    cut = ["the run did not end: what is here is of the blocks so far"] if _cut_off(run) else []
    first = [*cut, *_failures(found), *_left_out(run, found)]
    headline, advice = headline_of(run, found)
    names = {short(name) for case in run.header.cases for name in (case.name, case.label or case.server_name)}
    told = codes_in(" ".join((*headline, *first)), names)
    costs = [said for section in cost_sections(run, found) for said in section.sentences]
    return Document(
        title="",
        headline=(*headline, *costs[:1]),
        table=_steps(run) if isinstance(run.header.design, SearchDesign) else _table(run, found, followed),
        below=tuple(_below(run, found, followed)),
        warnings=warnings(ordered_findings(run), _namer(run), told=told, first=first),
        advice=advice,
        footer=(_method(run),),
    )


def _cut_off(run: Run) -> bool:
    return run.judgement is not None and not run.judgement.complete


def _namer(run: Run) -> Callable[[str], str]:
    """The name of a case where there are several; of a single one it goes without saying."""
    return (lambda case: name_of_case(run, case)) if len(run.header.cases) > 1 else (lambda case: "")


def _loads(run: Run) -> tuple[tuple[LoadRows, ...], tuple[LoadRows, ...]]:
    """The loads that are compared, and those that depend on them: searches and rates that the run found."""
    found = sections(run)
    if isinstance(run.header.design, SearchDesign):
        return found, ()
    others, searched = followers.apart_by_search(found)
    alone, rated = followers.apart_by_rate(others)
    return alone, (*searched, *rated)


def _table(run: Run, found: Sequence[LoadRows], followed: Sequence[LoadRows]) -> Table | None:
    """The servers of one load, or one line for each of several loads."""
    if not run.trials:
        return None
    if len(found) == 1:
        return _of_servers(found[0], followed)
    lines = [_load_line(run, section) for section in found[:_MOST_LOADS]]
    heads = (
        Column("load", "load", key=True),
        Column("fastest", "fastest"),
        Column("throughput", "requests/s", right=True),
        Column("next", "next"),
        Column("p99", "p99", right=True, spare=1),
    )
    return table("", heads, lines)


def _load_line(run: Run, section: LoadRows) -> TableLine:
    """Who is first at a load, and by how much before the next."""
    placed = [row for row in section.candidates if row.rank is not None]
    first = [row for row in placed if row.rank == 1]
    if not first:
        return TableLine(
            (Cell(short(section.title)), Cell("no ranking", "warn"), *(Cell() for _ in range(3)))
        )
    behind = next((row for row in placed if row.rank != 1), None)
    ratio = factor(order.compared(run, first[-1], behind), behind) if behind else ""
    many = f"{len(first)} alike: " if len(first) > 1 else ""
    return TableLine(
        (
            Cell(short(section.title)),
            Cell(f"{many}{short(first[0].name)}", "plain" if many else "good"),
            Cell(_bare(throughput_words(first[0])), "strong"),
            Cell(ratio),
            Cell(_latencies(first[0])[1]),
        )
    )


def _of_servers(section: LoadRows, followed: Sequence[LoadRows]) -> Table:
    told_above = len(section.candidates) <= MOST_OTHERS + 1
    capacities = {
        row.name: row
        for one in followed
        for row in one.rows
        if row.case.search is not None and row.throughput
    }
    columns = (
        Column("rank", "rank", right=True, spare=2),
        Column("server", "server", key=True),
        Column("throughput", "requests/s", right=True),
        Column("interval", "95 %", right=True, spare=3),
        Column("relative", "fastest is", spare=7 if told_above else 1),
        Column("p50", "p50", right=True, spare=1),
        Column("p99", "p99", right=True),
        Column("errors", "errors", right=True),
        Column("capacity", "capacity", right=True),
        Column("cpu", "CPU", right=True, spare=5),
        Column("memory", "memory", right=True, spare=6),
    )
    rows = (*section.candidates, *section.shown_apart)
    some_failed = any(row.error_share for row in rows)
    lines = [_server_line(columns, row, capacities.get(row.name), errors=some_failed) for row in rows]
    return table("", columns, lines)


def _server_line(columns: Sequence[Column], row: Row, capacity: Row | None, *, errors: bool) -> TableLine:
    candidate = row.case.role == "candidate"
    p50, p99 = _latencies(row)
    bad: Tone = "bad" if row.throughput is None and (row.invalid or row.failure is not None) else "strong"
    cells = {
        "rank": Cell(str(row.rank or fmt.UNKNOWN) if candidate and not row.alone else ""),
        "server": Cell(f"{short(row.name)} ({row.case.role})" if _apart(row) else short(row.name)),
        "throughput": Cell(_bare(throughput_words(row)), bad),
        "interval": Cell(interval_words(row)),
        "relative": Cell(_slower_than_best(row)),
        "p50": Cell(p50),
        "p99": Cell(p99),
        "errors": Cell(fmt.share(row.error_share) if errors else ""),
        "capacity": Cell(
            one_sided(capacity.throughput) + fmt.rate(capacity.throughput.value)
            if capacity and capacity.throughput
            else ""
        ),
        "cpu": Cell(fmt.share(row.cpu_share)),
        "memory": Cell(fmt.size(fmt.value_of(row.peak_memory_bytes))),
    }
    return TableLine(tuple(cells[column.name] for column in columns), apart=not candidate)


def _apart(row: Row) -> bool:
    """Whether its name does not say already that it does not compete."""
    return row.case.role not in ("candidate", "control")


def _slower_than_best(row: Row) -> str:
    back = row.relative
    if (
        row.case.role != "candidate"
        or row.alone
        or back is None
        or not back.value
        or back.low == back.high == 1
    ):
        return ""
    low, high = (1 / end if end else None for end in (back.high, back.low))
    return times(1 / back.value, low, high)


def _latencies(row: Row) -> tuple[str, str]:
    """The p50 and p99; of those whose trials differ much the report has the least and the most."""
    p50, p99 = service_words(row) if row.closed_loop else response_words(row)
    return p50.partition(" (")[0], p99.partition(" (")[0]


def _bare(rate: str) -> str:
    """A rate below a head that names the unit."""
    return rate.removesuffix("/s")


def _steps(run: Run) -> Table | None:
    """The rates of a search around its answer, with a mark for each trial: held, missed, no answer."""
    found = answer_of(run)
    if not found.steps:
        return None
    rates: dict[float, list[Step]] = {}
    for step in found.steps:
        rates.setdefault(step.rate_per_s, []).append(step)
    middle = found.capacity.value if found.capacity is not None else max(rates)
    near = sorted(rates, key=lambda rate: abs(math.log(rate / middle)))[:_MOST_RATES]
    columns = (
        Column("rate", "rate", right=True, key=True),
        Column("trials", "trials"),
        Column("why", "the last one"),
    )
    return table("", columns, [_step_line(fmt.rate(rate), rates[rate]) for rate in sorted(near)])


def _step_line(rate: str, at: Sequence[Step]) -> TableLine:
    signs = "".join({True: "✓", False: "✗", None: "?"}[step.holds] for step in at)
    tone: Tone = "good" if all(step.holds for step in at) else "warn"
    return TableLine((Cell(rate), Cell(signs, tone), Cell(fmt.safe(at[-1].why, 50))))


def _below(run: Run, found: Sequence[LoadRows], followed: Sequence[LoadRows]) -> Iterator[str]:
    if len(found) > _MOST_LOADS:
        yield f"{len(found) - _MOST_LOADS} more loads are in the report"
    claims = run.judgement.claims if run.judgement else ()
    if claims:
        counted = Counter(_claim_words(claim) for claim in claims)
        told = ", ".join(f"{counted[words]} {words}" for words in _CLAIMS if counted[words])
        yield f"published claims: {told}"
    yield from _controls(run)
    rated = [section for section in followed if any(row.case.rate for row in section.rows)]
    if rated:
        yield f"also measured: response time at {fmt.counted(len(rated), 'rate')}"


def _claim_words(claim: ClaimVerdict) -> str:
    words = verdict_words(claim)
    if words.startswith("direction"):
        return _CLAIMS[1]
    return {"contradicted": _CLAIMS[2], "inconclusive": _CLAIMS[3]}.get(words, _CLAIMS[0])


def _controls(run: Run) -> Iterator[str]:
    """The A/A control, where it is narrow enough to tell anything."""
    if all(case.role != "control" for case in run.header.cases):
        return
    for ratio in verdict.see_run(run).controls.values():
        half = fmt.half_width(ratio)
        if half is None or half > _TELLING_CONTROL or ratio.low is None or ratio.high is None:
            continue
        low, high = fmt.signed_share(ratio.low - 1), fmt.signed_share(ratio.high - 1)
        yield f"A/A difference: {fmt.signed_share(ratio.value - 1)} [{low}, {high}]"


def _failures(found: Sequence[LoadRows]) -> Iterator[str]:
    for row in failed_rows(found):
        assert row.failure is not None  # chosen for it
        reason = row.failure.reason.partition("\n")[0].partition(";")[0]
        yield f"{short(row.failed_name)} {failure_words(row)}{f': {fmt.safe(reason, 60)}' if reason else ''}"


def _left_out(run: Run, found: Sequence[LoadRows]) -> Iterator[str]:
    """Who was measured and has no rank beside others that have one."""
    if len(found) != 1 or isinstance(run.header.design, SearchDesign | LoadDesign):
        return
    [section] = found
    if all(row.rank is None for row in section.candidates):
        return
    rows = [row for row in section.candidates if row.rank is None and measured(row)]
    for reason in reasons(run, section, rows):
        names = ", ".join(short(row.name) for row in reason.rows[:3])
        yield f"{names} not ranked: {fmt.safe(reason.text, 100)}"


def _method(run: Run) -> str:
    """How it was measured, in a line."""
    header = run.header
    which = (header.study_name, header.profile, "quick" if header.quick else "") if header.profile else ()
    said = [fmt.safe(" ".join(filter(None, which)), 40)] if which else []
    judged = run.judgement.comparisons if run.judgement else ()
    if any(one.ratio is not None and one.ratio.low is not None for one in judged):
        said.append("95 % CI")
    blocks = circumstances.blocks_of(run)
    if isinstance(run.header.design, SearchDesign | LoadDesign):
        said.append(fmt.counted(len(run.trials), "trial"))
    else:
        said.append(fmt.counted(blocks, "interleaved block" if run.blocks else "block"))
    said.append(fmt.span(load_ns(run) / 1e9))
    closed = {load.connections for trial in run.trials if isinstance(load := trial.plan.load, Closed)}
    if len(closed) == 1:
        said += [fmt.counted(closed.pop(), "closed-loop connection"), "service times"]
    elif closed:
        said += ["closed loops", "service times"]
    return ", ".join(said)
