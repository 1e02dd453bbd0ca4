"""A study under both profiles beside what was published."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from assay import store, verdict
from assay.core import units as fmt
from assay.core.errors import InputError
from assay.core.units import called
from assay.model.estimate import ClaimVerdict
from assay.model.run import Run
from assay.report.document import (
    Cell,
    Chart,
    Column,
    Document,
    Items,
    Labelled,
    Paragraph,
    Section,
    Table,
    TableLine,
    nested,
    plain,
    section,
    table,
)
from assay.report.model.circumstances import environment_differences, title
from assay.report.model.rows import Row, interval_words, sections, short_name, throughput_words
from assay.report.model.run_document import document as run_document
from assay.report.model.tables import fact_words

_COLUMNS = (
    Column("server", "server", key=True),
    Column("published", "as published", right=True),
    Column("published rank", "rank", right=True),
    Column("measured", "measured as published", right=True),
    Column("measured rank", "rank", right=True),
    Column("fair", "fair", right=True),
    Column("fair rank", "rank", right=True),
)
_SIDES = ("As published", "The published settings measured here", "The fair profile")
_NOTE = (
    "Ranks in brackets are the order of bare figures: no interval stands behind them. Absolute figures do "
    "not travel between machines; ranks and ratios are what can be compared."
)
_CLAIMS = ("claim", "published:", "measured as published", "fair", "changed")
_SETTINGS = ("server", "setting", "published", "fair")
_NO_RANK = 10**6


class ProfilePair(msgspec.Struct, frozen=True):
    """Two runs of one study, one a profile."""

    published: Run
    fair: Run


class _ProfileSide(NamedTuple):
    """What a profile, or the publication, says of each entry: its figure, and its rank. Ranks that are `bare`
    are the order of the figures: no interval stands behind them."""

    figures: Mapping[str, str]
    ranks: Mapping[str, int]
    bare: bool


def pair(one: Run, other: Run) -> ProfilePair:
    """The two as a pair. InputError where they are not one study under its two profiles."""
    if one.header.study_name != other.header.study_name:
        names = f"{one.header.study_name!r} and {other.header.study_name!r}"
        raise InputError(f"the runs are of two studies, {names}", "name two runs of one study")
    by_profile = {run.header.profile: run for run in (one, other)}
    if set(by_profile) != {"published", "fair"}:
        problem = f"both runs are of the profile {one.header.profile!r}"
        raise InputError(problem, "name one run of each: published and fair")
    return ProfilePair(by_profile["published"], by_profile["fair"])


def pair_of(one: Run, path: Path | None) -> ProfilePair | None:
    """The run with the one of that file; None where there is none, or nothing of it was measured."""
    other = verdict.judged(store.load(path)) if path is not None else None
    return pair(one, other) if other is not None and other.trials else None


def document(pair: ProfilePair, charts: Sequence[Chart] = ()) -> Document:
    """The document of the fair run, with the published profile set against it, and that run's own at its
    end."""
    published = nested(run_document(pair.published), "published-profile")
    whole = replace(published, title="The published profile", long=True)
    told = beside_run(run_document(pair.fair, charts), pair)
    return replace(told, sections=(*told.sections, whole))


def beside_run(told: Document, pair: ProfilePair) -> Document:
    """The document of either run, with the section that sets the two against each other."""
    at = next((place for place, one in enumerate(told.sections) if not one.name.startswith("results")), 0)
    return replace(told, sections=(*told.sections[:at], *beside(pair), *told.sections[at:]))


def beside(pair: ProfilePair) -> tuple[Section, ...]:
    """Both runs of a study, told together."""
    which = ((run.header.profile, fmt.safe(title(run))) for run in (pair.published, pair.fair))
    loads = list(_loads(pair))
    changes, claims = _claims(pair)
    return section(
        "beside",
        "Published against fair",
        Labelled(tuple(which)),
        *(Paragraph(fmt.safe(said, 500), "bad") for said in _warnings(pair)),
        *(Paragraph(fmt.safe(said), "strong") for said in changes),
        *(made for made, _ in loads),
        Items(tuple(fmt.safe(said, 1000) for _, told in loads for said in told)),
        Paragraph(_NOTE, "faint"),
        plain("Claims under both profiles", _CLAIMS, claims, longest=500),
        plain("What the fair profile sets otherwise", _SETTINGS, _settings(pair)),
    )


def _warnings(pair: ProfilePair) -> Iterator[str]:
    """Why the two runs should not be put side by side without a second thought; none where they may."""
    one, other = pair.published.header.environment, pair.fair.header.environment
    if one.machine_id != other.machine_id:
        hosts = f"{one.hostname} and {other.hostname}"
        yield f"the two profiles were measured on two machines, {hosts}: compare ranks, not figures"
    elif changed := ", ".join(what for what, *_ in environment_differences(one, other)):
        yield f"between the two runs the machine or the versions changed: {changed}"
    for run in (pair.published, pair.fair):
        if run.judgement is None or not run.judgement.complete:
            yield f"the run of the profile {run.header.profile!r} did not end"


def _settings(pair: ProfilePair) -> Iterator[tuple[str, str, str, str]]:
    """What the fair profile sets otherwise: server, setting, its published and its fair value. "–" stands
    where a profile does not name it."""
    published, fair = (
        {short_name(case): case.facts for case in run.header.cases if case.role == "candidate"}
        for run in (pair.published, pair.fair)
    )
    for name in (name for name in published if name in fair):
        for fact in dict.fromkeys((*published[name], *fair[name])):
            before, now = (fact_words(side[name].get(fact)) for side in (published, fair))
            if before != now:
                yield name, fact.replace("_", " "), before, now


def _loads(pair: ProfilePair) -> Iterator[tuple[Table, tuple[str, ...]]]:
    """A table for each closed load of the fair profile that two servers or more compete at, and what became
    of the ranking in sentences.

    It stands beside the published load of the same name, or else the first published load of its workload.
    """
    published, fair = _by_load(pair.published), _by_load(pair.fair)
    several = len({workload for workload, _ in fair}) > 1
    for (workload, load), rows in fair.items():
        closed = [row for row in rows.values() if row.closed_loop and row.case.role == "candidate"]
        key = (workload, load)
        if key not in published:
            key = next((one for one in published if one[0] == workload), key)
        if len(closed) < 2 or key not in published:
            continue
        every = rows | {name: row for name, row in published[key].items() if name not in rows}
        sides = (_printed(pair.published, every, key), _measured(published[key]), _measured(rows))
        every = {entry: every[entry] for entry in sorted(every, key=_best_first(every, sides))}
        loads = f"{key[1]} as published, {load} fair"
        lines = [_line(name, row, sides) for name, row in every.items()]
        made = table(fmt.safe(f"{workload}: {loads}" if several else loads), _COLUMNS, lines)
        yield made, (*_orders(every, sides), *_turned(every, sides[0], sides[2]))


def _by_load(run: Run) -> dict[tuple[str, str], dict[str, Row]]:
    """The rows by workload and load, then by the study's entry; controls are left out."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in (row for load in sections(run) for row in load.rows):
        if row.case.role != "control":
            found.setdefault((row.case.workload, row.case.load), {})[row.case.server_name] = row
    return found


