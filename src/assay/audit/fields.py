"""Results of a figure a line, "name: value", and tables drawn with signs and spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.audit.document import (
    Figure,
    Reported,
    TextBlock,
    TextDocument,
    TextLine,
    TextRow,
    TextTable,
    is_percentile,
)
from assay.audit.figures import NEEDED
from assay.audit.headings import FIELD, RATE, Heading, bare, heading, put
from assay.audit.interval import is_european
from assay.audit.lexicon import compiled
from assay.audit.reading.plain import unmarked

_FAR_APART = 4
"""Lines without a figure between two figures of one result."""
_SAME_RESULT = compiled("fields.same_result")
"""Words in headings under which a result goes on."""
_OF_REQUESTS = re.compile(r"latenc|request|response|\breqs?\b|\brps\b|throughput", re.IGNORECASE)


@dataclass
class _OpenResult:
    """A result that is being read."""

    line: int
    last: int
    figures: dict[str, Figure] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)


def fielded(document: TextDocument, taken: frozenset[int]) -> Iterator[Reported]:
    """The results that are told so; lines that are `taken` belong to a tool's output."""
    now: _OpenResult | None = None
    for part in document.parts:
        if not isinstance(part, TextBlock):
            yield from _closed(now)
            now = None
        elif part.kind == "heading":
            if now is not None and not _SAME_RESULT.search(part.text):
                yield from _closed(now)
                now = None
        else:
            for line in part.lines:
                free = line.number not in taken
                told = (_figures_of(line) or _several(line)) if free and len(line.text) <= 160 else []
                if now is not None and not (free and all(_goes_on(now, line, each) for each in told)):
                    yield from _closed(now)
                    now = None
                for each in told:
                    now = now or _OpenResult(line.number, line.number)
                    kind, key, value = each
                    before = len(now.figures)
                    put(now.figures, kind, value, line.number, is_european(value))
                    if len(now.figures) > before:
                        now.keys.append(key)
                        now.last = line.number
    yield from _closed(now)


_Told = tuple[Heading, str, str]


def _figures_of(line: TextLine) -> list[_Told]:
    """What a line tells: the kind of its figure, the words for it, and the figure as it is written."""
    found = FIELD.match(line.text)
    if found is None or NEEDED.search(found["key"]):
        return []
    key, value = found["key"].strip(), found["value"].strip()
    kind = heading(key) or bare(key)
    if kind is not None and kind.figure == "throughput":
        kind = Heading("rate", unit=1.0) if RATE.search(value) else None
    if kind is None or kind.figure in ("version", "ratio", "workers", "runs", "cpu", "memory"):
        return []
    return [(kind, key, value)]


_PAIR = compiled("fields.pair")


def _several(line: TextLine) -> list[_Told]:
    """What a line of several times tells: "Latency: avg 96 ms, p95 210 ms, p99 480 ms"."""
    key, _, rest = line.text.partition(":")
    if not re.search(r"latenc|response time|request time", key, re.IGNORECASE):
        return []
    return [
        (kind, f"latency {found['key']}", found["value"])
        for found in _PAIR.finditer(rest)
        if (kind := heading(f"latency {found['key']}")) is not None
    ]


def _goes_on(now: _OpenResult, line: TextLine, told: _Told) -> bool:
    kind, _, value = told
    if line.number - now.last > _FAR_APART * (1 + len(now.keys)):
        return False
    held = now.figures.get(kind.name)
    return held is None or held.quote == value[:80]


def _closed(now: _OpenResult | None) -> Iterator[Reported]:
    """The result, if it is one of requests: a rate and something more, or a count and times of requests."""
    if now is None or len(now.figures) < 2:
        return
    if not now.keys or not _OF_REQUESTS.search(" ".join(now.keys)):
        return
    times = sum(name in ("mean", "time", "min", "max") or is_percentile(name) for name in now.figures)
    if "rate" in now.figures or times > 2 or (times and "requests" in now.figures):
        yield Reported(tool="figures", line=now.line, last=now.last, figures=now.figures)


_RULE = re.compile(r"[\s|:+=─━┼┬┴├┤╞╪╡┌┐└┘╔╗╚╝╠╣╦╩╬═-]{3,400}")
_SIGNS = re.compile(r"[|│┃║]")
_APART = re.compile(r"\s{2,200}|\t")
_MOST_ROWS = 500
_TOOLS_OWN = re.compile(r"\bStat\b|\bPercentile\W{1,9}Latency|\bThread Stats\b|# reqs|\bPercentage of\b|\+/-")
"""Headings of the tables that load-test tools print themselves, which their own readers know."""


def drawn(document: TextDocument, taken: frozenset[int]) -> Iterator[TextTable]:
    """The tables with at least a heading of figures and two rows; lines that are `taken` are a tool's."""
    for block in document.blocks:
        if block.kind != "heading" and len(block.lines) > 2:
            yield from _tables(block, taken)


def _tables(block: TextBlock, taken: frozenset[int]) -> Iterator[TextTable]:
    at = 0
    lines = block.lines
    while at < len(lines) - 2:
        line = lines[at]
        at += 1
        if line.number in taken or len(line.text) > 400 or _TOOLS_OWN.search(line.text):
            continue
        head = _cells(line.text)
        if len(head) < 2 or not _heads(head):
            continue
        rows = list(_rows(lines[at : at + _MOST_ROWS], len(head), taken))
        if len(rows) > 1 or (rows and _SIGNS.search(line.text) and sum(map(_is_heading, head[1:])) > 1):
            yield TextTable(line.number, head, tuple(rows))
            at += len(rows)


def _is_heading(text: str) -> bool:
    return heading(text) is not None


def _heads(head: tuple[str, ...]) -> bool:
    """Whether some cell but the first is the heading of a figure, and none is a figure itself."""
    if any(re.fullmatch(r"[\d.,]{1,20}\s?(?:k|ms|us|µs|s|%)?", cell) for cell in head):
        return False
    return any(map(_is_heading, head[1:]))


def _rows(lines: tuple[TextLine, ...], width: int, taken: frozenset[int]) -> Iterator[TextRow]:
    """The lines below a heading that have as many cells, up to the first that has not."""
    for line in lines:
        if _RULE.fullmatch(line.text):
            continue
        cells = _cells(line.text)
        if len(cells) != width and not _SIGNS.search(line.text):
            cells = tuple(line.text.split())  # columns may have grown together: "38ms 170ms"
        if len(cells) != width or line.number in taken or not any(cell[:1].isdigit() for cell in cells[1:]):
            return
        yield TextRow(line.number, cells)


def _cells(text: str) -> tuple[str, ...]:
    """The cells of a line: between signs, or where two spaces stand between words."""
    parts = _SIGNS.split(text.strip().strip("|│┃║")) if _SIGNS.search(text) else _APART.split(text.strip())
    return tuple(unmarked(part).strip(" \t'\"") for part in parts)
