"""The tables of a run's document: results, loads, a search's rates, claims, configurations, trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay import stats
from assay.core import units as fmt
from assay.model.design import PublishedFigures
from assay.model.estimate import ClaimVerdict, Verdict
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.document import Cell, Column, Table, TableLine, Tone, plain, table
from assay.report.model import order
from assay.report.model.rows import (
    LoadRows,
    Row,
    interval_words,
    name_of_case,
    one_sided,
    response_words,
    service_words,
    short_name,
    throughput_words,
    times_limited,
)
from assay.report.model.warned import short
from assay.stats.estimates import could_be_published
from assay.verdict.search import Step, answer_of

NAME_LENGTH = 80
_PLACE, _BEHAVIOUR = 0, 1
_MOST_RATES = 5
"""So many rates of a search stand in its summary."""

COLUMNS = (
    Column("rank", "rank", right=True, part=_PLACE, spare=2),
    Column("server", "server", key=True, part=_PLACE),
    Column("throughput", "requests/s", right=True, part=_PLACE),
    Column("interval", "95 %", right=True, part=_PLACE, spare=3),
    Column("ahead", "fastest is", part=_PLACE, spare=7),
    Column("findings", "findings", part=_PLACE, spare=9),
    Column("p50", "p50", right=True, part=_BEHAVIOUR, spare=1),
    Column("p99", "p99", right=True, part=_BEHAVIOUR),
    Column("errors", "errors", right=True, part=_BEHAVIOUR, spare=9),
    Column("capacity", "capacity", right=True, part=_BEHAVIOUR),
    Column("cpu", "CPU", right=True, part=_BEHAVIOUR, spare=5),
    Column("memory", "memory", right=True, part=_BEHAVIOUR, spare=6),
    Column("start", "start", right=True, part=_BEHAVIOUR, spare=8),
)
"""What is told of a case."""


def results(
    section: LoadRows, followed: Sequence[LoadRows] = (), colours: Mapping[str, int | None] | None = None
) -> Table:
    """The table of results: those that compete, best first, then the others. `followed` are dependent loads,
    whose searches give the capacities."""
    found = [row for one in followed for row in one.rows if row.case.search is not None and row.throughput]
    capacities = {row.name: row for row in found}
    rows = (*section.candidates, *section.shown_apart)
    lines = [_line(row, capacities.get(row.name), (colours or {}).get(row.name)) for row in rows]
    kept = {"errors"} if any(row.error_share for row in rows) else set()
    kept |= {"ahead"} if len(section.candidates) > order.MOST_OTHERS + 1 else set()
    columns = [replace(one, spare=int(one.name == "ahead")) if one.name in kept else one for one in COLUMNS]
    made = table(f"Results: {fmt.safe(section.title)}" if section.title else "Results", columns, lines)
    return replace(made, note=_note(made, section))


def _note(made: Table, section: LoadRows) -> str:
    """How to read the columns that are there."""
    names = {column.name for column in made.columns}
    times = [name for name in ("p50", "p99") if name in names]
    closed = all(row.closed_loop for row in section.rows)
    clock = "service time of a closed loop, the queue that the client makes" if closed else "response time"
    far = next((row.case.emulation for row in section.rows if row.case.emulation), None)
    if far is not None:
        clock = f"{'service' if closed else 'response'} time, the way there and back in it"
    said = (
        [f"asked over a link of {fmt.emulation(far.round_trip_ns, far.loss, far.congestion)}"] if far else []
    )
    said += [f"{' and '.join(times)} {'are' if times[1:] else 'is'} {clock}"] if times else []
    limited = times_limited(section.rows) if times else ""
    said += [limited] if limited else []
    said += ["CPU is the share of the server's cores"] if "cpu" in names else []
    said += ["what stands apart does not compete"] if section.candidates and section.shown_apart else []
    return "; ".join(said)


def _line(row: Row, capacity: Row | None, hue: int | None) -> TableLine:
    """What is told of a case; one that is alone has no place and is no share of a best."""
    candidate = row.case.role == "candidate" and not row.alone
    p50, p99 = times_of(row)
    bad = row.throughput is None and (row.invalid or row.failure is not None)
    tone: Tone = "bad" if bad else "strong" if row.throughput else "plain"
    back = row.relative
    behind = candidate and back is not None and back.value and not back.low == back.high == 1
    role = "" if row.case.role in ("candidate", "control") else f" ({row.case.role})"
    capable = capacity.throughput if capacity else None
    cells = {
        "rank": Cell(str(row.rank or fmt.UNKNOWN) if candidate else ""),
        "server": Cell(f"{fmt.safe(row.name, NAME_LENGTH)}{role}"),
        "throughput": Cell(bare(throughput_words(row)), tone),
        "interval": Cell(interval_words(row)),
        "ahead": Cell(order.ahead(row) if behind else ""),
        "findings": Cell(" ".join(row.codes), _gravest(row)),
        "p50": Cell(p50),
        "p99": Cell(p99),
        "errors": Cell(fmt.share(row.error_share)),
        "capacity": Cell(one_sided(capable) + fmt.rate(capable.value) if capable else ""),
        "cpu": Cell(fmt.share(row.cpu_share)),
        "memory": Cell(fmt.size(fmt.value_of(row.peak_memory_bytes))),
        "start": Cell(fmt.time(fmt.value_of(row.start_ns))),
    }
    apart = row.case.role != "candidate"
    return TableLine(tuple(cells[column.name] for column in COLUMNS), apart=apart, hue=hue)


def times_of(row: Row) -> tuple[str, str]:
    """The p50 and p99 of the clock that its load has."""
    return service_words(row) if row.closed_loop else response_words(row)


def bare(rate: str) -> str:
    """A rate below a head that names the unit."""
    return rate.removesuffix("/s")


def _gravest(row: Row) -> Tone:
    severities = {finding.severity for finding in row.findings}
    return "bad" if "error" in severities else "warn" if "warning" in severities else "plain"


def loads(run: Run, found: Sequence[LoadRows], most: int) -> Table:
    """A line for each load; those beyond `most` are details."""
    columns = (
        Column("load", "load", key=True),
        Column("fastest", "fastest"),
        Column("throughput", "requests/s", right=True),
        Column("next", "next"),
        Column("p99", "p99", right=True, spare=1),
    )
    lines = [_load_line(run, section, detail=place >= most) for place, section in enumerate(found)]
    return table("Loads", columns, lines)


def _load_line(run: Run, section: LoadRows, *, detail: bool) -> TableLine:
    """Who is first at a load, and by how much before the next."""
    placed = [row for row in section.candidates if row.rank is not None]
    first = [row for row in placed if row.rank == 1]
    title = Cell(fmt.safe(section.title, NAME_LENGTH))
    if not first:
        return TableLine((title, Cell("no ranking", "warn"), *(Cell() for _ in range(3))), detail=detail)
    behind = next((row for row in placed if row.rank != 1), None)
    ratio = order.factor(order.compared(run, first[-1], behind), behind) if behind else ""
    many = f"{len(first)} alike: " if len(first) > 1 else ""
    cells = (
        title,
        Cell(f"{many}{short(first[0].name)}", "plain" if many else "good"),
        Cell(bare(throughput_words(first[0])), "strong"),
        Cell(ratio),
        Cell(times_of(first[0])[1]),
    )
    return TableLine(cells, detail=detail)


def steps(run: Run) -> Table | None:
    """The rates of a search, with a mark for each trial: held, missed, no answer. Those far from its answer
    are details."""
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
    lines = []
    for rate, at in sorted(rates.items()):
        signs = "".join({True: "✓", False: "✗", None: "?"}[step.holds] for step in at)
        held = Cell(signs, "good" if all(step.holds for step in at) else "warn")
        cells = (Cell(fmt.rate(rate)), held, Cell(fmt.safe(at[-1].why, 50)))
        lines.append(TableLine(cells, detail=rate not in near))
    return table("Rates", columns, lines)


_COLUMNS = (
    Column("claim", "claim", key=True),
    Column("published", "published", right=True),
    Column("measured", "measured"),
    Column("verdict", "verdict"),
    Column("why", "why"),
)
_TONES: dict[Verdict, Tone] = {"supported": "good", "contradicted": "bad", "inconclusive": "faint"}
_DIRECTION = "direction holds, size does not"


def claims(run: Run) -> Table | None:
    """The claims of a judged run, in the study's order; None where it has none."""
    verdicts = run.judgement.claims if run.judgement else ()
    if not verdicts:
        return None
    lines = []
    for claim in verdicts:
        lines.append(_claim_line(claim, f"({claim.claim}) {claim.statement}", inner=False))
        lines += [_claim_line(part, part.statement, inner=True) for part in claim.parts]
    return table("", _COLUMNS, lines)


