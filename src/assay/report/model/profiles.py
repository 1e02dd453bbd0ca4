"""A study under both profiles beside what was published: the figures, and their words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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


@dataclass(frozen=True)
class ProfilePair:
    """Two runs of one study, one a profile."""

    published: Run
    fair: Run


@dataclass(frozen=True)
class ProfileRank:
    """A rank. `shown` is False where it is the order of the bare figures: no interval stands behind it."""

    number: int
    shown: bool


@dataclass(frozen=True)
class ProfileCell:
    """A server under one profile: its row there (None where it took no part), and its place."""

    row: Row | None
    place: ProfileRank | None


@dataclass(frozen=True)
class ServerLine:
    """One server: the printed figure, the published profile measured, the fair one measured."""

    name: str
    competes: bool
    printed_per_s: float | None
    printed_place: ProfileRank | None
    published: ProfileCell
    fair: ProfileCell


@dataclass(frozen=True)
class LoadTable:
    """The servers at one load of each profile. `title` names the workload where there are several."""

    title: str
    published_load: str
    fair_load: str
    lines: tuple[ServerLine, ...]


@dataclass(frozen=True)
class ClaimLine:
    """A claim under both profiles; None where a profile does not put it to the test."""

    id: str
    statement: str
    printed_ratio: float | None
    published: ClaimVerdict | None
    fair: ClaimVerdict | None

    @property
    def changed(self) -> bool:
        """Whether its verdict is another one in the fair profile."""
        return (
            self.published is not None
            and self.fair is not None
            and (self.published.verdict != self.fair.verdict)
        )


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


def tables(found: ProfilePair) -> tuple[LoadTable, ...]:
    """A table for each closed load of the fair profile that two servers or more compete at.

    It stands beside the published load of the same name, or else the first published load of its workload.
    """
    published, fair = _by_load(found.published), _by_load(found.fair)
    workloads = {workload for workload, _ in fair}
    made = []
    for (workload, load), rows in fair.items():
        closed = [row for row in rows.values() if row.closed_loop and row.case.role == "candidate"]
        beside = (workload, load)
        if beside not in published:
            beside = next((key for key in published if key[0] == workload), beside)
        if len(closed) < 2 or beside not in published:
            continue
        lines = tuple(_lines(found.published, beside, published[beside], rows))
        made.append(LoadTable(workload if len(workloads) > 1 else "", beside[1], load, lines))
    return tuple(made)


def claims(found: ProfilePair) -> tuple[ClaimLine, ...]:
    """Every claim that one of the profiles puts to the test, in the study's order."""
    published, fair = _verdicts(found.published), _verdicts(found.fair)
    lines = []
    for name in dict.fromkeys((*published, *fair)):
        sides = [side[name] for side in (published, fair) if name in side]
        ratio = next((side.published_ratio for side in sides if side.published_ratio is not None), None)
        lines.append(ClaimLine(name, sides[0].statement, ratio, published.get(name), fair.get(name)))
    return tuple(lines)


def settings(found: ProfilePair) -> tuple[tuple[str, str, str, str], ...]:
    """What the fair profile sets otherwise: server, setting, its published and its fair value. "–" stands
    where a profile does not name it."""
    published, fair = (
        {short_name(case): case.facts for case in run.header.cases if case.role == "candidate"}
        for run in (found.published, found.fair)
    )
    lines = []
    for name in (name for name in published if name in fair):
        for fact in dict.fromkeys((*published[name], *fair[name])):
            before, now = (fact_words(side[name].get(fact)) for side in (published, fair))
            if before != now:
                lines.append((name, fact.replace("_", " "), before, now))
    return tuple(lines)


def warnings(found: ProfilePair) -> tuple[str, ...]:
    """Why the two runs should not be put side by side without a second thought; empty where they may."""
    one, other = found.published.header, found.fair.header
    said = []
    if one.environment.machine_id != other.environment.machine_id:
        hosts = f"{one.environment.hostname} and {other.environment.hostname}"
        said.append(f"the two profiles were measured on two machines, {hosts}: compare ranks, not figures")
    else:
        changed = ", ".join(what for what, *_ in environment_differences(one.environment, other.environment))
        if changed:
            said.append(f"between the two runs the machine or the versions changed: {changed}")
    for run in (found.published, found.fair):
        if run.judgement is None or not run.judgement.complete:
            said.append(f"the run of the profile {run.header.profile!r} did not end")
    return tuple(said)


