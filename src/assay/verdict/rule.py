"""What a verdict rule is: its words, its thresholds, its effects, and one small pure function.

A rule looks at one of five things, which its class says: a trial, all trials of a case together, a case
within its run, a pair of cases that are compared, or the whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import structs
from msgspec.structs import replace

from assay.model.finding import Effect, Finding, Severity, Subject
from assay.verdict.bottleneck import at_most
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.load import Load

Thresholds = Mapping[str, float]
"""The thresholds of one rule by name, as they hold for this run."""


class Threshold(msgspec.Struct, frozen=True):
    """A named number that a study may set, with a reason."""

    name: str
    value: float
    unit: Literal["share", "ratio", "ns", "count"]
    meaning: str


class Effects(msgspec.Struct, frozen=True):
    """What a finding does to throughput, to times and to a comparison; None: it follows from the figures.

    `because` is the reason in a few words, to stand beside a bound; without an effect on figures it says what
    there is instead. `when` says in which case a rule with several effects has this one, `way` in whose
    favour a comparison holds that does in one direction only. `held_back` says that something outside of the
    server kept it from more: the time that its cores idled bounds from above what it may do without that.
    """

    throughput: Effect = "none"
    times: Effect = "none"
    comparison: Effect | None = None
    because: str = ""
    when: str = ""
    way: str = ""
    held_back: bool = False

    @property
    def words(self) -> str:
        """As a list: "throughput at least, at most by its idle time, times void"."""
        named = (("throughput", self.throughput), ("times", self.times), ("comparison", self.comparison))
        said = [f"{what} {effect}" for what, effect in named if effect not in ("none", None)]
        if self.held_back:
            said.insert(1, "at most by its idle time")
        if self.comparison == "none":
            said.append("the comparison holds")
        which = ": ".join(filter(None, (self.when, self.way)))
        return (", ".join(said) or self.because or "none") + (f" ({which})" if which else "")


NONE = Effects()
VOID = Effects("void", "void")
TIMES_VOID = Effects(times="void")


class Hit(msgspec.Struct, frozen=True):
    """A rule's answer where it applies: how grave, and the figures as a sentence and as numbers.

    Of several hits of one rule on one case, the one with the highest `gravity` speaks for all. `strain` says
    how far the server was held back (0 to 1), `at_most_times` its bound where an account gives one.
    `effects` are those of the rule's that it has here; without them it has the rule's first, as a note
    none.
    """

    severity: Severity
    evidence: str
    figures: dict[str, float] = msgspec.field(default_factory=dict)
    gravity: float = 0.0
    remedy: str = ""
    effects: Effects | None = None
    strain: float = 1.0
    at_most_times: float | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """Everything there is to say about a rule; subclasses add its `check`.

    `effects` are what its findings may do to what is known, the usual one first; a note changes nothing.
    `exempt` are the roles of cases that the rule has nothing to say about. A `shared` rule
    speaks of a cause that the cases have in common: when it meets all of them, it says so once.
    A `passing` rule speaks of disturbances that come and go: one odd trial among many is a note.
    One that is asked `last` looks at what the others made void.
    """

    code: str
    title: str
    severities: tuple[Severity, ...]
    effects: tuple[Effects, ...] = (NONE,)
    thresholds: tuple[Threshold, ...] = ()
    meaning: str
    remedy: str
    source: str
    example: str
    exempt: frozenset[str] = frozenset()
    shared: bool = False
    passing: bool = False
    last: bool = False

    @property
    def effect_words(self) -> str:
        """What its findings do to what is known."""
        return "; ".join(effects.words for effects in self.effects)

    @property
    def defaults(self) -> dict[str, float]:
        """The default thresholds by name."""
        return {threshold.name: threshold.value for threshold in self.thresholds}

    def finding(
        self, subject: Subject, hit: Hit, trials: int = 0, busy_share: float | None = None
    ) -> Finding:
        """The finding that this rule's `hit` on `subject` makes. `busy_share` is that of its server's cores,
        which bounds from above what was held back."""
        effects = NONE if hit.severity == "note" else hit.effects or self.effects[0]
        return Finding(
            code=self.code,
            severity=hit.severity,
            subject=subject,
            title=self.title,
            evidence=hit.evidence,
            figures=hit.figures,
            meaning=self.meaning,
            remedy=hit.remedy or self.remedy,
            source=self.source,
            trials=trials,
            on_throughput=effects.throughput,
            on_times=effects.times,
            on_comparison=effects.comparison,
            because=effects.because,
            at_most_times=(hit.at_most_times or at_most(busy_share, hit.strain))
            if effects.held_back
            else None,
        )


class LoadRule(Rule, frozen=True, kw_only=True):
    """Judges one load: a trial of a study, or that of `assay load`.

    Where several generators offered the load, a rule that is `by_generator` judges the part of each, and the
    gravest of what it finds speaks, with the generator's name; `of_server_too` judges the server's machine
    apart from theirs.

    In a search for a capacity a rule judges the trials in which the objective held; one that looks at
    `of_misses` the others, too: what it finds is no effect of a rate beyond the capacity. One that
    `lengthens` finds what makes times longer and never shorter: an objective that held meanwhile holds all
    the more, and a trial that missed it says nothing of the server.
    """

    by_generator: bool = False
    of_server_too: bool = False
    of_misses: bool = False
    lengthens: bool = False
    check: Callable[[Load, Thresholds], Hit | None]


class TrialsRule(Rule, frozen=True, kw_only=True):
    """Judges all loads of one case together; of `assay load` the one."""

    check: Callable[[Sequence[Load], Thresholds], Hit | None]


class CaseRule(Rule, frozen=True, kw_only=True):
    """Judges a case by all its trials, within its run."""

    check: Callable[[CaseSeen, RunSeen, Thresholds], Hit | None]


class PairRule(Rule, frozen=True, kw_only=True):
    """Judges whether two cases may be compared. What one finds `of_answers` the user may allow (--unlike)."""

    of_answers: bool = False
    check: Callable[[CaseSeen, CaseSeen, Thresholds], Hit | None]


class RunRule(Rule, frozen=True, kw_only=True):
    """Judges the run as a whole."""

    check: Callable[[RunSeen, Thresholds], Iterator[tuple[Subject, Hit]]]


GRAVEST: Mapping[Severity, int] = {"note": 0, "warning": 1, "error": 2}
"""The severities, the graver the larger."""


def hit_of(rule: LoadRule, load: Load, thresholds: Thresholds) -> Hit | None:
    """What the rule finds in a load; of several generators, the gravest of what it finds in their parts, and
    on the server's machine, where it looks at that too."""
    if not (rule.by_generator and load.parts):
        return rule.check(load, thresholds)
    parts = (replace(part, of_run=load.of_run) for part in load.parts)
    hits = [
        structs.replace(hit, evidence=f"generator {seen.node}: {hit.evidence}")
        for seen, part in zip(load.generators, parts, strict=True)
        if (hit := rule.check(part, thresholds)) is not None
    ]
    alone = structs.replace(load.measured, workers=())
    if rule.of_server_too and (hit := rule.check(replace(load, measured=alone), thresholds)) is not None:
        hits.append(structs.replace(hit, evidence=f"the server's machine: {hit.evidence}"))
    return max(hits, key=lambda hit: (GRAVEST[hit.severity], hit.gravity), default=None)


def hit_in_search(rule: LoadRule, load: Load, thresholds: Thresholds) -> Hit | None:
    """As `hit_of`; in a search for a capacity what is found takes nothing away where it does not bear on the
    answer: of a trial that missed, or what makes times longer where the objective held all the same."""
    hit = hit_of(rule, load, thresholds)
    of_run = load.of_run
    if hit is None or of_run is None or not (of_run.missed or (of_run.of_a_search and rule.lengthens)):
        return hit
    return structs.replace(hit, severity="warning", effects=NONE) if hit.severity == "error" else hit
