"""The highest rate that holds an objective: bisection for answers that are sometimes wrong.

Near its capacity a server holds an objective in one trial and misses it in the next, so plain
bisection follows one unlucky trial to a wrong answer. Here every trial moves a probability instead
(probabilistic bisection). For a capacity c and a spread s, a trial at rate r holds the objective with

    P(holds) = lapse + (1 - 2 lapse) / (1 + (r / c)^(1/s))

c is uniform in the logarithm over the range, s one of `SPREADS`. The next trial goes where it
decides most: to the median of what is believed of c. The interval is the central 95 % of it, and it ends
at rates that were tried: a trial held at its lower end, and one missed at its upper end.

Pure: ask for a rate, run a trial elsewhere, tell whether the objective was held.

The Universal Scalability Law over a sweep of connections (Gunther):

    X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))

lambda is the throughput of one connection, sigma the share of the work that is serial (contention),
kappa the cost of keeping each pair consistent (coherency). With kappa > 0 throughput peaks at
sqrt((1 - sigma) / kappa) connections and falls beyond.
"""

from __future__ import annotations

import bisect
import dataclasses
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Literal, NamedTuple

from assay.model.estimate import Estimate
from assay.stats.estimates import CONFIDENCE

SPREADS = {0.005: 0.3, 0.02: 0.3, 0.06: 0.25, 0.15: 0.15}
"""Logistic scale of log rate over which holding turns into missing, from sharp to 15 %, and how likely
each is before the first trial."""

LAPSE = 0.02
"""Chance that a trial's answer has nothing to do with its rate (a hiccup of the machine)."""

GRID = 2000
SURE_AT_THE_EDGE = 3
"""Equal answers at an end of the range, without another, that say that capacity lies beyond it."""

_FLAT = 37.0
"""e^-37 is below the rounding of 1: from there on the logistic curve is as flat as it gets."""

SearchState = Literal["searching", "found", "below the range", "above the range"]