def _printed(run: Run, entries: Mapping[str, Row], key: tuple[str, str]) -> _ProfileSide:
    """The published throughput of each entry: of several figures at one load the first."""
    rates: dict[str, float] = {}
    study = run.header.study
    for entry in entries:
        for figure in study.figures.get(entry, ()) if study else ():
            here = figure.workload in ("", key[0]) and figure.load in ("", key[1])
            if here and figure.throughput_per_s is not None:
                rates.setdefault(entry, figure.throughput_per_s)
    return _ProfileSide({entry: fmt.rate(rate) for entry, rate in rates.items()}, _in_order(rates), bare=True)


def _measured(rows: Mapping[str, Row]) -> _ProfileSide:
    """The figures of a profile and its ranks; where it has none, the order of the figures that may be
    shown."""
    figures = {entry: _figure(row) for entry, row in rows.items()}
    competing = {entry: row for entry, row in rows.items() if row.case.role == "candidate"}
    ranks = {entry: row.rank for entry, row in competing.items() if row.rank is not None}
    rates = {entry: row.throughput.value for entry, row in competing.items() if row.throughput}
    return _ProfileSide(figures, ranks or _in_order(rates), bare=not ranks)


def _in_order(rates: Mapping[str, float]) -> dict[str, int]:
    ordered = sorted(rates, key=lambda entry: -rates[entry])
    return {entry: number for number, entry in enumerate(ordered, start=1)}


