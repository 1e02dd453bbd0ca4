"""Locust's console tables, by their headings: https://github.com/locustio/locust/blob/master/locust/stats.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.interval import Interval
from assay.audit.tools.pattern import value_of

CUES = ("# reqs", "# Requests")
START = r"Name\s+# (?:reqs\s+# fails|Requests\s+# Fails)"

_HEADINGS = {
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
_HEAD = re.compile(
    r"# Requests|# Fails|Average \(ms\)|Min \(ms\)|Max \(ms\)|Average size \(bytes\)|RPS|Failures/s"
    r"|# reqs|# fails|Avg|Min|Max|Median|Med|req/s|failures/s|\d{2,3}(?:\.\d{1,2})?%"
)


def table(text: str, held: dict[str, list[str]]) -> Iterator[tuple[str | float, Interval, str]]:
    """The figures of the row that sums up all requests."""
    if "# reqs" in text or "# Requests" in text:
        held["head"] = [found.lower() for found in _HEAD.findall(text)]
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
        elif heading in _HEADINGS:
            key, unit = _HEADINGS[heading]
        else:
            continue
        value = value_of(cell, unit) if re.fullmatch(r"[\d.,]{1,20}", cell) else None
        if value is not None:
            yield key, value, cell
