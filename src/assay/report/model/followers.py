"""Dependent loads of a run as tables and sentences: rates, searches for a capacity, services."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay import verdict
from assay.core import units as fmt
from assay.model.estimate import Estimate
from assay.model.run import Run
from assay.report.document import Cell, Column, Table, TableLine, plain, table
from assay.report.model.rows import (
    LoadRows,
    Row,
    one_sided,
    ordered_findings,
    response_words,
    service_words,
    throughput_words,
    times_limited,
)
from assay.report.model.values import Answer
from assay.verdict.search import SearchAnswer, Step, answer_of

_COLUMNS = (
    Column("trial", "trial", right=True, key=True),
    Column("rate", "rate", right=True, key=True),
    Column("objective", "objective"),
    Column("seen", "seen"),
)


def search_sentences(run: Run) -> Answer:
    """The capacity, how sure it is, and what the server did not survive."""
    found = answer_of(run)
    searching = found.capacity is not None and found.state == "searching" and not _invalid(run)
    more = "give it a larger --budget, or a wider --resolution"
    return Answer(tuple(_sentences(run, found)), advice=more if searching else "")


def search_steps(run: Run) -> Table:
    """Each trial in the order of the search."""
    lines = (
        TableLine(
            (
                Cell(str(number)),
                Cell(fmt.rate(step.rate_per_s)),
                Cell(step_words(step), "plain" if step.holds else "warn"),
                Cell(fmt.safe(step.why, 200)),
            )
        )
        for number, step in enumerate(answer_of(run).steps, start=1)
    )
    return table("Trials of the search", _COLUMNS, lines)


def search_line(found: SearchAnswer) -> str:
    """The last trial and where the search stands, in a line."""
    step = found.steps[-1]
    why = fmt.safe(step.why, 120)
    said = f"[{len(found.steps):>2}] {fmt.rate(step.rate_per_s)}: {step_words(step)} ({why})"
    known = "not known yet" if found.capacity is None else fmt.rate_between(found.capacity)
    return f"{said}; capacity {known}"


def step_words(step: Step) -> str:
    """What came of a trial of a search."""
    if step.died:
        return "died"
    return {True: "held", False: "missed", None: "no answer"}[step.holds]


def _sentences(run: Run, found: SearchAnswer) -> Iterator[str]:
    """ "capacity with p99<50ms: 352/s [329, 392], 9 trials", and what the server did not survive."""
    objective, capacity = found.bounds.objective, found.capacity
    trials = fmt.counted(len(found.steps), "trial")
    if _invalid(run):
        yield f"the capacity with {objective} is invalid"
    elif capacity is None:
        why = fmt.safe(found.steps[-1].why, 100) if found.steps else "no trial ended"
        yield f"no capacity with {objective}: {why}"
    elif found.state == "below the range":
        last = next(step for step in reversed(found.steps) if step.holds is False)
        at = f"{fmt.rate(capacity.value)}, the lowest that was asked"
        yield f"{objective} does not hold even at {at}: {fmt.safe(last.why, 100)}"
    else:
        how = {"found": "", "above the range": f", {top_words(found)}"}.get(
            found.state, f", not settled after {trials}"
        )
        yield f"capacity with {objective}: {fmt.rate_between(capacity)}{how}"
    if found.deaths:
        first = min(found.deaths, key=lambda step: step.rate_per_s)
        number = f"{len(found.deaths)} of {trials}"
        at, why = fmt.rate(first.rate_per_s), fmt.safe(first.why, 100)
        yield f"the server did not survive {at} ({number}): {why}"


def _invalid(run: Run) -> bool:
    """Whether the times are no results that the objective was held to."""
    return verdict.invalid(ordered_findings(run), run.header.cases[0].id, "times")


def top_words(found: SearchAnswer) -> str:
    """What ended a search whose highest rate held: the generator's own limit, or the range that was asked."""
    if found.limited_per_s is not None and found.capacity and found.limited_per_s <= found.capacity.value:
        return "and the generator reached its own limit there"
    if found.limited_per_s is not None:
        return f"and the generator reached its own limit at {fmt.rate(found.limited_per_s)}"
    return "the highest that was asked: give --to a higher rate"


LATENCY_HEADS = ("server", "load", "rate:", "p50:", "p99:", "95 %", "service p99:", "findings")
"""Of `cells`; a head that ends in a colon stands over a column of figures."""

_LATENCY_NOTE = (
    "Open loop, Poisson arrivals: p50 and p99 are response time, from the intended start of each request"
)


_TELLING = 100.0
"""The ratio of its ends up to which an interval is shown."""


def apart_by_rate(found: Sequence[LoadRows]) -> tuple[tuple[LoadRows, ...], tuple[LoadRows, ...]]:
    """The sections that stand for themselves, and those whose rates the run found."""
    rated = tuple(section for section in found if all(row.case.rate for row in section.rows))
    return tuple(section for section in found if section not in rated), rated


def by_table(rated: Iterable[LoadRows]) -> dict[str, list[Row]]:
    """The rows for each closed load and workload that open loops follow, by the title of their table."""
    found: dict[str, list[Row]] = {}
    for section in rated:
        for row in section.rows:
            assert row.case.rate is not None  # `apart` chose it for that
            found.setdefault(f"{row.case.workload}, {row.case.rate.load}", []).append(row)
    return found


