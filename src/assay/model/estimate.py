"""`Estimate`: a published number. No interval, no claim."""

from __future__ import annotations

from typing import Literal

from assay.model.plan import Value


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


class Limit(Value, frozen=True, kw_only=True):
    """Why a figure is known from one side only: the rule that found it, and the reason in a few words."""

    code: str
    words: str


class Known(Value, frozen=True, kw_only=True):
    """What is known of a figure: that it lies within [`low`, `high`]; an end that is None is open.

    Without `limits` these are the ends of its interval. Each limit has moved or opened an end.
    """

    low: float | None
    high: float | None
    limits: tuple[Limit, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError where the ends cross: nothing lies between them, so one of the two is wrong."""
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(
                f"the ends of what is known cross: at least {self.low:g} and at most {self.high:g}"
            )


class Ranked(Value, frozen=True, kw_only=True):
    """A case's place among the cases of its workload and load.

    `rank` counts from 1 and is shared by cases of which none is shown faster; None where the case
    has no place, with the `reason`. `throughput` is what was measured; None where no trial was. `known`
    is what that lets one say of the truth. `invalid` marks a throughput that is no result.
    `relative_to_best` is this case divided by the best candidate, paired by block, with the ends that are
    known; None where that comparison is void.
    """

    case: str
    rank: int | None
    throughput: Estimate | None
    relative_to_best: Estimate | None
    reason: str = ""
    invalid: bool = False
    known: Known | None = None


class Compared(Value, frozen=True, kw_only=True):
    """Two cases of one workload and load. `ratio` is the throughput of `a` over that of `b` as measured,
    with its interval; `known` is what is left of it after every finding. `shown` says whether a is shown
    faster; pairs stand with the one that was measured faster first. `void` names the rules that forbid
    the comparison: then there is no ratio.
    """

    a: str
    b: str
    ratio: Estimate | None
    known: Known | None
    shown: bool = False
    void: tuple[str, ...] = ()


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
