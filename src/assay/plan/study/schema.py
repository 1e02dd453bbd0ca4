"""The study file, `studies/<name>.toml`, as written."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from assay.model.design import Publication, PublishedFigures, RuleSetting
from assay.model.finding import Metric
from assay.model.plan import Http, Value
from assay.model.trial import Emulation
from assay.servers.manifest import Fact
from assay.stats.sequential import LEAST_BLOCKS
from assay.verdict.objective import parse

ProfileName = Literal["fair", "published"]

LEAST_MS, MOST_MS = 0.1, 10_000.0
"""Of a round trip. Below, what the link's own program takes would be a large part of it."""
MOST_LOSS = 0.5
_ALGORITHM = re.compile(r"[a-z0-9_-]{1,15}")
_ROUND_TRIPS = 4
"""TCP, TLS and a request take so many; a lost packet takes more."""


class StudyEntry(Value, frozen=True, kw_only=True):
    """A server of the study.

    It runs in the manifest variant of the profile's name unless `variant` names another for it.
    `name` tells entries of one server apart (its case is then "<server>+<name>"); `env`, `args`
    and `facts` are laid over the manifest's; `profiles` are those that it takes part in.
    """

    server: str
    name: str = ""
    label: str = ""
    variant: dict[ProfileName, str] = {}
    env: dict[str, str] = {}
    args: tuple[str, ...] = ()
    facts: dict[str, Fact] = {}
    profiles: tuple[ProfileName, ...] = ("fair", "published")
    figures: tuple[PublishedFigures, ...] = ()

    @property
    def id(self) -> str:
        """What claims and loads call it."""
        return f"{self.server}+{self.name}" if self.name else self.server

    def published_per_s(self, load: str) -> float | None:
        """The published throughput at that load, or at any; None where none was."""
        known = [(one.load, one.throughput_per_s) for one in self.figures if one.throughput_per_s is not None]
        return next((per_s for name, per_s in known if name == load), known[0][1] if known else None)


class Workload(Value, frozen=True, kw_only=True):
    """What is asked for: routes of the contract, in turn or in random order, by weight.

    `same_input_of` names the workload that draws at random what this one repeats: rule W4 compares the
    two. `bottleneck` names what sets the pace on purpose where it is not the server's CPU (a wait, a
    database), and rule M7 is silent then.
    """

    name: str
    routes: tuple[str, ...]
    weights: tuple[int, ...] = ()
    order: Literal["sequential", "random"] = "sequential"
    servers: tuple[str, ...] = ()
    same_input_of: str = ""
    bottleneck: str = ""

    def __post_init__(self) -> None:
        """A weight a route."""
        if not self.routes:
            raise ValueError("a workload needs at least one route")
        if self.weights and len(self.weights) != len(self.routes):
            raise ValueError("give one weight for each route, or none")


class EmulationSetting(Value, frozen=True, kw_only=True):
    """A link with a delay between client and server: the time there and back, and the share of packets that
    are lost each way. `congestion` names the algorithm by which TCP answers to loss there ("reno", which
    every kernel has), in place of the machine's own."""

    round_trip_ms: float
    loss: float = 0.0
    congestion: str = ""

    def __post_init__(self) -> None:
        """A way that can be gone."""
        if not LEAST_MS <= self.round_trip_ms <= MOST_MS:
            raise ValueError(f"round_trip_ms must be between {LEAST_MS:g} and {MOST_MS:g}")
        if not 0 <= self.loss <= MOST_LOSS:
            raise ValueError(f"loss is a share of the packets: between 0 and {MOST_LOSS:g} (0.01 is 1 %)")
        if self.congestion and not _ALGORITHM.fullmatch(self.congestion):
            raise ValueError('congestion names an algorithm of the kernel: "reno", "cubic", "bbr"')

    @property
    def name(self) -> str:
        """What it adds to the name of a load that has none of its own."""
        lost = f"-{self.loss * 100:g}%" if self.loss else ""
        return f"{self.round_trip_ms:g}ms{lost}"

    @property
    def settled(self) -> Emulation:
        """As a case knows it."""
        ns = round(self.round_trip_ms * 1e6)
        return Emulation(round_trip_ns=ns, loss=self.loss, congestion=self.congestion)


