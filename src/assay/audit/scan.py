"""The outputs of tools among the lines of a document, and their reports as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from assay.audit.document import Figure, Reported, TextBlock, TextLine, is_measured
from assay.audit.interval import exactly
from assay.audit.tools import TOOLS, AuditTool, add_uncounted

_ANY = re.compile("|".join(sorted({re.escape(cue) for tool in TOOLS for cue in tool.cues})))

PATIENCE = 16
"""Lines without a figure after which an output has ended: comments between its lines are fewer."""


@dataclass
class _OpenOutput:
    """An output that is being read."""

    tool: AuditTool
    line: int
    last: int
    figures: dict[str, Figure] = field(default_factory=dict)
    collected: dict[str, list[str]] = field(default_factory=dict)
    lines: list[TextLine] = field(default_factory=list)
    url: str = ""
    silent: int = 0
    foreign: bool = False
    """Whether a line of it is none of the tool's, so that it is another tool's."""


def outputs(lines: Iterable[TextLine], breaks: frozenset[int] = frozenset()) -> Iterator[Reported]:
    """Every tool's output among the lines; a line whose number is in `breaks` ends what is open."""
    now: _OpenOutput | None = None
    for line in lines:
        if now is not None and line.number in breaks and not _goes_on(now, line):
            yield from _closed(now)
            now = None
        begun = _begun(now, line)
        if now is None:
            now = _opened(begun, [line]) if begun is not None else None
        elif begun is not None and begun is not now.tool:
            # Tools share some first lines (autocannon's "Running 10s test @" is wrk's): these go along.
            shared = now.lines if not set(now.figures) - {"duration"} else []
            if not shared:
                yield from _closed(now)
            now = _opened(begun, [*shared, line])
        elif _says_again(now, line) or (begun is not None and _told_all(now, line)):
            yield from _closed(now)
            now = _opened(now.tool, [line])
        elif not _take(now, line):
            now.silent += bool(line.text.strip())
            if now.silent > PATIENCE:
                yield from _closed(now)
                now = None
    if now is not None:
        yield from _closed(now)


def _begun(now: _OpenOutput | None, line: TextLine) -> AuditTool | None:
    """The tool whose output begins on the line; the one that is open if it may be that one's."""
    if not _ANY.search(line.text):
        return None
    if now is not None and now.tool.starts(line.text):
        return now.tool
    return next((tool for tool in TOOLS if tool.starts(line.text, alone=now is None)), None)


def _goes_on(now: _OpenOutput, line: TextLine) -> bool:
    """Whether a heading is a line of the output that is open: some write every line of ab's so."""
    held = dict(now.collected)
    told = [key for key, _, _ in now.tool.read(line.text, now.collected)]
    now.collected = held
    if now.tool.lone and now.tool.starting_alone.search(line.text):
        return True
    return bool(told) and not any(key in now.figures for key in told)


def _told_all(now: _OpenOutput, line: TextLine) -> bool:
    """Whether another output begins: a line without a figure, after the rate, or for the second time."""
    if next(now.tool.read(line.text, now.collected), None) is not None:
        return False
    words = line.text.split()
    return "rate" in now.figures or any(before.text.split() == words for before in now.lines)


def _opened(tool: AuditTool, lines: list[TextLine]) -> _OpenOutput:
    now = _OpenOutput(tool, lines[0].number, lines[0].number)
    for line in lines:
        _take(now, line)
    return now


def _says_again(now: _OpenOutput, line: TextLine) -> bool:
    """Whether the line tells a figure that the output has told already: then another output has begun."""
    if now.tool.rows or now.tool.blocks:
        return now.tool.starts(line.text) and "rate" in now.figures and "requests" in now.figures
    held = dict(now.collected)
    for key, _, _ in now.tool.read(line.text, now.collected):
        told = now.figures.get(key)
        if told is not None and key not in now.tool.joined and told.line != line.number:
            return True
    now.collected = held
    return False


def _take(now: _OpenOutput, line: TextLine) -> bool:
    """Keep the figures of a line; whether there were any."""
    now.lines.append(line)
    if now.tool.never is not None and now.tool.never.search(line.text):
        now.foreign = True
        now.last, now.silent = line.number, 0
        return True
    found = False
    for key, value, quote in now.tool.read(line.text, now.collected):
        found = True
        held = now.figures.get(key)
        if held is None and key != "p0":  # hey prints "0% in 0.0000 secs" where it had too few requests
            now.figures[key] = Figure(value, line.number, quote)
        elif held is not None and key in now.tool.joined:
            now.figures[key] = replace(held, value=held.value + value)
    if not now.url and any(words in line.text for words in (" @ ", "Bombarding", "Target URL")):
        now.url = next((word.strip("'\"`()<>,;") for word in line.text.split() if "://" in word), "")
    if found:
        now.last, now.silent = line.number, 0
    return found


