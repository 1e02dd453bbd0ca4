"""Blocks: servers that are alive at once and loaded in slices, slice by slice.

In each round every server has one slice. Slices of one round lie within a second of each other, so what
the machine does to one it does to the other, and it cancels in their ratio. An interleaved block's log ratio
is that of totals: of what each served in all rounds that both had,

    ln(sum of a's answers / their time) - ln(sum of b's answers / their time)

A server that stops for 200 ms in one of forty slices of 250 ms serves 2 % less, and that is what this says.
The mean of the rounds' own log ratios would say 4 %, as ln grows without bound towards 0, and nothing at all
of a stop that takes a whole slice: ln 0 has to be left out, and is left out in favour of who stopped.

How sure it is, the rounds tell: to first order (a's answers over their mean, less b's over theirs) is by how
much one of them pulls at the ratio. Their mean is 0, and what a round did to both cancels in each.

The block is the unit of replication: its slices share their processes, and to count them as samples
would be pseudo-replication (Hurlbert 1984). The interval comes from the blocks (`assay.stats.pairing`);
the spread within blocks is reported beside the spread between them, as it says whether longer blocks
or more of them would help (Kalibera, Jones, *Rigorous benchmarking in reasonable time*).

Servers that nobody restarts are interleaved in one long block. Then there is nothing but its rounds, and
neighbouring rounds depend on each other; their means over batches, long enough that the batches do
not, are what an interval can be made of (batch means: Law, Kelton, *Simulation modeling and analysis*).

Rounds in which nobody kept the client from its core.

Another program that comes and goes on the client's core halves what a server seems to serve for as long as
it is there, and in a round in which it comes or goes one server meets it and the other does not. For how long
the client's threads were ready to run while others had their cores the kernel counts. On cores that the
client has for itself no server can do that to it: so whatever the servers do, to leave such rounds out of
both does not choose between them.

What always waits (for the kernel's own threads, and Assay's) is in the least of a server's rounds and
disturbs none.

Carry-over: what a slice has of the slice before it (Senn, *Cross-over trials in clinical research*).

The slices of one server in one block, round by round, follow now a slice of its own, now one of another
server. With x the logarithm of its rate, x = mood + effect of what it followed + noise, and the machine's
mood moves slowly. So each slice is taken against the mean of its two neighbours, where a mood that runs
straight cancels, and the *same* is done with what the slices followed: a slice that follows its own lies
between two that do not, and without that the difference would read 1.6 times too large. The effect is the
least squares fit.

A slice is in three of those differences, with opposite signs. The error of the fit takes that into account.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

from assay.model.interleaving import Slice
from assay.stats.estimates import student_t_quantile
from assay.stats.scatter import ASSUMED, lag_one, widening
from assay.stats.sequential import LEAST_BLOCKS, most_deviation, smallest

Rounds = Mapping[int, float]
"""The rate of one server in each round of an interleaved block, by the round's number; all slices of an
interleaved block that are measured are as long as each other."""

FEWEST_ROUNDS = 4
"""With fewer the spread within an interleaved block is mostly luck."""

FEWEST_BATCHES = 8
"""The t quantile of seven degrees of freedom is within a fifth of the normal one: fewer, longer batches
would buy independence with width."""
MOST_BATCHES = 30
"""More batches narrow the interval no further, and shorter ones depend on each other more (Schmeiser)."""


def ratio_by_round(a: Rounds, b: Rounds) -> list[float]:
    """The log ratio of a's total to b's over the rounds that both had, taken apart: a value for each round,
    in their order, whose mean it is, and whose spread tells its error.

    A slice without answers counts as one. Nothing where one of them answered nothing in any.
    """
    common = sorted(a.keys() & b.keys())
    mean_a = statistics.fmean(a[round_number] for round_number in common) if common else 0.0
    mean_b = statistics.fmean(b[round_number] for round_number in common) if common else 0.0
    if mean_a <= 0 or mean_b <= 0:
        return []
    whole = math.log(mean_a / mean_b)
    return [whole + (a[round_number] / mean_a - b[round_number] / mean_b) for round_number in common]


class Batches(NamedTuple):
    """Means of successive rounds: `size` of them each, `correlation` is that of neighbouring means."""

    means: tuple[float, ...]
    size: int
    correlation: float

    @property
    def independent(self) -> bool:
        """Whether neighbouring batches are not shown to depend on each other (one-sided, 1 in 10)."""
        return self.correlation <= 1.28 / math.sqrt(len(self.means))

    @property
    def widening(self) -> float:
        """By how much more the mean of all scatters than that of as many independent ones."""
        return 1.0 if self.independent else widening(self.correlation)


def batched(logs: Sequence[float]) -> Batches | None:
    """The rounds of one long block as batches: the most of which neighbours do not depend on each other.

    None with too few rounds for the fewest batches. Where no size makes them independent, the fewest batches
    with the correlation that is left, by which their interval is to be widened.
    """
    if len(logs) < FEWEST_BATCHES:
        return None
    number = min(MOST_BATCHES, len(logs))
    while True:
        made = _batches(logs, number)
        if made.independent or number == FEWEST_BATCHES:
            return made
        number = max(FEWEST_BATCHES, number // 2)


def _batches(logs: Sequence[float], number: int) -> Batches:
    size = len(logs) // number
    begin = len(logs) - size * number  # what does not fill a batch is left out where servers are coldest
    means = [statistics.fmean(logs[at : at + size]) for at in range(begin, len(logs), size)]
    return Batches(tuple(means), size, lag_one(means))


def beyond_chance(errors: float, degrees: float, looks: int) -> float:
    """How many standard errors from nought are as unlikely in any of so many looks as `errors` are in a
    single one at a deviation that is well known.

    A deviation known from few values has Student's t distribution, whose tails are long: 3 becomes 4.5 with
    seven degrees of freedom, and 6.7 where the largest of twelve is looked for (Bonferroni).
    """
    return student_t_quantile(degrees, 1 - NormalDist().cdf(-errors) / looks)


class Excess(NamedTuple):
    """By how much (a log ratio) slices begin faster than they go on, its standard error, and their number."""

    mean: float
    error: float
    slices: int


def early_excess(slices: Sequence[Slice]) -> Excess | None:
    """The first fifth of measured slices against the rest; None where they are too few, or hold too little.

    A server whose caches went cold, or whose queue has to fill again, begins slower than it goes on; one
    that rested (a credit of CPU time, an empty collector) faster.
    """
    logs = []
    for one in slices:
        rest = one.completed - one.early_completed
        if one.phase == "measured" and one.early_completed > 0 and rest > 0:
            logs.append(math.log(4 * one.early_completed / rest))
    if len(logs) < FEWEST_ROUNDS:
        return None
    return Excess(statistics.fmean(logs), error_of_mean(logs), len(logs))


class Spread(NamedTuple):
    """How log ratios of two servers scatter: `within` is the deviation of one round (`ratio_by_round`) about
    its block, widened by what neighbours share; `between` that of the blocks beyond what rounds explain.

    `rounds` is how many an interleaved block has, in the middle.
    """

    within: float
    between: float
    rounds: int
    blocks: int

    def deviation(self, rounds: int) -> float:
        """The deviation to be expected of the log ratio of an interleaved block of so many rounds."""
        return math.hypot(self.between, self.within / math.sqrt(rounds))


def spread(blocks: Sequence[Sequence[float]]) -> Spread | None:
    """The spread of rounds' log ratios, a row for each block; None with fewer than two rows to tell by."""
    whole = [logs for logs in blocks if len(logs) >= FEWEST_ROUNDS]
    if len(whole) < 2:
        return None
    rounds = round(statistics.median(len(logs) for logs in whole))
    within_squared = statistics.fmean(_inflated_variance(logs) for logs in whole)
    of_means = statistics.variance([statistics.fmean(logs) for logs in whole])
    between_squared = max(0.0, of_means - within_squared / rounds)
    return Spread(math.sqrt(within_squared), math.sqrt(between_squared), rounds, len(whole))


