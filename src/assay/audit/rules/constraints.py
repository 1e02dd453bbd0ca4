"""M1 to M3: what the figures of one result owe each other, as data; and which of them gives way.

A constraint says that a product of figures is another one, or no more than it. Where one is broken, each
of its figures in turn is given the value that would mend it: the one with which most other constraints
hold is the one that most probably is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import mul
from statistics import median
from typing import Literal

import msgspec

from assay.audit.document import BY_HAND, Figure, Reported
from assay.audit.evidence import Evidence
from assay.audit.facts import known_tools
from assay.audit.finding import AuditHit, audit_rule, between, hit_at, number, numbered, time
from assay.audit.interval import Interval, exactly
from assay.audit.tools import BY_NAME


class Constraint(msgspec.Struct, frozen=True):
    """`times` multiplied are (`=`) or are at most (`≤`) `of` multiplied, but for a share of `slack`."""

    code: str
    name: str
    times: tuple[str, ...]
    relation: Literal["=", "≤"]
    of: tuple[str, ...]
    slack: float

    @property
    def figures(self) -> tuple[str, ...]:
        """All figures that it ties together."""
        return (*self.times, *self.of)

    def holds(self, values: Mapping[str, Interval]) -> bool:
        """Whether it holds for some values within the intervals."""
        left, right = _product(self.times, values), _product(self.of, values)
        if self.relation == "=":
            return left.widened(self.slack).meets(right)
        return left.low <= right.high * (1 + self.slack)

    def mended(self, name: str, values: Mapping[str, Interval]) -> Interval | None:
        """The value of one figure with which it would hold."""
        own, other = (self.times, self.of) if name in self.times else (self.of, self.times)
        rest = _product(tuple(each for each in own if each != name), values)
        if rest.low <= 0:
            return None
        return _product(other, values) / rest


def _product(names: tuple[str, ...], values: Mapping[str, Interval]) -> Interval:
    return reduce(mul, (values[name] for name in names), exactly(1.0))


_IN_FLIGHT, _IDLE, _FEW_FAILED = 0.1, 0.5, 0.1
CONSTRAINTS = (
    Constraint("M1", "requests in flight", ("mean", "rate"), "≤", ("slots",), _IN_FLIGHT),
    Constraint("M3", "requests = rate × duration", ("rate", "duration"), "=", ("requests",), 0.01),
    Constraint("M3", "failed ≤ requests", ("failed",), "≤", ("requests",), 0.01),
    Constraint("M3", "bodies ≤ bytes", ("document_bytes",), "≤", ("bytes",), 0.01),
)
"""What holds of every run. The order of figures in a result (M2) comes with its percentiles."""


class Broken(msgspec.Struct, frozen=True):
    """A constraint that a result breaks, the figure that most probably gives way, and what it would be."""

    constraint: Constraint
    figure: str
    value: Interval | None
    sure: bool


def broken(figures: Mapping[str, Figure], among: tuple[Constraint, ...]) -> Iterator[Broken]:
    """Every constraint that the figures break."""
    values = {name: figure.value for name, figure in figures.items()}
    told = [one for one in among if all(name in values for name in one.figures)]
    for one in told:
        if one.holds(values):
            continue
        others = [other for other in told if other is not one]
        mends: dict[str, int] = {}
        for name in one.figures:
            value = one.mended(name, values)
            if value is not None and figures[name].quote:
                mends[name] = sum(other.holds({**values, name: value}) for other in others)
        most = max(mends.values(), default=0)
        best = [name for name, count in mends.items() if count == most] or [one.figures[0]]
        yield Broken(one, best[0], one.mended(best[0], values), len(best) == 1 and len(others) > 0)


@audit_rule("M1")
def little(seen: Evidence) -> Iterator[AuditHit]:
    """A connection of a closed loop holds one request at a time, so mean time × throughput is the number of
    busy connections. More than there are is impossible; far fewer means that most stood idle, and were no
    load."""
    for result in seen.results:
        figures = _of_a_loop(seen, result)
        if figures is None:
            continue
        slots, flight = figures["slots"].value.middle, figures["rate"].value * figures["mean"].value
        more = not CONSTRAINTS[0].holds({name: figure.value for name, figure in figures.items()})
        lost = result.figures.get("connect_errors")
        # How tools count the times of pipelined requests is their own affair.
        fewer = (
            result.get("pipelining") is None
            and flight.high < _IDLE * (slots - (lost.value.high if lost is not None else 0.0))
            and not _failed(result)
            and not (result.tool in BY_HAND and any(BY_NAME[each].pauses for each in known_tools(seen.facts)))
        )
        if slots > 0 and (more or fewer):
            mean, rate = figures["mean"], figures["rate"]
            adds = more and _adds_samples(result)
            words = f"{time(mean.value.middle)} × {number(rate.value.middle)}/s = {between(flight)} "
            words += f"requests in flight, with {numbered(slots, 'connection')}"
            words += "; wrk adds times of its own, to correct for coordinated omission" if adds else ""
            yield hit_at(mean, words, result.line, severity="error" if more and not adds else "warning")


def _of_a_loop(seen: Evidence, result: Reported) -> dict[str, Figure] | None:
    """Mean, rate and slots of a closed loop whose accounting is known; None for any other result."""
    rate, connections = result.get("rate"), result.get("connections")
    # What a table made from wrk's report calls latency is the mean: wrk names no other by that word.
    mean = result.get("mean") or (result.get("time") if _adds_samples(result) else None)
    closed = seen.closed if result.closed is None and result.tool in BY_HAND else result.closed
    if rate is None or mean is None or connections is None or closed is not True or result.tool == "ab":
        return None
    pipelining = result.get("pipelining")
    if pipelining is None and (seen.pipelined if result.tool in BY_HAND else _pipelined(seen, result)):
        return None
    if result.get("offered") is not None:
        return None
    slots = connections.value.middle * (pipelining.value.middle if pipelining is not None else 1.0)
    return {"rate": rate, "mean": mean, "slots": Figure(exactly(slots), connections.line, connections.quote)}


def _pipelined(seen: Evidence, result: Reported) -> bool:
    return "pipeline" in result.command.quote if result.command is not None else seen.pipelined


def _adds_samples(result: Reported) -> bool:
    tools = (result.tool, result.command.tool if result.command is not None else "")
    return any(name in BY_NAME and BY_NAME[name].adds_samples for name in tools)


_FAILURES = ("errors1", "errors2", "failed", "bad", "bad1", "bad2", "broken")


def _failed(result: Reported) -> bool:
    """Whether so many requests failed that their connections may have been busy with that."""
    failed = sum(result.figures[name].value.high for name in _FAILURES if name in result.figures)
    requests = result.get("requests")
    if "timeouts" in result.figures and result.figures["timeouts"].value.high > 0:
        return True
    return failed > (_FEW_FAILED * requests.value.low if requests is not None else 0)


@audit_rule("M2")
def impossible(seen: Evidence) -> Iterator[AuditHit]:
    """A higher percentile is never below a lower one, and a mean lies between minimum and maximum: a figure
    is wrong, or its column is."""
    for result in seen.results:
        figures = result.figures
        names = ["min", *(f"p{q:g}" for q in sorted(result.percentiles)), "max"]
        names = [name for name in names if name in figures]
        pairs = list(zip(names, names[1:], strict=False))
        if "mean" in figures and result.tool != "ab":
            pairs += [("min", "mean"), ("mean", "max")]
        order = tuple(Constraint("M2", f"{low} ≤ {high}", (low,), "≤", (high,), 0.01) for low, high in pairs)
        for one in broken(figures, order):
            (low,), (high,) = one.constraint.times, one.constraint.of
            told = figures[one.figure if one.sure else low]
            ends = [f"{_NAMES.get(name, name)} {figures[name].quote}" for name in (low, high)]
            yield hit_at(told, " is above ".join(ends), result.line, severity="error")
            break


_NAMES = {"min": "minimum", "max": "maximum"}


@audit_rule("M3")
def counted(seen: Evidence) -> Iterator[AuditHit]:
    """Requests divided by the time they took are the rate; where they are not, one of the three figures is
    not of this run."""
    yield from odd_one_out(seen)
    for result in seen.results:
        tool = BY_NAME.get(result.tool)
        by_hand = result.tool in BY_HAND
        known = by_hand or (tool is not None and tool.rate_of == "count")
        lost = result.tool in ("hey", "oha", "h2load") and _failed(result)
        for one in broken({**result.figures, **(_of_a_loop(seen, result) or {})}, CONSTRAINTS):
            if one.constraint.code != "M3":
                continue
            timed = "duration" in one.constraint.figures
            if (by_hand and not timed) or (timed and (not known or lost)):
                continue  # a column of failures or connections may be of something else
            usual = "rate" if "rate" in one.constraint.figures else one.figure
            told = result.figures[one.figure if one.sure else usual]
            yield hit_at(told, _counts(result, one), result.line, severity="error")
            break


def _counts(result: Reported, one: Broken) -> str:
    figures = result.figures
    if "duration" in one.constraint.figures:
        rate, requests, took = (figures[name].value for name in ("rate", "requests", "duration"))
        words = (
            f"{number(requests.middle)} requests ÷ {time(took.middle)} = {between(requests / took)}/s, not "
            f"{number(rate.middle)}/s"
        )
    else:
        values = [f"{name} {number(figures[name].value.middle)}" for name in one.constraint.figures]
        words = f"{one.constraint.name} does not hold: {', '.join(values).replace('_', ' ')}"
    if one.sure and one.value is not None:
        words += f"; {figures[one.figure].quote!r} is what the other figures leave alone: it would be "
        words += number(one.value.middle)
    return words


def odd_one_out(seen: Evidence) -> Iterator[AuditHit]:
    """M3 of a table without durations: requests ÷ rate is the same length for all rows but one or two."""
    for grid in seen.grids:
        told = [
            (row, row.figures["requests"].value / row.figures["rate"].value)
            for row in grid.results
            if all(name in row.figures and row.figures[name].value.low > 0 for name in ("rate", "requests"))
        ]
        if len(told) < _ROWS:
            continue
        usual = median(length.middle for _, length in told)
        odd = [
            (row, length)
            for row, length in told
            if not length.widened(_ODD).low <= usual <= length.widened(_ODD).high
        ]
        near = [length for _, length in told if abs(length.middle / usual - 1) < _LIKE]
        if odd and len(near) == len(told) - len(odd) and len(odd) * _ROWS <= len(told):
            for row, length in odd:
                words = f"requests ÷ rate is {time(length.middle)} here, and {time(usual)} in the other rows"
                yield hit_at(row.figures["rate"], words, row.line, severity="error")


_ROWS, _ODD, _LIKE = 5, 0.05, 0.02
