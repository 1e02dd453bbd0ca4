"""What of some tools' outputs no pattern reads: tables with headings, and sums that hey leaves out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from assay.audit.document import Figure
from assay.audit.interval import Interval, value_of
from assay.audit.tools import NUMBER

_Row = Iterator[tuple[str | float, Interval, str]]
"""The figures of a line: name or percentile, interval, how it is written."""

_NAMED = re.compile(r"^\W{0,12}(Latency(?: \(ms\))?|Req/Sec|Bytes/Sec)\s")
"""Of the tables before version 4, whose columns are only spaces apart."""
_TIMES = {"avg": "mean", "stdev": "stdev", "max": "max", "min": "min"}
_RATES = {"avg": "rate", "stdev": "rate_stdev"}


def _autocannon_row(text: str, held: dict[str, list[str]]) -> _Row:
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


_LOCUST_HEADINGS = {
    "# reqs": ("requests", "c"),
    "# fails": ("failed", "c"),
    "avg": ("mean", "ms"),
    "min": ("min", "ms"),
    "max": ("max", "ms"),
    "med": ("p50", "ms"),
    "median": ("p50", "ms"),
    "req/s": ("rate", "n"),
    "# requests": ("requests", "c"),
    "average (ms)": ("mean", "ms"),
    "min (ms)": ("min", "ms"),
    "max (ms)": ("max", "ms"),
    "rps": ("rate", "n"),
}
_LOCUST_HEAD = re.compile(
    r"# Requests|# Fails|Average \(ms\)|Min \(ms\)|Max \(ms\)|Average size \(bytes\)|RPS|Failures/s"
    r"|# reqs|# fails|Avg|Min|Max|Median|Med|req/s|failures/s|\d{2,3}(?:\.\d{1,2})?%"
)


def _locust_row(text: str, held: dict[str, list[str]]) -> _Row:
    """The figures of the row that sums up all requests."""
    if "# reqs" in text or "# Requests" in text:
        held["head"] = [found.lower() for found in _LOCUST_HEAD.findall(text)]
        return
    row = re.search(r"\b(?:Aggregated|Total)\s+(.{5,300})$", text)
    head = held.get("head", [])
    if row is None or not head:
        return
    cells = re.sub(r"\([\d.]{1,8}%\)", " ", row[1]).replace("|", " ").split()
    if len(cells) != len(head):
        return
    for heading, cell in zip(head, cells, strict=True):
        key: str | float
        if heading.endswith("%"):
            key, unit = float(heading[:-1]), "ms"
        elif heading in _LOCUST_HEADINGS:
            key, unit = _LOCUST_HEADINGS[heading]
        else:
            continue
        value = value_of(cell, unit) if re.fullmatch(r"[\d.,]{1,20}", cell) else None
        if value is not None:
            yield key, value, cell


_ARTILLERY_ROW = re.compile(
    rf"^\s*(min|max|mean|median|p\d\d(?:\.\d)?|[A-Z]{{4,20}}|[45]\d\d):[\s.]{{1,90}}({NUMBER})\s*$"
)
_ARTILLERY_HEAD = re.compile(r"^\s*([A-Za-z][\w. ()]{2,60}):\s*$")
_ARTILLERY_TIMES: dict[str, str | float] = {"min": "min", "max": "max", "mean": "mean", "median": 50.0}


def _artillery_row(text: str, held: dict[str, list[str]]) -> _Row:
    """The rows of the blocks of times, codes and errors: which block it is stands on a line of its own."""
    head = _ARTILLERY_HEAD.match(text)
    if head:
        held["block"] = [head[1].lower()]
        return
    row = _ARTILLERY_ROW.match(text)
    block = held.get("block", [""])[0]
    if row is None:
        return
    name, number = row[1], row[2]
    key: str | float | None = None
    if block in ("http.response_time", "request latency", "response time (msec)"):
        key = _ARTILLERY_TIMES.get(name, float(name[1:]) if name[0] == "p" else None)
    elif (block == "errors" and name.isupper()) or (block == "codes" and name.isdigit()):
        key = "broken" if name.isupper() else "bad"
    value = value_of(number, "ms" if block.startswith(("http", "re")) else "c")
    if key is not None and value is not None:
        yield key, value, number


_MOST_COUNTED = 1e6
"""Answers that hey counts at most; its rate goes on."""


def _settle_hey(figures: dict[str, Figure]) -> None:
    """What was asked for is rate × time; answers that are not among the counted ones never came."""
    rate, took, counted = (figures.get(name) for name in ("rate", "took", "requests"))
    good = figures.get("good")
    if rate is None or took is None or counted is None or good is None:
        return
    asked = rate.value * took.value
    if counted.value.high >= _MOST_COUNTED:
        del figures["requests"]
    elif counted.value.high < 0.99 * asked.low:
        lost = asked - counted.value
        figures["failed"] = Figure(lost, good.line, good.quote)
        figures["requests"] = Figure(asked, rate.line, rate.quote)


TABLES: dict[str, Callable[[str, dict[str, list[str]]], _Row]] = {
    "autocannon": _autocannon_row,
    "locust": _locust_row,
    "artillery": _artillery_row,
}
"""By tool: reads a row by the headings that came before it, which it keeps in the dictionary."""

SETTLE: dict[str, Callable[[dict[str, Figure]], None]] = {"hey": _settle_hey}
"""By tool: puts right what its own accounting leaves out, once all its figures are read."""
