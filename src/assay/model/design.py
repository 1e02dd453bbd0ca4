"""`Design`: what a run is made of, settled before its first trial: a study, a comparison, a search or a load.

A record keeps the design in its header, whole: the run is gone on with, judged and reported from it alone,
without the study file and without the command line. What a run of a design does next is a pure function of
the design and the trials so far (`assay.plan.next`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.model.block import Interleaving
from assay.model.finding import Claim
from assay.model.plan import LoadPlan, Value

_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""`${NAME}` is the shell's."""
_ENGINE_MARGIN_NS = 2_000_000_000


class WarmUp(Value, frozen=True, kw_only=True):
    """The bounds of a warm-up that ends when throughput is steady: not before `min_ns`, at the latest after
    `max_ns`; 0 means no warm-up."""

    min_ns: int
    max_ns: int

    @property
    def engine_bound_ns(self) -> int:
        """The engine's own bound: it lies behind ours, for it is we who end it, and note the moment."""
        return self.max_ns + _ENGINE_MARGIN_NS if self.max_ns else 0


class RuleSetting(Value, frozen=True, kw_only=True):
    """Thresholds of a verdict rule that hold for this run, and why."""

    thresholds: dict[str, float] = {}
    reason: str = ""


class AnyDesign(Value, frozen=True, kw_only=True):
    """What every design says: the question, and by case what is offered to it.

    `plans` and `warm_ups` are by the case's id, before a rate or a warm-up that follows from other trials is
    filled in; `titles` name each case's server in full. `rules` are the thresholds that this run changes.
    With `interleave` the closed loops of a block are interleaved; without, trials follow one another, and
    `sequential` says why where blocks are what is usual. `why` asks what each answer costs its server.
    """

    title: str = ""
    question: str = ""
    seed: int = 0
    plans: dict[str, LoadPlan] = {}
    warm_ups: dict[str, WarmUp] = {}
    titles: dict[str, str] = {}
    rules: dict[str, RuleSetting] = {}
    interleave: Interleaving | None = None
    sequential: str = ""
    why: bool = False

    @property
    def unlike(self) -> bool:
        """Whether its servers are interleaved and are no builds of one program: a switch costs each its
        own."""
        return self.interleave is not None and not self.interleave.alike


# --- a study ------------------------------------------------------------------------------


class Choices(Value, frozen=True, kw_only=True):
    """What is chosen of a study when it is run.

    `servers` keeps those entries only (the null server stays). Without `blocks` the study's number counts,
    without a `seed` one is drawn. `control` enters one case a second time, as the A/A control; `latency` adds
    open loops to every closed load; `quick` makes it a first look. Without `interleave` trials follow one
    another. `why` asks what each answer costs its server.
    """

    profile: str = "fair"
    quick: bool = False
    blocks: int | None = None
    seed: int | None = None
    servers: tuple[str, ...] = ()
    control: bool = True
    latency: bool = False
    interleave: bool = True
    why: bool = False


class Publication(Value, frozen=True, kw_only=True):
    """The published run: its commands, its machine, and what was wrong with it."""

    commands: tuple[str, ...] = ()
    machine: str = ""
    flaws: tuple[str, ...] = ()


class PublishedFigures(Value, frozen=True, kw_only=True):
    """What was published of one server at one load; `load` names the published profile's load.

    Of several at one load the first is the one by which the study concludes.
    """

    load: str = ""
    workload: str = ""
    throughput_per_s: float | None = None
    mean_ms: float | None = None
    bytes_per_response: float | None = None
    failed: int | None = None
    start_s: float | None = None
    note: str = ""


