"""Reports of tools as JSON: bombardier, autocannon, vegeta, oha, k6. Siege's is read by its lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from assay.audit.document import Figure, Reported, TextBlock, TextLine
from assay.audit.interval import exactly
from assay.audit.tools import TOOLS

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
            whole = _parsed(lines)
            if isinstance(whole, dict):
                found = _read(whole, lines)
                if found is not None:
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


def _parsed(lines: list[TextLine]) -> object:
    try:
        return json.loads("\n".join(line.text for line in lines))
    except (ValueError, RecursionError):
        return None


def _read(whole: Mapping[str, object], lines: list[TextLine]) -> Reported | None:
    known = ((tool, tool.json) for tool in TOOLS if tool.json is not None)
    tool, report = next((one for one in known if all(mark in whole for mark in one[1].marks)), (None, None))
    if tool is None or report is None:
        return None
    figures: dict[str, Figure] = {}
    percentiles: dict[float, Figure] = {}
    for key, path, unit in report.figures:
        value = _at(whole, path)
        if value is None:
            continue
        line, quote = _where(lines, path.rsplit(".", 1)[-1], value)
        figure = Figure(exactly(value * unit), line, quote)
        if isinstance(key, float):
            percentiles[key] = figure
        else:
            figures[key] = figure
    if not figures.keys() & {"rate", "mean"}:
        return None
    _counted(figures)
    first, last = lines[0].number, lines[-1].number
    url = whole.get("url")
    return Reported(
        tool=tool.name,
        line=first,
        last=last,
        url=url if isinstance(url, str) else "",
        closed=tool.closed,
        figures=figures,
        percentiles=percentiles,
    )


def _counted(figures: dict[str, Figure]) -> None:
    """bombardier counts answers by their class, and not their sum."""
    kinds = [figures[name] for name in ("good1", "good2", "bad1", "bad2", "broken") if name in figures]
    if kinds and "requests" not in figures:
        total = sum(kind.value.middle for kind in kinds)
        figures["requests"] = Figure(exactly(total), kinds[0].line, kinds[0].quote)


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
