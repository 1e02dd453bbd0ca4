"""Results in lists: "Foo: 12,345 req/s" or "12,345 requests/sec - Foo", one below the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from assay.audit.document import TextBlock, TextDocument, TextTable
from assay.audit.headings import RATE
from assay.audit.interval import NUMBER, SPAN, Interval, printed, spanned
from assay.audit.names import key_of
from assay.audit.reported import Figure, Reported
from assay.audit.tables import Grid
from assay.audit.units import seconds, size_in

_NAMED = re.compile(
    rf"^[\s*•+>#-]{{0,12}}(?P<name>[A-Za-z@][^:=|\n]{{1,60}}?)\s{{0,20}}(?::|=>|=|–|—|\s-|\.{{2,40}}"
    rf"|→)\s{{0,20}}[~≈]?\s?"
    rf"(?P<number>{NUMBER})\s?(?P<multiple>k|K|M)?{SPAN}?\s{{0,3}}(?P<rest>\S.{{0,160}})$"
)
_NUMBERED = re.compile(
    rf"^[\s*•+>#-]{{0,12}}(?P<number>{NUMBER})\s?(?P<multiple>k|K"
    rf"|M)?\s{{0,3}}(?P<rest>[A-Za-z/]{{2,12}}(?:[ /][A-Za-z]{{1,8}}){{0,2}})"
    rf"\s{{0,3}}(?:-|–|—|:|\(|by|with|for)\s{{0,3}}(?P<name>[A-Za-z@][\w@./ +-]{{1,60}})"
)
_SPACED = re.compile(
    rf"^[\s*•+>#-]{{0,12}}(?P<name>[A-Za-z@][\w@./+()-]{{0,30}}(?:\s[\w@./+()-]{{1,20}}){{0,3}}?)\s{{1,40}}"
    rf"(?P<number>{NUMBER})\s?(?P<multiple>k|K|M)?\s{{0,3}}(?P<rest>[A-Za-z].{{0,60}})$"
)
_BEHIND = re.compile(
    rf"^[\s*•+>#-]{{0,12}}(?:[\d/.-]{{6,12}}:?\s)?\s{{0,4}}(?P<number>{NUMBER})\s?(?P<multiple>k|K|M)?\s{{0,3}}"
    rf"(?P<rest>[a-zA-Z].{{0,60}}?)\s{{1,8}}[\[(](?P<name>[A-Za-z][\w@./ +-]{{1,40}})[\])]\s{{0,4}}$"
)
_MOVED = re.compile(r"(?P<size>[\d.,]{1,12}\s?[kKMG]i?B)(?:ytes)?\s?(?:/|per )\s?s")
_BARE = re.compile(
    rf"^[\s*•+>#-]{{0,12}}(?P<name>[A-Za-z@][^:=|\n]{{1,60}}?)\s{{0,20}}(?::|=>|=|–|—|\s-"
    rf"|→)\s{{0,20}}[~≈]?\s?"
    rf"(?P<number>{NUMBER})\s?(?P<multiple>k|K|M)?$"
)
_TIMED = re.compile(
    rf"(?P<name>[A-Z][\w.+#/-]{{1,30}}(?:\s\([^()]{{1,30}}\))?)\s?(?::|=|-|–|—|took|needed|in)?\s{{0,3}}[~≈]?"
    rf"(?P<number>{NUMBER})\s?(?P<unit>ms|milliseconds|s|secs?|seconds)\b"
)
_ASKED = re.compile(r"\b(?:requests?|reqs?|concurren\w+|load[- ]test\w*|connections)\b", re.IGNORECASE)
_FAR = 3
"""Lines between two entries of one list."""


def listed(document: TextDocument, taken: frozenset[int]) -> Iterator[Grid]:
    """The lists of at least two results; lines that are `taken` belong to a tool's output."""
    for block in document.blocks:
        if block.kind != "heading":
            yield from _lists(block, taken)
    yield from _spread_over(document, taken)


def _lists(block: TextBlock, taken: frozenset[int]) -> Iterator[Grid]:
    held: list[Reported] = []
    for line in block.lines:
        if line.number in taken or len(line.text) > 200:
            continue
        found = _entry(line.number, line.text)
        if found is None:
            continue
        if held and found.line - held[-1].line > _FAR:
            yield from _grid(held)
            held = []
        held.append(found)
    yield from _grid(held)


def _spread_over(document: TextDocument, taken: frozenset[int]) -> Iterator[Grid]:
    """Markdown makes a block of each item of a list: items that follow each other are one list."""
    held: list[Reported] = []
    above = ""
    for block in document.blocks:
        single = len(block.lines) == 1 and block.kind == "prose" and block.lines[0].number not in taken
        found = _entry(block.lines[0].number, block.lines[0].text, above) if single else None
        if found is None:
            above = block.text if block.kind != "code" and len(block.text) <= 120 else ""
        if found is None or (held and found.line - held[-1].line > _FAR):
            yield from _grid(held)
            held = []
        if found is not None:
            held.append(found)
    yield from _grid(held)


def timed(document: TextDocument, taken: frozenset[int]) -> Iterator[Grid]:
    """Lines that tell how long each of several took for the same requests: "Foo 23 s, Bar 30 s"."""
    for line in document.lines:
        if line.number in taken or len(line.text) > 200 or not _ASKED.search(line.text):
            continue
        told = [
            Reported(
                tool="table",
                line=line.number,
                last=line.number,
                label=found["name"],
                figures={"time": Figure(length, line.number, found[0])},
                table=line.number,
            )
            for found in _TIMED.finditer(line.text)
            if (length := seconds(found["number"], found["unit"])) is not None
        ]
        yield from _grid(told)


def _entry(number: int, text: str, above: str = "") -> Reported | None:
    """A result of one line; where it names no unit, the line above the list may: "Requests per second:"."""
    found = _NAMED.match(text) or _NUMBERED.match(text) or _SPACED.match(text) or _BEHIND.match(text)
    bare = _BARE.match(text) if RATE.search(above) and not re.search(r"\d", above) else None
    if bare is not None:
        found = bare
    elif found is None or not RATE.match(found["rest"].lstrip("( [")):
        return None
    if not key_of(found["name"]):
        return None
    value = _value(found)
    if value is None:
        return None
    name = found["name"].strip(" .*-")
    figure = Figure(value, number, found["number"])
    figures = {"rate": figure}
    moved = _MOVED.search(found["rest"]) if bare is None else None
    if moved and (size := size_in(moved["size"], binary=False)) is not None:
        figures["transfer"] = Figure(size, number, moved[0])
    return Reported(tool="table", line=number, last=number, label=name, figures=figures, table=number)


def _value(found: re.Match[str]) -> Interval | None:
    groups = found.groupdict()
    multiple = groups["multiple"] or ""
    if groups.get("upper"):
        return spanned(groups["number"], multiple, groups["upper"], groups["upper_multiple"] or "")
    return printed(groups["number"], multiple)


def _grid(held: list[Reported]) -> Iterator[Grid]:
    if len(held) > 1 and len({key_of(one.label) for one in held}) > 1:
        first = held[0].line
        yield Grid(TextTable(first, (), ()), tuple(replace(one, table=first) for one in held))