def _claim_line(claim: ClaimVerdict, words: str, *, inner: bool) -> TableLine:
    published = fmt.UNKNOWN if claim.published_ratio is None else f"{fmt.times(claim.published_ratio)}×"
    said = verdict_words(claim)
    cells = (
        Cell(fmt.safe(words)),
        Cell(published),
        Cell(fmt.ratio(claim.measured)),
        Cell(said, "warn" if said == _DIRECTION else _TONES[claim.verdict]),
        Cell(fmt.safe(claim.reason, 500)),
    )
    return TableLine(cells, inner=inner)


def verdict_words(claim: ClaimVerdict) -> str:
    """The verdict in words that tell a claim's direction from its size: 9.4 measured supports that one is
    faster, and does not support that it is 28 times as fast."""
    measured, published = claim.measured, claim.published_ratio
    if claim.verdict != "supported" or measured is None or published is None:
        return claim.verdict
    low, high = measured.low, measured.high
    if could_be_published(published, measured.value, low, high):
        return "supported: direction and size" if low is not None and high is not None else "direction holds"
    return _DIRECTION


def configuration(run: Run) -> Table:
    """Version, variant and facts of each server; a column for each fact that any of them has."""
    servers = {(case.server, case.variant, case.label): case for case in run.header.cases}.values()
    facts = list(dict.fromkeys(fact for case in servers for fact in case.facts))
    said = {trial.case: trial.server.version for trial in run.trials if trial.server}
    versions = {(case.server, case.variant): said[case.id] for case in run.header.cases if case.id in said}
    rows = [
        (
            short_name(case),
            case.variant or fmt.UNKNOWN,
            versions.get((case.server, case.variant), fmt.UNKNOWN),
            *(fact_words(case.facts.get(fact)) for fact in facts),
        )
        for case in servers
    ]
    return plain("", ("server", "variant", "version", *(fact.replace("_", " ") for fact in facts)), rows)


