"""The summary of one load: its rate and failures, its times, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay import verdict
from assay.core import units as fmt
from assay.model.finding import Finding
from assay.model.measurement import Histogram, Measurement
from assay.model.plan import LoadPlan
from assay.report.model.loads import (
    PERCENTILES,
    drawn_from,
    early_end,
    is_invalid,
    known_throughput,
    known_time,
    percentile_name,
    shape,
)
from assay.report.model.values import Cell, Column, Summary, Table, TableLine, table
from assay.report.model.warned import changes_answer, warnings
from assay.stats import kept_per_s, quantiles
from assay.stats.quantiles import recorded

_SHOWN = tuple(p for p in PERCENTILES if p in (0.5, 0.9, 0.99, 0.999))
_LONGEST_REASON = 72
"""There is one case, whose name need not stand beside it."""
_DRAWN = 10
"""Columns of the small histogram."""
_LEVELS = " ▁▂▃▄▅▆▇█"


def summary(plan: LoadPlan, measured: Measurement, findings: Sequence[Finding]) -> Summary:
    """The summary of a load that has ended. Findings of this load alone: they name no case."""
    return Summary(
        headline=(
            f"{_rate(plan, measured, findings)}; {_failures(measured)}{early_end(plan, measured)}",
            *_cause(findings),
        ),
        table=_times(measured, findings),
        warnings=warnings(findings, longest=_LONGEST_REASON, told=_in_headline(measured, findings)),
        advice=_advice(findings),
        footer=(_offered(plan, measured), f"{fmt.safe(plan.url, 120)}, more: --verbose"),
    )


def _rate(plan: LoadPlan, measured: Measurement, findings: Sequence[Finding]) -> str:
    """ "38,900 requests/s", as a bound with its reason, or why there is none."""
    if is_invalid(findings):
        return "no valid rate"
    found, rate = known_throughput(plan, measured, findings), kept_per_s(plan, measured)
    if found is None or rate is None:
        return "no rate: it ended before anything was measured"
    told = fmt.known_rate(found, rate).removesuffix("/s") + " requests/s"
    return f"{told} ({verdict.words_of(found.limits)})" if found.limits else told


def _cause(findings: Sequence[Finding]) -> Iterator[str]:
    """Why there is no rate: what was seen of the cause, else the title of the rule."""
    for one in _voiding(findings)[:1]:
        seen = one.evidence.partition("; ")[2] if one.code.startswith("W") else one.evidence
        yield f"{fmt.safe(seen or one.title, 140)} ({one.code})"


def _voiding(findings: Sequence[Finding]) -> list[Finding]:
    return [one for one in findings if one.severity == "error" and one.on_throughput == "void"]


def _advice(findings: Sequence[Finding]) -> str:
    """What to do where there is no rate, or where answers were not those that were asked for."""
    wrong = [one for one in findings if one.code.startswith("W") and one.severity == "warning"]
    first = next(iter((*_voiding(findings), *wrong)), None)
    return f"{first.remedy.rstrip('.')} ({first.code})" if first else ""


def _in_headline(measured: Measurement, findings: Sequence[Finding]) -> frozenset[str]:
    """The rules that the headline names already."""
    if is_invalid(findings):
        return frozenset(one.code for one in _voiding(findings)[:1])
    failures = frozenset(one.code for one in findings if one.code == "W2" and not changes_answer(one))
    return failures if measured.failed else frozenset()


def _failures(measured: Measurement) -> str:
    whole = measured.completed + measured.failed
    if not whole:
        return "no request ended within the measured time"
    if not measured.failed:
        return f"0 of {fmt.count(whole)} failed"
    kinds = sorted(measured.outcomes, key=lambda one: -one.count)
    named = [f"{fmt.count(one.count)} × {one.kind.replace('_', ' ')}" for one in kinds[:2]]
    more = f" and {len(kinds) - 2} other kinds" if len(kinds) > 2 else ""
    share = fmt.share(measured.failed / whole)
    return f"{fmt.count(measured.failed)} of {fmt.count(whole)} failed ({share}): {', '.join(named)}{more}"


def _times(measured: Measurement, findings: Sequence[Finding]) -> Table | None:
    if is_invalid(findings, "times"):
        return None
    rows = [("service time", measured.service_time)]
    if measured.response_time is not None:
        rows.insert(0, ("response time", measured.response_time))
    columns = (
        Column("clock", "", key=True),
        *(Column(percentile_name(p), percentile_name(p), right=True) for p in _SHOWN),
        Column("max", "max", right=True),
        Column("drawn", "min to max, log", spare=1),
    )
    return table("", columns, [TableLine(tuple(_cells(name, times, findings))) for name, times in rows])


def _cells(name: str, times: Histogram, findings: Sequence[Finding]) -> Iterator[Cell]:
    yield Cell(name)
    for found in quantiles(times, _SHOWN):
        yield Cell("" if found is None else _time(found.value_ns, findings))
    yield Cell(_time(float(times.max_ns), findings) if times.count else "")
    yield Cell(_histogram(times), "faint")


def _time(ns: float, findings: Sequence[Finding]) -> str:
    return fmt.known_time(known_time(ns, findings), ns)


def _histogram(times: Histogram) -> str:
    """How many requests took how long, in columns of equal ratio from the shortest to the longest."""
    slots = [(ns, count) for ns, count in recorded(times) if ns > 0]
    if len(slots) < _DRAWN:
        return ""
    low, high = math.log(slots[0][0]), math.log(slots[-1][0])
    counts = [0] * _DRAWN
    for ns, count in slots:
        counts[min(int((math.log(ns) - low) / (high - low) * _DRAWN), _DRAWN - 1)] += count
    most = max(counts)
    return "".join(_LEVELS[math.ceil(count / most * (len(_LEVELS) - 1))] for count in counts)


def _offered(plan: LoadPlan, measured: Measurement) -> str:
    seconds = measured.measured_ns / 1e9
    said = [shape(plan)]
    if seconds:
        said.append(f"{fmt.size(measured.bytes_read / seconds)}/s received")
    if drawn_from(plan):
        said.append(f"--{drawn_from(plan)} repeats it")
    return ", ".join(said)
