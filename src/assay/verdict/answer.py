"""What a comparison has come to: from the run's record alone, at any time while it runs and after.

The best is the candidate that serves the most, of those whose throughput is a result. Each other is paired
with it by block, and each ratio has an interval that may be looked at after every block
(`assay.stats.sequential`), at the error per pair that keeps 3 % over all pairs. Of several candidates those
that are told from the best have no part in the next block (`assay.stats.ranking`); where all are to be
ranked, those that are told from every other.

As a gate it says whether the second candidate is slower than the first by more than is allowed. The limit is
held as `assay compare` holds it, against the interval that may be looked at after every block; each end of
that errs in 3 % of runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations
from typing import Literal

import msgspec

from assay.model.design import ComparisonDesign
from assay.model.estimate import Estimate, Limit
from assay.model.finding import Finding
from assay.model.run import Run
from assay.model.trial import Case
from assay.stats.estimates import Held, check_limit
from assay.stats.pairing import settled
from assay.stats.ranking import implied, taking_part
from assay.stats.sequential import MINIMUM_EFFECT, blocks_to_settle, detectable_by_now
from assay.verdict.effects import void_by, widest
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.judge import find
from assay.verdict.pairs import Between, pair_of
from assay.verdict.rules.design import D1
from assay.verdict.rules.slices import T1, T2, T6
from assay.verdict.rules.trials import T4
from assay.verdict.see_runs import even_load_ns, load_ns, see_rates


def blocks_needed(seen: RunSeen, found: Between, margin: float, bias: float, edge: float = 1.0) -> int | None:
    """How many blocks would probably tell the ratio from `edge`, or exclude a difference of `margin`; None
    where that cannot be told.

    Servers that stand are compared by batches of their rounds: there it is as many blocks as hold those.
    """
    if found.pair is None:
        return None
    logs = [log - math.log(edge) for log in found.pair.logs]
    values = blocks_to_settle(logs, margin, seen.half_width, bias, MINIMUM_EFFECT if edge == 1.0 else 0.0)
    if values is None or not found.pair.batches:
        return values
    return math.ceil(values * seen.blocks / len(logs))


Outcome = Held | Literal["invalid", "not measured"]


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What the limit came to. `ratio` is head/base with the ends that are known; `blocks_needed` would
    probably decide."""

    base: Case
    head: Case
    allowed: float
    outcome: Outcome
    ratio: Estimate | None = None
    blocks_needed: int | None = None
    limits: tuple[Limit, ...] = ()
    void: tuple[str, ...] = ()

    @property
    def decided(self) -> bool:
        """Whether more blocks would be for nothing."""
        return self.outcome in ("kept", "broken")


def gate_of(seen: RunSeen, findings: Sequence[Finding], allowed: float) -> Gate:
    """The gate as it stands after the trials so far."""
    base, head = [one for one in seen.cases if one.candidate][:2]
    gate = partial(Gate, base=base.case, head=head.case, allowed=allowed)
    if not (base.answered and head.answered):
        return gate(outcome="not measured")
    found = pair_of(seen, findings, head, base, one_sided_ends=True)
    if found.void:
        return gate(outcome="invalid", void=found.void)
    edge = 1 - allowed
    ratio, wider = found.bounded, widest(findings, base.case.id, head.case.id)
    return gate(
        outcome=check_limit(ratio, edge, more_is_better=True),
        ratio=ratio,
        blocks_needed=None if found.limits else blocks_needed(seen, found, 0.0, wider, edge),
        limits=found.limits,
    )


@dataclass(frozen=True, kw_only=True)
class CandidateRatio:
    """One against another: `ratio` is `first`/`other`, with the ends that are known after `limits`.

    `void` names the rules that forbid the comparison. `batches` of rounds are what the interval is made of
    where the servers stand. `whole`, `between`, `margin` and `wider` are what forecasts are made from when
    they are asked for: each takes longer than all the rest.
    """

    first: Case
    other: Case
    ratio: Estimate | None
    settled: Literal["different", "alike"] | None
    batches: int | None = None
    limits: tuple[Limit, ...] = ()
    void: tuple[str, ...] = ()
    whole: RunSeen = field(repr=False)
    between: Between = field(repr=False)
    margin: float
    wider: float

    @cached_property
    def detectable(self) -> float | None:
        """The ratio that this run would have shown."""
        logs = self.between.pair.logs if self.between.pair else ()
        return detectable_by_now(logs, self.whole.half_width(len(logs)), bias=self.wider)

    @cached_property
    def blocks_needed(self) -> int | None:
        """How many blocks would probably settle it."""
        return blocks_needed(self.whole, self.between, self.margin, self.wider)

    @property
    def order(self) -> tuple[str, str]:
        """The faster and the slower by what was measured."""
        names = self.first.id, self.other.id
        return names if self.ratio is None or self.ratio.value >= 1 else names[::-1]


class ComparisonAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison as it stands. `best` is None where fewer than two candidates were measured; `pairs` are
    those of it and each other, and `open` all whose order is asked for and not known yet. `gate` is
    what a limit came to, where one was set. `undecided` are the cases that the next block has, with an A/A
    control where it has the case; `even_load_s` is the load that the blocks would be with all in each."""

    best: Case | None
    pairs: tuple[CandidateRatio, ...]
    unmeasured: tuple[Case, ...]
    blocks: int
    load_s: float
    even_load_s: float
    margin: float
    undecided: frozenset[str] = frozenset()
    gate: Gate | None = None
    open: tuple[CandidateRatio, ...] = ()

    @property
    def open_beside(self) -> tuple[CandidateRatio, ...]:
        """The open ones that the best is not in."""
        return tuple(pair for pair in self.open if pair.first != self.best)

    @property
    def settled(self) -> bool:
        """Whether every question is answered; of a gate the one that it asks."""
        if self.gate is not None:
            return self.gate.decided
        return bool(self.pairs) and not self.open


def answer(run: Run) -> ComparisonAnswer:
    """The answer of the trials so far; with what was found about them, where they have been judged."""
    seen = see_rates(run)
    # What is found so far of that which moves the ends of ratios: it would reopen at the end what had seemed
    # settled, with budget left to settle it.
    findings = run.judgement.findings if run.judgement else find(seen, (D1, T1, T2, T4, T6))
    candidates = [one for one in seen.cases if one.candidate]
    measured = [one for one in candidates if one.answered]
    assert isinstance(run.header.design, ComparisonDesign)  # the caller chose it for that
    margin, allowed = run.header.design.margin, run.header.design.slower_allowed
    best, pairs, between = None, [], []
    if len(measured) > 1:
        # The fastest of those whose throughput is a result: nothing can be compared with another.
        valid = [one for one in measured if not void_by(findings, one.case.id)]
        first = max(valid or measured, key=lambda one: seen.levels.get(one.case.id, -math.inf))
        best, others = first.case, [one for one in measured if one is not first]
        pairs = [_pair(seen, findings, first, other, margin) for other in others]
        if run.header.design.rank_all:
            between = [_pair(seen, findings, *two, margin) for two in combinations(others, 2)]
    known = implied([pair.order for pair in (*pairs, *between) if pair.settled == "different"])
    # The best's are asked for themselves: each is told with its own ratio.
    asked = (*pairs, *(pair for pair in between if pair.order not in known))
    open_ = tuple(pair for pair in asked if pair.settled is None)
    unmeasured = tuple(one.case for one in candidates if one not in measured)
    return ComparisonAnswer(
        best=best,
        pairs=tuple(pairs),
        unmeasured=unmeasured,
        blocks=seen.blocks,
        load_s=load_ns(run) / 1e9,
        even_load_s=even_load_ns(run) / 1e9,
        margin=margin,
        undecided=_undecided(seen, open_, unmeasured),
        open=open_,
        gate=None if allowed is None else gate_of(seen, findings, allowed),
    )


def _undecided(seen: RunSeen, open_: Sequence[CandidateRatio], unmeasured: Sequence[Case]) -> frozenset[str]:
    """The cases that the next block has."""
    candidates = [one.case.id for one in seen.cases if one.candidate]
    left = [(pair.first.id, pair.other.id) for pair in open_]
    asked = taking_part(candidates, left if seen.leaving else (), [one.id for one in unmeasured])
    return frozenset(one.case.id for one in seen.cases if (one.case.control_of or one.case.id) in asked)


def _pair(
    seen: RunSeen, findings: Sequence[Finding], first: CaseSeen, other: CaseSeen, margin: float
) -> CandidateRatio:
    found, wider = pair_of(seen, findings, first, other), widest(findings, first.case.id, other.case.id)
    return CandidateRatio(
        first=first.case,
        other=other.case,
        ratio=found.bounded,
        settled=settled(found.pair, margin),
        batches=len(found.pair.logs) if found.pair and found.pair.batches else None,
        limits=found.limits,
        void=found.void,
        whole=seen,
        between=found,
        margin=margin,
        wider=wider,
    )
