"""The document of a run of any design: its answer, its table and what limits it, then all there is of it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from assay import verdict
from assay.core import units as fmt
from assay.model.design import LoadDesign, SearchDesign
from assay.model.estimate import ClaimVerdict
from assay.model.plan import Closed
from assay.model.run import Run
from assay.report.document import (
    Chart,
    Document,
    Findings,
    Labelled,
    Log,
    Paragraph,
    Part,
    Pictures,
    Section,
    Table,
    section,
)
from assay.report.model import accounts, by_request, circumstances, followers, order, tables
from assay.report.model.answer import answer, differed, name, question, state
from assay.report.model.costs import cost_sections
from assay.report.model.loads import limit_lines
from assay.report.model.rows import (
    LoadRows,
    failed_rows,
    failure_words,
    hues,
    name_of_case,
    ordered_findings,
    sections,
)
from assay.report.model.unranked import measured, reasons
from assay.report.model.values import groups
from assay.report.model.warned import bottleneck, codes_in, short, warnings
from assay.verdict.limits import limits_of_run
from assay.verdict.see_runs import load_ns

_MOST_LOADS = 10
"""So many loads have a line of their own in a summary."""
_CLAIMS = ("supported", "in direction only", "contradicted", "undecided")
_TELLING_CONTROL = 0.1
"""An A/A interval that reaches further than this says nothing of the run."""
_LOG_LINES = 20


def document(run: Run, charts: Sequence[Chart] = ()) -> Document:
    """The document of a run as far as it has come, with its `charts`."""
    found = sections(run)
    own, followed = _loads(run, found)
    told = answer(run, found)
    cut_off = run.judgement is not None and not run.judgement.complete
    cut = ["the run did not end: what is here is of the blocks so far"] if cut_off else []
    first = [*cut, *_failures(found), *_left_out(run, own)]
    names = {short(name) for case in run.header.cases for name in (case.name, case.label or case.server_name)}
    known = codes_in(" ".join((*told.headline, *first)), names)
    return Document(
        title=fmt.safe(name(run)),
        headline=told.headline,
        table=_table(run, own, followed),
        below=tuple(_below(run, own, followed)),
        warnings=warnings(ordered_findings(run), _namer(run), told=known, first=first),
        advice=told.advice,
        footer=(_method(run),),
        subtitle=fmt.safe(circumstances.title(run)),
        question=fmt.safe(question(run), 2000),
        state=state(run),
        tone="good" if run.judgement is not None and run.judgement.clean else "plain",
        pictures=tuple(chart for chart in charts if chart.first),
        sections=(*_results(run, own, found), *_rest(run, found, told.more, charts)),
        made_by=fmt.safe(f"Assay {run.header.environment.assay_version} from run {run.header.run_id}"),
    )


def _results(run: Run, own: Sequence[LoadRows], found: Sequence[LoadRows]) -> Iterator[Section]:
    """Each of several loads with its answer and its results; then what depends on them."""
    _, following = followers.apart(found)
    if isinstance(run.header.design, SearchDesign):  # its trials are at many rates: no row can hold them
        own, following = (), (followers.search_steps(run), *following)
    colours = hues(run.header.cases)
    made: list[tuple[str, tuple[Part, ...]]] = []
    for one in own if len(own) > 1 else ():
        told = order.in_sentences(run, one)
        table = tables.results(one, colours=colours)
        said = (*(Paragraph(line, "strong") for line in told.headline), *map(Paragraph, told.more))
        made.append((table.title, (*said, replace(table, title=""))))
    made += [(table.title, (replace(table, title=""),)) for table in following if table.lines]
    costs = (table for one in cost_sections(run, found) for table in one.tables)
    made += [(table.title, (replace(table, title=""),)) for table in costs]
    for number, (title, parts) in enumerate(made, start=2):
        yield from section(f"results-{number}", title, *parts)


def _rest(
    run: Run, found: Sequence[LoadRows], more: Sequence[str], charts: Sequence[Chart]
) -> Iterator[Section]:
    """What was not measured, claims, charts, findings, and how it was measured."""
    header = run.header
    yield from section("failed", "Not measured", *_logs(found))
    claimed = tuple(chart for chart in charts if chart.name == "claims")
    yield from section("claimed", "Published against measured", Pictures(claimed), tables.claims(run))
    yield from section("requests", "By request", _by_request(run, found))
    others = tuple(chart for chart in charts if not chart.first and chart not in claimed)
    yield from section("charts", "Charts", Pictures(others))
    told = groups(ordered_findings(run), lambda case: name_of_case(run, case))
    yield from section("findings", "Findings", Findings(told))
    command = fmt.safe(shlex.join(header.command), 2000)
    ways = (*circumstances.circumstances(run), ("record", fmt.safe(header.run_id)), ("command", command))
    sentences = map(Paragraph, more)
    yield from section("how", "How it was measured", *sentences, Labelled(ways), background=True)
    yield from accounts.of_run(run, found)
    yield from section("published", "As published", tables.published(run), background=True)
    yield from section("servers", "Servers", tables.configuration(run), background=True)
    each = tables.trials(run, found)
    if each is not None:
        yield Section("trials", "Every trial", (each,), background=True, long=True)


def _logs(found: Sequence[LoadRows]) -> Iterator[Part]:
    """What was not measured in every block: the reason and the end of the log."""
    for row in failed_rows(found):
        assert row.failure is not None  # chosen for it
        reason = fmt.safe(row.failure.reason, 1000)
        log = tuple(fmt.safe(line) for line in row.failure.log_tail.splitlines()[-_LOG_LINES:])
        yield Log(f"{fmt.safe(row.failed_name, 80)}: {fmt.safe(failure_words(row))}", reason, log)


def _by_request(run: Run, found: Sequence[LoadRows]) -> Table:
    """The requests of the mixes of valid cases."""
    several = len(run.header.cases) > 1
    shown = {
        row.case.id: name_of_case(run, row.case.id) if several else ""
        for one in found
        for row in one.rows
        if not row.invalid
    }
    trials = {
        name: [trial.measurement for trial in run.trials if trial.case == case and trial.measurement]
        for case, name in shown.items()
    }
    return by_request.of_cases(trials)


def _namer(run: Run) -> Callable[[str], str]:
    """The name of a case where there are several; of a single one it goes without saying."""
    return (lambda case: name_of_case(run, case)) if len(run.header.cases) > 1 else (lambda case: "")


def _loads(run: Run, found: tuple[LoadRows, ...]) -> tuple[tuple[LoadRows, ...], tuple[LoadRows, ...]]:
    """The loads that are compared, and those that depend on them: searches and rates that the run found."""
    if isinstance(run.header.design, SearchDesign):
        return found, ()
    others, searched = followers.apart_by_search(found)
    alone, rated = followers.apart_by_rate(others)
    return alone, (*searched, *rated)


def _table(run: Run, own: Sequence[LoadRows], followed: Sequence[LoadRows]) -> Table | None:
    """The servers of one load, a line for each of several loads, or the rates of a search."""
    if isinstance(run.header.design, SearchDesign):
        return tables.steps(run)
    if not run.trials:
        return None
    if len(own) == 1:
        return tables.results(own[0], followed, hues(run.header.cases))
    return tables.loads(run, own, _MOST_LOADS)


def _below(run: Run, found: Sequence[LoadRows], followed: Sequence[LoadRows]) -> Iterator[str]:
    yield from limit_lines(limits_of_run(run))
    if len(found) > _MOST_LOADS:
        yield f"{len(found) - _MOST_LOADS} more loads: --verbose"
    claims = run.judgement.claims if run.judgement else ()
    if claims:
        counted = Counter(_claim_words(claim) for claim in claims)
        told = ", ".join(f"{counted[words]} {words}" for words in _CLAIMS if counted[words])
        yield f"published claims: {told}"
    yield from _controls(run)
    rated = [section for section in followed if any(row.case.rate for row in section.rows)]
    if rated:
        yield f"also measured: response time at {fmt.counted(len(rated), 'rate')}"
    if not isinstance(run.header.design, SearchDesign):  # each of its rates says what became of it
        yield from bottleneck(ordered_findings(run), _namer(run))


def _claim_words(claim: ClaimVerdict) -> str:
    words = tables.verdict_words(claim)
    if words.startswith("direction"):
        return _CLAIMS[1]
    return {"contradicted": _CLAIMS[2], "inconclusive": _CLAIMS[3]}.get(words, _CLAIMS[0])


def _controls(run: Run) -> Iterator[str]:
    """The A/A control, where it is narrow enough to tell anything."""
    if all(case.role != "control" for case in run.header.cases):
        return
    for ratio in verdict.see_run(run).controls.values():
        half = fmt.half_width(ratio)
        if half is None or half > _TELLING_CONTROL:
            continue
        yield f"A/A difference: {differed(ratio)}"


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
