"""What `assay load` says: its live view, its end screen, and its result as JSON."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay import verdict
from assay.core import units as fmt
from assay.model.finding import Finding
from assay.model.measurement import Histogram, Http2, Http3, Measurement, Snapshot, Worker
from assay.model.plan import LoadPlan, StopAfter
from assay.model.trial import GeneratorSeen
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
from assay.report.model.values import groups
from assay.report.style import FAINT, GOOD, HEADING, SEVERITY_STYLE, bar, in_words
from assay.stats import Quantile, kept_per_s, quantiles, requests_needed

_PLOT_WIDTH = 40


def whole(plan: LoadPlan, measurement: Measurement, findings: Sequence[Finding]) -> RenderableType:
    """Render all that is said at the end of a load."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(style=FAINT, no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_row("load", shape(plan) + early_end(plan, measurement))
    for label, said in _figures(plan, measurement, findings):
        table.add_row(label, said)
    parts: list[RenderableType] = [Text(fmt.safe(plan.url), HEADING), Padding(table, (1, 0, 1, 2))]
    parts += _times(plan, measurement, findings)
    return Group(*parts, _closing(findings))


def _figures(
    plan: LoadPlan, measured: Measurement, findings: Sequence[Finding]
) -> Iterable[tuple[str, RenderableType]]:
    yield "throughput", _throughput(plan, measured, findings)
    over = f"in {fmt.time(measured.measured_ns)}"
    yield "answers", f"{fmt.count(measured.completed)} right, {fmt.count(measured.failed)} failed {over}"
    for outcome in measured.outcomes:
        example = f": {fmt.safe(outcome.example, 120)}" if outcome.example else ""
        kind = f"{outcome.kind.replace('_', ' ')} ({outcome.origin})"
        yield "", f"{fmt.count(outcome.count)} × {fmt.safe(kind)}{example}"
    if len(measured.statuses) > 1 or any(not status.startswith("2") for status in measured.statuses):
        yield "status", ", ".join(f"{code}: {fmt.count(n)}" for code, n in sorted(measured.statuses.items()))
    answers = measured.completed + measured.failed
    each = f", {fmt.size(measured.bytes_read / answers)} an answer" if answers else ""
    seconds = measured.measured_ns / 1e9
    yield "received", f"{fmt.size(measured.bytes_read / seconds) if seconds else fmt.UNKNOWN}/s{each}"
    seen = measured.connections
    reopened = f", {fmt.count(seen.reopened)} reopened" if seen.reopened else ""
    opened = f"{fmt.count(seen.opened)} of {fmt.count(seen.asked)} opened"
    yield "connections", f"{opened}, {fmt.count(seen.answered)} answered{reopened}"
    if measured.http2 is not None:
        yield "HTTP/2", _http2(measured.http2)
    if measured.http3 is not None:
        yield "HTTP/3", _http3(measured.http3)
    coded = {name: count for name, count in measured.encodings.items() if name != "identity"}
    if coded:
        yield "coded", ", ".join(f"{fmt.safe(name)}: {fmt.count(count)}" for name, count in coded.items())
    if not is_invalid(findings, "times"):
        yield from _parts_of_the_time(measured, findings)
    if measured.missed_starts:
        yield "missed", f"{fmt.counted(measured.missed_starts, 'request')} could not be started"
    if measured.send_lag is not None:
        lag = quantiles(measured.send_lag, (0.99,))[0]
        yield (
            "send lag",
            f"p99 {fmt.time(lag.value_ns if lag else None)}, most {fmt.time(measured.send_lag.max_ns)}",
        )
    yield "client", _client(measured.workers)
    if drawn_from(plan):
        yield "random", f"{drawn_from(plan)} (--seed {plan.seed} repeats it)"


def _throughput(plan: LoadPlan, measured: Measurement, findings: Sequence[Finding]) -> Text:
    """The rate; as a bound where a finding made it one, with the reason."""
    if is_invalid(findings):
        return Text("invalid", SEVERITY_STYLE["error"])
    found, rate = known_throughput(plan, measured, findings), kept_per_s(plan, measured)
    if found is None or rate is None:
        return Text("not known: it ended before anything was measured")
    if not found.limits:
        return Text(fmt.rate(rate), HEADING)
    why = f"  ({verdict.words_of(found.limits)})"
    return Text.assemble((fmt.known_rate(found, rate), HEADING), (why, FAINT))


def _http2(seen: Http2) -> str:
    """What of HTTP/2 a reader should know: how many streams are allowed, who waited, who was refused."""
    allowed = seen.streams_allowed
    said = [f"{fmt.counted(allowed, 'stream')} allowed at once" if allowed else "as many streams as wanted"]
    said += _waits("one", seen.stream_waits, seen.stream_wait_ns)
    said += _waits("a window", seen.window_stalls, seen.window_stall_ns)
    for what, counts in (("reset", seen.resets), ("broken", seen.faults), ("GOAWAY", seen.going_away)):
        said += _by_code(what, counts)
    return ", ".join(said)


def _http3(seen: Http3) -> str:
    """What of HTTP/3 a reader should know: datagrams, how many were lost, who waited, what was refused."""
    said = [f"{fmt.counted(seen.udp_sent, 'datagram')} sent, {fmt.count(seen.udp_received)} received"]
    if seen.lost_packets:
        said.append(f"{fmt.count(seen.lost_packets)} lost on the way")
    said += _waits("a stream", seen.stream_limit_waits, seen.stream_limit_ns)
    said += _waits("a window", seen.flow_stalls, seen.flow_stall_ns)
    said += [f"GOAWAY: {fmt.count(seen.goaway)}"] if seen.goaway else []
    return ", ".join([*said, *_by_code("reset", seen.resets), *_by_code("lost", seen.lost)])


