"""`StudyPage`: the figures and facts of a study's page, as docs/studies/*.json holds them.

Figures are text in the notation of `assay.core.units` ("152,000/s", "1.61× [1.58, 1.64]"). Sentences stand in
`words.py`, titles and meanings of rules in `assay.verdict`. Only `about` and `lessons` are prose.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import msgspec

WIDTH = 100
NUMBER = r"\d[\d,]*(\.\d+)?"
Ratio = Annotated[
    str,
    msgspec.Meta(pattern=rf"^((≥|≤) {NUMBER}|{NUMBER} – {NUMBER}|{NUMBER}( \[{NUMBER}, {NUMBER}\])?|)$"),
]
"""How many times one figure is another: with its interval, or as a bound."""
Change = Annotated[str, msgspec.Meta(pattern=r"^[+−]?[\d.]+ %( \[[+−]?[\d.]+ %, [+−]?[\d.]+ %\])?$")]
"""A signed share with its interval."""
Share = Annotated[str, msgspec.Meta(pattern=r"^(< )?[\d.]+ %$")]
Duration = Annotated[str, msgspec.Meta(pattern=r"^[\d.]+ (ns|µs|ms|s)$")]
Code = Annotated[str, msgspec.Meta(pattern=r"^[A-Z]\d+$")]
Effect = Literal["none", "void", "at least", "at most", "wider", "one way"]


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A value of the page: nothing unknown in it, nothing written that is the default."""


class Ahead(Facts, frozen=True, kw_only=True):
    """One server is `ratio` times as fast as another."""

    faster: str
    ratio: Ratio
    slower: str


class LoadResult(Facts, frozen=True, kw_only=True):
    """The results at one workload and load; `load` is empty where there is only one.

    `ahead` are the steps from rank to rank, `by_itself` the largest difference that all pairs together do
    not show. `limits` are the rules that bound what is compared, `unranked` those that keep servers out.
    `rows` stand under `columns`, names of `assay.report.model.tables.COLUMNS`.
    """

    load: str = ""
    ahead: tuple[Ahead, ...] = ()
    by_itself: Ahead | None = None
    limits: tuple[Code, ...] = ()
    unranked: dict[str, tuple[Code, ...]] = {}
    link: str = ""
    clock: Literal["service", "response", ""] = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Grid(Facts, frozen=True, kw_only=True):
    """A table under `columns`, which `words.HEADS` names; `load` where there are several."""

    load: str = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    limits: dict[Code, tuple[str, ...]] = {}


class Claim(Facts, frozen=True, kw_only=True):
    """A published claim, or one comparison of it (a part); `within`: the factor that counts as equal."""

    statement: str
    claim: str = ""
    published: str = ""
    measured: Ratio = ""
    verdict: str
    why: Literal["", "no result", "bounded", "not measured", "not compared"] = ""
    missing: str = ""
    within: str = ""
    rules: tuple[Code, ...] = ()
    parts: tuple[Claim, ...] = ()


class Evidence(Facts, frozen=True, kw_only=True):
    """What a rule saw: `words` with `{}` for each figure. `about` are (subject, trials, figures…)."""

    words: str
    about: tuple[tuple[str, ...], ...]


class Found(Facts, frozen=True, kw_only=True):
    """The findings of one rule that do the same to the answer. `more` are counted, not listed."""

    code: Code
    severity: Literal["error", "warning", "note"]
    throughput: Effect = "none"
    times: Effect = "none"
    comparison: Effect | None = None
    at_most: str = ""
    evidence: tuple[Evidence, ...]
    more: int = 0


class Missing(Facts, frozen=True, kw_only=True):
    """A server that was not measured, and why."""

    server: str
    reason: str


class Slices(Facts, frozen=True, kw_only=True):
    """How a load was interleaved: the lengths of its last block. `why` is the reason for the length."""

    load: str = ""
    blocks: int
    servers: int
    length: Duration
    why: str = ""
    washout: Duration
    each: str
    trimmed: bool = False