def published(run: Run) -> Table:
    """What the published study printed, from the record's copy of the study; no rows where nothing was."""
    heads = ("server", "load", "throughput:", "mean:", "bytes an answer:", "failed:", "start:", "note")
    names = {case.server_name: short_name(case) for case in run.header.cases}
    study = run.header.study
    rows = [
        _published(names.get(server) or server, figure)
        for server, given in (study.figures.items() if study else ())
        for figure in given
    ]
    return plain("", heads, rows)


def _published(name: str, figure: PublishedFigures) -> tuple[str, ...]:
    return (
        name,
        f"{figure.workload} {figure.load}".strip(),
        fmt.rate(figure.throughput_per_s),
        fmt.time(None if figure.mean_ms is None else figure.mean_ms * 1e6),
        fmt.size(figure.bytes_per_response),
        fmt.count(figure.failed),
        fmt.time(None if figure.start_s is None else figure.start_s * 1e9),
        figure.note,
    )


def fact_words(value: str | int | float | bool | None) -> str:
    """A fact of a server as text: yes, no, its value, or "–" where it is not known."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return fmt.UNKNOWN if value is None else str(value)


def trials(run: Run, found: Sequence[LoadRows]) -> Table | None:
    """Every trial, server by server."""
    heads = ("server", "block:", "throughput:", "mean:", "p50:", "p90:", "p99:", "max:", "failed:")
    order = [row.case.id for section in found for row in (*section.candidates, *section.shown_apart)]
    measured = [trial for trial in run.trials if trial.measurement]
    measured.sort(key=lambda trial: (order.index(trial.case), trial.block))
    return plain("", heads, (_trial(run, trial) for trial in measured)) if measured else None


def _trial(run: Run, trial: Trial) -> tuple[str, ...]:
    measured = trial.measurement
    assert measured is not None  # chosen for it
    times = measured.response_time or measured.service_time
    return (
        name_of_case(run, trial.case),
        str(trial.block + 1),
        fmt.rate(stats.rate_per_s(measured)),
        fmt.time(times.mean_ns if times.count else None),
        *(fmt.time(found.value_ns if found else None) for found in stats.quantiles(times, (0.5, 0.9, 0.99))),
        fmt.time(times.max_ns if times.count else None),
        fmt.count(measured.failed),
    )
