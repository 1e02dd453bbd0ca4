"""M, S, R: figures that cannot all be true, how often it was measured, and what differences are worth."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from assay.audit.document import BY_HAND, Figure, Reported
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, AuditRule, between, number, numbered, time
from assay.audit.names import key_of

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


_FEW = 5
_NUMBERED = re.compile(r"\b(?:run|round|attempt|try|trial|iteration|pass|test)\s?#?\d|#\d", re.IGNORECASE)
"""Headings of repeated runs."""


def compares(seen: Evidence) -> bool:
    """Whether the text sets results of different things side by side."""
    return next(seen.compared(), None) is not None


def few(seen: Evidence) -> Iterator[AuditHit]:
    """S5: one to five runs, by the text's own words."""
    if not compares(seen):
        return
    for said in seen.facts.runs:
        if 1 <= said.number <= _FEW:
            runs = "run" if said.number == 1 else "runs"
            yield AuditHit(said.line, said.quote, f"{number(said.number)} {runs} a side; a ranking takes six")
    for grid in seen.grids:
        groups = {row.group for row in grid.results if _NUMBERED.search(row.group)}
        if 1 < len(groups) <= _FEW:
            yield AuditHit(grid.table.number, min(groups), f"{len(groups)} runs a side; a ranking takes six")


S5 = AuditRule(
    code="S5",
    title="too few runs",
    takes="comparison",
    meaning=(
        "Runs differ from each other by more than people expect; with so few, a difference of some "
        "percent may be the order they ran in."
    ),
    remedy="run each at least six times, in alternating order (assay versus does)",
    source="benchstat's minimum",
    check=few,
)


def _spread(result: Reported, name: str) -> Figure | None:
    return result.figures.get(f"{name}_spread") or (
        result.figures.get("rate_stdev") if name == "rate" and result.table else None
    )


def within_spread(seen: Evidence) -> Iterator[AuditHit]:
    """S6: a difference smaller than the ± beside it."""
    told: set[int] = set()
    for a, b in seen.compared():
        for name in ("rate", "mean"):
            one, other = a.figures.get(name), b.figures.get(name)
            spreads = [own for each in (a, b) if (own := _spread(each, name)) is not None]
            if one is None or other is None or len(spreads) < 2 or a.table in told:
                continue
            gap = abs(one.value.middle - other.value.middle)
            spread = max(each.value.low for each in spreads)
            if gap < spread:
                told.add(a.table)
                yield AuditHit(
                    other.line,
                    other.quote,
                    f"{a.label!r} and {b.label!r} differ by {number(gap)}, and the runs of one by ± "
                    f"{number(spread)}",
                    about=(a.line, b.line),
                )


S6 = AuditRule(
    code="S6",
    title="a gap smaller than the spread",
    takes="comparison",
    meaning="The same thing measured again differs by more than the two do: which is ahead is chance.",
    remedy="measure in blocks until the interval of the ratio excludes 1 (assay versus), or call them alike",
    source="pyperf; ours",
    check=within_spread,
)


def _load_of(seen: Evidence, one: Reported) -> tuple[object, ...]:
    """What is the same in repeated runs of one thing."""
    section = seen.section(one.line)
    connections, duration = one.get("connections"), one.get("duration")
    return (
        key_of(one.label),
        one.group,
        section.path[:-1] if section and _NUMBERED.search(section.title) else section and section.path,
        one.url,
        connections.value if connections else None,
        round(duration.value.middle) if duration else None,
    )


_ALIKE = 1.5
"""Rates or times that differ by more are hardly runs of one thing, though one heading stands above both."""


def _repeats(seen: Evidence) -> bool:
    """Whether the text shows several runs of one thing, one output after the other."""
    runs: dict[tuple[object, ...], list[float]] = defaultdict(list)
    last: dict[tuple[object, ...], int] = {}
    for one in seen.outputs:
        figure = next((one.figures[name] for name in ("rate", "mean") if name in one.figures), None)
        if key_of(one.label) and figure is not None:
            load = _load_of(seen, one)
            if load in last and _explained(seen, last[load], one.line):
                runs[load] = []  # what stands between says what is different now
            last[load] = one.last
            runs[load].append(figure.value.middle)
            if len(runs[load]) > 1 and max(runs[load]) <= _ALIKE * min(runs[load]):
                return True
    return False


_WORDS = 14
"""Words of prose between two outputs that are more than "and again"."""


def _explained(seen: Evidence, after: int, before: int) -> bool:
    blocks = [block for block in seen.document.blocks if block.kind == "prose" and block.lines]
    words = [block.text for block in blocks if after < block.lines[0].number < before]
    return len(" ".join(words).split()) > _WORDS


def untold(seen: Evidence) -> Iterator[AuditHit]:
    """R5: a comparison, and nowhere how often it was measured."""
    facts = seen.facts
    if not compares(seen) or not facts.whole or facts.runs or facts.repeated or facts.spread:
        return
    if _repeats(seen) or any(_NUMBERED.search(row.group) for row in seen.rows):
        return
    if any(
        name.endswith("_spread") or name in ("rate_stdev", "runs")
        for row in seen.rows
        for name in row.figures
    ):
        return
    first, second = next(seen.compared())
    yield AuditHit(
        first.line,
        first.label,
        f"{first.label!r} is compared with {second.label!r}; how often was each measured?",
        "note",
    )


R5 = AuditRule(
    code="R5",
    title="the number of runs is not told",
    takes="comparison",
    meaning="Without repetitions nobody can tell a difference from chance, the author included.",
    remedy="tell how many runs there were, in which order, and their spread",
    source="Kalibera, Jones (ISMM'13)",
    check=untold,
)


def best(seen: Evidence) -> Iterator[AuditHit]:
    """R9: the best of several runs."""
    if not seen.results:
        return
    for said in seen.facts.runs:
        if said.kind == "best":
            yield AuditHit(said.line, said.quote, "the maximum of several runs")


R9 = AuditRule(
    code="R9",
    title="the best of several runs",
    takes="comparison",
    meaning="A maximum grows with the number of runs and with their spread: it rewards what scatters.",
    remedy="tell the mean or median of all runs, with an interval",
    source="docs/method/design.md: no figure is ever the best of n",
    check=best,
)
