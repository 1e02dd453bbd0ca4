"""A comparison as a gate: is the second candidate slower than the first by more than is allowed?

The limit is held as `assay compare` holds it, against the interval that may be looked at after every block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.model.estimate import Estimate, Limit
from assay.model.finding import Finding
from assay.model.trial import Case
from assay.stats.ranking import Held, check_limit
from assay.verdict.effects import widest
from assay.verdict.facts import RunSeen
from assay.verdict.needed import blocks_needed
from assay.verdict.pairs import pair_of

Outcome = Held | Literal["withheld", "not measured"]


@dataclass(frozen=True, kw_only=True)
class Gate:
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
    if not (base.answered and head.answered):
        return Gate(base=base.case, head=head.case, allowed=allowed, outcome="not measured")
    found = pair_of(seen, findings, head, base)
    if found.void:
        return Gate(base=base.case, head=head.case, allowed=allowed, outcome="withheld", void=found.void)
    edge = 1 - allowed
    ratio, wider = found.bounded, widest(findings, base.case.id, head.case.id)
    return Gate(
        base=base.case,
        head=head.case,
        allowed=allowed,
        outcome=check_limit(ratio, edge, more_is_better=True),
        ratio=ratio,
        blocks_needed=None if found.limits else blocks_needed(seen, found, 0.0, wider, edge),
        limits=found.limits,
    )
