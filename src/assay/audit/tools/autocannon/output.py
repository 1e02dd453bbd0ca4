"""autocannon's report: https://github.com/mcollina/autocannon/blob/master/lib/printResult.js.

Its tables name their columns, which changed between versions: they are read by those names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.interval import Interval
from assay.audit.tools.pattern import N, Pattern, T, value_of

CUES = ("test @", "Stat ", "requests in")
START = rf"Running \S{{1,12}} test @ \S|Stat\s.{{1,80}}Stdev|(?:{N})[kM]? requests in .{{1,30}} read"

PATTERNS = (
    Pattern("test @", rf"Running (?P<duration__t>{T}) test @"),
    Pattern("connections", r"^\W{0,12}(?P<connections__c>\d{1,9}) connections(?! and)"),
    Pattern("pipelining", r"with (?P<pipelining__c>\d{1,5}) pipelining factor"),
    Pattern(
        "requests in",
        r"(?P<requests__c>[\d.]{1,15}[kM]?)"
        r" requests in (?P<took__t>[\d.]{1,12}m?s), (?P<bytes__d>[\d.]{1,12} ?[kKMG]?B) read",
    ),
    Pattern(
        "errors (", r"(?P<errors1__c>[\d.]{1,12}[kM]?) errors \((?P<timeouts__c>[\d.]{1,12}[kM]?) timeouts\)"
    ),
    Pattern("non 2xx", r"(?P<bad__c>[\d.]{1,12}[kM]?) non 2xx responses"),
    Pattern("non 2xx", r"(?P<good__c>[\d.]{1,12}[kM]?) 2xx responses, "),
)

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
