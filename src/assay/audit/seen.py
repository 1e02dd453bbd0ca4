"""Everything that was found in a document: what the rules look at."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice

from assay.audit.commands import commands
from assay.audit.document import Block, Document, Table
from assay.audit.drawn import drawn
from assay.audit.facts import Facts, facts, known_tools
from assay.audit.interval import exactly
from assay.audit.json_reports import json_reports
from assay.audit.listed import listed
from assay.audit.names import distinct, key_of
from assay.audit.reported import Command, Figure, Reported
from assay.audit.scan import outputs
from assay.audit.spoken import spoken
from assay.audit.tables import Grid, results
from assay.audit.tools import BY_NAME, CLOSED
from assay.audit.units import time_in
from assay.audit.worded import worded

MOST = 1000
"""Outputs, tables, lists and commands of one text that are looked at: a text for people has fewer."""

NEAR = 8
"""Lines between a command and the output that is taken to be its own."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and the line from which it holds."""

    line: int
    level: int
    title: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class Seen:
    """A document with what was found in it."""

    document: Document
    outputs: tuple[Reported, ...]
    grids: tuple[Grid, ...]
    commands: tuple[Command, ...]
    facts: Facts
    sections: tuple[Section, ...]

    @cached_property
    def rows(self) -> tuple[Reported, ...]:
        """The results in tables."""
        return tuple(row for grid in self.grids for row in grid.results)

    @cached_property
    def results(self) -> tuple[Reported, ...]:
        """All results, in the order in which they stand."""
        return tuple(sorted((*self.outputs, *self.rows), key=lambda result: result.line))

    @cached_property
    def closed(self) -> bool | None:
        """Whether every load-test tool that the text names has a closed loop; None where none is named."""
        kinds = {command.closed for command in self.commands} | {result.closed for result in self.outputs}
        if not kinds:
            kinds = {BY_NAME[name].closed for name in known_tools(self.facts)}
            kinds |= {True for name in self.facts.tools if name in CLOSED}
        if None in kinds and self.facts.tools <= {"k6"} and not self._says_arrivals:
            kinds = kinds - {None} | {True}  # k6's virtual users wait for their answers
        return None if not kinds or None in kinds else kinds == {True}

    @cached_property
    def _says_arrivals(self) -> bool:
        return any(re.search(r"arrival", line.text, re.IGNORECASE) for line in self.document.lines)

    @cached_property
    def _starts(self) -> list[int]:
        return [section.line for section in self.sections]

    def section(self, line: int) -> Section | None:
        """The section in which a line stands."""
        at = bisect_right(self._starts, line) - 1
        return self.sections[at] if at >= 0 else None

    def compared(self) -> Iterator[tuple[Reported, Reported]]:
        """Results that the text sets side by side: in one table, or in sections that differ by a name."""
        return iter(self._pairs)

    @cached_property
    def _pairs(self) -> tuple[tuple[Reported, Reported], ...]:
        pairs = [
            (a, b)
            for grid in self.grids
            if len(grid.results) <= 60
            for a, b in combinations(grid.results, 2)
            if a.group == b.group and distinct(a.label, b.label)
        ]
        if len(self.outputs) > 60:
            return tuple(pairs)
        named = [
            (a, b)
            for a, b in combinations(self.outputs, 2)
            if a.tool == b.tool and distinct(a.label, b.label)
        ]
        beside = [pair for pair in named if _siblings(self, *pair)]
        # Under "Go" / "Gin" and "Rust" / "Actix" nothing else stands side by side: then these do.
        if not beside and not pairs:
            beside = [pair for pair in named if not any(_NO_SERVER.search(one.label) for one in pair)]
        return (*pairs, *beside)


_NO_SERVER = re.compile(
    r"usage|example|output|install|option|feature|report|command|quick|getting started|how to"
    r"|tutorial|about|overview"
    r"|sample|demo|intro",
    re.IGNORECASE,
)
"""Headings of manuals: what stands under them is shown, and not compared."""


def _siblings(seen: Seen, a: Reported, b: Reported) -> bool:
    """Whether two outputs stand beside each other: in one section, or in two under the same heading."""
    one, other = seen.section(a.line), seen.section(b.line)
    if one is None or other is None:
        return one is other
    if one.line == other.line:
        return True
    # Under "Express" and "Fastify" there may be headings that are only a command, or a figure.
    paths = [[title for title in each.path if not _NO_TITLE.search(title)] for each in (one, other)]
    apart = sum(a != b for a, b in zip(*paths, strict=False))
    return one.level == other.level and len(paths[0]) == len(paths[1]) and apart <= 1