def _inflated_variance(logs: Sequence[float]) -> float:
    """The variance of a round, such that over n it is that of the mean, where neighbours correlate by r."""
    return statistics.variance(logs) * widening(lag_one(logs)) ** 2


def more_needed(seen: Spread, half_width: float, factor: Callable[[int], float | None]) -> int | None:
    """With how many blocks as long as these the interval of the log ratio is at most `half_width` on each
    side in four cases of five; None where no number is enough, or so few tell none.

    `factor` gives the half-width in deviations of n blocks, None where that is infinite. How much longer
    blocks would help is not told: of so few the spread between them is known too badly.
    """
    if seen.blocks < LEAST_BLOCKS:
        return None
    deviation = widening(ASSUMED) * most_deviation(seen.deviation(seen.rounds), seen.blocks)

    def enough(blocks: int) -> bool:
        reach = factor(blocks)
        return reach is not None and reach * deviation <= half_width

    return smallest(enough)


def error_of_mean(logs: Sequence[float]) -> float:
    """Standard error of the mean of successive rounds, with what neighbours share."""
    return math.sqrt(_inflated_variance(logs) / len(logs)) if len(logs) > 1 else math.inf


PREEMPTED = 0.1
"""Of a core, beyond what a tenth of a server's rounds had no more of. Beside a program that is busy half of
the time a round lacks half of the core or next to nothing, so little hangs on it: the ratio of two builds
in 41 blocks was known to 0.29 % with a twentieth or a twelfth of a core, to 0.42 % with a fifth, to 0.51 %
by all rounds. On a machine left alone a twentieth leaves out a quarter of all rounds, and a tenth a tenth.
"""
_LEAST = 0.1
ENOUGH = 0.5
"""The share of blocks that must have enough rounds left; else the disturbance is how the machine is, and
all rounds count."""


