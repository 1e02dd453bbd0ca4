"""A case and a run as the rules look at them; `assay.verdict.see_runs` makes these from a record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import cached_property

import msgspec

from assay.model.block import Block
from assay.model.design import ComparisonDesign
from assay.model.estimate import Estimate
from assay.model.run import Header
from assay.model.trial import Case, Trial
from assay.stats import by_block, pairing
from assay.stats.interleaved import Rounds
from assay.stats.pairing import ALPHA, Manner, pair
from assay.stats.ranking import FEWEST
from assay.stats.scatter import Pool, Row, fitted, pool
from assay.stats.sequential import LEAST_BLOCKS, last_level, per_pair
from assay.stats.sides import EXACT, Side, Slack, in_common
from assay.verdict.bottleneck import shares_of
from assay.verdict.load import Load


class CaseSeen(msgspec.Struct, frozen=True, dict=True):
    """A case with its trials that were measured (`loads`, in the same order) and all that were tried.

    Of a search they are the trials in which its objective held, `missed` are the loads of the others, and
    `capacity` is what it found. `unlike`: it
    were interleaved with other programs, whose begins after a switch cost more or less than its own. `delays`
    are how much of a core the client lacked in each round, by block, where no server can have had a hand in
    it. `control` is the same server once more, for the A/A comparison.
    """

    case: Case
    trials: tuple[Trial, ...]
    loads: tuple[Load, ...]
    capacity: Estimate | None = None
    unlike: bool = False
    delays: Mapping[int, Rounds] = msgspec.field(default_factory=dict)
    missed: tuple[Load, ...] = ()
    control: CaseSeen | None = None

    @property
    def name(self) -> str:
        """What a reader knows it by; with its workload and load where the study has several."""
        return self.case.name

    @property
    def measured(self) -> tuple[Trial, ...]:
        """The trials that have a measurement."""
        return tuple(trial for trial in self.trials if trial.measurement is not None)

    @cached_property
    def throughput_by_block(self) -> dict[int, float]:
        """One throughput a block; none of a search, whose rates are asked, not found."""
        return {} if self.case.search else by_block(self.trials)

    @property
    def answered(self) -> bool:
        """Whether any of its loads got an answer that counts."""
        return any(rate > 0 for rate in self.throughput_by_block.values())

    @property
    def interleaved(self) -> bool:
        """Whether its trials were interleaved with those of others."""
        return any(trial.arm for trial in self.measured)

    def side(self, slack: Slack = EXACT, *, later: bool = False) -> Side:
        """Its throughput as one side of a pair: block by block, and slice by slice where it were interleaved,
        or by the trimmed four fifths of its slices, as it always is among unlike programs."""
        later = later or self.unlike
        arms = {trial.block: trial.arm for trial in self.measured if trial.arm}
        rounds = {block: arm.later_rounds if later else arm.rounds for block, arm in arms.items()}
        return Side(
            self.throughput_by_block,
            slack,
            rounds={} if self.case.search else rounds,
            delays=self.delays,
            external=bool(arms) and all(arm.external for arm in arms.values()),
            trimmed=later,
        )

    @property
    def candidate(self) -> bool:
        """Whether the case takes part in rankings and comparisons."""
        return self.case.role == "candidate"

    @property
    def closed(self) -> bool:
        """Whether its loads are closed loops: throughput is found, not offered."""
        return bool(self.loads) and all(load.closed for load in self.loads)

    @property
    def server_busy_share(self) -> float | None:
        """Mean busy share of the server's cores; None where no load knows it, or it burns them idly."""
        shares = [share for load in self.loads if (share := shares_of(load).works) is not None]
        return sum(shares) / len(shares) if shares else None

    @property
    def group(self) -> tuple[str, str]:
        """Cases are compared within one workload and load."""
        return (self.case.workload, self.case.load)


