"""What a tool's output looks like, as data: which lines say what, in which unit.

A pattern is a regular expression whose named groups say what they found: the part before "__" names
the figure, the part behind it the unit. `q` is a percentile, `at` its time. A name that ends in
digits is added to the name without them, so that several kinds of errors become one count. Every
repetition in a pattern is bounded or cannot overlap with its neighbours: matching takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from assay.audit.document import Figure
from assay.audit.interval import Interval, counted, exactly, printed, size_in, time_in

N = r"\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,12})?|\d{1,18}(?:\.\d{1,18})?"
"""A number as tools print it."""

T = r"\d{1,18}(?:\.\d{1,18})?\s?(?:ns|us|µs|μs|ms|secs?|s|m(?!s)|h)(?:\d{1,3}(?:\.\d{1,12})?s)?"
"""A time with its unit, Go's "1m30.5s" included."""

B = r"\d{1,18}(?:[.,]\d{1,18})?\s?(?:[kKMGT]i?)?(?:B|bytes)"
"""A size with its unit."""

_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def _number(text: str) -> Interval | None:
    found = re.fullmatch(r"([\d.,]+)\s*([kKmMgG]?)", text.strip())
    return printed(found[1], found[2]) if found else None


def _count(text: str) -> Interval | None:
    found = re.fullmatch(r"([\d.,]+)\s*([kKmM]?)", text.strip())
    return counted(found[1], found[2]) if found else None


def _share(text: str) -> Interval | None:
    found = printed(text.strip(" %"))
    return found.times(0.01) if found else None


_READ: dict[str, Callable[[str], Interval | None]] = {
    "n": _number,
    "c": _count,
    "p": _share,
    "t": time_in,
    "b": lambda text: size_in(text, binary=True),
    "d": lambda text: size_in(text, binary=False),
}


def value_of(text: str, unit: str) -> Interval | None:
    """The interval of a group's text in the unit that its name says."""
    if unit in _UNITS:
        found = printed(text)
        return found.times(_UNITS[unit]) if found else None
    return _READ[unit](text)


@dataclass(frozen=True)
class Pattern:
    """A kind of line: words that it must hold (looked for first, since that is fast), and its groups."""

    needs: str
    regex: str

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression; most are never needed."""
        return re.compile(self.regex)

    def read(self, text: str) -> Iterator[tuple[str | float, Interval, str]]:
        """Every figure on the line: its name or percentile, its interval, how it is written."""
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
                    yield (float(percentile) if key == "at" and percentile else key), value, written


@dataclass(frozen=True)
class ToolFlags:
    """A tool's command line: what its flags set, and which others take a value.

    `values` is by flag: the figure's name and its unit (as in a pattern). `bare` flags set nothing but
    `keep_alive` where they are named there.
    """

    values: dict[str, tuple[str, str]] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    keep_alive: dict[str, bool] = field(default_factory=dict)
    alive: bool | None = None
    defaults: dict[str, float] = field(default_factory=dict)
    opens: frozenset[str] = frozenset()
    words: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class AuditTool:
    """A load-test tool: how its output begins and reads, how its command reads, whether its loop is closed.

    `cues` are words of which a line must hold one before `start` is tried. `joined` patterns hold
    counts that are added up when they come again (a line for each status). `lone` is how an output
    goes on whose beginning was left out: where no other output is open, one begins there.
    """

    name: str
    closed: bool | None
    cues: tuple[str, ...]
    start: str
    patterns: tuple[Pattern, ...]
    flags: ToolFlags | None = None
    names: tuple[str, ...] = ()
    joined: frozenset[str] = frozenset()
    lone: str = ""
    foreign: str = ""
    """Lines that this tool never prints: an output with one is another tool's that begins like it."""
    extra: Callable[[str, dict[str, list[str]]], Iterator[tuple[str | float, Interval, str]]] | None = None
    settle: Callable[[dict[str, Figure]], None] | None = None
    """Puts right what the tool's own bookkeeping leaves out, once all its figures are read."""

    @cached_property
    def starting(self) -> re.Pattern[str]:
        """The compiled start."""
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
        return self.starting.search(text) is not None


def none_seen() -> Interval:
    """A count of which the output says that it is zero."""
    return exactly(0.0)
