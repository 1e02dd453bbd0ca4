"""The two profiles of a study side by side, in words and cells; and on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from assay.report import format as fmt
from assay.report.model import answer, profiles
from assay.report.model.profiles import Cell, ClaimLine, LoadTable, Pair, Place, ServerLine
from assay.report.model.rows import interval_words, throughput_words
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE
from assay.report.terminal import plain_table
from assay.values.estimate import ClaimVerdict

TITLE = "Published against fair"
NOTE = (
    "Ranks in brackets are the order of bare figures: no interval stands behind them. Absolute figures do "
    "not travel between machines; ranks and ratios are what can be compared."
)
HEADS = ("server", "as published:", "rank:", "measured as published:", "rank:", "fair:", "rank:")
CLAIM_HEADS = ("claim", "published:", "measured as published", "fair", "changed")
SETTING_HEADS = ("server", "setting", "published", "fair")


def cells(line: ServerLine) -> tuple[str, ...]:
    """A server's line, in the order of `HEADS`."""
    printed = fmt.rate(line.printed_per_s)
    return (
        line.name,
        printed,
        place_words(line.printed_place),
        figure_words(line.published),
        place_words(line.published.place),
        figure_words(line.fair),
        place_words(line.fair.place),
    )


def figure_words(cell: Cell) -> str:
    """The throughput with its interval, or why there is none."""
    if cell.row is None:
        return fmt.UNKNOWN
    words = throughput_words(cell.row)
    if cell.row.throughput is not None:
        return f"{words} {interval_words(cell.row)}".rstrip()
    takers = dict.fromkeys(one.code for one in cell.row.findings if one.severity == "withheld")
    return f"{words}: {' '.join(takers)}" if cell.row.withheld and takers else words


def place_words(place: Place | None) -> str:
    """A rank; in brackets where it is an order of bare figures only."""
    if place is None:
        return fmt.UNKNOWN
    return str(place.number) if place.shown else f"({place.number})"


def claim_cells(line: ClaimLine) -> tuple[str, ...]:
    """A claim's line, in the order of `CLAIM_HEADS`."""
    ratio = fmt.UNKNOWN if line.printed_ratio is None else fmt.times(line.printed_ratio)
    sides = [_verdict_words(side) for side in (line.published, line.fair)]
    changed = "yes" if line.changed else "no" if line.published and line.fair else fmt.UNKNOWN
    return (f"({line.id}) {line.statement}", ratio, *sides, changed)


def _verdict_words(side: ClaimVerdict | None) -> str:
    if side is None:
        return "not put to the test"
    return f"{side.verdict}: {fmt.ratio(side.measured)}" if side.measured else side.verdict


def title_of(table: LoadTable) -> str:
    """Which loads stand side by side."""
    loads = f"{table.published_load} as published, {table.fair_load} fair"
    return f"{table.title}: {loads}" if table.title else loads


def changes(found: Pair) -> Iterator[str]:
    """A sentence for each claim that another verdict meets on fair terms, or one that none does."""
    lines = profiles.claims(found)
    changed = [line for line in lines if line.changed]
    for line in changed:
        assert line.published is not None and line.fair is not None  # else it has not changed
        yield f"Claim ({line.id}): {line.published.verdict} as published, {line.fair.verdict} on fair terms."
    if lines and not changed:
        yield "No claim changed its verdict."


def which(found: Pair) -> tuple[tuple[str, str], ...]:
    """(profile, run) of both: study, size, seed and time."""
    return tuple((run.header.profile, answer.title(run)) for run in (found.published, found.fair))


# --- on the terminal ----------------------------------------------------------------------


def summary(found: Pair) -> RenderableType:
    """The screen that ends a study run under both profiles; reads well in 80 columns."""
    parts: list[RenderableType] = [Text(f"{fmt.safe(answer.name(found.fair))}: {TITLE.lower()}", HEADING)]
    parts += [Text(fmt.safe(said), FAINT) for _, said in which(found)]
    parts += [Text(fmt.safe(said), SEVERITY_STYLE["flagged"]) for said in profiles.warnings(found)]
    for table in profiles.tables(found):
        parts += _load(table)
    parts += _claims(found)
    return Group(*parts)


def _load(table: LoadTable) -> Iterable[RenderableType]:
    drawn = plain_table()
    drawn.add_column("server", overflow="fold", min_width=16, max_width=20)
    for head in ("published", "measured so", "fair"):
        drawn.add_column("", justify="right", no_wrap=True)
        drawn.add_column(head, overflow="fold")
    for competing in (True, False):
        for line in table.lines:
            if line.competes is competing:
                name, printed, *rest = cells(line)
                drawn.add_row(fmt.safe(name, 60), rest[0], printed, rest[2], rest[1], rest[4], rest[3])
        drawn.add_section()
    yield Text(f"\n{fmt.safe(title_of(table))}", HEADING)
    yield Padding(drawn, (1, 0))
    yield from (Text(fmt.safe(said, 1000)) for said in profiles.told(table))
    yield Text(NOTE, FAINT)


def _claims(found: Pair) -> Iterable[RenderableType]:
    lines = profiles.claims(found)
    if not lines:
        return
    table = plain_table()
    table.expand = True
    table.add_column("published claim", overflow="fold", ratio=2)
    table.add_column("published", justify="right", no_wrap=True)
    table.add_column("measured so", overflow="fold", ratio=1)
    table.add_column("fair", overflow="fold", ratio=1)
    for line in lines:
        claim, ratio, published, fair, _ = claim_cells(line)
        table.add_row(fmt.safe(claim), ratio, published, fair)
    yield Padding(table, (1, 0))
    yield from (Text(said, HEADING) for said in changes(found))
