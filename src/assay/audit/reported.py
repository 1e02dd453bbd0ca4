"""`Reported`: a result that a text tells, every figure with the line and the words that it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.audit.interval import Interval


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a text: what it may be, and where and how it is written."""

    value: Interval
    line: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCommand:
    """A load test's command line, as far as a text shows it."""

    tool: str
    line: int
    quote: str
    url: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    keep_alive: bool | None = None
    closed: bool = True


BY_HAND = ("table", "figures")
"""What stands for the tool of a result that its author wrote: a row of a table, or a figure a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """One result: the output of a tool, or a row of a table.

    `figures` has, by name: `rate` (a second), `requests`, `duration` (s), `connections`, `threads`,
    `offered` (a second), `mean`, `stdev`, `min`, `max` (s), `rate_stdev`, `errors`,
    `error_share`, `connect_errors`, `bytes`, `bytes_each`, `memory` (bytes), `cpu` (share).
    `percentiles` has times (s) by percentile. `closed` says whether the tool's loop is closed; None: the tool
    is not known.
    """

    tool: str
    line: int
    last: int
    label: str = ""
    group: str = ""
    url: str = ""
    closed: bool | None = None
    keep_alive: bool | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)
    percentiles: Mapping[float, Figure] = field(default_factory=dict)
    command: ReportedCommand | None = None
    table: int = 0

    def get(self, name: str) -> Figure | None:
        """A figure by name: the result's own, or else its command's."""
        found = self.figures.get(name)
        if found is None and self.command is not None:
            found = self.command.figures.get(name)
        return found
