"""M, S, R: figures that cannot all be true, how often it was measured, and what differences are worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from assay.audit.document import Figure, Reported
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, audit_rule, hit_at, number
from assay.audit.names import RUN, key_of

_FEW = 5


def compares(seen: Evidence) -> bool:
    """Whether the text sets results of different things side by side."""
    return bool(seen.compared) or len(seen.labels) > 1


@audit_rule("S5")
def few(seen: Evidence) -> Iterator[AuditHit]:
    """Runs differ from each other by more than people expect; with so few, a difference of some percent may
    be the order they ran in."""
    if not compares(seen):
        return
    for said in seen.facts.runs:
        if 1 <= said.number <= _FEW:
            runs = "run" if said.number == 1 else "runs"
            yield hit_at(said, f"{number(said.number)} {runs} a side; a ranking takes six")
    for grid in seen.grids:
        groups = {row.group for row in grid.results if RUN.search(row.group)}
        if 1 < len(groups) <= _FEW:
            yield AuditHit(grid.table.number, min(groups), f"{len(groups)} runs a side; a ranking takes six")


def _spread(result: Reported, name: str) -> Figure | None:
    return result.figures.get(f"{name}_spread") or (
        result.figures.get("rate_stdev") if name == "rate" and result.table else None
    )


@audit_rule("A4")
def within_spread(seen: Evidence) -> Iterator[AuditHit]:
    """The same thing measured again differs by more than the two do: which is ahead is chance."""
    told: set[int] = set()
    for a, b in seen.certain():
        for name in ("rate", "mean"):
            one, other = a.figures.get(name), b.figures.get(name)
            spreads = [own for each in (a, b) if (own := _spread(each, name)) is not None]
            if one is None or other is None or len(spreads) < 2 or a.table in told:
                continue
            gap = abs(one.value.middle - other.value.middle)
            spread = max(each.value.low for each in spreads)
            if gap < spread:
                told.add(a.table)
                words = f"{a.label!r} and {b.label!r} differ by {number(gap)}, and the runs of one by ± "
                yield hit_at(other, words + number(spread), a.line, b.line)


def _load_of(seen: Evidence, one: Reported) -> tuple[object, ...]:
    """What is the same in repeated runs of one thing."""
    section = seen.sections.at(one.line)
    connections, duration = one.get("connections"), one.get("duration")
    return (
        key_of(one.label),
        one.group,
        section.path[:-1] if section and RUN.search(section.title) else section and section.path,
        one.url,
        connections.value if connections else None,
        round(duration.value.middle) if duration else None,
    )


_ALIKE = 1.5
"""Rates or times that differ by more are hardly runs of one thing, though one heading stands above both."""


def _repeats(seen: Evidence) -> bool:
    """Whether the text shows several runs of one thing, one output after the other."""
    runs: dict[tuple[object, ...], list[float]] = defaultdict(list)
    last: dict[tuple[object, ...], int] = {}
    for one in seen.outputs:
        figure = next((one.figures[name] for name in ("rate", "mean") if name in one.figures), None)
        if key_of(one.label) and figure is not None:
            load = _load_of(seen, one)
            if load in last and _explained(seen, last[load], one.line):
                runs[load] = []  # what stands between says what is different now
            last[load] = one.last
            runs[load].append(figure.value.middle)
            if len(runs[load]) > 1 and max(runs[load]) <= _ALIKE * min(runs[load]):
                return True
    return False


_WORDS = 14
"""Words of prose between two outputs that are more than "and again"."""


def _explained(seen: Evidence, after: int, before: int) -> bool:
    blocks = [block for block in seen.document.blocks if block.kind == "prose" and block.lines]
    words = [block.text for block in blocks if after < block.lines[0].number < before]
    return len(" ".join(words).split()) > _WORDS


@audit_rule("R5")
def untold(seen: Evidence) -> Iterator[AuditHit]:
    """Without repetitions nobody can tell a difference from chance, the author included."""
    facts = seen.facts
    if not compares(seen) or not facts.whole or facts.runs or facts.repeated or facts.spread:
        return
    if _repeats(seen) or any(RUN.search(row.group) for row in seen.rows):
        return
    told = {name for row in seen.rows for name in row.figures}
    if any(name.endswith("_spread") or name in ("rate_stdev", "runs") for name in told):
        return
    pair = next(iter(seen.compared), None)
    one, other = (pair[0].label, pair[1].label) if pair else seen.labels[:2]
    line = pair[0].line if pair else next(row.line for row in seen.rows if row.label == one)
    yield AuditHit(line, one, f"{one!r} is compared with {other!r}; how often was each measured?", "note")


@audit_rule("R9")
def best(seen: Evidence) -> Iterator[AuditHit]:
    """A maximum grows with the number of runs and with their spread: it rewards what scatters."""
    if not seen.results:
        return
    for said in seen.facts.runs:
        if said.kind == "best":
            yield hit_at(said, "the maximum of several runs")
