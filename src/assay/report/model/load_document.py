"""The document of one load: its rate and failures, its times, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay import verdict
from assay.core import units as fmt
from assay.model.account import TimeAccount
from assay.model.costs import Costs
from assay.model.finding import Finding
from assay.model.measurement import Histogram, Http2, Http3, Measurement, Worker
from assay.model.plan import LoadPlan
from assay.report.document import (
    Cell,
    Column,
    Document,
    Findings,
    Labelled,
    Table,
    TableLine,
    section,
    table,
)
from assay.report.model import accounts, by_request
from assay.report.model.costs import cost_section
from assay.report.model.loads import (
    PERCENTILES,
    drawn_from,
    early_end,
    is_invalid,
    known_throughput,
    known_time,
    limit_lines,
    percentile_name,
    shape,
)
from assay.report.model.values import groups
from assay.report.model.warned import bottleneck, changes_answer, warnings
from assay.stats import kept_per_s, quantiles, requests_needed
from assay.stats.quantiles import recorded
from assay.verdict.limits import LimitResult

_SPARE = (0.95, 0.9999)
"""Percentiles that a summary leaves out first."""
_LONGEST_REASON = 72
"""There is one case, whose name need not stand beside it."""
_DRAWN = 10
"""Columns of the small histogram."""
_LEVELS = " ▁▂▃▄▅▆▇█"


def document(
    plan: LoadPlan,
    measured: Measurement,
    findings: Sequence[Finding],
    costs: Costs | None = None,
    account: TimeAccount | None = None,
    *,
    limits: Sequence[LimitResult] = (),
) -> Document:
    """The document of a load that has ended. Findings of this load alone: they name no case."""
    asked = None if costs is None else cost_section("What a request costs", {"the server": {0: costs}})
    requests = by_request.of_load(measured, times=not is_invalid(findings, "times"))
    clean = all(finding.severity == "note" for finding in findings)
    return Document(
        title=fmt.safe(plan.url),
        headline=(
            f"{_rate(plan, measured, findings)}; {_failures(measured)}{early_end(plan, measured)}",
            *_cause(findings),
            *(asked.sentences if asked else ()),
        ),
        table=_times(measured, findings),
        below=limit_lines(limits),
        warnings=warnings(findings, longest=_LONGEST_REASON, told=_in_headline(measured, findings)),
        advice=_advice(findings),
        footer=(*bottleneck(findings), _offered(plan, measured)),
        state="clean: no rule stands against these figures" if clean else "",
        tone="good" if clean else "plain",
        sections=(
            *section("load", "The load", Labelled(tuple(_figures(plan, measured)))),
            *section("requests", "By request", requests),
            *section("costs", "What a request costs", *(asked.tables if asked else ())),
            *accounts.of_load(account),
            *section("findings", "Findings", Findings(groups(findings))),
        ),
    )


def _figures(plan: LoadPlan, measured: Measurement) -> Iterator[tuple[str, str]]:
    """(what, how) of all that was counted beside times."""
    yield "load", shape(plan) + early_end(plan, measured)
    yield from _answers(measured)
    yield from _protocol(measured)
    if measured.missed_starts:
        yield "missed", f"{fmt.counted(measured.missed_starts, 'request')} could not be started"
    if measured.send_lag is not None:
        lag = quantiles(measured.send_lag, (0.99,))[0]
        most = fmt.time(measured.send_lag.max_ns)
        yield "send lag", f"p99 {fmt.time(lag.value_ns if lag else None)}, most {most}"
    yield "client", _client(measured.workers)
    if drawn_from(plan):
        yield "random", f"{drawn_from(plan)} (--seed {plan.seed} repeats it)"


def _answers(measured: Measurement) -> Iterator[tuple[str, str]]:
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


def _protocol(measured: Measurement) -> Iterator[tuple[str, str]]:
    seen = measured.connections
    reopened = f", {fmt.count(seen.reopened)} reopened" if seen.reopened else ""
    opened = f"{fmt.count(seen.opened)} of {fmt.count(seen.asked)} opened"
    yield "connections", f"{opened}, {fmt.count(seen.answered)} answered{reopened}"
    if measured.http2 is not None:
        yield "HTTP/2", _http2(measured.http2)
    if measured.http3 is not None:
        yield "HTTP/3", _http3(measured.http3)
    for name, count in measured.encodings.items():
        if name != "identity":
            yield "coded", f"{fmt.count(count)} × {fmt.safe(name)}"
    for agreed, count in measured.handshakes.items():
        yield "handshakes", f"{fmt.count(count)} × {fmt.safe(agreed)}"


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


def _client(workers: Sequence[Worker]) -> str:
    busiest = max((worker.cpu_ns / worker.wall_ns for worker in workers if worker.wall_ns), default=None)
    stall = max((worker.largest_stall_ns for worker in workers), default=0)
    which = "its core" if len(workers) == 1 else "its busiest core"
    return f"{fmt.share(busiest)} of {which}, largest stall {fmt.time(stall)}"


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
    """Percentiles of each clock; in a summary only of the answers'."""
    if is_invalid(findings, "times"):
        return None
    clocks = (
        ("response time", measured.response_time, False),
        ("service time", measured.service_time, False),
        ("first byte", measured.first_byte_time, True),
        ("connect", measured.connect_time, True),
        ("handshake", measured.handshake_time, True),
    )
    columns = (
        Column("clock", "", key=True),
        *(
            Column(percentile_name(p), percentile_name(p), right=True, spare=2 * (p in _SPARE))
            for p in PERCENTILES
        ),
        Column("max", "max", right=True),
        Column("drawn", "min to max, log", spare=1),
    )
    lines = [
        TableLine(tuple(_cells(name, times, findings)), detail=detail)
        for name, times, detail in clocks
        if times is not None and (times.count or not detail)
    ]
    return table("", columns, lines, _times_note(measured, findings))


def _times_note(measured: Measurement, findings: Sequence[Finding]) -> str:
    """How to read the table, which percentiles are not in it, and what makes times bounds."""
    closed = "service time of a closed loop: the queue that the client makes"
    both = "response time from the intended start, service time from the send"
    said = [closed if measured.response_time is None else both]
    times = measured.response_time or measured.service_time
    found = [one for one in quantiles(times, PERCENTILES) if one is not None]
    if not times.count:
        said.append("no answer was measured")
    elif len(found) < len(PERCENTILES):
        lowest = PERCENTILES[len(found)]
        needed = fmt.count(requests_needed(lowest))
        measured_words = f"{fmt.count(times.count)} were measured"
        said.append(f"{percentile_name(lowest)} needs {needed} requests, {measured_words}")
    limits = verdict.bounded(findings, "", "times").limits
    said += [f"what makes times bounds: {verdict.words_of(limits)}"] if limits else []
    return "; ".join(said)


def _cells(name: str, times: Histogram, findings: Sequence[Finding]) -> Iterator[Cell]:
    yield Cell(name)
    for found in quantiles(times, PERCENTILES):
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
