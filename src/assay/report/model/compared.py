"""A comparison of two runs, told: what the limits came to, each figure against the other, what differs."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from assay import verdict
from assay.core import units as fmt
from assay.model.estimate import Estimate, Known
from assay.report.document import (
    Cell,
    Chart,
    Column,
    Document,
    Findings,
    Items,
    Labelled,
    Section,
    Table,
    TableLine,
    Tone,
    plain,
    section,
    table,
)
from assay.report.model.answer import state
from assay.report.model.circumstances import circumstances, environment_differences
from assay.report.model.rows import limits_words, name_of_case
from assay.report.model.values import groups
from assay.verdict.compare import Change, RunComparison, Watched

_COLUMNS = (
    Column("case", "case", key=True),
    Column("metric", "metric", key=True),
    Column("base", "base", right=True, spare=1),
    Column("new", "new", right=True, spare=2),
    Column("change", "new / base"),
    Column("direction", "new is"),
    Column("limit", "limit"),
)
_MOST_LINES = 4
"""So many changes stand in a summary."""
NAMES: dict[Watched, str] = {
    "throughput": "throughput",
    "p99": "p99 time",
    "memory": "memory",
    "start": "start time",
    "errors": "errors",
}
_WRITTEN: dict[Watched, Callable[[float | None], str]] = {
    "throughput": fmt.rate,
    "p99": fmt.time,
    "memory": fmt.size,
    "start": fmt.time,
    "errors": fmt.share,
}
_BOUNDED: dict[Watched, Callable[[Known | None, float], str]] = {
    "throughput": fmt.known_rate,
    "p99": fmt.known_time,
}
_TONES: dict[str, Tone] = {
    "kept": "good",
    "broken": "bad",
    "could not tell": "warn",
    "invalid": "bad",
    "not measured": "bad",
}


def document(found: RunComparison, charts: tuple[Chart, ...] = ()) -> Document:
    """What the limits came to, what has changed beyond its interval, and what makes it hard to compare; then
    each figure against the other. `charts` stand with the answer."""
    told = [one for one in found.changes if one.change is not None and one.metric != "errors"]
    apart = [one for one in told if direction(one)]
    watched = [one for one in found.changes if one.outcome and one.outcome != "kept"]
    shown = list(dict.fromkeys((*watched, *apart)))
    rest = [one for one in told if one not in shown]
    below = [f"{len(shown) - _MOST_LINES} more changes: --verbose"] if len(shown) > _MOST_LINES else []
    if rest and shown:
        below.append(f"no change is shown in the other {fmt.counted(len(rest), 'figure')}")
    same = [(len(told) - len(apart), "without a change shown")] if len(told) > len(apart) else []
    conclusion = tuple(_conclusion(found)) or (_summed_up(apart, told),)
    lines = [TableLine(_cells(one), detail=place >= _MOST_LINES) for place, one in enumerate(shown)]
    return Document(
        title=" → ".join(fmt.safe(run.header.run_id) for run in (found.base, found.new)),
        headline=tuple(fmt.safe(said, 1000) for said in conclusion),
        table=table("Changes", _COLUMNS, lines) if lines else None,
        below=tuple(below),
        warnings=tuple(fmt.safe(said, 200) for said in found.warnings),
        footer=(fmt.safe(f"base {found.base.header.run_id}, new {found.new.header.run_id}; 95 % CI", 160),),
        state=", ".join(f"{number} {word}" for number, word in (*_counts(apart), *same)),
        tone="bad" if any(direction(one) == "worse" for one in apart) else "good" if apart else "plain",
        pictures=charts,
        sections=tuple(_sections(found)),
    )


def _counts(apart: Sequence[Change]) -> list[tuple[int, str]]:
    """How many figures are worse, and how many better."""
    worse = sum(direction(one) == "worse" for one in apart)
    return [(number, word) for number, word in ((worse, "worse"), (len(apart) - worse, "better")) if number]


def _sections(found: RunComparison) -> Iterator[Section]:
    """Each figure against the other, what differs, and each run: its findings and how it was measured."""
    sides = (("base", found.base), ("new", found.new))
    aside = Items(tuple(fmt.safe(said, 500) for said in _aside(found)))
    yield from section("changes", "New against base", *_by_case(found), aside)
    changed = environment_differences(found.base.header.environment, found.new.header.environment)
    differences = plain("", ("what", "base", "new"), changed)
    yield from section("differences", "Differences of the machine and the versions", differences)
    which = tuple((side, fmt.safe(f"{run.header.run_id}  {state(run)}")) for side, run in sides)
    yield from section("runs", "The two runs", Labelled(which))
    for side, run in sides:
        about = (one for which, one in found.findings if which == side)
        grouped = groups(about, functools.partial(name_of_case, run))
        yield from section(f"findings-{side}", f"Findings of {side}", Findings(grouped))
    for side, run in sides:
        command = fmt.safe(shlex.join(run.header.command), 2000)
        ways = Labelled((*circumstances(run), ("command", command)))
        yield from section(f"how-{side}", f"How {side} was measured", ways, background=True)


Direction = Literal["better", "worse", ""]


def direction(change: Change) -> Direction:
    """Whether a figure of the new run is better or worse, its interval apart from no change; else empty."""
    if change.change is None:
        return ""
    same = 0.0 if change.metric == "errors" else 1.0
    low, high = change.change.low, change.change.high
    more, less = low is not None and low > same, high is not None and high < same
    if not (more or less):
        return ""
    return "better" if more == (change.metric == "throughput") else "worse"


DIRECTION_TONES: dict[Direction, Tone] = {"better": "good", "worse": "bad", "": "plain"}


def _summed_up(apart: Sequence[Change], told: Sequence[Change]) -> str:
    """Whether new is better or worse than base, where no limit was set."""
    if not told:
        return "Nothing can be compared: no figure stands on both sides"
    if not apart:
        return f"no change is shown in any of {fmt.counted(len(told), 'figure')}"
    said = ", ".join(f"{fmt.counted(number, 'figure')} {word}" for number, word in _counts(apart))
    return f"new against base: {said}"


def _by_case(found: RunComparison) -> Iterator[Table]:
    """Each figure against the other: a table for each case, titled by it."""
    every = table("", _COLUMNS, [TableLine(_cells(change)) for change in _shown(found)])
    columns = [column for column in every.columns if column.name != "case"]
    lines: dict[str, list[TableLine]] = {}
    for line in every.lines:
        lines.setdefault(line.cells[0].text, []).append(TableLine(line.cells[1:]))
    for case, each in lines.items():
        yield table(case, columns, each)


def _conclusion(found: RunComparison) -> Iterator[str]:
    """What the limits came to, gravest first; nothing where no limit was set."""
    for change in found.changes:
        if change.outcome == "broken":
            yield f"{change.case}: {NAMES[change.metric]} is worse: {_change(change)}"
    for change in found.changes:
        which = f"{change.case}: {NAMES[change.metric]}"
        if change.outcome == "could not tell":
            more = f": {verdict.words_of(change.limits)}" if change.limits else ""
            yield f"{which}: could not tell{more}"
        if change.outcome == "not measured":
            yield f"{which} was not measured in new"
        if change.outcome == "invalid":
            yield f"{which} is invalid: no limit can be held to it"
    held = [change for change in found.changes if change.outcome]
    if held and all(change.outcome == "kept" for change in held):
        yield f"all {len(held)} limits are kept" if len(held) > 1 else "the limit is kept"


def _shown(found: RunComparison) -> list[Change]:
    """What is known of either side or watched; errors where there were any, or where they were watched."""
    return [
        change
        for change in found.changes
        if change.outcome
        or (change.metric != "errors" and (change.base or change.new))
        or any(side is not None and side.value > 0 for side in (change.base, change.new))
    ]


def _cells(change: Change) -> tuple[Cell, ...]:
    word = direction(change)
    return (
        Cell(fmt.safe(change.case, 80)),
        Cell(NAMES[change.metric]),
        Cell(_side(change.metric, change.base, change.base_known)),
        Cell(_side(change.metric, change.new, change.new_known)),
        Cell(_change(change)),
        Cell(word, DIRECTION_TONES[word]),
        Cell(change.outcome, _TONES.get(change.outcome, "plain")),
    )


def _side(metric: Watched, found: Estimate | None, known: Known | None) -> str:
    """A figure of one run, as a bound where it is one."""
    if found is None or known is None or metric not in _BOUNDED:
        return _WRITTEN[metric](fmt.value_of(found))
    return _BOUNDED[metric](known, found.value)


def _change(change: Change) -> str:
    if change.metric != "errors" or change.change is None:
        return fmt.ratio(change.change)
    sign = "+" if change.change.value > 0 else ""
    return f"{sign}{fmt.significant(change.change.value * 100, 2)} points"


def _aside(found: RunComparison) -> Iterator[str]:
    """Say what makes figures bounds, and which cases have nothing to be compared with."""
    limits = [
        (limit, change.case)
        for change in found.changes
        for side in (change.base_known, change.new_known)
        for limit in (side.limits if side else ())
    ]
    if limits:
        yield f"what makes figures bounds: {limits_words(limits)}"
    for side, cases in (("base", found.only_base), ("new", found.only_new)):
        if cases:
            yield f"only in {side}: {', '.join(cases)}"
    if found.unmeasured:
        yield f"measured in neither: {', '.join(found.unmeasured)}"
