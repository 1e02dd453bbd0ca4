"""What a comparison has come to: from the run's record alone, at any time while it runs and after.

The best is the rival with the highest geometric mean of throughput. Each other is paired with it by
block, and each ratio has an interval that may be looked at after every block (`assay.stats.sequential`),
at the error per pair that keeps 5 % over all pairs.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Literal

from assay.stats import by_block, log_ratios
from assay.stats.sequential import (
    always_valid_ratio,
    blocks_to_settle,
    detectable_by_now,
    per_pair,
    settled,
)
from assay.values.design import ContestDesign
from assay.values.estimate import Estimate
from assay.values.run import Run
from assay.values.trial import Case
from assay.verdict.ranking import noise_floor
from assay.verdict.seen import CaseSeen, RunSeen


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The best against one other: `ratio` is best/other. `detectable` is the ratio that this run would
    have shown, `blocks_needed` how many blocks would probably settle it."""

    other: Case
    ratio: Estimate | None
    outcome: Literal["different", "alike"] | None
    detectable: float | None
    blocks_needed: int | None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The comparison as it stands. `best` is None where fewer than two rivals were measured."""

    best: Case | None
    pairs: tuple[Pair, ...]
    unmeasured: tuple[Case, ...]
    blocks: int
    load_s: float
    sought: float

    @property
    def settled(self) -> bool:
        """Whether every question is answered."""
        return bool(self.pairs) and all(pair.outcome for pair in self.pairs)


def answer(run: Run) -> Answer:
    """The answer of the trials so far."""
    rivals = [case for case in run.header.cases if case.role == "candidate"]
    rates = {case.id: by_block(trial for trial in run.trials if trial.case == case.id) for case in rivals}
    measured = [case for case in rivals if any(rate > 0 for rate in rates[case.id].values())]
    assert isinstance(run.header.design, ContestDesign)  # the caller chose it for that
    sought = run.header.design.sought
    best, pairs = None, []
    if len(measured) > 1:
        best = max(measured, key=lambda case: _geometric(rates[case.id]))
        floor, alpha = floor_of(run), per_pair(len(measured))
        for other in measured:
            if other is not best:
                logs = log_ratios(rates[best.id], rates[other.id])
                pairs.append(_pair(other, logs, sought, floor, alpha))
    blocks = {trial.block for trial in run.trials}
    return Answer(
        best=best,
        pairs=tuple(pairs),
        unmeasured=tuple(case for case in rivals if case not in measured),
        blocks=len(blocks),
        load_s=load_ns(run) / 1e9,
        sought=sought,
    )


def load_ns(run: Run) -> int:
    """For how long load was offered, warm-ups included."""
    return sum(
        trial.measurement.warmup_ns + trial.measurement.measured_ns
        for trial in run.trials
        if trial.measurement
    )


def floor_of(run: Run) -> float:
    """The effect below which nothing is claimed: 1 %, or the A/A control's half-width if that is more."""
    cases = run.header.cases
    trials = {case.id: tuple(trial for trial in run.trials if trial.case == case.id) for case in cases}
    return noise_floor(RunSeen(run.header, tuple(CaseSeen(case, trials[case.id], ()) for case in cases)))


def _pair(other: Case, logs: list[float], sought: float, floor: float, alpha: float) -> Pair:
    return Pair(
        other=other,
        ratio=always_valid_ratio(logs, alpha),
        outcome=settled(logs, sought, floor, alpha),
        detectable=detectable_by_now(logs, floor, alpha),
        blocks_needed=blocks_to_settle(logs, sought, alpha),
    )


def _geometric(rates: dict[int, float]) -> float:
    return statistics.geometric_mean([rate for rate in rates.values() if rate > 0])
