"""A service-level objective: what must hold of a load, whether it held, what a record keeps of it. Pure.

    p99<50ms,errors<0.1%
    p99<50ms,throughput>500,GET /cart p95<300ms      of one load, see `assay.verdict.limits`

Times are response times, from the intended start: a server that falls behind shows it in them. Whatever
the limits, an objective holds only where the server kept up with the rate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import msgspec

from assay.core.errors import InputError
from assay.core.units import count, counted, share, time
from assay.model.design import Bounds, SearchDesign
from assay.model.measurement import Histogram, Measurement
from assay.model.plan import LoadPlan, Open
from assay.model.run import Header
from assay.model.trial import Trial
from assay.stats import quantiles, requests_needed

_LIMIT = re.compile(
    r"(?:(?P<request>.+?)\s+)?(?P<figure>p\d+(?:\.\d+)?|mean|max|errors|throughput)\s*(?P<than>[<>])=?\s*"
    r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ns|us|µs|ms|s|%|k/s|k|/s|)"
)
_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_PER_S = {"": 1.0, "/s": 1.0, "k": 1e3, "k/s": 1e3}
_LEAST = 0.1
"""Below it no objective is meant: p9 is p90 or p99 with a digit that was forgotten."""
_KEPT_UP = 0.97
"""Share of the intended requests that must be answered rightly within the measured time."""
_DEVIATIONS = 3.0
"""Poisson arrivals scatter by the root of their number; three of that are no shortfall."""


class ObjectiveLimit(msgspec.Struct, frozen=True):
    """`figure` (p99, mean, max: times in ns; errors: a share) stays below `edge`; throughput, in requests a
    second, above it. `request` names the one request of a mix that it is of; empty: of all."""

    figure: str
    edge: float
    text: str
    request: str = ""

    @property
    def quantile(self) -> float | None:
        """The quantile that the figure is, if it is one."""
        return float(self.figure[1:]) / 100 if self.figure.startswith("p") else None


class ObjectiveResult(msgspec.Struct, frozen=True):
    """Whether an objective held, and the figures that show it in a line."""

    holds: bool
    why: str


class Objective(msgspec.Struct, frozen=True):
    """Limits that must all hold."""

    limits: tuple[ObjectiveLimit, ...]

    @property
    def text(self) -> str:
        """As it is written: "p99<50ms,errors<0.1%"."""
        return ",".join(limit.text for limit in self.limits)

    @property
    def requests(self) -> int:
        """How many requests a trial needs so that each of its percentiles can be told."""
        return max([100, *(requests_needed(p) for limit in self.limits if (p := limit.quantile) is not None)])

    @property
    def longest_ns(self) -> float:
        """The largest limit of a time; 0 where there is none."""
        return max((limit.edge for limit in self.limits if limit.figure != "errors"), default=0.0)

    def judge(self, plan: LoadPlan, measured: Measurement) -> ObjectiveResult:
        """Whether it held. The first limit that was broken speaks."""
        times = measured.response_time or measured.service_time
        broken = (_broken(limit, measured, times) for limit in self.limits)
        beyond = min([1 - p for limit in self.limits if (p := limit.quantile) is not None], default=1.0)
        for said in (_behind(plan, measured), *broken, without_connection(measured, beyond)):
            if said:
                return ObjectiveResult(False, said)
        return ObjectiveResult(True, ", ".join(_figure(limit, measured, times) for limit in self.limits))


def parse(word: str) -> Objective:
    """The objective of a search that a word means. ValueError says what would be right."""
    limits = limits_of(word)
    for limit in limits:
        if limit.figure == "throughput" or limit.request:
            raise ValueError(f"{limit.text!r} is a limit of one load (assay load --slo), not of a search")
    return Objective(limits)


def limits_of(word: str) -> tuple[ObjectiveLimit, ...]:
    """The limits that a word of the command line means. ValueError says what would be right."""
    limits: list[ObjectiveLimit] = []
    for part in word.split(","):
        limit = _limit(part.strip())
        if any((other.figure, other.request) == (limit.figure, limit.request) for other in limits):
            raise ValueError(f"{part.strip()!r}: each figure once")
        limits.append(limit)
    return tuple(limits)


def _limit(part: str) -> ObjectiveLimit:
    found = _LIMIT.fullmatch(part)
    units = {"errors": {"%": 0.01}, "throughput": _PER_S}.get(found["figure"], _NS) if found else {}
    if found is None or found["unit"] not in units:
        raise ValueError(f"{part!r} is not an objective such as p99<50ms, mean<5ms or errors<0.1%")
    figure, request = found["figure"], found["request"] or ""
    than = ">" if figure == "throughput" else "<"
    if found["than"] != than:
        raise ValueError(f"{part!r}: {figure} is held {'above' if than == '>' else 'below'} a number: {than}")
    text = f"{figure}{than}{found['number']}{found['unit']}"
    edge = float(found["number"]) * units[found["unit"]]
    limit = ObjectiveLimit(figure, edge, f"{request} {text}".lstrip(), request)
    if limit.quantile is not None and not _LEAST <= limit.quantile < 1:
        meant = f"; did you mean {figure}0?" if re.fullmatch("p[1-9]", figure) else ""
        raise ValueError(f"{figure!r} is not a percentile from p10 to below p100{meant}")
    if edge <= 0:
        raise ValueError(f"{part!r}: a number above zero")
    return limit


def rate_of(plan: LoadPlan) -> float:
    """The rate that an open loop holds."""
    assert isinstance(plan.load, Open)  # every trial of a search is one
    return plan.load.stages[-1].to_per_s


def _behind(plan: LoadPlan, measured: Measurement) -> str:
    """Why the server did not keep up, if it did not."""
    intended = rate_of(plan) * measured.measured_ns / 1e9
    if measured.completed + measured.failed < _KEPT_UP * intended - _DEVIATIONS * math.sqrt(intended):
        return f"{share((measured.completed + measured.failed) / intended)} of the rate was answered"
    return ""


def without_connection(measured: Measurement, beyond: float) -> str:
    """How many requests found no free connection, where they are more than the share `beyond` that a figure
    leaves out; "" else. They have no response time, and had they one, it would be long."""
    asked = measured.missed_starts + measured.completed + measured.failed
    if measured.missed_starts <= beyond * asked:
        return ""
    return f"{counted(measured.missed_starts, 'request')} found no free connection"


def _broken(limit: ObjectiveLimit, measured: Measurement, times: Histogram) -> str:
    value = figure_of(limit, measured, times)
    if value is None:
        return f"too few right answers for {limit.figure} ({count(times.count)})"
    return "" if value < limit.edge else _figure(limit, measured, times)


def _figure(limit: ObjectiveLimit, measured: Measurement, times: Histogram) -> str:
    value = figure_of(limit, measured, times)
    if limit.figure == "errors":
        return f"errors {share(value or 0)}"
    return f"{limit.figure} {time(value or 0)}"


def figure_of(limit: ObjectiveLimit, measured: Measurement, times: Histogram) -> float | None:
    """What was measured of the figure that `limit` bounds; None where too few answers tell it."""
    if limit.figure == "errors":
        failed = measured.failed + measured.missed_starts
        return failed / (measured.completed + failed) if measured.completed + failed else 1.0
    if not times.count:
        return None
    if limit.figure == "mean":
        return times.mean_ns
    if limit.figure == "max":
        return float(times.max_ns)
    assert limit.quantile is not None  # the figures that are left
    found = quantiles(times, (limit.quantile,))[0]
    return None if found is None else found.value_ns


def objectives(header: Header) -> dict[str, Objective]:
    """What is searched for, by the case whose trials are the search. InputError where it is not readable."""
    if isinstance(header.design, SearchDesign):
        return {case.id: objective_of(header.design.bounds) for case in header.cases}
    return {case.id: _readable(case.search.objective) for case in header.cases if case.search}


def objective_of(bounds: Bounds) -> Objective:
    """The objective that a record is about. InputError where it is not readable."""
    return _readable(bounds.objective)


def _readable(text: str) -> Objective:
    try:
        return parse(text)
    except ValueError as problem:
        raise InputError(f"the record's objective is not readable: {problem}") from None


def results_of(objective: Objective, trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """The trials that are results: those in which the objective held. That a rate beyond the capacity
    strains everything is what it was asked for. Trials without a measurement stay: they are rows."""
    return tuple(trial for trial in trials if not _missed(objective, trial))


def misses_of(objective: Objective, trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """The measured trials in which the objective was missed."""
    return tuple(trial for trial in trials if _missed(objective, trial))


def _missed(objective: Objective, trial: Trial) -> bool:
    return trial.measurement is not None and not objective.judge(trial.plan, trial.measurement).holds
