"""The load-test tools that the audit knows: one file each in `loadtools`, and one sample in the tests.

A pattern is a regular expression whose named groups say what they found: the part before "__" names
the figure, the part behind it the unit. `q` is a percentile, `at` its time. A name that ends in
digits is added to the name without them, so that several kinds of errors become one count. Every
repetition in a pattern is bounded or cannot overlap with its neighbours: matching takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from assay.audit.document import Figure
from assay.audit.interval import Interval, value_of
from assay.audit.lexicon import compiled

NUMBER = r"\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,12})?|\d{1,18}(?:\.\d{1,18})?"
"""A number as tools print it."""

_TIME = r"\d{1,18}(?:\.\d{1,18})?\s?(?:ns|us|µs|μs|ms|secs?|s|m(?!s)|h)(?:\d{1,3}(?:\.\d{1,12})?s)?"
"""A time with its unit, Go's "1m30.5s" included."""

_SIZE = r"\d{1,18}(?:[.,]\d{1,18})?\s?(?:[kKMGT]i?)?(?:B|bytes)"
"""A size with its unit."""


ReadFigure = tuple[str, Interval, str]
"""A figure of a line: its name ("p99" for a percentile), its interval, how it is written."""


class Pattern(msgspec.Struct, frozen=True, array_like=True, dict=True):
    """A kind of line: words that it must hold (looked for first, since that is fast), and its groups."""

    needs: str
    regex: str

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression; most are never needed."""
        return re.compile(self.regex)

    def read(self, text: str) -> Iterator[ReadFigure]:
        """Every figure on the line."""
        if self.needs not in text:
            return
        for match in self.compiled.finditer(text):
            percentile = match.groupdict().get("q")
            for name, written in match.groupdict().items():
                if written is None or name == "q" or "__" not in name:
                    continue
                key, _, unit = name.partition("__")
                value = value_of(written, unit)
                if value is not None:
                    yield f"p{float(percentile):g}" if key == "at" and percentile else key, value, written


class ToolFlags(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A tool's command line: what its flags set, and which others take a value.

    `sets` is by flags that mean the same: the figure's name and its unit (as in a pattern). `ignored`
    take a value that means nothing here. `keep_alive` are those that set it, and `alive` is how it is
    without them. One of `opens` makes the loop an open one. A call without the `subcommand` sends no
    load. `address` are flags whose value is where the load goes.
    """

    sets: dict[str, str] = {}
    ignored: frozenset[str] = frozenset()
    keep_alive: dict[str, bool] = {}
    alive: bool | None = None
    opens: frozenset[str] = frozenset()
    address: frozenset[str] = frozenset()
    subcommand: str = ""

    @cached_property
    def values(self) -> dict[str, tuple[str, str]]:
        """The figure and the unit that each flag sets."""
        pairs = ((flag, sets.split("__")) for flags, sets in self.sets.items() for flag in flags.split())
        return {flag: (name, unit) for flag, (name, unit) in pairs}


_CELL = re.compile(r"(?<![\d.,(])\d[\d.,]{0,19}(?:\s?(?:ns|us|µs|ms|s|[kM])\b)?")


class ToolRows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool's tables: `head` is in the line that names the columns, whose names `columns` finds.

    `rows` has, by what a row begins with, what its columns hold (as in a pattern; "%" for percentiles).
    """

    head: str
    columns: str
    rows: dict[str, dict[str, str]]

    def read(self, text: str, held: dict[str, list[str]]) -> Iterator[ReadFigure]:
        """The figures of a row, by the columns of the last head, which are kept in `held`."""
        if re.search(self.head, text):
            held["columns"] = [name.lower() for name in re.findall(self.columns, text)]
            return
        names = held.get("columns", [])
        for words, figures in self.rows.items() if names else ():
            found = re.search(words, text)
            cells = _CELL.findall(text, found.end()) if found else []
            for name, cell in zip(names, cells, strict=True) if len(cells) == len(names) else ():
                key, _, unit = figures.get("%" if name.endswith("%") else name, "").partition("__")
                value = value_of(cell, unit) if unit else None
                if value is not None:
                    yield f"p{float(name[:-1]):g}" if key == "at" else key, value, cell


_BLOCK = re.compile(r"^\s*([A-Za-z][\w. ()]{2,60}):\s*$")
"""A line that begins a block."""


class JsonReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where in a tool's JSON which figure is: its name, a path of keys, the size of its unit.

    `marks` are keys that a report of this tool has and no other does.
    """

    marks: tuple[str, ...]
    figures: tuple[tuple[str, str, float], ...]


