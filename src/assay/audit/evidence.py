"""Everything that was found in a document: what the rules look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from operator import itemgetter

from msgspec.structs import replace

from assay.audit.commands import commands, worded
from assay.audit.context import (
    Sections,
    by_parent,
    by_port,
    commanded,
    common_command,
    sections_of,
    with_context,
)
from assay.audit.document import (
    BY_HAND,
    Reported,
    ReportedCommand,
    TextBlock,
    TextDocument,
    TextLine,
    TextTable,
    is_measured,
    sentences,
)
from assay.audit.facts import Facts, facts, known_tools
from assay.audit.fields import drawn, fielded
from assay.audit.figures import NEEDED, PlacedFigure, figures
from assay.audit.headings import RATE
from assay.audit.lexicon import compiled
from assay.audit.lines import alone, listed, spoken, timed
from assay.audit.names import distinct, is_name, is_scenario, key_of
from assay.audit.scan import json_reports, outputs
from assay.audit.tables import Grid, results
from assay.audit.tools import BY_NAME, CLOSED, NAMED

MOST = 1000
"""Outputs, tables, lists and commands of one text that are looked at: a text for people has fewer."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A document with what was found in it."""

    document: TextDocument
    outputs: tuple[Reported, ...]
    grids: tuple[Grid, ...]
    commands: tuple[ReportedCommand, ...]
    facts: Facts
    sections: Sections

    @cached_property
    def rows(self) -> tuple[Reported, ...]:
        """The results in tables."""
        return tuple(row for grid in self.grids for row in grid.results)

    @cached_property
    def results(self) -> tuple[Reported, ...]:
        """All results, in the order in which they stand."""
        return tuple(sorted((*self.outputs, *self.rows), key=lambda result: result.line))

    @cached_property
    def figures(self) -> tuple[PlacedFigure, ...]:
        """Every figure of the text with its place, whether it belongs to a result or not."""
        return figures(self.document, self.sections)

    @cached_property
    def closed(self) -> bool | None:
        """Whether every load-test tool that the text names has a closed loop; None where none is named."""
        if "assay" in self.facts.tools and not self.commands:
            return None  # it has both loops, and names those whose flags it reads
        kinds: set[bool | None] = {command.closed for command in self.commands}
        kinds |= {result.closed for result in self.outputs if result.tool not in BY_HAND}
        if not kinds:
            kinds = {BY_NAME[name].closed for name in known_tools(self.facts)}
            kinds |= {False for name in self.facts.tools if name == "wrk2"}  # it keeps a rate
            kinds |= {True for name in self.facts.tools if name in CLOSED}
        if None in kinds and self.facts.tools <= {"k6"} and not self._says_arrivals:
            kinds = kinds - {None} | {True}  # k6's virtual users wait for their answers
        return None if not kinds or None in kinds else kinds == {True}

    @cached_property
    def told_by_users(self) -> bool:
        """Whether a load without a tool is told as so many users or connections: these wait for answers."""
        if self.facts.tool_named or self._says_arrivals:
            return False
        return any("connections" in one.figures for one in self.results)

    @cached_property
    def pipelined(self) -> bool:
        """Whether the text speaks of pipelining: then a connection holds more than one request."""
        return any(_PIPELINED.search(line.text) for line in self.document.lines)

    @cached_property
    def _says_arrivals(self) -> bool:
        return any(re.search(r"arrival", line.text, re.IGNORECASE) for line in self.document.lines)

    def certain(self) -> Iterator[tuple[Reported, Reported]]:
        """Those of which it is certain whose they are: in one table, or under the names of two things."""
        for a, b in self.compared:
            named = all(is_name(one.label) and not NAMED.search(one.label) for one in (a, b))
            if (a.table and a.table == b.table) or named or _tools_named(a, b):
                yield a, b

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of what has results in tables of things, not of loads."""
        grids = [grid for grid in self.grids if not _of_loads(grid)]
        labels = {key_of(row.label): row.label for grid in grids for row in grid.results if row.label}
        return tuple(label for key, label in labels.items() if key and not is_scenario(label))

    @cached_property
    def compared(self) -> tuple[tuple[Reported, Reported], ...]:
        """Results that the text sets side by side: in one table, or in sections that differ by a name."""
        pairs = [
            (a, b)
            for grid in self.grids
            if len(grid.results) <= 60
            for a, b in combinations(grid.results, 2)
            if a.group == b.group and distinct(a.label, b.label)
            # Rows may be loads of one thing, as the heading above their names says.
            if a.group or a.line == b.line or not _of_loads(grid)
        ]
        single = [
            grid.results[0]
            for grid in self.grids
            if grid.table.head and len({row.label for row in grid.results}) == 1 and len(grid.results) < 3
        ]
        alone = [*self.outputs, *single]
        if len(alone) > 60:
            return tuple(pairs)
        heads = {grid.table.number: grid.table.head for grid in self.grids}
        named = [
            (a, b)
            for a, b in combinations(alone, 2)
            if heads.get(a.table) == heads.get(b.table)
            and (a.tool == b.tool or _tools_named(a, b))
            and a.group == b.group
            and distinct(a.label, b.label)
        ]
        beside = [pair for pair in named if _siblings(self, *pair)]
        # Under "Go" / "Gin" and "Rust" / "Actix" nothing else stands side by side: then these do.
        if not beside and not pairs:
            beside = [pair for pair in named if not any(_NO_SERVER.search(one.label) for one in pair)]
        return (*pairs, *beside)


_PIPELINED = compiled("evidence.pipelined")


def _tools_named(a: Reported, b: Reported) -> bool:
    """Whether two outputs of two tools go by their tools' names: then the tools are what is compared."""
    return all(key_of(one.label) == one.tool for one in (a, b))