def see(document: Document) -> Seen:
    """Find everything in a document."""
    sections = tuple(_sections(document))
    calls = tuple(islice(commands(document.lines), MOST))
    breaks = frozenset(section.line for section in sections)
    found = [*islice(outputs(document.lines, breaks), MOST), *islice(json_reports(document.blocks), MOST)]
    found.sort(key=lambda result: result.line)
    told = facts(document)
    named = _by_port(tuple(_with_context(document, sections, calls, tuple(found))))
    taken = frozenset(line for one in named for line in range(one.line, one.last + 1))
    grids = [grid for grid in map(results, islice(_captioned(document), MOST)) if grid is not None]
    grids += islice(listed(document, taken), MOST)
    grids += islice((grid for table in drawn(document, taken) if (grid := results(table)) is not None), MOST)
    if told.tool_named or found or calls:
        used = taken | {row.line for grid in grids for row in grid.results}
        grids += islice(spoken(document, used), MOST)
    grids = [grid for grid in grids if _of_load(grid, told, sure=bool(calls or found))]
    common = _common(calls) or (worded(document, told) if not calls and not found else None)
    if common is not None:
        grids = [
            replace(grid, results=tuple(replace(row, command=common) for row in grid.results))
            for grid in grids
        ]
    return Seen(document, named, tuple(grids), calls, told, sections)


def _of_load(grid: Grid, told: Facts, *, sure: bool) -> bool:
    """Whether a table is of a load test: it has a rate, or times that something says are of requests."""
    if sure or any("rate" in row.figures for row in grid.results):
        return True
    times = any(row.percentiles or row.figures.keys() & {"mean", "time", "max"} for row in grid.results)
    words = " ".join((*grid.table.head, grid.table.caption))
    return times and (told.tool_named or _OF_REQUESTS.search(words) is not None)


_OF_REQUESTS = re.compile(r"request|response|\bhttp|\breq\b|\bserver", re.IGNORECASE)


def _captioned(document: Document) -> Iterator[Table]:
    """The tables, each with the short line before it, which may say what its figures are."""
    before = ""
    for part in document.parts:
        if isinstance(part, Table):
            yield replace(part, caption=part.caption or before)
            before = ""
        else:
            text = part.lines[-1].text if part.lines and part.kind != "code" else ""
            before = text if len(text) <= 80 else ""


def _sections(document: Document) -> Iterator[Section]:
    path: list[tuple[int, str]] = []
    for block in document.blocks:
        if block.kind == "heading" and block.lines:
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.text))
            yield Section(block.lines[0].number, block.level, block.text, tuple(title for _, title in path))


def _with_context(
    document: Document, sections: tuple[Section, ...], calls: tuple[Command, ...], found: tuple[Reported, ...]
) -> Iterator[Reported]:
    """Each output with its command and its name: the few words before it, or else its heading."""
    texts = {line.number: line.text for line in document.lines}
    starts = [section.line for section in sections]
    only = {tool: call for tool in {call.tool for call in calls} if (call := _only(calls, tool)) is not None}
    called = [call.line for call in calls]
    taken = 0
    before = ""
    for result in found:
        at = bisect_right(starts, result.line) - 1
        begin = max(taken, sections[at].line if at >= 0 else 0)
        call = _own_command(
            calls[bisect_left(called, begin) : bisect_right(called, result.line)], result, begin
        )
        first = call.line if call is not None else result.line
        said = _words_before(texts, first, begin)
        before = said or (before if begin == taken else "")
        label = before or _title(sections[at] if at >= 0 else None)
        figures = {**result.figures, **_around(texts, result, begin)}
        call = call or only.get(result.tool)
        closed = result.closed if call is None or call.closed else False
        url = result.url or (call.url if call else "")
        yield replace(result, figures=figures, closed=closed, label=label, command=call, url=url)
        taken = result.last


def _port(url: str) -> str:
    found = re.search(r"^(?:\w+://)?[\w.\[\]-]{1,80}:(\d{2,5})", url)
    return found[1] if found else ""


def _by_port(results: tuple[Reported, ...]) -> tuple[Reported, ...]:
    """Outputs under one heading that ask different ports ask different servers: the port is their name."""
    ports: dict[str, set[str]] = {}
    for one in results:
        ports.setdefault(one.label, set()).add(_port(one.url))
    return tuple(
        replace(one, label=f"{one.label} port-{_port(one.url)}".strip())
        if len(ports[one.label]) > 1 and all(ports[one.label])
        else one
        for one in results
    )


