"""`Estimate`: a published number. No interval, no claim."""

from __future__ import annotations

from typing import Literal

from assay.values.plan import Value


class Estimate(Value, frozen=True, kw_only=True):
    """`value` with its 95 % interval [`low`, `high`] from `n` replications (trials).

    `low` and `high` are None where `n` cannot support an interval; one of them alone is None where
    the value is known from one side only. `method` names how it
    was made (for example "t interval on trial means"); `unit` is the field's own unit
    ("req/s", "ns", "ratio", "bytes").
    """

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str
    method: str


class Ranked(Value, frozen=True, kw_only=True):
    """A case's place among the cases of its workload and load.

    `tier` counts from 1 and is shared by cases that cannot be told apart; None where the case
    may not be ranked, with the `reason`. `throughput` is None where no trial was measured.
    `withheld` marks a throughput that is no result. `relative_to_best` is this case divided by
    the best candidate, paired by block; None where that comparison is withheld.
    """

    case: str
    tier: int | None
    throughput: Estimate | None
    relative_to_best: Estimate | None
    reason: str = ""
    withheld: bool = False


Verdict = Literal["supported", "contradicted", "inconclusive"]


class ClaimVerdict(Value, frozen=True, kw_only=True):
    """A published claim against what was measured.

    A claim of several comparisons has a part for each, whose `statement` names the pair, and no ratio
    of its own; one of a single comparison has no parts.
    """

    claim: str
    statement: str
    verdict: Verdict
    published_ratio: float | None
    measured: Estimate | None
    reason: str
    parts: tuple[ClaimVerdict, ...] = ()
