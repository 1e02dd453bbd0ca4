"""The tools of Node.js that load one address: autocannon and loadtest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.interval import Interval
from assay.audit.tools.pattern import AuditTool, N, Pattern, T, ToolFlags, value_of

_NAMED = re.compile(r"^\W{0,12}(Latency(?: \(ms\))?|Req/Sec|Bytes/Sec)\s")
"""Of the tables before version 4, whose columns are only spaces apart."""
_TIMES = {"avg": "mean", "stdev": "stdev", "max": "max", "min": "min"}
_RATES = {"avg": "rate", "stdev": "rate_stdev"}


def table(text: str, held: dict[str, list[str]]) -> Iterator[tuple[str | float, Interval, str]]:
    """The figures of a row, by the headings that came before it."""
    cells = [cell.strip() for cell in re.split(r"[│|┃]", text) if cell.strip()]
    if len(cells) < 3:
        named = _NAMED.match(text)
        cells = [named[1], *text[named.end() :].split()] if named else re.split(r"\s{2,}", text.strip(" │|"))
        cells = [cell.strip() for cell in cells if cell.strip()]
    if len(cells) >= 3 and cells[0].lower() == "stat":
        held["head"] = [cell.lower() for cell in cells[1:]]
        return
    head = held.get("head", [])
    if not head or len(cells) != len(head) + 1:
        return
    name = cells[0].lower()
    if name.startswith("latency"):
        for heading, cell in zip(head, cells[1:], strict=True):
            value = value_of(cell, "t") or (value_of(cell, "ms") if "(ms)" in name else None)
            key = float(heading[:-1]) if re.fullmatch(r"[\d.]{1,8}%", heading) else _TIMES.get(heading)
            if key is not None and value is not None:
                yield key, value, cell
    elif name.startswith(("req/sec", "requests/sec")):
        for heading, cell in zip(head, cells[1:], strict=True):
            value = value_of(cell, "n") if re.fullmatch(r"[\d.,]{1,20}\s?[kM]?", cell) else None
            if heading in _RATES and value is not None:
                yield _RATES[heading], value, cell


AUTOCANNON = AuditTool(
    name="autocannon",
    closed=True,
    cues=("test @", "Stat ", "requests in"),
    start=rf"Running \S{{1,12}} test @ \S|Stat\s.{{1,80}}Stdev|(?:{N})[kM]? requests in .{{1,30}} read",
    patterns=(
        Pattern("test @", rf"Running (?P<duration__t>{T}) test @"),
        Pattern("connections", r"^\W{0,12}(?P<connections__c>\d{1,9}) connections(?! and)"),
        Pattern("pipelining", r"with (?P<pipelining__c>\d{1,5}) pipelining factor"),
        Pattern(
            "requests in",
            r"(?P<requests__c>[\d.]{1,15}[kM]?)"
            r" requests in (?P<took__t>[\d.]{1,12}m?s), (?P<bytes__d>[\d.]{1,12} ?[kKMG]?B) read",
        ),
        Pattern(
            "errors (",
            r"(?P<errors1__c>[\d.]{1,12}[kM]?) errors \((?P<timeouts__c>[\d.]{1,12}[kM]?) timeouts\)",
        ),
        Pattern("non 2xx", r"(?P<bad__c>[\d.]{1,12}[kM]?) non 2xx responses"),
        Pattern("non 2xx", r"(?P<good__c>[\d.]{1,12}[kM]?) 2xx responses, "),
    ),
    flags=ToolFlags(
        values={
            "-c": ("connections", "n"),
            "--connections": ("connections", "n"),
            "-d": ("duration", "t"),
            "--duration": ("duration", "t"),
            "-a": ("requests", "n"),
            "--amount": ("requests", "n"),
            "-p": ("pipelining", "n"),
            "--pipelining": ("pipelining", "n"),
            "-R": ("offered", "n"),
            "--overallRate": ("offered", "n"),
        },
        ignored=frozenset(
            [
                "-w",
                "--workers",
                "-t",
                "--timeout",
                "-m",
                "--method",
                "-b",
                "--body",
                "-i",
                "--input",
                "-H",
                "--headers",
                "-T",
                "--title",
            ]
        ),
        opens=frozenset({"-R", "--overallRate", "-r", "--connectionRate"}),
        alive=True,
        defaults={"connections": 10},
    ),
    names=("autocannon",),
    extra=table,
)
"""autocannon's report: https://github.com/mcollina/autocannon/blob/master/lib/printResult.js.

Its tables name their columns, which changed between versions: they are read by those names."""

LOADTEST = AuditTool(
    name="loadtest",
    closed=True,
    cues=("Target URL:", "Completed requests:", "Effective rps:", "Requests per second: "),
    start=r"(?:INFO\s+)?Target URL:\s|INFO\s+(?:Completed requests|Requests per second):|Effective rps:",
    patterns=(
        Pattern("Concurren", r"Concurren(?:t clients|cy level):\s+(?P<connections__c>\d{1,9})"),
        Pattern("Completed requests", r"Completed requests:\s+(?P<requests__c>\d{1,15})"),
        Pattern("Total errors", r"Total errors:\s+(?P<failed__c>\d{1,15})"),
        Pattern("Total time", rf"Total time:\s+(?P<took__s>{N}) s"),
        Pattern("Mean latency", rf"Mean latency:\s+(?P<mean__ms>{N}) ms"),
        Pattern("Effective rps", rf"Effective rps:\s+(?P<rate__n>{N})"),
        Pattern("Requests per second", rf"INFO.{{0,20}}Requests per second:\s+(?P<rate__n>{N})"),
        Pattern("%", rf"\b(?P<q>\d{{1,3}})%\s+(?P<at__ms>{N}) ms"),
    ),
    flags=ToolFlags(
        values={
            "-n": ("requests", "n"),
            "--maxRequests": ("requests", "n"),
            "-c": ("connections", "n"),
            "--concurrency": ("connections", "n"),
            "-t": ("duration", "s"),
            "--maxSeconds": ("duration", "s"),
            "--rps": ("offered", "n"),
        },
        ignored=frozenset(["-H", "-T", "-P", "-p", "-m", "-R", "-C"]),
        keep_alive={"-k": True, "--keepalive": True},
        opens=frozenset({"--rps"}),
    ),
    names=("loadtest",),
)
"""loadtest's report: https://github.com/alexfernandez/loadtest/blob/main/lib/result.js."""