def _of_loads(grid: Grid) -> bool:
    return bool(grid.table.head) and _WORKLOADS.search(grid.table.head[0]) is not None


_WORKLOADS = compiled("evidence.workloads")
"""First headings of tables whose rows are loads or requests of one thing."""
_NO_SERVER = compiled("evidence.no_server")
"""Headings of manuals: what stands under them is shown, and not compared."""


def _siblings(seen: Evidence, a: Reported, b: Reported) -> bool:
    """Whether two outputs stand beside each other: in one section, or in two under the same heading."""
    one, other = seen.sections.at(a.line), seen.sections.at(b.line)
    if one is None or other is None:
        return one is other
    if one.line == other.line:
        return True
    # Under "Express" and "Fastify" there may be headings that are only a command, or a figure.
    paths = (one.names, other.names)
    apart = sum(a != b for a, b in zip(*paths, strict=False))
    return one.level == other.level and len(paths[0]) == len(paths[1]) and apart <= 1


def see(document: TextDocument) -> Evidence:
    """Find everything in a document."""
    sections = Sections(sections_of(document))
    calls = tuple(
        islice(commands(TextLine(*each[:2]) for each in sorted(document.texts, key=itemgetter(0))), MOST)
    )
    breaks = frozenset(section.line for section in sections)
    found = [*islice(outputs(document.lines, breaks), MOST), *islice(json_reports(document.blocks), MOST)]
    told = facts(document)
    whole = [one for one in found if one.tool != "wrk" or one.line < one.last]
    told_by_hand = list(islice(fielded(document, _lines(whole)), MOST))
    # "Requests/sec: 12" may be what is left of wrk's report, or the first of many such lines.
    covered = _lines(told_by_hand)
    found = [*(one for one in found if one.line not in covered), *told_by_hand]
    found.sort(key=lambda result: result.line)
    named = by_port(by_parent(tuple(with_context(document, sections, calls, tuple(found))), sections))
    taken = _lines(named)
    grids = [grid for grid in map(results, islice(_captioned(document), MOST)) if grid is not None]
    grids += islice(listed(document, taken), MOST)
    grids += islice((grid for table in drawn(document, taken) if (grid := results(table)) is not None), MOST)
    if told.tool_named or found or calls:
        used = taken | {row.line for grid in grids for row in grid.results}
        grids += islice(spoken(document, used), MOST)
    grids = [grid for grid in grids if _of_load(grid, told, sure=bool(calls or found))]
    if any(LOADED.search(section.title) for section in sections):
        grids += islice(timed(document, taken), MOST)
    if not named and not grids and (told.tool_named or calls):
        named = tuple(islice(alone(document), 1))
    machine_made = any(one.tool not in BY_HAND for one in found)
    common = common_command(calls) or (worded(document, told) if not calls and not machine_made else None)
    if common is not None:
        named = tuple(
            replace(one, command=one.command or common) if one.tool in BY_HAND else one for one in named
        )
    # What was required is no result, though it looks like one.
    named = tuple(one for one in named if one.tool != "figures" or not NEEDED.search(one.label))
    return Evidence(document, named, tuple(commanded(grids, common, calls, sections)), calls, told, sections)


def _lines(found: Iterable[Reported]) -> frozenset[int]:
    return frozenset(line for one in found for line in range(one.line, one.last + 1))


def _of_load(grid: Grid, told: Facts, *, sure: bool) -> bool:
    """Whether a table is of a load test: it has a rate, or times that something says are of requests."""
    if sure or any("rate" in row.figures for row in grid.results):
        return True
    times = any(is_measured(row.figures) or "max" in row.figures for row in grid.results)
    words = " ".join((*grid.table.head, grid.table.caption))
    return times and (told.tool_named or _OF_REQUESTS.search(words) is not None)


_OF_REQUESTS = re.compile(r"request|response|\bhttp|\breq\b|\bserver", re.IGNORECASE)


LOADED = re.compile(r"load[- ]?test|benchmark|stress|performance", re.IGNORECASE)
"""Headings under which times of so many requests are results."""


def _captioned(document: TextDocument) -> Iterator[TextTable]:
    """The tables, each with the short line before it, which may say what its figures are."""
    held: list[TextBlock] = []
    for part in document.parts:
        if isinstance(part, TextBlock):
            held = [*held[-2:], part]
            continue
        before = ""
        for block in held:
            before = _caption(block, before)
        yield replace(part, caption=part.caption or before)
        held = []


def _caption(part: TextBlock, before: str) -> str:
    """What a part in front of a table says of it: its short last line, or its sentence of a rate."""
    if not part.lines or part.kind == "code":
        return ""
    told = next((found[0] for _, said in sentences(part) if (found := _UNIT_OF_ALL.match(said))), "")
    text = part.lines[-1].text
    if told or part.kind == "heading":
        return told or text[:80]
    if _UNIT_OF_ALL.match(before) and not RATE.search(text) and len(part.text) <= 300:
        return before
    return text if len(text) <= 80 else ""


_UNIT_OF_ALL = re.compile(
    rf"\W{{0,3}}(?:(?:median|mean|average|avg|higher is better|results?|throughput"
    rf"|all (?:figures|numbers|values)|in)\b\W{{0,3}}(?:\w+\s){{0,3}}?)?(?:{RATE.pattern})",
    re.IGNORECASE,
)
"""A sentence or heading that says what all figures of the table below it are."""