@dataclass(frozen=True)
class CapacitySearch:
    """A search in [`lowest_per_s`, `highest_per_s`] until the interval is within `resolution` of its middle,
    and a trial held, and one missed, at most half of that beyond its ends.

    `answers` are the trials so far as (rate, held). `first_per_s` starts the search at a guess. Above
    `most_per_s` nothing is asked: the generator cannot. That bounds the questions and not the belief.
    """

    lowest_per_s: float
    highest_per_s: float
    resolution: float = 0.05
    first_per_s: float | None = None
    answers: tuple[tuple[float, bool], ...] = ()
    most_per_s: float | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for a range that is none."""
        if not 0 < self.lowest_per_s < self.highest_per_s:
            raise ValueError("a capacity search needs 0 < lowest < highest")

    def tell(self, rate_per_s: float, held: bool) -> CapacitySearch:
        """The search after one more trial."""
        return dataclasses.replace(self, answers=(*self.answers, (rate_per_s, held)))

    def ask(self) -> float | None:
        """The rate of the next trial; None when the search is over."""
        if self.state != "searching":
            return None
        if not self.answers and self.first_per_s is not None:
            rate = max(self.first_per_s, self.lowest_per_s)
        else:
            rate = self._to_the_edge(self._unconfirmed_end() or self._quantile(0.5))
        return min(rate, self._top)

    def course(self, most: int = 60) -> tuple[float, ...]:
        """The rates that are still to be asked, `most` at most, if the capacity is the middle of what is
        believed of it now and no trial contradicts that."""
        middle, search = self._quantile(0.5), self
        rates: list[float] = []
        while len(rates) < most and (rate := search.ask()) is not None:
            rates.append(rate)
            search = search.tell(rate, rate <= middle)
        return tuple(rates)

    @property
    def state(self) -> SearchState:
        """How the search stands."""
        if self._only(True, (held for rate, held in self.answers if rate >= self._top)):
            return "above the range"
        if self._only(False, (held for rate, held in self.answers if rate <= self.lowest_per_s)):
            return "below the range"
        return "found" if self._narrow and max(self._beyond_ends) <= self._slack else "searching"

    @property
    def capacity(self) -> Estimate | None:
        """What is known of the capacity so far; None where nothing is.

        An interval is that of belief, each end moved outwards to the next rate at which a trial held, or
        missed. Where the search has not ended an end may have no such trial: it is belief's where one held
        (missed) between it and the middle, and open where none did. A bound from one side is a trial's rate.
        """
        held = [rate for rate, kept in self.answers if kept]
        missed = [rate for rate, kept in self.answers if not kept]
        if not missed or self.state == "above the range":
            return self._estimate(max(held), None) if held else None
        if not held or self.state == "below the range":
            return self._estimate(None, min(missed))
        low, high = self._seen_ends
        middle = self._quantile(0.5)
        least = self._low if low is None and min(held) <= middle else low
        most = self._high if high is None and max(missed) >= middle else high
        if least is not None and most is not None:
            return self._estimate(least, most)
        return self._estimate(low, high) if low is not None or high is not None else None

    def _estimate(self, low: float | None, high: float | None) -> Estimate:
        one_sided = high if low is None else low if high is None else None
        return Estimate(
            value=self._quantile(0.5) if one_sided is None else one_sided,
            low=low,
            high=high,
            n=len(self.answers),
            unit="req/s",
            method="probabilistic bisection, central 95 % of belief, to rates that were tried",
        )

    @property
    def _top(self) -> float:
        """The highest rate that may be asked."""
        return min(self.highest_per_s, self.most_per_s or self.highest_per_s)

    @property
    def _low(self) -> float:
        return self._quantile((1 - CONFIDENCE) / 2)

    @property
    def _high(self) -> float:
        return self._quantile((1 + CONFIDENCE) / 2)

    @property
    def _seen_ends(self) -> tuple[float | None, float | None]:
        """The next rates beyond the interval of belief at which a trial held (below) and missed (above)."""
        low, high = self._low, self._high
        held = [rate for rate, kept in self.answers if kept and rate <= low]
        missed = [rate for rate, kept in self.answers if not kept and rate >= high]
        return max(held, default=None), min(missed, default=None)

    @property
    def _narrow(self) -> bool:
        """Whether belief is within the resolution of its middle."""
        return self._high / self._low <= (1 + self.resolution) ** 2

    @property
    def _slack(self) -> float:
        """How far beyond an end of belief the trial that shows it may be, as a logarithm."""
        return math.log1p(self.resolution / 2)

    @property
    def _beyond_ends(self) -> tuple[float, float]:
        """How far beyond each end of belief the next trial is that shows it, as a logarithm."""
        low, high = self._seen_ends
        return (
            math.log(self._low / low) if low else math.inf,
            math.log(high / self._high) if high else math.inf,
        )

    def _unconfirmed_end(self) -> float | None:
        """Where belief is as narrow as it has to be, the end of it that no trial has shown yet; None else."""
        if not self._narrow:
            return None
        below, above = self._beyond_ends
        return self._low if below >= above else self._high

    def _to_the_edge(self, rate: float) -> float:
        """The rate, or the end of the range that is near: no quantile ever quite reaches it.

        An end most of whose trials say that capacity lies within the range has no more to tell.
        """
        span = self.highest_per_s / self.lowest_per_s
        near = max(span ** (1 / GRID), min(1 + self.resolution, span**0.25))
        if rate > self.highest_per_s / near:
            edge, within = self.highest_per_s, False
        elif rate < self.lowest_per_s * near:
            edge, within = self.lowest_per_s, True
        else:
            return rate
        told = [held for asked, held in self.answers if asked == edge]
        return rate if told.count(within) * 2 > len(told) else edge

    @staticmethod
    def _only(held: bool, answers: Iterable[bool]) -> bool:
        given = list(answers)
        return len(given) >= SURE_AT_THE_EDGE and set(given) == {held}

    def _quantile(self, p: float) -> float:
        """The capacity below which lies `p` of the belief, straight between the points of the grid."""
        up_to = self._belief_up_to
        place = bisect.bisect_left(up_to, p)
        if place in (0, GRID):
            return self.lowest_per_s if place == 0 else self.highest_per_s
        share = (p - up_to[place - 1]) / (up_to[place] - up_to[place - 1])
        step = math.log(self.highest_per_s / self.lowest_per_s) / (GRID - 1)
        return self.lowest_per_s * math.exp((place - 1 + share) * step)

    @cached_property
    def _belief_up_to(self) -> list[float]:
        """The probability of a capacity up to each point of the grid, the spread summed out."""
        told = _log_belief(self.lowest_per_s, self.highest_per_s, self.answers)
        top = max(map(max, told))
        exp = math.exp
        belief = [
            exp(a - top) + exp(b - top) + exp(c - top) + exp(d - top)
            for a, b, c, d in zip(*told, strict=True)
        ]
        whole = math.fsum(belief)
        return [share / whole for share in accumulate(belief)]


Beliefs = tuple[list[float], ...]
"""For each of `SPREADS`, the logarithm of the belief in each capacity of the grid."""


@lru_cache(maxsize=4)
def _log_belief(lowest: float, highest: float, answers: tuple[tuple[float, bool], ...]) -> Beliefs:
    """What is believed after these answers; kept, so that one more answer is one more step."""
    if not answers:
        return tuple([math.log(share)] * GRID for share in SPREADS.values())
    before = _log_belief(lowest, highest, answers[:-1])
    rate, held = answers[-1]
    sign = 1 if held else -1
    away, step = math.log(rate / lowest), math.log(highest / lowest) / (GRID - 1)
    log, exp, share = math.log, math.exp, 1 - 2 * LAPSE
    surely = (log(1 - LAPSE), log(LAPSE))
    told: list[list[float]] = []
    for spread, beliefs in zip(SPREADS, before, strict=True):
        first, by = sign * away / spread, sign * step / spread
        above = [first - by * place for place in range(GRID)]
        told.append(
            [
                belief + (log(LAPSE + share / (1 + exp(x))) if -_FLAT < x < _FLAT else surely[x > 0])
                for belief, x in zip(beliefs, above, strict=True)
            ]
        )
    return tuple(told)


FEWEST_POINTS = 5
"""Three parameters need two points to spare before a residual says anything."""

WORST_RESIDUAL = 0.05
"""A fit whose typical deviation is larger describes something else; nothing is said then."""


LEAST_PEAK = 0.01
"""A peak stands out of both ends of the sweep by this; a flat curve has its highest point anywhere."""

_MOST_STEPS = 500
_MOST_DAMPED = 1e12
"""Steps so small that none leads further down: the optimum, as far as numbers go."""


class UslFit(NamedTuple):
    """A fitted law. `peak_connections` is None where throughput does not turn down within the sweep.
    `residual` is the root mean square deviation as a share of the values."""

    per_connection_per_s: float
    contention: float
    coherency: float
    peak_connections: float | None
    peak_per_s: float | None
    residual: float

    def throughput_per_s(self, connections: float) -> float:
        """The law's throughput at so many connections."""
        n = connections
        return self.per_connection_per_s * n / _load(n, self.contention, self.coherency)


