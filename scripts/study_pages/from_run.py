"""A stored run as the facts of its page, which keeps its prose."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay import stats, store, verdict
from assay.core import units as fmt
from assay.model.block import Block
from assay.model.plan import Closed
from assay.model.run import Run
from assay.report.document import Table
from assay.report.model import answer, circumstances, followers, loads, order, tables
from assay.report.model.answer import name as title_of
from assay.report.model.rows import (
    LoadRows,
    failed_rows,
    name_of_case,
    ordered_findings,
    sections,
    with_names,
)
from assay.stats.capacity import usl_fit
from study_pages import from_judgement as judged
from study_pages import schema
from study_pages.schema import (
    Grid,
    Missing,
    Scaling,
    Slices,
    StudyPage,
    StudyRun,
    ThresholdSet,
    Trial,
    WarmUp,
)

ROOT = Path(__file__).resolve().parents[2]


def take(record: Path, pages: Path) -> Path:
    """Put a stored run into the JSON of its study, in the place of its profile; returns the file.

    Raises `msgspec.ValidationError` where the run has something that no page may hold.
    """
    run = store.read(record).run
    path = pages / f"{run.header.study_name}.json"
    bare = StudyPage(title=title_of(run), about=(), lessons=(), runs=())
    page = schema.read(path) if path.exists() else bare
    taken = study_run(run)
    others = (one for one in page.runs if one.profile != taken.profile)
    runs = tuple(sorted((*others, taken), key=lambda one: one.profile))
    published = grid(tables.published(run))
    page = msgspec.structs.replace(page, runs=runs, published=published if published.rows else page.published)
    text = msgspec.json.encode(page).replace(f"{ROOT}/".encode(), b"")  # paths within the checkout
    schema.write(path, msgspec.json.decode(text, type=StudyPage))
    return path


def study_run(run: Run) -> StudyRun:
    """All of a run that a page tells."""
    header, seen = run.header, run.header.environment
    found = sections(run)
    measured, searched = followers.apart_by_search(found)
    alone, rated = followers.apart_by_rate(measured)
    services, versions = services_of(alone)
    return StudyRun(
        profile=header.profile,  # type: ignore[arg-type]  # another is refused when read
        quick=header.quick,
        date=f"{datetime.fromtimestamp(header.created_unix_ns / 1e9, UTC):%Y-%m-%d %H:%M}",
        record=header.run_id,
        command=shlex.join(header.command),
        commit=seen.git_commit or "",
        seed=header.design.seed,
        blocks=circumstances.blocks_of(run),
        cases=len(header.cases),
        minimum_effect=fmt.share(verdict.minimum_effect(ordered_findings(run))),
        machine=circumstances.machine(run),
        versions={"assay": seen.assay_version} | seen.tool_versions,
        descriptors=seen.descriptor_limit or 0,
        loads=loads.shapes(run),
        warm_up=warm_up(run),
        links=tuple(how for what, how in circumstances.circumstances(run) if what == "link"),
        slices=tuple(slices(run)),
        widest=judged.widest(run),
        controls=dict(controls(run)),
        scaling=tuple(scaling(run, found)),
        thresholds=tuple(thresholds(run)),
        limits=limits(found),
        results=tuple(judged.load_result(run, one) for one in alone),
        response_times=tuple(
            made(title, followers.LATENCY_HEADS, followers.latency_cells(rows))
            for title, rows in followers.by_table(rated).items()
        ),
        capacities=tuple(
            made(title, followers.CAPACITY_HEADS, lines)
            for title, lines in followers.capacity_tables(searched, alone).items()
        ),
        services=services,
        service_versions=versions,
        missing=tuple(
            Missing(server=row.failed_name, reason=row.failure.reason)
            for row in failed_rows(found)
            if row.failure
        ),
        claims=judged.claims(run.judgement.claims if run.judgement else ()),
        findings=judged.findings(run, ordered_findings(run)),
        servers=grid(tables.configuration(run)),
        trials=trials(run),
    )


def made(title: str, heads: Sequence[str], lines: Iterable[Sequence[str]]) -> Grid:
    """A table of the product's cells."""
    columns = tuple(head.removesuffix(":") for head in heads)
    return Grid(load=title, columns=columns, rows=tuple(tuple(line) for line in lines))


def grid(table: Table) -> Grid:
    """A table of the product."""
    rows = tuple(tuple(cell.text for cell in line.cells) for line in table.lines)
    return Grid(columns=tuple(column.head for column in table.columns), rows=rows)


def services_of(alone: Sequence[LoadRows]) -> tuple[Grid | None, dict[str, str]]:
    """What services took beside each server, and their versions."""
    used = followers.service_tables(alone)
    heads = tuple(head.removesuffix(":") for head in followers.SERVICE_HEADS)
    several = len(used) > 1
    rows = [((title,) if several else ()) + line[:-1] for title, lines in used.items() for line in lines]
    versions = {line[1]: line[-1] for lines in used.values() for line in lines}
    columns = (("load",) if several else ()) + heads[:-1]
    return (Grid(columns=columns, rows=tuple(rows)) if rows else None), versions