class LoadSetting(Value, frozen=True, kw_only=True):
    """How it is offered; lists are swept.

    With `rate_per_s` an open loop on at most `connections`, else a closed loop of `connections`.
    Measured for `measure_s` or until `requests` are answered. The warm-up lasts until the
    throughput is level, `warm_up_max_s` at most; 0 measures from the first request.
    `http` is which HTTP is spoken ("auto": "1" or "2", as a server behind TLS picks); with "2" and "3" each
    connection has `streams` requests under way at once, and "3" asks every server behind TLS. Without
    `resend` requests that a server says it did not process have failed. `threads`: one
    for each core of the client unless given. `latency` follows each closed loop with open
    ones at 25, 50, 75 and 90 % of that server's throughput and at one rate common to all. `objective`
    ("p99<50ms,errors<0.1%") searches for the highest rate at which each server holds it: its capacity.
    `emulation` puts a link with a round trip time and loss between client and server.
    """

    name: str = ""
    connections: int | tuple[int, ...]
    threads: int | tuple[int, ...] | None = None
    rate_per_s: float | tuple[float, ...] | None = None
    arrivals: Literal["constant", "poisson"] = "poisson"
    measure_s: float | None = None
    requests: int | None = None
    warm_up_min_s: float = 1.0
    warm_up_max_s: float = 0.0
    timeout_s: float = 5.0
    keep_alive: bool = True
    resend: bool = True
    http_version: Literal["1.1", "1.0"] = "1.1"
    http: Http = "1"
    streams: int = 1
    headers: dict[str, str] = {}
    latency: bool = False
    objective: str = ""
    emulation: EmulationSetting | None = None
    workloads: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """One end, and numbers above zero."""
        if (self.measure_s is None) == (self.requests is None):
            raise ValueError("give either measure_s or requests")
        for name in ("connections", "threads", "rate_per_s", "measure_s", "requests", "timeout_s", "streams"):
            given = getattr(self, name)
            values = given if isinstance(given, tuple) else (given,)
            if not values or any(value is not None and value <= 0 for value in values):
                raise ValueError(f"{name} must be above 0")
        if self.streams > 1 and self.http == "1":
            raise ValueError('streams belong to HTTP/2 and HTTP/3: add http = "2"')
        if self.http != "1" and self.http_version != "1.1":
            raise ValueError("http_version is of HTTP/1: leave it or http out")
        if self.latency and self.rate_per_s is not None:
            raise ValueError("latency follows a closed loop: leave rate_per_s out")
        if self.objective and self.rate_per_s is not None:
            raise ValueError("a search for objective follows a closed loop: leave rate_per_s out")
        if self.objective:
            parse(self.objective)  # its ValueError says what is wrong
        if self.warm_up_max_s and self.warm_up_min_s > self.warm_up_max_s:
            raise ValueError("warm_up_min_s is longer than warm_up_max_s")
        self._check_far()

    def _check_far(self) -> None:
        """What cannot be asked over an emulated network: there a closed loop finds what its way carries, not
        what the server can do."""
        if self.emulation is None:
            return
        if self.latency or self.objective:
            raise ValueError(
                "latency and objective rest on what a server can do at most: leave emulation out"
            )
        if self.timeout_s * 1000 < _ROUND_TRIPS * self.emulation.round_trip_ms:
            raise ValueError(f"timeout_s must be {_ROUND_TRIPS} round trips of its emulation or more")


class Quick(Value, frozen=True, kw_only=True):
    """What `--quick` makes of a profile: fewer blocks of shorter trials."""

    blocks: int = 3
    measure_s: float = 4.0
    requests_share: float = 0.2
    warm_up_max_s: float = 2.0
    ceiling_s: float = 2.0


