"""The load that a text tells in words instead of a command: "wrk, 4 threads, 50 connections, 30 seconds"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.document import TextBlock, TextDocument
from assay.audit.facts import Facts, known_tools
from assay.audit.interval import exactly
from assay.audit.reported import Figure, ReportedCommand
from assay.audit.tools import BY_NAME
from assay.audit.units import time_in

_COUNTED = re.compile(
    r"\b(?P<n>\d{1,3}(?:,\d{3})|\d{1,6})\s(?:concurrent\s|parallel\s|simultaneous\s|open\s"
    r"|keep-?alive\s|http\s|tcp\s"
    r"|client\s|virtual\s)*(?P<what>connections?|clients?|users?|threads)\b"
    r"|\b(?P<what2>concurrency|connections|threads)\s?(?:level\s?)?(?::|=|of|[|])\s?"
    r"(?P<n2>\d{1,6})\b(?!\s?[,/-]\s?\d)",
    re.IGNORECASE,
)
_LASTED = re.compile(
    r"\bduration\b[^.\d]{0,12}(?P<one>\d{1,4}\s?(?:s|secs?|seconds?|m|min|minutes?)\b)"
    r"|\b(?P<two>\d{1,4}[ -]?(?:s|secs?|seconds?|minutes?)) (?:per (?:run|test|framework|server"
    r"|endpoint|benchmark)|each\b"
    r"|(?:runs?|tests?|benchmark)\b)"
    r"|\bfor (?P<three>\d{1,4}\s?(?:s|secs?|seconds?|minutes?)\b)",
    re.IGNORECASE,
)


_LISTED = re.compile(r"\d[\s,]{0,2}(?:s|or|and|,|-|–|/|to)\s?$", re.IGNORECASE)
_OTHER = re.compile(r"warm|sleep|wait|pause|cool|between|rest", re.IGNORECASE)


def worded(document: TextDocument, told: Facts) -> ReportedCommand | None:
    """The one load that the text names in words for its one tool; None where it names several, or none."""
    tools = known_tools(told)
    if len(tools) != 1:
        return None
    found: dict[str, list[Figure]] = {}
    for number, text in _texts(document):
        for name, figure in (*_counts(number, text), *_lengths(number, text), *_pipelining(number, text)):
            found.setdefault(name, []).append(figure)
    only = {
        name: figures[0] for name, figures in found.items() if len({each.value.low for each in figures}) == 1
    }
    if "connections" not in only and "duration" not in only:
        return None
    first = next(iter(only.values()))
    tool = BY_NAME.get(next(iter(tools)))
    closed = tool is None or tool.closed is not False
    return ReportedCommand(
        tool=next(iter(tools)), line=first.line, quote=first.quote, figures=only, closed=closed
    )


def _texts(document: TextDocument) -> Iterator[tuple[int, str]]:
    for part in document.parts:
        if isinstance(part, TextBlock):
            if part.kind != "code":
                yield from ((line.number, line.text) for line in part.lines)
        else:
            yield part.number, " | ".join(part.head)
            yield from ((row.number, " | ".join(row.cells)) for row in part.rows[:200])


def _counts(number: int, text: str) -> Iterator[tuple[str, Figure]]:
    for found in _COUNTED.finditer(text):
        name = "threads" if (found["what"] or found["what2"]).lower() == "threads" else "connections"
        value = float((found["n"] or found["n2"]).replace(",", ""))
        yield name, Figure(exactly(value), number, found[0])
        if _LISTED.search(text[max(found.start() - 12, 0) : found.start()]):
            yield name, Figure(exactly(-1.0), number, found[0])  # "2, 8 or 50 connections" is not one load


_PIPELINING = re.compile(
    r"\bpipelin(?:e|es|ed|ing)\b\W{1,6}(?:depth\W{1,3}|factor\W{1,3}|of\s){0,2}(?P<n>\d{1,4})\b"
    r"|\b(?P<n2>\d{1,4})\W{1,3}(?:http\s)?pipelin(?:e|es|ed|ing)\b|\b(?P<n3>\d{1,4}) requests? pipelined",
    re.IGNORECASE,
)


def _pipelining(number: int, text: str) -> Iterator[tuple[str, Figure]]:
    for found in _PIPELINING.finditer(text):
        value = float(found["n"] or found["n2"] or found["n3"])
        yield "pipelining", Figure(exactly(value), number, found[0])


def _lengths(number: int, text: str) -> Iterator[tuple[str, Figure]]:
    for found in _LASTED.finditer(text):
        words = re.sub(r"-", " ", found["one"] or found["two"] or found["three"])
        length = time_in(words)
        if length is not None and not _OTHER.search(text[max(found.start() - 40, 0) : found.end() + 12]):
            yield "duration", Figure(exactly(round(length.middle, 6)), number, found[0])
            if _LISTED.search(text[max(found.start() - 12, 0) : found.start()]):
                yield "duration", Figure(exactly(-1.0), number, found[0])