class RunSeen(msgspec.Struct, frozen=True, dict=True):
    """A run, its trials sorted by case in the header's order, and its interleaved blocks. `damage` says what
    its record has lost. `budget_used`: of a comparison, the share of its budget after each block. `void` are
    the cases whose throughput is no result, for the rules that are asked last."""

    header: Header
    cases: tuple[CaseSeen, ...]
    damage: tuple[str, ...] = ()
    interleaved: tuple[Block, ...] = ()
    budget_used: tuple[float, ...] = ()
    void: frozenset[str] = frozenset()

    @property
    def groups(self) -> dict[tuple[str, str], tuple[CaseSeen, ...]]:
        """The cases by workload and load, in the header's order."""
        groups: dict[tuple[str, str], tuple[CaseSeen, ...]] = {}
        for case in self.cases:
            groups[case.group] = (*groups.get(case.group, ()), case)
        return groups

    @property
    def manner(self) -> Manner:
        """How its cases are paired: with the interval that allows for looking, if the run ended by it."""
        return "looked at" if self.header.blocks is None else "paired"

    @cached_property
    def blocks(self) -> int:
        """How many blocks have been tried."""
        return len({trial.block for seen in self.cases for trial in seen.trials})

    @cached_property
    def alpha(self) -> float:
        """The error that the interval of a pair is allowed: where a run ends when it is settled, so much that
        all its pairs together keep 3 %.

        All candidates that were measured are compared, also those that a rule makes void: what was found
        later must not choose how wide an interval is.
        """
        if self.header.blocks is not None:
            return ALPHA
        return per_pair(sum(seen.candidate and seen.answered for seen in self.cases))

    @property
    def leaving(self) -> bool:
        """Whether its blocks may lack servers: interleaved ones of a comparison of more than two, of which
        decided ones leave."""
        compared = isinstance(self.header.design, ComparisonDesign) and bool(self.interleaved)
        return compared and sum(seen.candidate for seen in self.cases) > FEWEST

    def budget_shares(self, a: CaseSeen, b: CaseSeen) -> tuple[float, ...]:
        """The share of the budget that was used after each block of both: by when a pair spends its error.

        Where others may leave, it is the share that the two have used themselves, of blocks that both had.
        How much of the budget a pair has used otherwise depends on what was seen of the others, and so of the
        two; what these alone have used depends on lengths of time, and on how many blocks they had.
        """
        design = self.header.design
        if not self.leaving or not isinstance(design, ComparisonDesign):
            return self.budget_used
        both = a.throughput_by_block.keys() & b.throughput_by_block.keys()
        own = {a.case.id, b.case.id}
        load: dict[int, int] = dict.fromkeys(sorted(both), 0)
        for seen in self.cases:
            for trial in seen.trials if own & {seen.case.id, seen.case.control_of} else ():
                if trial.block in load:
                    load[trial.block] += trial.load_ns
        used = list(itertools.accumulate(load.values()))
        return tuple(min(1.0, one / (design.budget_ns or used[-1] or 1)) for one in used)

    def half_width(self, n: int) -> float | None:
        """The half-width in deviations of an interval of n blocks, where the run ends with them. A pair of
        several has spent about the root of its part of the budget."""
        if self.manner == "paired":
            return pairing.half_width(n, self.alpha)
        spent = math.sqrt(FEWEST / len(self.cases)) if self.leaving else 1.0
        return pairing.half_width(n, last_level(n, spent * self.alpha))

    def ratio(self, a: CaseSeen, b: CaseSeen) -> Estimate | None:
        """Throughput of a over that of b as measured, whatever was found about them."""
        made = pair(a.side(), b.side(), manner=self.manner, looks=self.budget_shares(a, b))
        return made.ratio if made else None

    @cached_property
    def _rows(self) -> dict[tuple[str, str], dict[str, Row]]:
        """By workload and load, the logarithms of its servers by case and block, but for what a block did to
        all of them."""
        found: dict[tuple[str, str], dict[str, Row]] = {}
        for group, cases in self.groups.items():
            told = [one for one in cases if one.case.role in ("candidate", "control") and one.answered]
            rows = in_common([one.side() for one in told])
            found[group] = {one.case.id: row for one, row in zip(told, rows, strict=True) if row}
        return found

    @cached_property
    def levels(self) -> dict[str, float]:
        """How much each candidate serves, as a logarithm that compares with those of its workload and load:
        also where some were in blocks that others were not in."""
        found: dict[str, float] = {}
        for rows in self._rows.values():
            found |= zip(rows, fitted(tuple(rows.values())).levels, strict=True)
        return found

    @cached_property
    def pools(self) -> dict[tuple[str, str], Pool | None]:
        """By workload and load, what its servers' blocks say together of how they scatter; where blocks are
        interleaved ones of builds of one program, all as much."""
        return {group: self._pool(rows) for group, rows in self._rows.items()}

    def _pool(self, rows: Mapping[str, Row]) -> Pool | None:
        sides = [seen.side() for seen in self.cases if seen.case.id in rows]
        if any(side.external for side in sides):
            return None
        alike = all(side.rounds for side in sides) and not self.header.design.unlike
        return pool(tuple(rows.values()), alike=alike)

    @cached_property
    def controls(self) -> dict[str, Estimate]:
        """The ratio of each A/A control to the case it repeats, by the control's id."""
        ratios = {}
        for seen in self.cases:
            original = self.find(seen.case.control_of) if seen.case.control_of else None
            ratio = original and self.ratio(seen, original)
            if ratio and ratio.n >= LEAST_BLOCKS:
                ratios[seen.case.id] = ratio
        return ratios

    def find(self, case_id: str) -> CaseSeen | None:
        """The case of that id."""
        return next((case for case in self.cases if case.case.id == case_id), None)
