"""M1 to M3: figures of one result that cannot all be true."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from assay.audit.document import BY_HAND, Figure, Reported
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, AuditRule, between, number, numbered, time

_MORE, _FEWER, _FEW_FAILED = 1.1, 0.5, 0.1
_FAILURES = ("errors1", "errors2", "failed", "bad", "bad1", "bad2", "broken")
_PAUSING = frozenset({"k6", "locust", "jmeter", "gatling", "siege", "artillery", "nbomber", "tsung"})
"""Tools whose users pause between requests: fewer in flight than there are users contradicts nothing."""
_COUNTS_ALL = frozenset({"wrk", "ab", "hey", "oha", "h2load", "siege", "loadtest", *BY_HAND})
"""Tools whose rate is the count over the time they print; others average over windows of their own."""


def little(seen: Evidence) -> Iterator[AuditHit]:
    """M1: requests in flight = mean time × throughput, which cannot exceed the connections."""
    for result in seen.results:
        rate, connections = result.get("rate"), result.get("connections")
        # What a table made from wrk's report calls latency is the mean: wrk names no other by that word.
        mean = result.get("mean") or (result.get("time") if _of_wrk(result) else None)
        closed = seen.closed if result.closed is None and result.tool in BY_HAND else result.closed
        if rate is None or mean is None or connections is None or closed is not True or result.tool == "ab":
            continue
        pipelining = result.get("pipelining")
        slots = connections.value.middle * (pipelining.value.middle if pipelining is not None else 1.0)
        if pipelining is None and (seen.pipelined if result.tool in BY_HAND else _pipelined(seen, result)):
            continue
        flight = rate.value * mean.value
        more = flight.low > _MORE * slots
        # How tools count the times of pipelined requests is their own affair.
        fewer = (
            slots == connections.value.middle
            and flight.high < _FEWER * (slots - _lost(result))
            and not _failed(result)
            and not (result.tool in BY_HAND and seen.facts.tools & _PAUSING)
        )
        if slots <= 0 or not (more or fewer) or result.get("offered") is not None:
            continue
        yield AuditHit(
            mean.line,
            mean.quote,
            f"{time(mean.value.middle)} × {number(rate.value.middle)}/s = {between(flight)} requests "
            f"in flight,"
            f" with {numbered(slots, 'connection')}",
            "error" if more else "warning",
            (result.line,),
        )


def _pipelined(seen: Evidence, result: Reported) -> bool:
    return "pipeline" in result.command.quote if result.command is not None else seen.pipelined


def _of_wrk(result: Reported) -> bool:
    return result.command is not None and result.command.tool == "wrk"


def _failed(result: Reported) -> bool:
    """Whether so many requests failed that their connections may have been busy with that."""
    failed = sum(result.figures[name].value.high for name in _FAILURES if name in result.figures)
    requests = result.get("requests")
    if "timeouts" in result.figures and result.figures["timeouts"].value.high > 0:
        return True
    return failed > (_FEW_FAILED * requests.value.low if requests is not None else 0)


def _lost(result: Reported) -> float:
    """Connections that were never opened."""
    missing = result.figures.get("connect_errors")
    return missing.value.high if missing is not None else 0.0


M1 = AuditRule(
    code="M1",
    title="times contradict throughput (Little's law)",
    takes="times",
    meaning=(
        "A connection of a closed loop holds one request at a time, so mean time × throughput is the "
        "number of busy "
        "connections. More than there are is impossible; far fewer means that most stood idle, and "
        "were no load."
    ),
    remedy=(
        "measure again with a tool whose accounting balances (assay load), and tell connections, mean and "
        "throughput"
    ),
    source="Little's law; tolerances ours",
    check=little,
)


def impossible(seen: Evidence) -> Iterator[AuditHit]:
    """M2: minimum ≤ percentiles in their order ≤ maximum, and the mean between the ends."""
    for result in seen.results:
        steps: list[tuple[str, Figure]] = []
        if "min" in result.figures:
            steps.append(("minimum", result.figures["min"]))
        for percentile in sorted(result.percentiles):
            steps.append((f"p{percentile:g}", result.percentiles[percentile]))
        if "max" in result.figures:
            steps.append(("maximum", result.figures["max"]))
        pairs = list(zip(steps, steps[1:], strict=False))
        if "mean" in result.figures and result.tool != "ab":
            mean = ("mean", result.figures["mean"])
            pairs += [(("minimum", result.figures["min"]), mean)] if "min" in result.figures else []
            pairs += [(mean, ("maximum", result.figures["max"]))] if "max" in result.figures else []
        for (low_name, low), (high_name, high) in pairs:
            if low.value.low > high.value.widened(0.01).high:
                yield AuditHit(
                    low.line,
                    low.quote,
                    f"{low_name} {low.quote} is above {high_name} {high.quote}",
                    "error",
                    (result.line,),
                )
                break


M2 = AuditRule(
    code="M2",
    title="times that cannot be",
    takes="times",
    meaning=(
        "A higher percentile is never below a lower one, and a mean lies between minimum and maximum: a "
        "figure is wrong, or its column is."
    ),
    remedy="look at the raw output, and copy the figures again",
    source="arithmetic",
    check=impossible,
)


def counted(seen: Evidence) -> Iterator[AuditHit]:
    """M3: requests ÷ duration = rate."""
    yield from odd_one_out(seen)
    for result in seen.results:
        rate, requests, took = (result.figures.get(name) for name in ("rate", "requests", "duration"))
        if rate is None or requests is None or took is None or result.tool not in _COUNTS_ALL:
            continue
        if took.value.low <= 0 or (result.tool in ("hey", "oha", "h2load") and _failed(result)):
            continue
        quotient = requests.value / took.value
        if quotient.widened(0.01).meets(rate.value):
            continue
        yield AuditHit(
            rate.line,
            rate.quote,
            f"{number(requests.value.middle)} requests ÷ {time(took.value.middle)} = {between(quotient)}/s,"
            f" not {number(rate.value.middle)}/s",
            "error",
            (result.line,),
        )


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
                rate = row.figures["rate"]
                yield AuditHit(
                    rate.line,
                    rate.quote,
                    f"requests ÷ rate is {time(length.middle)} here, and {time(usual)} in the other rows",
                    "error",
                    (row.line,),
                )


_ROWS, _ODD, _LIKE = 5, 0.05, 0.02


M3 = AuditRule(
    code="M3",
    title="the rate contradicts the count",
    takes="everything",
    meaning=(
        "Requests divided by the time they took are the rate; where they are not, one of the three "
        "figures is not of this run."
    ),
    remedy="show the raw output of one run as it is",
    source="arithmetic",
    check=counted,
)
