"""The Universal Scalability Law over a sweep of connections (Gunther):

    X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))

lambda is the throughput of one connection, sigma the share of the work that is serial (contention),
kappa the cost of keeping each pair consistent (coherency). With kappa > 0 throughput peaks at
sqrt((1 - sigma) / kappa) connections and falls beyond.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

FEWEST_POINTS = 5
"""Three parameters need two points to spare before a residual says anything."""

WORST_RESIDUAL = 0.05
"""A fit whose typical deviation is larger describes something else; nothing is said then."""


LEAST_PEAK = 0.01
"""A peak stands out of both ends of the sweep by this; a flat curve has its highest point anywhere."""


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
        load = 1 + self.contention * (n - 1) + self.coherency * n * (n - 1)
        return self.per_connection_per_s * n / load


def usl_fit(throughput_by_connections: Mapping[int, float]) -> UslFit | None:
    """Fit the law to one throughput a number of connections; None where it does not fit."""
    points = {n: x for n, x in throughput_by_connections.items() if n > 0 and x > 0}
    if len(points) < FEWEST_POINTS:
        return None
    import numpy as np
    from scipy.optimize import curve_fit

    connections = np.array(sorted(points), dtype=float)
    per_s = np.array([points[int(n)] for n in connections])
    try:
        # Logarithms give each point the same weight relative to its size, as noise is relative too.
        found, _ = curve_fit(
            _log_law,
            connections,
            np.log(per_s),
            p0=(per_s[0] / connections[0], 0.05, 1e-5),
            bounds=((1e-9, 0.0, 0.0), (math.inf, 1.0, 1.0)),
            maxfev=20_000,
        )
    except RuntimeError:  # no optimum found
        return None
    scale, contention, coherency = (float(value) for value in found)
    residual = float(np.sqrt(np.mean((np.exp(_log_law(connections, *found)) / per_s - 1) ** 2)))
    if residual > WORST_RESIDUAL:
        return None
    fit = UslFit(scale, contention, coherency, None, None, residual)
    peak = math.sqrt((1 - contention) / coherency) if coherency > 0 and contention < 1 else math.inf
    ends = [fit.throughput_per_s(float(end)) for end in (connections[0], connections[-1])]
    if not peak <= connections[-1] or fit.throughput_per_s(peak) < (1 + LEAST_PEAK) * max(ends):
        return fit
    return fit._replace(peak_connections=peak, peak_per_s=fit.throughput_per_s(peak))


def _log_law(connections: Numbers, scale: float, contention: float, coherency: float) -> Numbers:
    import numpy as np

    n = connections
    law: Numbers = np.log(scale * n / (1 + contention * (n - 1) + coherency * n * (n - 1)))
    return law