def usl_fit(throughput_by_connections: Mapping[int, float]) -> UslFit | None:
    """Fit the law to one throughput a number of connections; None where it does not fit."""
    points = {n: x for n, x in throughput_by_connections.items() if n > 0 and x > 0}
    if len(points) < FEWEST_POINTS:
        return None
    connections = sorted(points)
    # Logarithms give each point the same weight relative to its size, as noise is relative too.
    per_connection = [math.log(points[n] / n) for n in connections]
    contention, coherency = _least_squares(connections, per_connection)
    scale = math.exp(_log_scale(connections, per_connection, contention, coherency))
    fit = UslFit(scale, contention, coherency, None, None, 0.0)
    residual = math.sqrt(
        statistics.fmean((fit.throughput_per_s(n) / points[n] - 1) ** 2 for n in connections)
    )
    if residual > WORST_RESIDUAL:
        return None
    fit = fit._replace(residual=residual)
    peak = math.sqrt((1 - contention) / coherency) if coherency > 0 and contention < 1 else math.inf
    ends = [fit.throughput_per_s(float(end)) for end in (connections[0], connections[-1])]
    if not peak <= connections[-1] or fit.throughput_per_s(peak) < (1 + LEAST_PEAK) * max(ends):
        return fit
    return fit._replace(peak_connections=peak, peak_per_s=fit.throughput_per_s(peak))


