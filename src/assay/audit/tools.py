"""The load-test tools that the audit knows: one file each in `loadtools`, and one sample in the tests.

A pattern is a regular expression whose named groups say what they found: the part before "__" names
the figure, the part behind it the unit. `q` is a percentile, `at` its time. A name that ends in
digits is added to the name without them, so that several kinds of errors become one count. Every
repetition in a pattern is bounded or cannot overlap with its neighbours: matching takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from assay.audit.document import Figure
from assay.audit.interval import Interval, value_of

NUMBER = r"\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,12})?|\d{1,18}(?:\.\d{1,18})?"
"""A number as tools print it."""

_TIME = r"\d{1,18}(?:\.\d{1,18})?\s?(?:ns|us|µs|μs|ms|secs?|s|m(?!s)|h)(?:\d{1,3}(?:\.\d{1,12})?s)?"
"""A time with its unit, Go's "1m30.5s" included."""

_SIZE = r"\d{1,18}(?:[.,]\d{1,18})?\s?(?:[kKMGT]i?)?(?:B|bytes)"
"""A size with its unit."""


class Pattern(msgspec.Struct, frozen=True, array_like=True, dict=True):
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


class JsonReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where in a tool's JSON which figure is: its name or percentile, a path of keys, the size of its unit.

    `marks` are keys that a report of this tool has and no other does.
    """

    marks: tuple[str, ...]
    figures: tuple[tuple[str | float, str, float], ...]


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
    answers that are missing in its counts never came. `rows` names the reader of its tables. `order` is
    the place at which a line is offered to it: what several tools print alike is the first one's.
    `samples` are figures of files in tests/audit/samples.
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
    rows: Literal["", "autocannon", "locust", "artillery"] = ""
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

NAMED = re.compile(
    r"(?<![\w./-])(?:wrk2?|ab|ApacheBench|Apache Bench|apachebench|hey|boom|oha|bombardier"
    r"|autocannon|vegeta|h2load"
    r"|[Aa]utocannon|[Bb]ombardier|[Vv]egeta|WRK2?|[Kk]6|siege|Siege|loadtest|JMeter|jmeter|Gatling|gatling"
    r"|[Ll]ocust|[Aa]rtillery|httperf|weighttp|plow|NBomber|assay|Hyperfoil|Apache ?Benchmark"
    r"|drill|nighthawk"
    r"|fortio|tsung|rewrk|benchmarkdotnet|go-wrk|k6s|cassowary|ghz|YCSB)(?![\w-])"
)
"""A tool's name in prose; "hey" and "ab" are words too, so it says only that a load may be named."""

CLOSED = frozenset({"boom", "drill", "go-wrk", "cassowary"})
"""Other names in prose of tools whose loop is closed."""


def named(words: str) -> str:
    """The name of a tool as its command has it: "Apache Bench" is ab."""
    name = "".join(words.lower().split())
    return "ab" if name.startswith("apachebench") else name


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


TABLES: dict[str, Callable[[str, dict[str, list[str]]], _Row]] = {
    "autocannon": _autocannon_row,
    "locust": _locust_row,
    "artillery": _artillery_row,
}
"""By tool: reads a row by the headings that came before it, which it keeps in the dictionary."""