def latency_note(rows: Iterable[Row]) -> str:
    """How to read a table of these rows."""
    limited = times_limited(rows)
    return f"{_LATENCY_NOTE}; {limited}" if limited else _LATENCY_NOTE


def latency_cells(rows: Iterable[Row]) -> Iterable[tuple[str, ...]]:
    """A line for each server and rate: the servers in their order, their rates rising."""
    listed = list(rows)
    names = list(dict.fromkeys(row.name for row in listed))
    for row in sorted(listed, key=lambda row: names.index(row.name)):
        yield (
            row.name,
            _load(row),
            throughput_words(row),
            *response_words(row),
            "" if row.times.limits else _interval(row.response_p99_ns),
            service_words(row)[1],
            " ".join(row.codes),
        )


def _load(row: Row) -> str:
    rate = row.case.rate
    return fmt.share(rate.share, exact=True) if rate and not rate.common else "common"


def _interval(estimate: Estimate | None) -> str:
    """Of a tail over few trials, which may reach over orders of magnitude: then it says nothing."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    if estimate.high > _TELLING * estimate.low:
        return fmt.WIDE
    return f"{fmt.time(estimate.low)} – {fmt.time(estimate.high)}"


CAPACITY_HEADS = ("server", "capacity:", "95 % sure:", "of its closed loop:", "trials:", "findings")
"""Of the cells; a head that ends in a colon stands over a column of figures."""

CAPACITY_NOTE = "The highest rate at which the objective held, searched by open loops with Poisson arrivals"


def apart_by_search(found: Sequence[LoadRows]) -> tuple[tuple[LoadRows, ...], tuple[LoadRows, ...]]:
    """The sections that stand for themselves, and the searches."""
    searched = tuple(section for section in found if all(row.case.search for row in section.rows))
    return tuple(section for section in found if section not in searched), searched


def capacity_tables(
    searched: Iterable[LoadRows], others: Sequence[LoadRows]
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The cells of a table for each search, by its title; `others` hold the closed loops it followed."""
    closed = {row.case.id: row for section in others for row in section.rows}
    return {section.title: tuple(_capacity_cells(section.rows, closed)) for section in searched}


def _capacity_cells(rows: Iterable[Row], closed: dict[str, Row]) -> Iterator[tuple[str, ...]]:
    for row in sorted(rows, key=lambda row: -(row.throughput.value if row.throughput else 0)):
        assert row.case.search is not None  # `apart` chose it for that
        yield (
            row.name,
            throughput_words(row),
            _between(row.throughput),
            _of_closed(row, closed.get(row.case.search.case)),
            str(row.trials),
            " ".join(row.codes),
        )


def _of_closed(row: Row, before: Row | None) -> str:
    """The capacity as a share of its closed loop's throughput, where that is no bound itself."""
    found, whole = row.throughput, before.throughput if before else None
    if found is None or whole is None or (before and before.known and before.known.limits):
        return fmt.UNKNOWN
    return one_sided(found) + fmt.share(found.value / whole.value)


def _between(found: Estimate | None) -> str:
    if found is None or found.low is None or found.high is None:
        return ""
    return f"{fmt.grouped(found.low)} – {fmt.rate(found.high)}"


SERVICE_HEADS = ("server", "service", "CPU:", "memory:", "version")
"""Of `tables`; a head that ends in a colon stands over a column of figures."""

SERVICE_NOTE = (
    "CPU is the share of the servers' cores that the service took while the row was measured; "
    "memory is the most at the end of any trial, with pages that its processes share in proportion "
    "(* where they are counted for each)"
)


def service_tables(found: Iterable[LoadRows]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The lines of each section whose servers used services, by its title."""
    made = {section.title: tuple(_service_lines(section)) for section in found}
    return {title: lines for title, lines in made.items() if lines}


def _service_lines(section: LoadRows) -> Iterable[tuple[str, ...]]:
    for row in (*section.candidates, *section.shown_apart):
        for used in row.services:
            memory = fmt.size(used.memory_bytes) + ("" if used.pages_shared_out else " *")
            yield row.name, used.name, fmt.share(used.cpu_share), memory, used.version


def apart(found: Sequence[LoadRows]) -> tuple[tuple[LoadRows, ...], tuple[Table, ...]]:
    """The sections that stand for themselves, and the tables that follow them."""
    measured, searched = apart_by_search(found)
    alone, rated = apart_by_rate(measured)
    return alone, tuple(_tables(alone, rated, searched))


def _tables(
    alone: Sequence[LoadRows], rated: Sequence[LoadRows], searched: Sequence[LoadRows]
) -> Iterator[Table]:
    for title, rows in by_table(rated).items():
        yield _made("Response time", title, LATENCY_HEADS, latency_cells(rows), latency_note(rows), keys=2)
    for title, lines in capacity_tables(searched, alone).items():
        yield _made("Capacity", title, CAPACITY_HEADS, lines, CAPACITY_NOTE)
    for title, lines in service_tables(alone).items():
        yield _made("Services", title, SERVICE_HEADS, lines, SERVICE_NOTE)


def _made(
    what: str, title: str, heads: Sequence[str], lines: Iterable[Sequence[str]], note: str, keys: int = 1
) -> Table:
    return plain(f"{what}: {title}" if title else what, heads, lines, note, longest=80, keys=keys)