def _log_scale(
    connections: Sequence[int], logs: Sequence[float], contention: float, coherency: float
) -> float:
    """The logarithm of lambda that fits best with the other two as given: the mean of what they leave."""
    return statistics.fmean(
        log + math.log(_load(n, contention, coherency)) for n, log in zip(connections, logs, strict=True)
    )


def _load(n: float, contention: float, coherency: float) -> float:
    return 1 + contention * (n - 1) + coherency * n * (n - 1)


def _least_squares(connections: Sequence[int], logs: Sequence[float]) -> tuple[float, float]:
    """Contention and coherency in [0, 1] with the least squared deviation of the logarithms.

    Levenberg and Marquardt's method, damped in units of the curvature as coherency is thousands of times
    smaller than contention; what would leave the range stays at its end. lambda follows from both.
    """
    best, damping = (0.05, 1e-5), 1e-3
    least = _deviation(connections, logs, *best)
    for _ in range(_MOST_STEPS):
        step = _step(connections, logs, *best, damping)
        tried = (min(max(best[0] + step[0], 0.0), 1.0), min(max(best[1] + step[1], 0.0), 1.0))
        squared = _deviation(connections, logs, *tried)
        if squared < least:
            gained, best, least, damping = least - squared, tried, squared, damping / 10
            if gained <= 1e-14 * least:
                break
        elif damping > _MOST_DAMPED:
            break
        else:
            damping *= 10
    return best


def _deviation(
    connections: Sequence[int], logs: Sequence[float], contention: float, coherency: float
) -> float:
    scale = _log_scale(connections, logs, contention, coherency)
    pairs = zip(connections, logs, strict=True)
    return math.fsum((log + math.log(_load(n, contention, coherency)) - scale) ** 2 for n, log in pairs)


def _step(
    connections: Sequence[int], logs: Sequence[float], contention: float, coherency: float, damping: float
) -> tuple[float, float]:
    """The damped step downhill; a parameter at an end of its range that wants out of it stays there."""
    scale = _log_scale(connections, logs, contention, coherency)
    loads = [_load(n, contention, coherency) for n in connections]
    left = [log + math.log(load) - scale for log, load in zip(logs, loads, strict=True)]
    a = _centred([(n - 1) / load for n, load in zip(connections, loads, strict=True)])
    b = _centred([n * (n - 1) / load for n, load in zip(connections, loads, strict=True)])
    down_a, down_b = -_dot(a, left), -_dot(b, left)
    free_a = 0 < contention < 1 or (contention == 0) == (down_a > 0)
    free_b = 0 < coherency < 1 or (coherency == 0) == (down_b > 0)
    aa, bb = _dot(a, a) * (1 + damping), _dot(b, b) * (1 + damping)
    if not (free_a and free_b):
        return (down_a / aa if free_a else 0.0, down_b / bb if free_b else 0.0)
    ab = _dot(a, b)
    whole = aa * bb - ab * ab
    return (down_a * bb - down_b * ab) / whole, (down_b * aa - down_a * ab) / whole


def _centred(values: Sequence[float]) -> list[float]:
    mean = statistics.fmean(values)
    return [value - mean for value in values]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))