def _title(section: Section | None) -> str:
    """The heading that names what is measured: above one that is only a command or an address."""
    if section is None:
        return ""
    return next((title for title in reversed(section.path) if not _NO_TITLE.search(title)), section.title)


_NO_TITLE = re.compile(
    r"(?<![(<])https?://|^\W{0,3}(?:wrk2?|ab|hey|oha|rewrk|bombardier|autocannon|siege|h2load|k6)\s+-"
    r"|\s--?[a-z]+=|requests?/s|req/s|\b\d{4,}",
    re.IGNORECASE,
)


def _own_command(calls: tuple[Command, ...], result: Reported, begin: int) -> Command | None:
    """The command that made an output: the only one of its tool just before it, or the one that fits."""
    near = [
        call
        for call in calls
        if begin <= call.line <= result.line and call.tool == result.tool and result.line - call.line <= NEAR
    ]
    if len(near) < 2:
        return near[0] if near else None
    told = result.figures.get("connections")
    fit = [
        call for call in near if told and (own := call.figures.get("connections")) and own.value == told.value
    ]
    return fit[0] if len(fit) == 1 else None


def _common(calls: tuple[Command, ...]) -> Command | None:
    """The command that a text's tables are of: it has one tool, and always the same load."""
    loads = {
        (call.tool, *(call.figures[name].value if name in call.figures else None for name in _LOAD))
        for call in calls
    }
    return calls[0] if len(loads) == 1 else None


_LOAD = ("connections", "threads", "duration", "requests", "offered", "pipelining")


def _only(calls: tuple[Command, ...], tool: str) -> Command | None:
    """The command that holds for all outputs of a text: the only one, with a place for the address."""
    own = [call for call in calls if call.tool == tool]
    return own[0] if len(own) == 1 and not own[0].url else None


_BEFORE = re.compile(
    r"\bduration\W{1,3}(?P<duration>\d{1,6}(?:ms|s|m"
    r"|h)?)\b(?:.{1,20}\barrivalRate\W{1,3}(?P<offered>\d{1,7}))?",
    re.IGNORECASE,
)


def _around(texts: dict[int, str], result: Reported, begin: int) -> dict[str, Figure]:
    """Duration and rate that stand in so many words just before an output whose tool does not print them."""
    if result.tool not in ("artillery", "vegeta"):
        return {}
    for number in range(result.line - 1, max(result.line - 5, begin), -1):
        found = _BEFORE.search(texts.get(number, ""))
        if found:
            length = time_in(found["duration"]) or time_in(f"{found['duration']}s")
            told = {"asked_duration": Figure(length, number, found[0])} if length else {}
            if found["offered"]:
                told["offered"] = Figure(exactly(float(found["offered"])), number, found[0])
            return told
    return {}


def _words_before(texts: dict[int, str], first: int, begin: int) -> str:
    """A name on the lines before an output: few words, no figure, no command, no sentence."""
    for number in range(first - 1, max(first - 5, begin), -1):
        words = texts.get(number, "").strip(" #*-:`>/$=~\t|")
        if not words:
            continue
        words = _LEADING.sub("", words, count=1)
        if len(words) > 40 or len(words.split()) > 5 or _NO_NAME.search(words) or not key_of(words):
            return ""
        return words
    return ""


_LEADING = re.compile(
    r"^(?:(?:here|these|and|now|next|then|the|following|below|this)\s(?:are\s|is\s|the\s){0,2})?"
    r"(?:the\s)?(?:(?:wrk|ab|hey|benchmark|test|load test)\s)?"
    r"(?:results?|benchmarks?|outputs?|numbers|stats|tests?|testing|benchmarking)?\s?"
    r"\b(?:of|for|with|using|from|against|on)\s(?:the\s|my\s|our\s|a\s)?(?=[A-Z@\w])",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"^(?:error set|status codes|note\b|output|results?\b|response|summary|benchmark\b|run\b|test\b"
    r"|for |with |using |now |then |here|iteration|starting)"
    r"|://|\s-\w\b|[.!?,]$|[=<>{}]|\d{3}|:\s*\d",
    re.IGNORECASE,
)


def block_of(document: Document, line: int) -> Block | None:
    """The block in which a line stands."""
    return next(
        (b for b in document.blocks if b.lines and b.lines[0].number <= line <= b.lines[-1].number), None
    )
