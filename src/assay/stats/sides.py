"""One case as a side of a comparison, and the log ratios that two of them have in common."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from assay.model.estimate import Estimate
from assay.stats.interleaved import Batches, Rounds, batched, ratio_by_round, unpreempted
from assay.stats.sequential import Blocks


class Slack(NamedTuple):
    """The truth lies between `down` and `up` times what was measured.

    0 is no bound from below, infinity none from above.
    """

    down: float = 1.0
    up: float = 1.0

    def joined(self, other: Slack) -> Slack:
        """What is left where both hold: the truth may lie off in either way."""
        return Slack(min(self.down, other.down), max(self.up, other.up))

    def over(self, other: Slack) -> Slack:
        """The slack of a ratio of two figures."""
        low = self.down / other.up if math.isfinite(other.up) else 0.0
        high = self.up / other.down if other.down > 0 else math.inf
        return Slack(low, high)


EXACT = Slack()
ABOVE = Slack(1.0, math.inf)
"""Known from below only."""
BELOW = Slack(0.0, 1.0)
"""Known from above only."""


class Side(msgspec.Struct, frozen=True):
    """One case: one value for each block, and their slack. `estimate` is a figure that a whole search found,
    in place of values a block.

    `rounds` are the rates slice by slice of the blocks that were interleaved, of the `trimmed` four fifths of
    slices where their begin is left out; `delays` are how much of a core the client lacked in each, where no
    server can have had a hand in it. An `external` server was restarted by nobody: all its blocks are one.
    Values may be means over several `arms` of one server.
    """

    values: Blocks
    slack: Slack = EXACT
    estimate: Estimate | None = None
    rounds: Mapping[int, Rounds] = msgspec.field(default_factory=dict)
    delays: Mapping[int, Rounds] = msgspec.field(default_factory=dict)
    external: bool = False
    trimmed: bool = False
    arms: int = 1

    def with_control(self, again: Side) -> Side:
        """The case and its A/A control as one: in every block and round of both the mean of the two."""
        blocks = self.values.keys() & again.values.keys()
        values = {block: math.sqrt(self.values[block] * again.values[block]) for block in blocks}
        return replace(
            self,
            values={**self.values, **values},
            slack=self.slack.joined(again.slack),
            rounds=_merged(self.rounds, again.rounds, lambda one, other: (one + other) / 2),
            delays=_merged(self.delays, again.delays, max),
            external=self.external and again.external,
            arms=self.arms + again.arms,
        )


def _merged(
    a: Mapping[int, Rounds], b: Mapping[int, Rounds], of: Callable[[float, float], float]
) -> dict[int, Rounds]:
    """By block and round that both have; of a block that only `a` has, its own."""
    return {
        block: {at: of(rate, b[block][at]) for at, rate in rounds.items() if at in b[block]}
        if block in b
        else rounds
        for block, rounds in a.items()
    }


def paired_logs(a: Side, b: Side) -> list[float]:
    """ln(a/b) of each block that has a value of both, in their order; of servers that stand, of the batches
    of their one long block."""
    if stand(a, b):
        found = batches_of(a, b)
        return list(found.means) if found else []
    return list(logs_by_block(a, b).values())


def logs_by_block(a: Side, b: Side) -> dict[int, float]:
    """ln(a/b) of each block that has a value of both; of one that was an interleaved block of both, of their
    totals in the rounds that both had."""
    rows, calm = round_logs(a, b), unpreempted(a.delays, b.delays) or {}
    common = sorted(block for block in a.values.keys() & b.values.keys() if a.values[block] > 0)
    return {
        block: statistics.fmean(rows[block])
        if rows.get(block)
        else math.log(a.values[block] / b.values[block])
        for block in common
        if b.values[block] > 0 and calm.get(block) != []
    }


def in_common(sides: Sequence[Side]) -> list[dict[int, float]]:
    """By block the logarithm of each side over the first of them that is in the block: what is left where
    what a block did to all of them does not count."""
    first: dict[int, int] = {}
    for place, side in enumerate(sides):
        for block, value in side.values.items():
            if value > 0:
                first.setdefault(block, place)
    rows = []
    for side in sides:
        over = {place: logs_by_block(side, sides[place]) for place in set(first.values())}
        rows.append(
            {
                block: over[first[block]][block]
                for block in side.values
                if block in first and block in over[first[block]]
            }
        )
    return rows


def stand(a: Side, b: Side) -> bool:
    """Whether nobody restarted either, so that all their blocks are one."""
    return a.external and b.external and bool(a.rounds) and bool(b.rounds)


def batches_of(a: Side, b: Side) -> Batches | None:
    """The rounds of both as batches; None of too few."""
    rows = round_logs(a, b)
    return batched([log for block in sorted(rows) for log in rows[block]])


def round_logs(a: Side, b: Side) -> dict[int, list[float]]:
    """By block of both, its log ratio taken apart by rounds: it is their mean (`ratio_by_round`).

    Rounds that were preempted are left out (`unpreempted`), and blocks that have too few others.
    """
    calm = unpreempted(a.delays, b.delays) or {}
    found = {
        block: ratio_by_round(*(_of_these(side.rounds[block], calm.get(block)) for side in (a, b)))
        for block in a.rounds
        if block in b.rounds
    }
    return {block: logs for block, logs in found.items() if logs}


def _of_these(rounds: Rounds, kept: Collection[int] | None) -> Rounds:
    return rounds if kept is None else {number: rate for number, rate in rounds.items() if number in kept}


def left_out(a: Side, b: Side) -> float:
    """The share of the rounds of both that their ratio leaves out, as they were preempted."""
    calm = unpreempted(a.delays, b.delays)
    if calm is None:
        return 0.0
    return 1 - sum(map(len, calm.values())) / sum(
        len(a.delays[one].keys() & b.delays[one].keys()) for one in calm
    )