def warm_up(run: Run) -> WarmUp | None:
    """For how long servers had load before a measurement."""
    found = [trial.warm_up for trial in run.trials if trial.measurement and trial.warm_up]
    found = [one for one in found if one.took_ns]
    if not found:
        return None
    took_s = sorted(one.took_ns / 1e9 for one in found if one.took_ns)
    least, most = fmt.span(took_s[0]), fmt.span(took_s[-1])
    return WarmUp(least=least, most=most, steady=sum(1 for one in found if one.steady), trials=len(found))


def slices(run: Run) -> Iterator[Slices]:
    """How each load was interleaved."""
    cases = {case.id: case for case in run.header.cases}
    several = len({case.workload for case in cases.values()}) > 1
    by_load: dict[str, list[Block]] = {}
    for block in run.blocks:
        case = cases[block.trials[0].case]
        by_load.setdefault(f"{case.workload}, {case.load}" if several else case.load, []).append(block)
    for load, blocks in by_load.items():
        last = blocks[-1]
        each = sorted(trial.measurement.measured_ns for trial in last.trials if trial.measurement)
        yield Slices(
            load=load if len(by_load) > 1 else "",
            blocks=len(blocks),
            servers=len(last.trials),
            length=fmt.time(last.lengths.slice_ns, exact=True),
            why=with_names(run, last.lengths.why),
            washout=fmt.time(last.lengths.washout_ns, exact=True),
            each=fmt.span(each[len(each) // 2] / 1e9 if each else 0.0),
            trimmed=run.header.design.unlike,
        )


def controls(run: Run) -> Iterator[tuple[str, str]]:
    """How much each A/A control differed from its server."""
    seen = verdict.see_run(run)
    for control, ratio in seen.controls.items():
        case = seen.find(control)
        if case is None or case.case.control_of is None:
            continue
        change = fmt.signed_share(ratio.value - 1)
        if ratio.low is not None and ratio.high is not None:
            change += f" [{fmt.signed_share(ratio.low - 1)}, {fmt.signed_share(ratio.high - 1)}]"
        yield name_of_case(run, case.case.control_of), change


def scaling(run: Run, found: Sequence[LoadRows]) -> Iterator[Scaling]:
    """The Universal Scalability Law over each server's sweep of connections, where it fits."""
    plans = {trial.case: trial.plan.load for trial in run.trials}
    several = len({case.workload for case in run.header.cases}) > 1
    sweeps: dict[str, dict[int, float]] = {}
    for row in (row for section in found for row in section.candidates):
        load = plans.get(row.case.id)
        if isinstance(load, Closed) and row.throughput is not None:
            name = f"{row.name} ({row.case.workload})" if several else row.name
            sweeps.setdefault(name, {})[load.connections] = row.throughput.value
    for server, sweep in sweeps.items():
        fit = usl_fit(sweep)
        if fit is None:
            continue
        peak = fit.peak_connections is not None and fit.peak_per_s is not None
        yield Scaling(
            server=server,
            contention=fmt.share(fit.contention),
            coherency=f"{fit.coherency:.2g}",
            residual=fmt.share(fit.residual),
            up_to=None if peak else max(sweep),
            peak=fmt.rate(fit.peak_per_s) if peak else "",
            peak_connections=round(fit.peak_connections) if peak and fit.peak_connections else None,
        )


def thresholds(run: Run) -> Iterator[ThresholdSet]:
    """What the study set of the rules."""
    for code, setting in run.header.design.rules.items():
        for one in verdict.explain(code).thresholds:
            value = setting.thresholds.get(one.name)
            if value is not None:
                said, usual = (answer.threshold_words(one.unit, number) for number in (value, one.value))
                yield ThresholdSet(code=code, name=one.name, value=said, usual=usual, reason=setting.reason)


def limits(found: Sequence[LoadRows]) -> dict[str, tuple[str, ...]]:
    """Which rules bound the throughput of which servers."""
    bounded: dict[str, dict[str, None]] = {}
    for section in found:
        for limit, name in order.limits_of(section):
            bounded.setdefault(limit.code, {})[name] = None
    return {code: tuple(names) for code, names in bounded.items()}


def trials(run: Run) -> dict[str, tuple[Trial, ...]]:
    """Every measured trial, server by server, with three significant digits."""
    made: dict[str, list[Trial]] = {}
    for trial in sorted(run.trials, key=lambda one: one.block):
        measured = trial.measurement
        if measured is None:
            continue
        times = measured.response_time or measured.service_time
        known = [times.mean_ns if times.count else None]
        known += [one.value_ns if one else None for one in stats.quantiles(times, (0.5, 0.9, 0.99))]
        known += [times.max_ns if times.count else None]
        mean, p50, p90, p99, most = (digits(one, 1e-3) for one in known)
        row = (
            trial.block + 1,
            digits(stats.rate_per_s(measured)),
            mean,
            p50,
            p90,
            p99,
            most,
            measured.failed,
        )
        made.setdefault(name_of_case(run, trial.case), []).append(row)
    return {server: tuple(rows) for server, rows in made.items()}


def digits(value: float | None, unit: float = 1.0) -> float | None:
    """Three significant digits of a value in a unit."""
    return None if value is None else float(f"{value * unit:.3g}")