class Profile(Value, frozen=True, kw_only=True):
    """One way to run the study. `ceiling_s`: how long the null server is measured, if not as the rest.

    `more_blocks`: so many may follow, where the first ones show that ratios would not be known to within
    `precision`, a share.
    `control_blocks`: in how many blocks the first candidate is measured a second time, as the A/A
    control: in all unless given, 0 for none. `latency_blocks`: in how many blocks the open loops run.
    `capacity_trials`: how many trials of a search each block has at most, each of `capacity_s` or longer.
    `rules`: thresholds that hold in this profile, before those of the study: what it varies on purpose, say.
    In the fair profile servers are alive at once and are interleaved, unless not `interleaved`; `slice_ms` is
    the length of a slice, in place of the one that a pilot finds.
    """

    blocks: int = 10
    more_blocks: int = 0
    precision: float = 0.05
    loads: tuple[LoadSetting, ...]
    ceiling_s: float | None = None
    control_blocks: int | None = None
    latency_blocks: int = 3
    capacity_trials: int = 5
    capacity_s: float = 3.0
    rules: dict[str, RuleSetting] = {}
    quick: Quick = Quick()
    interleaved: bool = True
    slice_ms: float | None = None

    def __post_init__(self) -> None:
        """At least one of each."""
        if self.blocks < 1:
            raise ValueError("blocks must be above 0")
        if self.more_blocks < 0:
            raise ValueError("more_blocks must not be below 0")
        if self.more_blocks and self.blocks < LEAST_BLOCKS:
            raise ValueError(f"more_blocks follow from what {LEAST_BLOCKS} blocks or more have shown")
        if not 0 < self.precision <= 1:
            raise ValueError("precision must be a share above 0, at most 1")
        if not self.loads:
            raise ValueError("a profile needs at least one load")
        for name in ("latency_blocks", "capacity_trials", "capacity_s", "slice_ms"):
            if (getattr(self, name) or 1) <= 0 or getattr(self, name) == 0:
                raise ValueError(f"{name} must be above 0")
        if self.slice_ms is not None and not 1 <= self.slice_ms <= 3_600_000:
            raise ValueError("slice_ms must be between 1 and 3600000: a slice takes an hour at most")
        if self.control_blocks is not None and self.control_blocks not in (0, *range(3, 10_000)):
            raise ValueError("control_blocks must be 0 or at least 3: fewer pairs tell nothing")


class StudyComparison(Value, frozen=True, kw_only=True):
    """The `metric` of entry `a` over that of entry `b`, at each load and workload unless one is named.

    `capacity` compares what the searches of loads with an objective have found.
    `load_a` and `load_b` (or the workloads) compare two loads of, say, one server. A comparison whose load
    the profile does not have is left out of that profile's claim.
    """

    metric: Metric = "throughput"
    a: str
    b: str
    relation: Literal["more", "less", "equal"] = "more"
    published_ratio: float | None = None
    margin: float = 0.05
    load: str = ""
    load_a: str = ""
    load_b: str = ""
    workload: str = ""
    workload_a: str = ""
    workload_b: str = ""


class StudyClaim(Value, frozen=True, kw_only=True):
    """A published statement and the comparisons it stands for."""

    id: str
    statement: str
    comparisons: tuple[StudyComparison, ...]


class ServiceSetting(Value, frozen=True, kw_only=True):
    """How a service is had: an own one unless `url` names an existing one; settings of the own one."""

    url: str | None = None
    settings: dict[str, str] = {}


class StudyFile(Value, frozen=True, kw_only=True):
    """A whole study file."""

    format: Literal[1] = 1
    name: str
    title: str
    question: str
    analysis: str = ""
    publication: Publication = Publication()
    servers: tuple[StudyEntry, ...]
    workloads: tuple[Workload, ...]
    profiles: dict[ProfileName, Profile]
    claims: tuple[StudyClaim, ...] = ()
    services: dict[str, ServiceSetting] = {}
    rules: dict[str, RuleSetting] = {}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a study file."""
    return msgspec.json.schema(StudyFile)