def _waits(what: str, times: int, ns: int) -> list[str]:
    return [f"{fmt.count(times)} waits for {what}, {fmt.time(ns)} in all"] if times else []


def _by_code(what: str, counts: dict[str, int]) -> list[str]:
    return [f"{what} {fmt.safe(code)}: {fmt.count(count)}" for code, count in sorted(counts.items())]


def _parts_of_the_time(measured: Measurement, findings: Sequence[Finding]) -> Iterable[tuple[str, str]]:
    """What comes before an answer is complete: the connection, the handshake, the first byte."""
    if measured.connect_time.count:
        yield "connect", _spread(measured.connect_time, findings)
    if measured.handshake_time is not None and measured.handshake_time.count:
        yield "handshake", _spread(measured.handshake_time, findings)
    for agreed, count in measured.handshakes.items():
        yield "", f"{fmt.count(count)} × {fmt.safe(agreed)}"
    if measured.first_byte_time.count:
        yield "first byte", _spread(measured.first_byte_time, findings)


def _spread(times: Histogram, findings: Sequence[Finding]) -> str:
    """The median, the tail where enough were measured, and the longest."""
    named = zip(("p50", "p99"), quantiles(times, (0.5, 0.99)), strict=True)
    said = [f"{name} {_time(found.value_ns, findings)}" for name, found in named if found is not None]
    return ", ".join([*said, f"most {_time(times.max_ns, findings)}"])


def _time(ns: float, findings: Sequence[Finding]) -> str:
    """A time, as a bound where a finding made it one."""
    return fmt.known_time(known_time(ns, findings), ns)


def _client(workers: Sequence[Worker]) -> str:
    busiest = max((worker.cpu_ns / worker.wall_ns for worker in workers if worker.wall_ns), default=None)
    stall = max((worker.largest_stall_ns for worker in workers), default=0)
    which = "its core" if len(workers) == 1 else "its busiest core"
    return f"{fmt.share(busiest)} of {which}, largest stall {fmt.time(stall)}"


def _times(plan: LoadPlan, measured: Measurement, findings: Sequence[Finding]) -> Iterable[RenderableType]:
    if is_invalid(findings, "times"):
        yield Text("times invalid", SEVERITY_STYLE["error"])
        yield Text("")
        return
    if measured.response_time is not None:
        yield _percentiles("response time", "from the intended start", measured.response_time, findings)
        yield _percentiles("service time", "from the send", measured.service_time, findings)
    else:
        aside = "closed loop: the queue that the client makes"
        yield _percentiles("service time", aside, measured.service_time, findings)
    limits = verdict.bounded(findings, "", "times").limits
    if limits:
        yield Text(f"what makes times bounds: {verdict.words_of(limits)}\n", FAINT)


def _percentiles(title: str, aside: str, times: Histogram, findings: Sequence[Finding]) -> RenderableType:
    """Percentiles as figures and bars; those without enough requests behind them are left out."""
    found = [quantile for quantile in quantiles(times, PERCENTILES) if quantile is not None]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=FAINT, no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    rows = [(percentile_name(quantile.p), quantile.value_ns) for quantile in found]
    if times.count:
        rows.append(("max", float(times.max_ns)))
    for name, value_ns in rows:
        table.add_row(name, _time(value_ns, findings), bar(value_ns / (rows[-1][1] or 1), _PLOT_WIDTH))
    left_out = _left_out(times, found) if times.count else "no answer was measured"
    head = Text.assemble((title, HEADING), (f"  {aside}", FAINT))
    body = Group(table, Text(left_out, FAINT)) if left_out else table
    return Group(head, Padding(body, (0, 0, 1, 2)))


def _left_out(times: Histogram, found: Sequence[Quantile]) -> str:
    if len(found) == len(PERCENTILES):
        return ""
    lowest = PERCENTILES[len(found)]
    needed = fmt.count(requests_needed(lowest))
    return f"{percentile_name(lowest)} needs {needed} requests; {fmt.count(times.count)} were measured"


def _closing(findings: Sequence[Finding]) -> RenderableType:
    if all(finding.severity == "note" for finding in findings):
        mark = Text("clean: no rule stands against these figures", GOOD)
        return Group(in_words(groups(findings)), mark) if findings else mark
    return in_words(groups(findings))


_BAR_WIDTH = 30
_TRACE_WIDTH = 30
_TRACE_STEP_NS = 500_000_000
_LEVELS = "▁▂▃▄▅▆▇█"


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
        drawn = f"{bar(part, _BAR_WIDTH):·<{_BAR_WIDTH}}  " if with_bar else ""
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
        points = [self._seen[0]]
        for seen in self._seen:
            if seen.elapsed_ns - points[-1].elapsed_ns >= _TRACE_STEP_NS:
                points.append(seen)
        rates = [
            (after.completed - before.completed) / (after.elapsed_ns - before.elapsed_ns)
            for before, after in pairwise(points)
        ][-_TRACE_WIDTH:]
        top = max(rates, default=0.0)
        return "".join(
            _LEVELS[round(rate / top * (len(_LEVELS) - 1))] if top else _LEVELS[0] for rate in rates
        )


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
        "findings": findings,
        "plan": plan,
        "measurement": measurement,
        **({"generators": generators} if generators else {}),
    }
    return fmt.as_json(document)


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