def unpreempted(a: Mapping[int, Rounds], b: Mapping[int, Rounds]) -> dict[int, list[int]] | None:
    """By block the rounds of both in which neither was preempted; none of an interleaved block that has too
    few.

    `a` and `b` are how much of a core the client lacked in each round of each block. None where nothing is
    known of that, where nothing was preempted, or where too few blocks are left.
    """
    both = [block for block in sorted(a.keys() & b.keys()) if a[block] and b[block]]
    if not both:
        return None
    most_a, most_b = _most(a), _most(b)
    calm = {
        block: [
            round_number
            for round_number in sorted(a[block].keys() & b[block].keys())
            if a[block][round_number] <= most_a and b[block][round_number] <= most_b
        ]
        for block in both
    }
    if sum(map(len, calm.values())) == sum(len(a[block].keys() & b[block].keys()) for block in both):
        return None
    left = {block: rounds if len(rounds) >= FEWEST_ROUNDS else [] for block, rounds in calm.items()}
    return left if sum(map(bool, left.values())) >= ENOUGH * len(both) else None


def _most(delays: Mapping[int, Rounds]) -> float:
    """From where on a round of this server was preempted."""
    seen = sorted(delay for rounds in delays.values() for delay in rounds.values())
    return PREEMPTED + seen[math.ceil(_LEAST * len(seen)) - 1]


_DEGREES = 18 / 35
"""Of the variance of independent values, taken from differences with both neighbours, for each of these:
neighbouring differences correlate by -2/3, the next by 1/6."""


class CarryOver(NamedTuple):
    """By how much (a logarithm) slices that follow the other's differ from those that follow their own; its
    standard error by the scatter of the slices, and the degrees of freedom by which that is known."""

    mean: float
    error: float
    degrees: float


Row = Mapping[int, float]
"""Weights of the rounds in a difference of a slice with those around it."""


def carry_over(logs: Mapping[int, float], after: Mapping[int, str], own: str, other: str) -> CarryOver | None:
    """Of the slices of `own` in one block, by round, and whose slice was before each. What follows a third
    server has an effect of its own. None where the block does not tell."""
    rounds = [round_number for round_number in sorted(logs) if round_number in after]
    known = set(rounds)
    rows: list[Row] = []
    for round_number in rounds:
        around = [near for near in (round_number - 1, round_number + 1) if near in known]
        if around:
            rows.append({round_number: 1.0, **dict.fromkeys(around, -1 / len(around))})
    shifted = _taken(rows, logs)
    others = _taken(rows, {round_number: float(after[round_number] == other) for round_number in rounds})
    thirds = _taken(
        rows, {round_number: float(after[round_number] not in (own, other)) for round_number in rounds}
    )
    power = _dot(thirds, thirds)
    shared = _dot(others, thirds) / power if power else 0.0
    apart = [one - shared * third for one, third in zip(others, thirds, strict=True)]
    told = _dot(apart, apart)
    free = len(rows) - 1 - bool(power)
    if told < 1e-9 or free < 1:
        return None
    mean = _dot(apart, shifted) / told
    left = [x - mean * one for x, one in zip(shifted, others, strict=True)]
    of_thirds = _dot(left, thirds) / power if power else 0.0
    left = [x - of_thirds * third for x, third in zip(left, thirds, strict=True)]
    noise = sum(sum(weight**2 for weight in row.values()) for row in rows)
    variance = _dot(left, left) / noise * len(rows) / free
    weights: dict[int, float] = {}
    for row, one in zip(rows, apart, strict=True):
        for round_number, weight in row.items():
            weights[round_number] = weights.get(round_number, 0.0) + weight * one / told
    error = math.sqrt(variance * sum(weight**2 for weight in weights.values()))
    return CarryOver(mean, error, max(1.0, _DEGREES * free))


def _taken(rows: Sequence[Row], values: Mapping[int, float]) -> list[float]:
    """The values as differences."""
    return [math.fsum(weight * values[round_number] for round_number, weight in row.items()) for row in rows]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))
