"""What `assay load` says: its live view, its end screen, and its result as JSON."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay import verdict
from assay.core import units as fmt
from assay.model.account import TimeAccount
from assay.model.costs import Costs
from assay.model.finding import Finding
from assay.model.measurement import Histogram, Measurement, Snapshot
from assay.model.plan import LoadPlan, StopAfter
from assay.model.trial import GeneratorSeen
from assay.report.model.loads import (
    PERCENTILES,
    is_invalid,
    known_throughput,
    limits_json,
    percentile_name,
    shape,
)
from assay.report.style import FAINT, HEADING, SEVERITY_STYLE
from assay.stats import kept_per_s, quantiles
from assay.verdict.limits import LimitResult

_BAR_WIDTH = 30
_TRACE_WIDTH = 30
_TRACE_STEP_NS = 500_000_000
_LEVELS = "▁▂▃▄▅▆▇█"


_LINE_EVERY_S = 2.0
_REFRESH_S = 0.2


class SnapshotSource(Protocol):
    """A load that can be looked at."""

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end, for at most so long; whether it has come."""

    def snapshot(self) -> Snapshot:
        """Give the totals of the current phase."""


def lines(going: SnapshotSource, plan: LoadPlan, say: Callable[[str], None]) -> None:
    """Say where a load stands, every two seconds until it ends."""
    view, said = LoadView(plan), time.monotonic()
    while not going.wait(_REFRESH_S):
        view.take(going.snapshot())
        if time.monotonic() - said >= _LINE_EVERY_S:
            said = time.monotonic()
            say(view.line())


class LoadView:
    """Remembers the snapshots that a rate over the last second is made of."""

    def __init__(self, plan: LoadPlan) -> None:
        """Start with nothing seen."""
        self._plan = plan
        self._seen: deque[Snapshot] = deque(maxlen=2 + _TRACE_WIDTH * 8)

    def take(self, snapshot: Snapshot) -> None:
        """Remember a snapshot; a new phase starts the memory anew, for its totals start anew."""
        if self._seen and self._seen[-1].phase != snapshot.phase:
            self._seen.clear()
        if not self._seen or snapshot.elapsed_ns > self._seen[-1].elapsed_ns:
            self._seen.append(snapshot)

    def render(self) -> RenderableType:
        """The screen, for the last snapshot taken."""
        if not self._seen:
            return self._head()
        now = self._seen[-1]
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(style=FAINT, no_wrap=True, min_width=12)
        table.add_column(no_wrap=True)
        table.add_row("rate", Text.assemble((f"{fmt.rate(self._rate_per_s()):<10}", HEADING), self._trace()))
        table.add_row("service time", _service_times(now))
        table.add_row("p99 over time", self._slow_trace())
        if now.send_lag_p99_ns is not None:
            table.add_row("send lag", f"p99 {fmt.time(now.send_lag_p99_ns)}")
        failed = Text(fmt.count(now.failed), SEVERITY_STYLE["error"] if now.failed else "")
        table.add_row("failed", failed)
        table.add_row("client CPU", fmt.share(now.client_cpu))
        return Group(
            self._head(),
            Text(self._progress(), no_wrap=True),
            table,
        )

    def _head(self) -> RenderableType:
        head = Text.assemble((fmt.safe(self._plan.url), HEADING), "  ", (shape(self._plan), FAINT))
        head.no_wrap, head.overflow = True, "ellipsis"
        return head

    def line(self) -> str:
        """The same in one line, for a log."""
        if not self._seen:
            return ""
        now = self._seen[-1]
        seen = f"{fmt.rate(self._rate_per_s())}, {_service_times(now)}, {fmt.count(now.failed)} failed"
        return f"{self._progress(with_bar=False)}: {seen}"

    def _progress(self, with_bar: bool = True) -> str:
        now = self._seen[-1]
        elapsed_s = now.elapsed_ns / 1e9
        if now.phase == "warmup":
            return f"warming up  {elapsed_s:.1f} s of at most {fmt.span(self._plan.warmup_max_ns / 1e9)}"
        stop = self._plan.stop
        if isinstance(stop, StopAfter):
            part = now.elapsed_ns / stop.ns
            left_s = max(0.0, (stop.ns - now.elapsed_ns) / 1e9)
            said = f"{elapsed_s:.1f} s, {fmt.span(left_s)} left"
        else:
            done = now.completed + now.failed
            part = done / stop.count
            left_s = (stop.count - done) / (self._rate_per_s() or float("inf"))
            said = f"{fmt.count(done)} of {fmt.count(stop.count)}, {fmt.span(left_s)} left"
        drawn = f"{fmt.bar(part, _BAR_WIDTH):·<{_BAR_WIDTH}}  " if with_bar else ""
        return f"measuring  {drawn}{said}"

    def _rate_per_s(self) -> float:
        """Right answers a second over about the last second."""
        now = self._seen[-1]
        base = next((seen for seen in self._seen if now.elapsed_ns - seen.elapsed_ns <= 1_100_000_000), now)
        if base is now:
            return now.completed / (now.elapsed_ns / 1e9) if now.elapsed_ns else 0.0
        return (now.completed - base.completed) / ((now.elapsed_ns - base.elapsed_ns) / 1e9)

    def _trace(self) -> str:
        """The rate's course so far, newest at the right, from zero."""
        rates = [
            (after.completed - before.completed) / (after.elapsed_ns - before.elapsed_ns)
            for before, after in self._steps()
        ]
        top = max(rates, default=0.0)
        return "".join(
            _LEVELS[round(rate / top * (len(_LEVELS) - 1))] if top else _LEVELS[0] for rate in rates
        )

    def _slow_trace(self) -> str:
        """The course of p99, newest at the right: a level for each 1, 2, 5, 10 … times the lowest; a blank
        where nothing was answered."""
        found = [_p99_place(before, after) for before, after in self._steps()]
        lowest = min((place for place in found if place is not None), default=0)
        return "".join(
            " " if place is None else _LEVELS[min(place - lowest, len(_LEVELS) - 1)] for place in found
        )

    def _steps(self) -> list[tuple[Snapshot, Snapshot]]:
        """Pairs of views, half a second apart, as many as are drawn."""
        points = [self._seen[0]]
        for seen in self._seen:
            if seen.elapsed_ns - points[-1].elapsed_ns >= _TRACE_STEP_NS:
                points.append(seen)
        return list(pairwise(points))[-_TRACE_WIDTH:]


