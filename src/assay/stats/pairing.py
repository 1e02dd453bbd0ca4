"""Two cases against each other: the one place where a ratio and what is known of it are made.

Rankings, claims, comparisons that end when they are settled, comparisons of two runs and of two
capacities all come here. Each side brings its values and its `Slack`: by which factors the truth may
differ from what was measured. The ratio has the interval of its manner; what is known of it is
that interval, opened by the slack of both sides.

Each block presents every case once, so the machine's state at that time is in both values of a pair and
cancels in their ratio. On the logarithmic scale A/B and B/A are the same distance from 1.

What is shown follows from it: ranks, shared by cases of which none is shown faster.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec import structs
from msgspec.structs import replace

from assay.model.estimate import Estimate
from assay.stats.estimates import CONFIDENCE, student_t_cdf, t_quantile
from assay.stats.scatter import Pool, allowed_correlation, widening
from assay.stats.sequential import (
    LEAST_BLOCKS,
    MINIMUM_EFFECT,
    level,
    ratio_within,
    unpaired_ratio,
)
from assay.stats.sides import EXACT, Side, Slack, batches_of, left_out, paired_logs, round_logs, stand

ALPHA = 1 - CONFIDENCE

Manner = Literal["paired", "looked at", "unpaired"]
"""*paired* by block; *looked at* after every block, with the interval that allows for it; *unpaired*: of runs
made at different times."""


class PairedRatio(msgspec.Struct, frozen=True):
    """a over b. `ratio` is as measured; `low` and `high` are what is known of the truth, None where open.

    `p_above` and `p_below` are the chances of such values if the truth were not above, or not below, 1:
    two-sided, for the ratio that the slack and the bias leave. `least` and `most` are its ends without noise.
    `batches`: the values are means of batches of rounds, not blocks.
    """

    logs: tuple[float, ...]
    ratio: Estimate
    low: float | None
    high: float | None
    least: float
    most: float
    p_above: float
    p_below: float
    batches: bool = False

    def above(self, floor: float) -> bool:
        """Whether what is left of the ratio exceeds 1 by the minimum effect; how sure is another question."""
        return self.least > 1 + floor

    def below(self, floor: float) -> bool:
        """The same in the other direction."""
        return self.most * (1 + floor) < 1


def pair(
    a: Side,
    b: Side,
    *,
    manner: Manner = "paired",
    alpha: float = ALPHA,
    looks: Sequence[float] = (),
    bias: float = 0.0,
    extra: Slack = EXACT,
    squeezed: float | None = None,
    pooled: Pool | None = None,
) -> PairedRatio | None:
    """a over b; None where they have nothing in common to compare.

    `bias` is a share by which the run finds a server to differ from itself: it is taken off at both ends, of
    the interval, of the least and the most, and of how sure they are. `extra` is slack of the ratio itself.
    `looks` are the shares of the budget used after each block, where a run is looked at after every one.
    `pooled` is what the other servers of the run say of how values scatter.
    A ratio may be `squeezed` towards that of what both lost for each answer: the truth lies beyond what was
    measured, seen from there. Where rounds were preempted, the ratio is that of the others if it lies in the
    interval of all; else it may be the servers that preempted them, and what is known is what either allows.
    """
    calm = _pair(a, b, manner, alpha, looks, bias, extra, squeezed, pooled)
    if calm is None or not left_out(a, b):
        return calm
    whole = _pair(
        replace(a, delays={}), replace(b, delays={}), manner, alpha, looks, bias, extra, squeezed, pooled
    )
    if whole is None or _holds(whole.ratio, calm.ratio):
        return calm
    return either(calm, whole)


def _holds(interval: Estimate, other: Estimate) -> bool:
    low, high = interval.low, interval.high
    return low is None or high is None or low <= other.value <= high


def either(one: PairedRatio, other: PairedRatio) -> PairedRatio:
    """What is known where only one of two answers is right, and nobody knows which."""
    ratio = msgspec.structs.replace(
        one.ratio,
        low=_open(min, one.ratio.low, other.ratio.low),
        high=_open(max, one.ratio.high, other.ratio.high),
        method=f"{one.ratio.method}, or of all",
    )
    return structs.replace(
        one,
        ratio=ratio,
        low=_open(min, one.low, other.low),
        high=_open(max, one.high, other.high),
        least=min(one.least, other.least),
        most=max(one.most, other.most),
        p_above=max(one.p_above, other.p_above),
        p_below=max(one.p_below, other.p_below),
    )


def both(one: PairedRatio, other: PairedRatio) -> PairedRatio:
    """What is known where two bounds of one ratio hold."""
    lows = [end for end in (one.low, other.low) if end is not None]
    highs = [end for end in (one.high, other.high) if end is not None]
    return structs.replace(
        one,
        low=max(lows, default=None),
        high=min(highs, default=None),
        least=max(one.least, other.least),
        most=min(one.most, other.most),
        p_above=min(one.p_above, other.p_above),
        p_below=min(one.p_below, other.p_below),
    )


def _open(further: Callable[[float, float], float], one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else further(one, other)


def _pair(
    a: Side,
    b: Side,
    manner: Manner,
    alpha: float,
    looks: Sequence[float],
    bias: float,
    extra: Slack,
    squeezed: float | None,
    pooled: Pool | None,
) -> PairedRatio | None:
    found = paired_logs(a, b)
    by, degrees = _scatter(a, b, found, pooled)
    logs = tuple(_spread(found, by))
    ratio = _ratio(a, b, logs, manner, alpha, looks, degrees)
    if ratio is None:
        return None
    slack = a.slack.over(b.slack)
    slack = Slack(slack.down * extra.down / (1 + bias), slack.up * extra.up * (1 + bias))
    low = ratio.low * slack.down or None if ratio.low is not None else None
    high = ratio.high * slack.up if ratio.high is not None and math.isfinite(slack.up) else None
    least, most = ratio.value * slack.down, ratio.value * slack.up
    above_one, below_one = 1.0, 1.0
    if squeezed is not None:
        low, high = (low if low and low > squeezed else None), (high if high and high < squeezed else None)
        least, most = (least if least > squeezed else 0.0), (most if most < squeezed else math.inf)
        above_one, below_one = max(1.0, squeezed), min(1.0, squeezed)
    by_blocks = manner == "paired" and a.estimate is None
    if by_blocks:
        above = _p_value(logs, math.log(slack.down / above_one) if slack.down else -math.inf, degrees)
        below = _p_value([-log for log in logs], math.log(below_one) - math.log(slack.up), degrees)
    else:
        enough = manner != "looked at" or ratio.n >= LEAST_BLOCKS
        left = None if ratio.low is None else ratio.low * slack.down
        right = None if ratio.high is None else ratio.high * slack.up
        above = 0.0 if enough and left is not None and left > above_one else 1.0
        below = 0.0 if enough and right is not None and right < below_one else 1.0
    return PairedRatio(logs, ratio, low, high, least, most, above, below, batches=stand(a, b))


def settled(
    known: PairedRatio | None, margin: float, floor: float = MINIMUM_EFFECT
) -> Literal["different", "alike"] | None:
    """Whether the question is settled, looked at after every block: different, alike to within `margin`, or
    not yet (None).

    Different: what is left of the interval excludes 1, and of the effect exceeds the minimum effect. Alike:
    what is left lies within a factor of 1 + `margin` of 1, so a difference that large is excluded.
    """
    if known is None or known.ratio.n < LEAST_BLOCKS:
        return None
    if (known.p_above < ALPHA and known.above(floor)) or (known.p_below < ALPHA and known.below(floor)):
        return "different"
    if known.low is None or known.high is None:
        return None
    return "alike" if 1 / (1 + margin) < known.low and known.high < 1 + margin else None


def _ratio(
    a: Side,
    b: Side,
    logs: Sequence[float],
    manner: Manner,
    alpha: float,
    looks: Sequence[float],
    degrees: float | None,
) -> Estimate | None:
    if a.estimate is not None and b.estimate is not None:
        return _of_ends(a.estimate, b.estimate)
    if manner == "looked at":
        method = f"repeated t interval on log ratios, {_paired_by(a, b)}"
        spent = level(looks, alpha, nested=not stand(a, b))
        return ratio_within(logs, half_width(len(logs), spent, degrees), method)
    if manner == "unpaired":
        return unpaired_ratio(list(a.values.values()), list(b.values.values()))
    method = f"t interval on log ratios, {_paired_by(a, b)}" if len(logs) > 1 else "one trial"
    return ratio_within(logs, half_width(len(logs), degrees=degrees), method)


def _scatter(
    a: Side, b: Side, logs: Sequence[float], pooled: Pool | None = None
) -> tuple[float, float | None]:
    """By how much wider the interval of these values is than that of independent ones, and the degrees of
    freedom of its t quantile where they are not its own.

    Blocks may depend on each other; batches are cut so that they do not. The variance is
    joined with that of the other servers.
    """
    if stand(a, b):
        found = batches_of(a, b)
        return (found.widening if found else 1.0), None
    if pooled is None or len(logs) < 2:
        return widening(allowed_correlation([logs])), None
    own = statistics.variance(logs)
    if own == 0:  # only constructed data scatter by nothing
        return 1.0, None
    variance, degrees = pooled.joined(own, len(logs), 1 / a.arms + 1 / b.arms)
    return widening(pooled.correlation) * math.sqrt(variance / own), degrees


def _spread(logs: Sequence[float], by: float) -> Sequence[float]:
    """The values so far apart that, taken as independent, they tell of their mean what they know of it."""
    if by == 1.0 or not logs:
        return logs
    centre = statistics.fmean(logs)
    return [centre + by * (log - centre) for log in logs]


def _paired_by(a: Side, b: Side) -> str:
    if not round_logs(a, b):
        return "paired by block"
    said = "by batches of rounds" if stand(a, b) else "paired by neighbouring slices of blocks"
    said = f"{said}, without their first fifths" if a.trimmed else said
    return f"{said}, of unpreempted rounds" if left_out(a, b) else said


def half_width(n: int, alpha: float | None = ALPHA, degrees: float | None = None) -> float | None:
    """The half-width of the t interval of n log ratios in units of their deviation, of so many degrees of
    freedom (else n - 1); None where infinite."""
    return None if alpha is None or n < 2 else t_quantile(degrees or n - 1, 1 - alpha) / math.sqrt(n)


def course(
    a: Side,
    b: Side,
    *,
    manner: Manner = "paired",
    alpha: float = ALPHA,
    looks: Sequence[float] = (),
    bias: float = 0.0,
    extra: Slack = EXACT,
    pooled: Pool | None = None,
) -> tuple[Estimate, ...]:
    """How the ratio a/b and its interval went as blocks came in: after the first, the second, and so on; the
    interval wider by `bias` at both ends, and by `extra`. All are taken to scatter as the last does."""
    logs = paired_logs(a, b)
    by, degrees = _scatter(a, b, logs, pooled)
    each = degrees and degrees / (len(logs) - 1)
    slack = Slack(extra.down / (1 + bias), extra.up * (1 + bias))
    made = (
        _ratio(
            a,
            b,
            _spread(logs[:n], by),
            manner,
            alpha,
            looks[: math.ceil(n * len(looks) / len(logs))],
            each and each * (n - 1),
        )
        for n in range(1, len(logs) + 1)
    )
    return tuple(
        msgspec.structs.replace(
            one, low=one.low and one.low * slack.down, high=one.high and one.high * slack.up
        )
        for one in made
        if one is not None
    )


def _of_ends(above: Estimate, below: Estimate) -> Estimate:
    """Of two searches the ratio that the ends of their intervals allow."""
    return Estimate(
        value=above.value / below.value,
        low=above.low / below.high if above.low and below.high else None,
        high=above.high / below.low if above.high and below.low else None,
        n=min(above.n, below.n),
        unit="ratio",
        method="ends of two intervals: at least 95 %",
    )


def _p_value(logs: Sequence[float], shift: float, degrees: float | None) -> float:
    """Two-sided t test of logs + shift being no more than 0; 1 where it is not, or cannot be told."""
    n = len(logs)
    if n < LEAST_BLOCKS or not math.isfinite(shift):
        return 1.0
    centre, deviation = statistics.fmean(logs) + shift, statistics.stdev(logs)
    if centre <= 0:
        return 1.0
    if deviation == 0:  # only constructed data get here: a difference without noise is certain
        return 0.0
    return 2 * student_t_cdf(degrees or n - 1, -centre / (deviation / math.sqrt(n)))
