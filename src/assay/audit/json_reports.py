"""Reports of tools as JSON: bombardier, autocannon, vegeta, oha, k6. Siege's is read by its lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.audit.document import Figure, Reported, TextBlock, TextLine
from assay.audit.interval import exactly
from assay.audit.tools import BY_NAME

MOST = 4 * 2**20
"""Characters of a listing that are parsed as JSON: reports have some thousands."""


@dataclass(frozen=True)
class JsonReport:
    """Where in a tool's JSON which figure is: a path of keys, and the size of its unit.

    `marks` are keys that a report of this tool has and no other does.
    """

    tool: str
    marks: tuple[str, ...]
    figures: tuple[tuple[str | float, str, float], ...]


_REPORTS = (
    JsonReport(
        "bombardier",
        ("spec", "result"),
        (
            ("connections", "spec.numberOfConnections", 1.0),
            ("asked_duration", "spec.testDurationSeconds", 1.0),
            ("duration", "result.timeTakenSeconds", 1.0),
            ("rate", "result.rps.mean", 1.0),
            ("rate_stdev", "result.rps.stddev", 1.0),
            ("mean", "result.latency.mean", 1e-6),
            ("stdev", "result.latency.stddev", 1e-6),
            ("max", "result.latency.max", 1e-6),
            *((float(q), f"result.latency.percentiles.{q}", 1e-6) for q in (50, 75, 90, 95, 99)),
            ("good1", "result.req2xx", 1.0),
            ("good2", "result.req3xx", 1.0),
            ("bad1", "result.req4xx", 1.0),
            ("bad2", "result.req5xx", 1.0),
            ("broken", "result.others", 1.0),
        ),
    ),
    JsonReport(
        "autocannon",
        ("requests", "latency", "throughput", "connections"),
        (
            ("connections", "connections", 1.0),
            ("pipelining", "pipelining", 1.0),
            ("duration", "duration", 1.0),
            ("requests", "requests.total", 1.0),
            ("rate", "requests.average", 1.0),
            ("rate_stdev", "requests.stddev", 1.0),
            ("mean", "latency.average", 1e-3),
            ("stdev", "latency.stddev", 1e-3),
            ("min", "latency.min", 1e-3),
            ("max", "latency.max", 1e-3),
            *((float(q), f"latency.p{q}", 1e-3) for q in (50, 75, 90, 99)),
            ("bytes", "throughput.total", 1.0),
            ("errors1", "errors", 1.0),
            ("bad", "non2xx", 1.0),
        ),
    ),
    JsonReport(
        "vegeta",
        ("latencies", "status_codes"),
        (
            ("requests", "requests", 1.0),
            ("offered", "rate", 1.0),
            ("rate", "throughput", 1.0),
            ("duration", "duration", 1e-9),
            ("mean", "latencies.mean", 1e-9),
            ("min", "latencies.min", 1e-9),
            ("max", "latencies.max", 1e-9),
            *((float(q), f"latencies.{q}th", 1e-9) for q in (50, 90, 95, 99)),
            ("bytes", "bytes_in.total", 1.0),
            ("good_share", "success", 1.0),
        ),
    ),
    JsonReport(
        "oha",
        ("summary", "latencyPercentiles"),
        (
            ("duration", "summary.total", 1.0),
            ("rate", "summary.requestsPerSec", 1.0),
            ("mean", "summary.average", 1.0),
            ("min", "summary.fastest", 1.0),
            ("max", "summary.slowest", 1.0),
            ("bytes", "summary.totalData", 1.0),
            *((float(q), f"latencyPercentiles.p{q}", 1.0) for q in (50, 75, 90, 95, 99)),
        ),
    ),
    JsonReport(
        "k6",
        ("metrics",),
        (
            ("requests", "metrics.http_reqs.count", 1.0),
            ("rate", "metrics.http_reqs.rate", 1.0),
            ("mean", "metrics.http_req_duration.avg", 1e-3),
            ("min", "metrics.http_req_duration.min", 1e-3),
            ("max", "metrics.http_req_duration.max", 1e-3),
            (50.0, "metrics.http_req_duration.med", 1e-3),
            (90.0, "metrics.http_req_duration.p(90)", 1e-3),
            (95.0, "metrics.http_req_duration.p(95)", 1e-3),
            ("error_share", "metrics.http_req_failed.value", 1.0),
        ),
    ),
)


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
    report = next((one for one in _REPORTS if all(mark in whole for mark in one.marks)), None)
    if report is None:
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
    tool = BY_NAME[report.tool]
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