class AuditTool(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """A load-test tool: how its output begins and reads, how its command reads, whether its loop is closed.

    `names` are its command's. `cues` are words of which a line must hold one before `start` is tried.
    `joined` figures are counts that are added up when they come again (a line for each status). `lone` is
    how an output goes on whose beginning was left out: where no other output is open, one begins there.
    `foreign` lines are never this tool's: an output with one is another tool's that begins like it.

    What its figures mean: `rate_of` "count" is requests over the time that it prints, other rates are
    means of windows of its own. `adds_samples`: it adds times to correct for coordinated omission, so
    that mean × rate may exceed the connections. `pauses`: its users pause, so fewer are in flight than
    there are users. `failed_once`: a request may be in several of its counts of failures. `uncounted`:
    answers that are missing in its counts never came. `rows` are its tables, and `blocks` patterns that
    hold below a line of these words (several are apart by "|"). `order` is the place at which a line is
    offered to it: what several tools print alike is the first one's. `samples` are figures of files in
    tests/audit/samples.
    """

    name: str
    names: tuple[str, ...]
    order: int
    closed: bool | None = None
    cues: tuple[str, ...] = ()
    start: str = ""
    patterns: tuple[Pattern, ...] = ()
    flags: ToolFlags | None = None
    json: JsonReport | None = None
    joined: frozenset[str] = frozenset()
    lone: str = ""
    foreign: str = ""
    rate_of: Literal["count", "windows"] = "windows"
    adds_samples: bool = False
    pauses: bool = False
    failed_once: bool = False
    uncounted: bool = False
    rows: ToolRows | None = None
    blocks: dict[str, tuple[Pattern, ...]] = {}
    samples: dict[str, dict[str, float]] = {}

    @cached_property
    def _starting(self) -> re.Pattern[str]:
        return re.compile(self.start)

    @cached_property
    def never(self) -> re.Pattern[str] | None:
        """The compiled lines of other tools."""
        return re.compile(self.foreign) if self.foreign else None

    @cached_property
    def starting_alone(self) -> re.Pattern[str]:
        """The compiled start of what is left of an output."""
        return re.compile(self.lone)

    def starts(self, text: str, *, alone: bool = False) -> bool:
        """Whether an output of this tool may begin on the line; `alone`: no other one is open."""
        if not any(cue in text for cue in self.cues):
            return False
        if alone and self.lone and self.starting_alone.search(text):
            return True
        return self._starting.search(text) is not None

    def read(self, text: str, held: dict[str, list[str]]) -> Iterator[ReadFigure]:
        """The figures of a line of an output; `held` keeps what later lines need of it."""
        for pattern in self.patterns:
            yield from pattern.read(text)
        if self.rows is not None:
            yield from self.rows.read(text, held)
        if self.blocks and (head := _BLOCK.match(text)):
            held["block"] = [head[1].lower()]
        for titles, patterns in self.blocks.items() if "block" in held else ():
            if held["block"][0] in titles.split("|"):
                for pattern in patterns:
                    yield from pattern.read(text)


def _tools() -> tuple[AuditTool, ...]:
    found = []
    for path in sorted(Path(__file__).with_name("loadtools").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        for short, regex in (("{N}", NUMBER), ("{T}", _TIME), ("{B}", _SIZE)):
            text = text.replace(short, regex)
        found.append(msgspec.toml.decode(text, type=AuditTool))
    return tuple(sorted(found, key=lambda tool: tool.order))


TOOLS = _tools()
"""In the order in which a line is offered to them: what several tools print alike is the first one's."""

BY_NAME = {name: tool for tool in TOOLS for name in tool.names}
"""A tool by each name that its command has."""

NAMED = compiled("tools.named")
"""A tool's name in prose; "hey" and "ab" are words too, so it says only that a load may be named."""

CLOSED = frozenset({"boom", "drill", "go-wrk", "cassowary"})
"""Other names in prose of tools whose loop is closed."""


def named(words: str) -> str:
    """The name of a tool as its command has it: "Apache Bench" is ab."""
    name = "".join(words.lower().split())
    return "ab" if name.startswith("apachebench") else name


_MOST_COUNTED = 1e6
"""Answers that hey counts at most; its rate goes on."""


def add_uncounted(figures: dict[str, Figure]) -> None:
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