def sentences(table: LoadTable) -> tuple[str, ...]:
    """What became of the ranking, in sentences: the three orders, and each pair that turned round."""
    printed = [(line.printed_place, line.name) for line in table.lines]
    measured = [(line.published.place, line.name) for line in table.lines]
    fair = [(line.fair.place, line.name) for line in table.lines]
    orders = (
        ("As published", printed),
        ("The published settings measured here", measured),
        ("The fair profile", fair),
    )
    said = [f"{title}: {_order(places)}." for title, places in orders if any(place for place, _ in places)]
    return (*said, *_turned(table))


def _turned(table: LoadTable) -> Iterator[str]:
    """Pairs whose published order does not hold on fair terms."""
    known = [line for line in table.lines if line.printed_place and line.competes]
    known.sort(key=lambda line: line.printed_place.number if line.printed_place else 0)
    for place, ahead in enumerate(known):
        for behind in known[place + 1 :]:
            first, second = ahead.fair.place, behind.fair.place
            if first is None or second is None or first.number < second.number:
                continue
            if first.number == second.number:
                now = "no difference is shown"
            elif first.shown:
                now = "it is behind"
            else:
                now = "its bare figure is lower (that run ranks nobody)"
            yield f"{ahead.name} was published ahead of {behind.name}; on fair terms {now}."


def _order(places: Sequence[tuple[ProfileRank | None, str]]) -> str:
    """Names in the order of their places; those that share one are joined."""
    ranks: dict[int, list[str]] = {}
    for place, name in places:
        if place is not None:
            ranks.setdefault(place.number, []).append(name)
    return ", then ".join(" and ".join(map(called, ranks[number])) for number in sorted(ranks))


def _lines(
    run: Run, key: tuple[str, str], published: Mapping[str, Row], fair: Mapping[str, Row]
) -> Iterator[ServerLine]:
    """A line for each entry of either profile: what competes first, best on fair terms first."""
    names = list(dict.fromkeys((*fair, *published)))
    printed = {name: rate for name in names if (rate := _printed(run, name, key)) is not None}
    by_figure = _bare(printed)
    places = {"published": _places(published), "fair": _places(fair)}
    lines = []
    for name in names:
        row = fair.get(name) or published[name]
        lines.append(
            ServerLine(
                name=row.name,
                competes=row.case.role == "candidate",
                printed_per_s=printed.get(name),
                printed_place=by_figure.get(name),
                published=ProfileCell(published.get(name), places["published"].get(name)),
                fair=ProfileCell(fair.get(name), places["fair"].get(name)),
            )
        )
    yield from sorted(lines, key=_best_first)


def _best_first(line: ServerLine) -> tuple[bool, int, int]:
    place, before = line.fair.place, line.published.place
    return not line.competes, place.number if place else 10**6, before.number if before else 10**6


def _places(rows: Mapping[str, Row]) -> dict[str, ProfileRank]:
    """The ranks of a profile; where it has none, the order of the figures that may be shown."""
    competing = {name: row for name, row in rows.items() if row.case.role == "candidate"}
    ranks = {
        name: ProfileRank(row.rank, shown=True) for name, row in competing.items() if row.rank is not None
    }
    return ranks or _bare({name: row.throughput.value for name, row in competing.items() if row.throughput})


def _bare(rates: Mapping[str, float]) -> dict[str, ProfileRank]:
    ordered = sorted(rates, key=lambda name: -rates[name])
    return {name: ProfileRank(number, shown=False) for number, name in enumerate(ordered, start=1)}


def _printed(run: Run, entry: str, key: tuple[str, str]) -> float | None:
    """The published throughput of an entry: of several figures at one load the first."""
    study = run.header.study
    for figure in study.figures.get(entry, ()) if study else ():
        here = figure.workload in ("", key[0]) and figure.load in ("", key[1])
        if here and figure.throughput_per_s is not None:
            return figure.throughput_per_s
    return None