def _figure(row: Row) -> str:
    """The throughput with its interval, or why there is none."""
    words = throughput_words(row)
    if row.throughput is not None:
        return f"{words} {interval_words(row)}".rstrip()
    takers = dict.fromkeys(one.code for one in row.findings if one.severity == "error")
    return f"{words}: {' '.join(takers)}" if row.invalid and takers else words


def _best_first(
    every: Mapping[str, Row], sides: Sequence[_ProfileSide]
) -> Callable[[str], tuple[bool, int, int]]:
    """What competes first, then by rank on fair terms, then by that of the published settings."""
    _, before, now = (side.ranks for side in sides)
    return lambda entry: (
        every[entry].case.role != "candidate",
        now.get(entry, _NO_RANK),
        before.get(entry, _NO_RANK),
    )


def _line(entry: str, row: Row, sides: Sequence[_ProfileSide]) -> TableLine:
    """The server and three figures, each with its rank, in brackets where that is of bare figures only."""
    cells = [Cell(fmt.safe(row.name, 80))]
    for side in sides:
        rank = str(side.ranks.get(entry, fmt.UNKNOWN))
        cells.append(Cell(side.figures.get(entry, fmt.UNKNOWN)))
        cells.append(Cell(f"({rank})" if side.bare and entry in side.ranks else rank))
    return TableLine(tuple(cells), apart=row.case.role != "candidate")


def _orders(every: Mapping[str, Row], sides: Sequence[_ProfileSide]) -> Iterator[str]:
    """The three orders; servers that share a rank are joined."""
    for said, side in zip(_SIDES, sides, strict=True):
        ranks: dict[int, list[str]] = {}
        for entry, row in every.items():
            if entry in side.ranks:
                ranks.setdefault(side.ranks[entry], []).append(called(row.name))
        if ranks:
            yield f"{said}: {', then '.join(' and '.join(ranks[rank]) for rank in sorted(ranks))}."


def _turned(every: Mapping[str, Row], printed: _ProfileSide, fair: _ProfileSide) -> Iterator[str]:
    """Pairs whose published order does not hold on fair terms."""
    competing = [entry for entry in every if every[entry].case.role == "candidate"]
    known = sorted((entry for entry in competing if entry in printed.ranks), key=printed.ranks.__getitem__)
    for ahead, behind in combinations(known, 2):
        first, second = fair.ranks.get(ahead), fair.ranks.get(behind)
        if first is None or second is None or first < second:
            continue
        now = "its bare figure is lower (that run ranks nobody)" if fair.bare else "it is behind"
        now = "no difference is shown" if first == second else now
        names = f"{every[ahead].name} was published ahead of {every[behind].name}"
        yield f"{names}; on fair terms {now}."


def _claims(pair: ProfilePair) -> tuple[list[str], list[tuple[str, ...]]]:
    """A sentence for each claim that another verdict meets on fair terms, or one that none does; and a line
    for every claim that one of the profiles puts to the test, in the study's order."""
    published, fair = _verdicts(pair.published), _verdicts(pair.fair)
    said: list[str] = []
    lines: list[tuple[str, ...]] = []
    for claim in dict.fromkeys((*published, *fair)):
        before, now = published.get(claim), fair.get(claim)
        sides = [side for side in (before, now) if side is not None]
        ratio = next((side.published_ratio for side in sides if side.published_ratio is not None), None)
        changed = fmt.UNKNOWN
        if before and now:
            changed = "no" if before.verdict == now.verdict else "yes"
        if before and now and before.verdict != now.verdict:
            said.append(f"Claim ({claim}): {before.verdict} as published, {now.verdict} on fair terms.")
        printed = fmt.UNKNOWN if ratio is None else f"{fmt.times(ratio)}×"
        statement = f"({claim}) {sides[0].statement}"
        lines.append((statement, printed, _verdict(before), _verdict(now), changed))
    return said or ["No claim changed its verdict."] * bool(lines), lines


def _verdicts(run: Run) -> dict[str, ClaimVerdict]:
    """Claims that the profile puts to the test: one without a comparison is none of its claims."""
    claims = run.header.study.claims if run.header.study else ()
    tested = {claim.id for claim in claims if claim.comparisons} if claims else None
    verdicts = run.judgement.claims if run.judgement else ()
    return {one.claim: one for one in verdicts if tested is None or one.claim in tested}


def _verdict(side: ClaimVerdict | None) -> str:
    if side is None:
        return "not put to the test"
    return f"{side.verdict}: {fmt.ratio(side.measured)}" if side.measured else side.verdict
