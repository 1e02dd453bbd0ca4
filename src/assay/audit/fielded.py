"""Results told a figure a line: "Requests/sec: 3929.3", "Latency p95: 2.88 ms", "Total requests: 39293"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.audit.cells import put
from assay.audit.document import TextBlock, TextDocument, TextLine
from assay.audit.headings import RATE, Heading, bare, heading
from assay.audit.interval import is_european
from assay.audit.reported import Figure, Reported

_FIELD = re.compile(
    r"^[\s*•+>#✓✔|─└├-]{0,12}(?P<key>[A-Za-z%#\d][^:=|\n]{0,50}?)\s{0,20}(?::|=|\.{3,60}:?)\s{0,30}"
    r"(?P<value>[~≈<>]?\s?\d.{0,80})$"
)
_FAR = 4
"""Lines without a figure between two figures of one result."""
_SAME_RESULT = re.compile(
    r"\b(?:summary|latenc\w*|status|codes?|errors?|statistics|stats|response|times?|throughput|breakdown"
    r"|details?|percentiles?|distribution|requests?)\b",
    re.IGNORECASE,
)
"""Words in headings under which a result goes on."""
_OF_REQUESTS = re.compile(r"latenc|request|response|\breqs?\b|\brps\b|throughput", re.IGNORECASE)


@dataclass
class _OpenResult:
    """A result that is being read."""

    line: int
    last: int
    figures: dict[str, Figure] = field(default_factory=dict)
    percentiles: dict[float, Figure] = field(default_factory=dict)
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
                told = (
                    []
                    if line.number in taken or len(line.text) > 160
                    else _figures_of(line) or _several(line)
                )
                ended = now is not None and (
                    line.number in taken or any(not _goes_on(now, line, each) for each in told)
                )
                if ended:
                    yield from _closed(now)
                    now = None
                for each in told:
                    now = now or _OpenResult(line.number, line.number)
                    _keep(now, line, each)
    yield from _closed(now)


_Told = tuple[Heading, str, str]


def _figures_of(line: TextLine) -> list[_Told]:
    """What a line tells: the kind of its figure, the words for it, and the figure as it is written."""
    found = _FIELD.match(line.text)
    if found is None:
        return []
    key, value = found["key"].strip(), found["value"].strip()
    kind = heading(key) or bare(key)
    if kind is not None and kind.figure == "throughput":
        kind = Heading("rate", unit=1.0) if RATE.search(value) else None
    if kind is None or kind.figure in ("version", "ratio", "workers", "runs", "cpu", "memory"):
        return []
    return [(kind, key, value)]


_PAIR = re.compile(
    r"\b(?P<key>avg|average|mean|median|min|max|p\d{2}(?:\.\d)?|\d{2}(?:\.\d)?(?:th|%))\s?[:=]?\s?[~≈<]?\s?"
    r"(?P<value>\d[\d.,]{0,12}\s?(?:ms|us|µs|s|sec)\b)",
    re.IGNORECASE,
)


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
    if line.number - now.last > _FAR * (1 + len(now.keys)):
        return False
    held = now.percentiles.get(kind.percentile) if kind.percentile else now.figures.get(kind.figure)
    return held is None or held.quote == value[:80]


def _keep(now: _OpenResult, line: TextLine, told: _Told) -> None:
    kind, key, value = told
    before = len(now.figures) + len(now.percentiles)
    put(now.figures, now.percentiles, kind, value, line.number, is_european(value))
    if len(now.figures) + len(now.percentiles) > before:
        now.keys.append(key)
        now.last = line.number


def _closed(now: _OpenResult | None) -> Iterator[Reported]:
    """The result, if it is one of requests: a rate and something more, or a count and times of requests."""
    if now is None or len(now.figures) + len(now.percentiles) < 2:
        return
    if not now.keys or not _OF_REQUESTS.search(" ".join(now.keys)):
        return
    times = len(now.percentiles) + len(now.figures.keys() & {"mean", "time", "min", "max"})
    if "rate" in now.figures or times > 2 or (times and "requests" in now.figures):
        yield Reported(
            tool="figures", line=now.line, last=now.last, figures=now.figures, percentiles=now.percentiles
        )
