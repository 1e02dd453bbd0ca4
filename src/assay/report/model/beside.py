"""The two profiles of a study side by side, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.core import units as fmt
from assay.model.estimate import ClaimVerdict
from assay.report.model import profiles
from assay.report.model.circumstances import title
from assay.report.model.profiles import ClaimLine, LoadTable, ProfilePair, ProfileRank, ServerLine
from assay.report.model.profiles import ProfileCell as Side
from assay.report.model.rows import interval_words, throughput_words
from assay.report.model.values import Beside, Cell, Column, Table, TableLine, plain, table

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


def beside(pair: ProfilePair) -> Beside:
    """Both runs of a study, told together."""
    loads = profiles.tables(pair)
    claims = profiles.claims(pair)
    settings = [(one.name, one.setting, one.published, one.fair) for one in profiles.settings(pair)]
    extra = []
    if claims:
        lines = (_claim_cells(line) for line in claims)
        extra.append(plain("Claims under both profiles", _CLAIMS, lines, longest=500))
    if settings:
        extra.append(plain("What the fair profile sets otherwise", _SETTINGS, settings))
    return Beside(
        title=TITLE,
        which=tuple((run.header.profile, fmt.safe(title(run))) for run in (pair.published, pair.fair)),
        warnings=tuple(fmt.safe(said, 500) for said in profiles.warnings(pair)),
        conclusion=tuple(fmt.safe(said) for said in _changes(claims)),
        tables=tuple(_load(one) for one in loads),
        sentences=tuple(fmt.safe(said, 1000) for one in loads for said in profiles.sentences(one)),
        note=NOTE,
        extra=tuple(extra),
    )


def _load(one: LoadTable) -> Table:
    """Which loads stand side by side, and the servers at them; what competes first."""
    loads = f"{one.published_load} as published, {one.fair_load} fair"
    lines = sorted(one.lines, key=lambda line: not line.competes)
    named = fmt.safe(f"{one.title}: {loads}" if one.title else loads)
    return table(named, _COLUMNS, (TableLine(_cells(line), apart=not line.competes) for line in lines))


def _cells(line: ServerLine) -> tuple[Cell, ...]:
    figures = (
        (fmt.rate(line.printed_per_s), line.printed_place),
        (_figure(line.published), line.published.place),
        (_figure(line.fair), line.fair.place),
    )
    return (
        Cell(fmt.safe(line.name, 80)),
        *(Cell(text) for figure, place in figures for text in (figure, _place(place))),
    )


def _figure(side: Side) -> str:
    """The throughput with its interval, or why there is none."""
    if side.row is None:
        return fmt.UNKNOWN
    words = throughput_words(side.row)
    if side.row.throughput is not None:
        return f"{words} {interval_words(side.row)}".rstrip()
    takers = dict.fromkeys(one.code for one in side.row.findings if one.severity == "error")
    return f"{words}: {' '.join(takers)}" if side.row.invalid and takers else words


def _place(place: ProfileRank | None) -> str:
    """A rank; in brackets where it is an order of bare figures only."""
    if place is None:
        return fmt.UNKNOWN
    return str(place.number) if place.shown else f"({place.number})"


def _claim_cells(line: ClaimLine) -> tuple[str, ...]:
    ratio = fmt.UNKNOWN if line.printed_ratio is None else fmt.times(line.printed_ratio)
    sides = [_verdict(side) for side in (line.published, line.fair)]
    changed = "yes" if line.changed else "no" if line.published and line.fair else fmt.UNKNOWN
    return (f"({line.id}) {line.statement}", ratio, *sides, changed)


def _verdict(side: ClaimVerdict | None) -> str:
    if side is None:
        return "not put to the test"
    return f"{side.verdict}: {fmt.ratio(side.measured)}" if side.measured else side.verdict


def _changes(lines: Sequence[ClaimLine]) -> Iterator[str]:
    """A sentence for each claim that another verdict meets on fair terms, or one that none does."""
    changed = [line for line in lines if line.changed]
    for line in changed:
        assert line.published is not None and line.fair is not None  # else it has not changed
        yield f"Claim ({line.id}): {line.published.verdict} as published, {line.fair.verdict} on fair terms."
    if lines and not changed:
        yield "No claim changed its verdict."
