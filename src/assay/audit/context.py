"""Where a result stands: its section, the command that made it, and the name that it goes by."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from msgspec.structs import replace

from assay.audit.document import Figure, Reported, ReportedCommand, TextDocument
from assay.audit.interval import exactly, time_in
from assay.audit.lexicon import compiled
from assay.audit.names import key_of
from assay.audit.tables import Grid

NEAR = 8
"""Lines between a command and the output that is taken to be its own."""


@dataclass(frozen=True, slots=True)
class TextSection:
    """A heading, and the line from which it holds."""

    line: int
    level: int
    title: str
    path: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Those of its headings that may name what is measured, and are no command and no address."""
        return [title for title in self.path if not _NO_TITLE.search(title)]


_TOP = TextSection(0, 0, "", ())
"""What stands before the first heading."""


class Sections(tuple[TextSection, ...]):
    """The sections of a text, in order."""

    def at(self, line: int) -> TextSection | None:
        """The section in which a line stands."""
        found = bisect_right(self, line, key=attrgetter("line")) - 1
        return self[found] if found >= 0 else None


def commanded(
    grids: list[Grid],
    common: ReportedCommand | None,
    calls: tuple[ReportedCommand, ...],
    sections: Sections,
) -> Iterator[Grid]:
    """The grids, each with the command of all, or else with the one in it, in its rows or just above it."""
    last = 0
    for grid in sorted(grids, key=lambda each: each.table.number):
        first, end = grid.table.number, max(row.line for row in grid.results)
        section = sections.at(first) or _TOP
        begin = max(last + 1, section.line)
        above = common_command(tuple(call for call in calls if begin <= call.line <= end)) if calls else None
        own = {call.line: call for call in calls if first <= call.line <= end}
        title = _title(section)
        rows = (replace(row, command=common or above or own.get(row.line)) for row in grid.results)
        named = tuple(row if row.label else replace(row, label=title) for row in rows)
        yield replace(grid, results=named)
        last = end


def by_parent(results: tuple[Reported, ...], sections: Sections) -> tuple[Reported, ...]:
    """Where "Foo" and "Bar" have the same headings, "Local" or "JSON", these group what is compared."""
    above: dict[str, set[str]] = {}
    own: dict[int, str] = {}
    for one in results:
        path = (sections.at(one.line) or _TOP).names
        if len(path) > 1 and path[-1] == one.label:
            own[one.line] = path[-2]
            above.setdefault(one.label, set()).add(path[-2])
    return tuple(
        replace(one, label=own[one.line], group=one.label)
        if one.line in own and len(above[one.label]) > 1
        else one
        for one in results
    )


def sections_of(document: TextDocument) -> Iterator[TextSection]:
    """The headings, each with those above it."""
    path: list[tuple[int, str]] = []
    for block in document.blocks:
        if block.kind == "heading" and block.lines:
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.text))
            yield TextSection(
                block.lines[0].number, block.level, block.text, tuple(title for _, title in path)
            )


def with_context(
    document: TextDocument,
    sections: Sections,
    calls: tuple[ReportedCommand, ...],
    found: tuple[Reported, ...],
) -> Iterator[Reported]:
    """Each output with its command and its name: the few words before it, or else its heading."""
    texts = {line.number: line.text for line in document.lines}
    only = {tool: call for tool in {call.tool for call in calls} if (call := _only(calls, tool)) is not None}
    called = [call.line for call in calls]
    taken = 0
    before = ""
    last: ReportedCommand | None = None
    for result in found:
        section = sections.at(result.line) or _TOP
        begin = max(taken, section.line)
        call = _own_command(
            calls[bisect_left(called, begin) : bisect_right(called, result.line)], result, begin
        )
        first = call.line if call is not None else result.line
        said = _words_before(texts, result.line, max(begin, first)) or _words_before(texts, first, begin)
        before = said or (before if begin == taken else "")
        label = before or _title(section)
        figures = {**result.figures, **_around(texts, result, begin)}
        inherited = last if begin == taken and last is not None and _fits(last, result) else None
        call = call or only.get(result.tool) or inherited
        last = call
        closed = result.closed if call is None or call.closed else False
        url = result.url or (call.url if call else "")
        yield replace(result, figures=figures, closed=closed, label=label, command=call, url=url)
        taken = result.last


_PORT = re.compile(r"(?:(?:\w+://)?[\w.\[\]-]{1,80}:(\d{2,5}))?")


def by_port(results: tuple[Reported, ...]) -> tuple[Reported, ...]:
    """Outputs under one heading that ask different ports ask different servers: the port is their name."""
    own = [found[1] if (found := _PORT.match(one.url)) else None for one in results]
    ports: dict[str, set[str | None]] = {}
    for one, port in zip(results, own, strict=True):
        ports.setdefault(one.label, set()).add(port)
    apart = {label for label, told in ports.items() if len(told) > 1 and None not in told}
    return tuple(
        replace(one, label=f"{one.label} port-{port}".strip()) if one.label in apart else one
        for one, port in zip(results, own, strict=True)
    )


def _title(section: TextSection) -> str:
    """The heading that names what is measured: above one that is only a command or an address."""
    return next(reversed(section.names), section.title)


_NO_TITLE = compiled("context.no_title")


def _own_command(calls: tuple[ReportedCommand, ...], result: Reported, begin: int) -> ReportedCommand | None:
    """The command that made an output: the only one of its tool just before it, or the one that fits."""
    near = [
        call
        for call in calls
        if max(begin, result.line - NEAR) <= call.line <= result.line
        and (call.tool == result.tool or result.tool == "figures")
    ]
    if len(near) < 2:
        return near[0] if near else None
    told = result.figures.get("connections")
    fit = [
        call for call in near if told and (own := call.figures.get("connections")) and own.value == told.value
    ]
    return fit[0] if len(fit) == 1 else None


def _fits(call: ReportedCommand, result: Reported) -> bool:
    """Whether a command above another output may have made this one as well."""
    told = {name: result.figures.get(name) for name in ("connections", "threads", "asked_duration")}
    asked = {name: call.figures.get(name.removeprefix("asked_")) for name in told}
    if call.url and result.url and call.url.rstrip("/") != result.url.rstrip("/"):
        return False
    return call.tool == result.tool and all(
        one is None or (other := asked[name]) is None or abs(one.value.middle - other.value.middle) <= 1
        for name, one in told.items()
    )


def common_command(calls: tuple[ReportedCommand, ...]) -> ReportedCommand | None:
    """The command that a text's tables are of: it has one tool, and always the same load."""
    loads = {
        (call.tool, *(call.figures[name].value if name in call.figures else None for name in _LOAD))
        for call in calls
    }
    return calls[0] if len(loads) == 1 else None


_LOAD = ("connections", "threads", "duration", "requests", "offered", "pipelining")


def _only(calls: tuple[ReportedCommand, ...], tool: str) -> ReportedCommand | None:
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
_NO_NAME = compiled("context.no_name")