def _by_load(run: Run) -> dict[tuple[str, str], dict[str, Row]]:
    """The rows by workload and load, then by the study's entry; controls are left out."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in (row for load in sections(run) for row in load.rows):
        if row.case.role != "control":
            found.setdefault((row.case.workload, row.case.load), {})[row.case.server_name] = row
    return found


def _verdicts(run: Run) -> dict[str, ClaimVerdict]:
    """Claims that the profile puts to the test: one without a comparison is none of its claims."""
    claims = run.header.study.claims if run.header.study else ()
    tested = {claim.id for claim in claims if claim.comparisons} if claims else None
    verdicts = run.judgement.claims if run.judgement else ()
    return {one.claim: one for one in verdicts if tested is None or one.claim in tested}


TITLE = "Published against fair"
NOTE = (
    "Ranks in brackets are the order of bare figures: no interval stands behind them. Absolute figures do "
    "not travel between machines; ranks and ratios are what can be compared."
)
_COLUMNS = (
    Column("server", "server", key=True),
    Column("published", "as published", right=True),
    Column("published rank", "rank", right=True),
    Column("measured", "measured as published", right=True),
    Column("measured rank", "rank", right=True),
    Column("fair", "fair", right=True),
    Column("fair rank", "rank", right=True),
)
_CLAIMS = ("claim", "published:", "measured as published", "fair", "changed")
_SETTINGS = ("server", "setting", "published", "fair")


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
    loads, told = tables(pair), claims(pair)
    which = ((run.header.profile, fmt.safe(title(run))) for run in (pair.published, pair.fair))
    return section(
        "beside",
        TITLE,
        Labelled(tuple(which)),
        *(Paragraph(fmt.safe(said, 500), "bad") for said in warnings(pair)),
        *(Paragraph(fmt.safe(said), "strong") for said in _changes(told)),
        *map(_load, loads),
        Items(tuple(fmt.safe(said, 1000) for one in loads for said in sentences(one))),
        Paragraph(NOTE, "faint"),
        plain("Claims under both profiles", _CLAIMS, map(_claim_cells, told), longest=500),
        plain("What the fair profile sets otherwise", _SETTINGS, settings(pair)),
    )


def _load(one: LoadTable) -> Table:
    """Which loads stand side by side, and the servers at them; what competes first."""
    loads = f"{one.published_load} as published, {one.fair_load} fair"
    named = fmt.safe(f"{one.title}: {loads}" if one.title else loads)
    return table(named, _COLUMNS, (TableLine(_cells(line), apart=not line.competes) for line in one.lines))


def _cells(line: ServerLine) -> tuple[Cell, ...]:
    """The server and three figures, each with its rank, in brackets where that is of bare figures only."""
    cells = [Cell(fmt.safe(line.name, 80))]
    for figure, place in (
        (fmt.rate(line.printed_per_s), line.printed_place),
        (_figure(line.published), line.published.place),
        (_figure(line.fair), line.fair.place),
    ):
        rank = fmt.UNKNOWN if place is None else str(place.number) if place.shown else f"({place.number})"
        cells += [Cell(figure), Cell(rank)]
    return tuple(cells)


def _figure(side: ProfileCell) -> str:
    """The throughput with its interval, or why there is none."""
    if side.row is None:
        return fmt.UNKNOWN
    words = throughput_words(side.row)
    if side.row.throughput is not None:
        return f"{words} {interval_words(side.row)}".rstrip()
    takers = dict.fromkeys(one.code for one in side.row.findings if one.severity == "error")
    return f"{words}: {' '.join(takers)}" if side.row.invalid and takers else words


def _claim_cells(line: ClaimLine) -> tuple[str, ...]:
    ratio = fmt.UNKNOWN if line.printed_ratio is None else f"{fmt.times(line.printed_ratio)}×"
    changed = "yes" if line.changed else "no" if line.published and line.fair else fmt.UNKNOWN
    sides = map(_verdict, (line.published, line.fair))
    return (f"({line.id}) {line.statement}", ratio, *sides, changed)


def _verdict(side: ClaimVerdict | None) -> str:
    if side is None:
        return "not put to the test"
    return f"{side.verdict}: {fmt.ratio(side.measured)}" if side.measured else side.verdict


def _changes(lines: Sequence[ClaimLine]) -> Iterator[str]:
    """A sentence for each claim that another verdict meets on fair terms, or one that none does."""
    changed = [line for line in lines if line.changed]
    for line in changed:
        assert line.published and line.fair  # else it has not changed
        yield f"Claim ({line.id}): {line.published.verdict} as published, {line.fair.verdict} on fair terms."
    if lines and not changed:
        yield "No claim changed its verdict."