def _closed(now: _OpenOutput) -> Iterator[Reported]:
    """The result that an output tells, if it tells any."""
    if now.foreign:
        return
    figures = now.figures
    if "took" in figures:
        figures["asked_duration"] = figures.get("duration", figures["took"])
        figures["duration"] = figures["took"]
    _count(figures)
    if now.tool.uncounted:
        add_uncounted(figures)
    if is_measured(figures) or figures.keys() & {"requests", "took"}:
        kept = figures.get("kept")
        alive = kept is not None and kept.value.high > 0
        yield Reported(
            tool=now.tool.name,
            line=now.line,
            last=now.last,
            url=now.url,
            closed=now.tool.closed and "calibrated" not in figures,  # wrk2 keeps a rate
            keep_alive=alive if now.tool.name == "ab" and "bytes" in figures else None,
            figures=figures,
        )


MOST = 4 * 2**20
"""Characters of a listing that are parsed as JSON: reports have some thousands."""


def json_reports(blocks: tuple[TextBlock, ...]) -> Iterator[Reported]:
    """The results in listings that are a tool's report as JSON, also one for each of several lines."""
    for block in blocks:
        if block.kind == "heading" or not any(
            line.text.lstrip().startswith(("{", "[")) for line in block.lines
        ):
            continue
        for lines in _pieces(block.lines):
            if (found := _report(lines)) is not None:
                yield found


def _pieces(lines: tuple[TextLine, ...]) -> Iterator[list[TextLine]]:
    """The objects of a listing: each begins with a brace on a line of its own and ends where they balance."""
    held: list[TextLine] = []
    depth = size = 0
    for line in lines:
        if not held and not line.text.lstrip().startswith("{"):
            continue
        held.append(line)
        size += len(line.text)
        depth += line.text.count("{") - line.text.count("}")
        if depth <= 0 or size > MOST:
            if size <= MOST:
                yield held
            held, depth, size = [], 0, 0


def _report(lines: list[TextLine]) -> Reported | None:
    try:
        whole = json.loads("\n".join(line.text for line in lines))
    except (ValueError, RecursionError):
        return None
    known = ((tool, tool.json) for tool in TOOLS if tool.json is not None)
    tool, report = next((one for one in known if all(mark in whole for mark in one[1].marks)), (None, None))
    if tool is None or report is None:
        return None
    figures: dict[str, Figure] = {}
    for key, path, unit in report.figures:
        value = _at(whole, path)
        if value is None:
            continue
        line, quote = _where(lines, path.rsplit(".", 1)[-1], value)
        figures[key] = Figure(exactly(value * unit), line, quote)
    if not figures.keys() & {"rate", "mean"}:
        return None
    _count(figures)
    first, last, url = lines[0].number, lines[-1].number, whole.get("url")
    url = url if isinstance(url, str) else ""
    return Reported(tool=tool.name, line=first, last=last, url=url, closed=tool.closed, figures=figures)


_GOOD, _WRONG = ("good", "good1", "good2"), ("bad", "bad1", "bad2", "broken", "failed")


def _count(figures: dict[str, Figure]) -> None:
    """Add the requests of a tool that counts answers by their class, and not their sum."""
    if "requests" not in figures and figures.keys() & set(_GOOD):
        kinds = [figures[name].value for name in (*_GOOD, *_WRONG) if name in figures]
        figures["requests"] = Figure(sum(kinds[1:], kinds[0]), next(iter(figures.values())).line, "")


def _at(whole: Mapping[str, object], path: str) -> float | None:
    here: object = whole
    for key in path.split("."):
        if not isinstance(here, dict):
            return None
        here = here.get(
            key, here.get("values", {}).get(key) if isinstance(here.get("values"), dict) else None
        )
    if isinstance(here, bool) or not isinstance(here, int | float):
        return None
    return float(here) if 0 <= here < 1e18 else None


def _where(lines: list[TextLine], key: str, value: float) -> tuple[int, str]:
    """The line that has the key, and the words of the figure on it."""
    shown = f'"{key}"'
    digits = f"{value:.15g}"[:6]
    for line in lines:
        at = line.text.find(shown)
        if at >= 0 and digits in line.text[at : at + 60]:
            end = min(
                (i for i in (line.text.find(sign, at) for sign in ",}") if i > 0), default=len(line.text)
            )
            return line.number, line.text[at:end]
    return lines[0].number, ""