class Widest(Facts, frozen=True, kw_only=True):
    """The ratio that scatters most; `more_blocks` would bring it to ± 1 %, None: no number would."""

    pair: tuple[str, str]
    half: Share | None = None
    within: Share
    rounds: int
    between: Share
    more_blocks: int | None = None


class Scaling(Facts, frozen=True, kw_only=True):
    """The Universal Scalability Law over a server's sweep of connections."""

    server: str
    contention: Share
    coherency: str
    residual: Share
    up_to: int | None = None
    peak: str = ""
    peak_connections: int | None = None


class ThresholdSet(Facts, frozen=True, kw_only=True):
    """A threshold that the study set, and its usual value."""

    code: Code
    name: str
    value: str
    usual: str
    reason: str


class WarmUp(Facts, frozen=True, kw_only=True):
    """For how long servers had load before a measurement; `steady` of `trials` were steady by then."""

    least: str
    most: str
    steady: int
    trials: int


Trial = tuple[
    int, float | None, float | None, float | None, float | None, float | None, float | None, int | None
]
"""Block, answers a second, mean, p50, p90, p99 and the longest time in µs, failed requests."""


class StudyRun(Facts, frozen=True, kw_only=True):
    """One profile as it was measured."""

    profile: Literal["fair", "published"]
    quick: bool = False
    date: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\d \d\d:\d\d$")]
    record: str
    command: str
    commit: str = ""
    seed: int
    blocks: int
    cases: int
    minimum_effect: Share = "1.0 %"
    machine: str
    versions: dict[str, str]
    descriptors: int
    loads: tuple[str, ...]
    warm_up: WarmUp | None = None
    links: tuple[str, ...] = ()
    slices: tuple[Slices, ...] = ()
    widest: Widest | None = None
    controls: dict[str, Change] = {}
    scaling: tuple[Scaling, ...] = ()
    thresholds: tuple[ThresholdSet, ...] = ()
    limits: dict[Code, tuple[str, ...]] = {}
    results: tuple[LoadResult, ...]
    response_times: tuple[Grid, ...] = ()
    capacities: tuple[Grid, ...] = ()
    services: Grid | None = None
    service_versions: dict[str, str] = {}
    missing: tuple[Missing, ...] = ()
    claims: tuple[Claim, ...] = ()
    findings: tuple[Found, ...] = ()
    servers: Grid
    trials: dict[str, tuple[Trial, ...]]


class StudyPage(Facts, frozen=True, kw_only=True):
    """A page: prose by hand, what was published, and the runs, the fair one first."""

    title: str
    about: tuple[str, ...]
    lessons: tuple[str, ...]
    published: Grid | None = None
    runs: tuple[StudyRun, ...]


def read(path: Path) -> StudyPage:
    """Decode a file strictly; raises `msgspec.ValidationError` with the place of what is wrong."""
    return msgspec.json.decode(path.read_bytes(), type=StudyPage)


def write(path: Path, page: StudyPage) -> None:
    """Write a file whose differences can be read: a row, or what is short, on a line."""
    path.write_text(laid_out(json.loads(msgspec.json.encode(page))) + "\n", encoding="utf-8")


def laid_out(value: object) -> str:
    """JSON; what is short, rows and lists of numbers are on one line."""
    line = json.dumps(rounded(value), ensure_ascii=False, separators=(",", ":"))
    if not isinstance(value, list | dict) or not value or len(line) <= WIDTH or is_row(value):
        return line
    if isinstance(value, dict):
        each = [f"{json.dumps(key, ensure_ascii=False)}:{laid_out(one)}" for key, one in value.items()]
    else:
        each = [laid_out(one) for one in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}\n" + ",\n".join(each) + f"\n{end}"


def is_row(value: object) -> bool:
    """Whether this is a list of cells, or of rows of numbers."""
    if not isinstance(value, list):
        return False
    if all(isinstance(one, list) for one in value):
        return all(isinstance(cell, int | float | None) for one in value for cell in one)
    return not any(isinstance(one, list | dict) or len(str(one)) > WIDTH for one in value)


def rounded(value: object) -> object:
    """Whole numbers without a decimal point."""
    if isinstance(value, list):
        return [rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value