class StudyDesign(AnyDesign, frozen=True, kw_only=True, tag="study", tag_field="kind"):
    """A study under one profile: every case in each of `blocks` blocks.

    `choices` are as they were made, `blocks` and `seed` what they came to. Up to `more_blocks` follow where
    the first show that they are needed to know ratios to within `precision`. `path` is the study's file,
    `figures` are what was published of each entry, `claims` name cases.
    """

    blocks: int
    more_blocks: int = 0
    precision: float = 0.05
    choices: Choices = Choices()
    path: str = ""
    analysis: str = ""
    publication: Publication = Publication()
    figures: dict[str, tuple[PublishedFigures, ...]] = {}
    claims: tuple[Claim, ...] = ()


# --- commands and URLs --------------------------------------------------------------------


class Candidate(Value, frozen=True, kw_only=True):
    """A server that a command line names. `command` is a shell's, with the scans' `values` filled in; empty
    where a server stands at `url` already, whose host was looked up as `address`."""

    name: str
    command: str = ""
    url: str = ""
    address: str = ""
    values: dict[str, str] = {}

    def fill(self, text: str) -> str:
        """`text` with this candidate's scanned values in place of their names."""
        return filled(text, self.values)


class Commands(Value, frozen=True, kw_only=True):
    """Shell commands around the servers: once a candidate, before each start, and once a candidate at the
    end.

    Empty where there is none. Scanned values are filled in.
    """

    setup: str = ""
    prepare: str = ""
    cleanup: str = ""


class Terms(Value, frozen=True, kw_only=True):
    """How the servers of a command line are had: commands run in `folder`, are asked at `url` (with `{port}`
    where each is given a port of its own), and may take `ready_timeout_s` to answer rightly."""

    url: str
    folder: str
    ready_timeout_s: float


class CandidatesDesign(AnyDesign, frozen=True, kw_only=True):
    """What designs say whose servers a command line names: it ends by its own figures, or after `budget_ns`
    of load, in trials that are measured for `measure_ns`.

    `terms` are not known of records of format 1, which cannot be gone on with.
    """

    budget_ns: int
    measure_ns: int = 0
    candidates: tuple[Candidate, ...] = ()
    terms: Terms | None = None
    commands: Commands = Commands()


class ComparisonDesign(CandidatesDesign, frozen=True, kw_only=True, tag="comparison", tag_field="kind"):
    """Which of the candidates serves more? Blocks until every question is settled.

    A difference of `margin` or more is looked for. `control` enters the first candidate a second time;
    `unlike_allowed` compares candidates whose answers differ. `rank_all` asks for the order of every two, not
    only of the fastest and each other. `slower_allowed` makes it a gate: the one
    question is then whether the second candidate is slower than the first by more than this share.
    `unsure_fails`: where that cannot be told, the gate fails too.
    """

    margin: float
    control: bool = True
    unlike_allowed: bool = False
    rank_all: bool = False
    slower_allowed: float | None = None
    unsure_fails: bool = False


class Bounds(Value, frozen=True, kw_only=True):
    """What a search for a capacity was asked: an objective, and between which rates it is looked for.

    A rate of 0 is one that is still to be found, by a first look at the server.
    """

    objective: str
    lowest_per_s: float
    highest_per_s: float
    resolution: float
    first_per_s: float | None = None


class SearchDesign(CandidatesDesign, frozen=True, kw_only=True, tag="search", tag_field="kind"):
    """What is the highest rate that holds an objective? Open loops at rates in turn.

    `max_connections` None: as many as the rate and the objective can need.
    """

    bounds: Bounds
    max_connections: int | None = None


class LoadDesign(AnyDesign, frozen=True, kw_only=True, tag="load", tag_field="kind"):
    """One load of a URL, kept when it was over: one case, one trial, and nothing that could still be due.

    `limits` is what it was held to, as it was written; empty for nothing. `unsure_fails`: where one cannot be
    told, the load fails, too.
    """

    limits: str = ""
    unsure_fails: bool = False


Design = StudyDesign | ComparisonDesign | SearchDesign | LoadDesign
"""Every kind of run that a record may be of."""


def filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with values in place of `{NAME}`; names without a value stay."""
    return _PLACEHOLDER.sub(lambda name: values.get(name[1], name[0]), text)
