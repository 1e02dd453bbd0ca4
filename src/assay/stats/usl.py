"""The Universal Scalability Law over a sweep of connections (Gunther):

    X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))

lambda is the throughput of one connection, sigma the share of the work that is serial (contention),
kappa the cost of keeping each pair consistent (coherency). With kappa > 0 throughput peaks at
sqrt((1 - sigma) / kappa) connections and falls beyond.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