def _p99_place(before: Snapshot, after: Snapshot) -> int | None:
    """Which bucket of `up_to_ns` holds p99 of what was answered in between; None where nothing was."""
    ends = sorted((int(up_to), count) for up_to, count in after.up_to_ns.items())
    answers = after.completed - before.completed
    if not ends or answers <= 0:
        return None
    new = [count - before.up_to_ns.get(str(up_to), 0) for up_to, count in ends]
    return next((place for place, count in enumerate(new) if count >= 0.99 * answers), len(ends))


def _service_times(now: Snapshot) -> str:
    if not now.completed:
        return fmt.UNKNOWN
    return (
        f"p50 {fmt.time(now.service_time_p50_ns)}  p99 {fmt.time(now.service_time_p99_ns)}  "
        f"max {fmt.time(now.service_time_max_ns)}"
    )


FORMAT = 3
"""Raised whenever a key changes its meaning or goes."""


def as_json(
    plan: LoadPlan,
    measurement: Measurement,
    findings: Sequence[Finding],
    generators: Sequence[GeneratorSeen] = (),
    account: TimeAccount | None = None,
    costs: Costs | None = None,
    *,
    limits: Sequence[LimitResult] = (),
) -> str:
    """Write the document, indented. Invalid figures are null; what was seen is in `measurement`."""
    times = not is_invalid(findings, "times")
    response, shaken = measurement.response_time, measurement.handshake_time
    document = {
        "format": FORMAT,
        "clean": all(finding.severity == "note" for finding in findings),
        "throughput_per_s": None if is_invalid(findings) else kept_per_s(plan, measurement),
        "throughput_known": None if is_invalid(findings) else known_throughput(plan, measurement, findings),
        "times_known": _times_known(findings) if times else None,
        "completed": measurement.completed,
        "failed": measurement.failed,
        "service_time_ns": _percentiles_json(measurement.service_time) if times else None,
        "response_time_ns": _percentiles_json(response) if times and response is not None else None,
        "connect_time_ns": _percentiles_json(measurement.connect_time) if times else None,
        "handshake_time_ns": _percentiles_json(shaken) if times and shaken is not None else None,
        "first_byte_time_ns": _percentiles_json(measurement.first_byte_time) if times else None,
        **({"by_request": _by_request_json(measurement, times)} if measurement.by_request else {}),
        "findings": findings,
        "plan": plan,
        "measurement": measurement,
        "account": account,
        **({"generators": generators} if generators else {}),
        **({"costs": costs} if costs is not None else {}),
        **({"limits": limits_json(limits)} if limits else {}),
    }
    return fmt.as_json(document)


def _by_request_json(measurement: Measurement, times: bool) -> list[dict[str, Any]]:
    """Counts and percentiles of each request of a mix."""
    seconds = measurement.measured_ns / 1e9
    return [
        {
            "name": one.name,
            "answers_per_s": one.completed / seconds if seconds else None,
            "completed": one.completed,
            "failed": one.failed,
            "statuses": one.statuses,
            "failures": one.failures,
            "service_time_ns": _percentiles_json(one.service_time) if times else None,
            "response_time_ns": (
                _percentiles_json(one.response_time) if times and one.response_time is not None else None
            ),
        }
        for one in measurement.by_request
    ]


def _times_known(findings: Sequence[Finding]) -> dict[str, Any]:
    """Whether the times are what was measured, or at least that, or at most; and why."""
    left = verdict.bounded(findings, "", "times")
    return {
        "at_least": left.slack.up > 1,
        "at_most": left.slack.down < 1,
        "limits": left.limits,
    }


def _percentiles_json(times: Histogram) -> dict[str, Any]:
    """Percentiles with enough requests behind them; null for the others."""
    found = quantiles(times, PERCENTILES)
    named = {
        percentile_name(p): value and value.value_ns for p, value in zip(PERCENTILES, found, strict=True)
    }
    return named | {"mean": times.mean_ns, "max": times.max_ns}
