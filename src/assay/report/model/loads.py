"""What every report of a load says alike: what was offered, and which percentiles are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from assay import verdict
from assay.core import units as fmt
from assay.model.estimate import Estimate, Known
from assay.model.finding import Finding
from assay.model.measurement import Measurement
from assay.model.plan import Closed, LoadPlan, Open, Request, StopAfter
from assay.model.run import Run
from assay.model.trial import Emulation
from assay.stats import kept_per_s
from assay.verdict.effects import Bounded, Figures
from assay.verdict.limits import LimitResult


def shape(plan: LoadPlan) -> str:
    """Say what was offered: the loop, its size and its end."""
    if isinstance(plan.load, Closed):
        hosts = f" to {fmt.counted(1 + len(plan.hosts), 'host')}" if plan.hosts else ""
        loop = f"closed loop, {fmt.counted(plan.load.connections, 'connection')}{hosts}"
    else:
        loop = f"{_open(plan.load)}, up to {fmt.rate(_top(plan.load))}"
    return f"{loop}{_http(plan)}, {_size(plan)}"


def early_end(plan: LoadPlan, measurement: Measurement) -> str:
    """Why the load ended before its end, where it did."""
    if not measurement.interrupted:
        return ""
    if any(outcome.kind in plan.ends_on for outcome in measurement.outcomes):
        return ", ended at once: the server does not speak it"
    if not plan.ends_unreached or measurement.connections.opened:
        return ", interrupted"
    if any(outcome.kind == "tls_error" for outcome in measurement.outcomes):
        return ", ended at once: no TLS handshake was completed"
    return ", ended at once: nothing was reached"


def drawn_from(plan: LoadPlan) -> str:
    """The seed of what the load draws at random, by which it is repeated; empty where it draws nothing."""
    loop = plan.load
    draws = plan.request_order == "random" or (isinstance(loop, Open) and loop.arrivals == "poisson")
    if draws or any(request.templated and _draws(request) for request in plan.requests):
        return f"seed {plan.seed}"
    return ""


def _draws(request: Request) -> bool:
    texts = (request.target, request.body or "", *(value for _, value in request.headers))
    return any("{uuid}" in text or "{random:" in text for text in texts)


def _http(plan: LoadPlan) -> str:
    """Which HTTP was asked for, where it is not HTTP/1, and how many requests at once on a connection."""
    if plan.http == "1":
        return ""
    asked = "HTTP/2 where the server picks it" if plan.http == "auto" else f"HTTP/{plan.http}"
    return f" of {asked} with {fmt.counted(plan.streams, 'stream')} each"


def shapes(run: Run) -> tuple[str, ...]:
    """Each load of a run once; open loops that differ in their rates alone are one. Those over an emulated
    network say how far that is."""
    away = {case.id: case.emulation for case in run.header.cases}
    by_emulation: dict[Emulation | None, list[LoadPlan]] = {}
    for trial in run.trials:
        by_emulation.setdefault(away.get(trial.case), []).append(trial.plan)
    told = []
    for emulation, plans in by_emulation.items():
        closed = [shape(plan) for plan in plans if isinstance(plan.load, Closed)]
        told += [f"{load}{over(emulation)}" for load in dict.fromkeys((*closed, *_opened(plans)))]
    return tuple(told)


def over(emulation: Emulation | None) -> str:
    """Over which link a load is offered, where it is one with a delay."""
    if emulation is None:
        return ""
    link = fmt.emulation(emulation.round_trip_ns, emulation.loss, emulation.congestion)
    return f", over a link of {link}"


def _opened(plans: list[LoadPlan]) -> Iterator[str]:
    opened = [(_open(plan.load), plan, _top(plan.load)) for plan in plans if isinstance(plan.load, Open)]
    for loop, each in groupby(sorted(opened, key=lambda one: one[0]), key=lambda one: one[0]):
        found = list(each)
        rates = sorted({rate for _, _, rate in found})
        if len(rates) == 1:
            yield from (shape(plan) for _, plan, _ in found)
            continue
        sizes = list(dict.fromkeys(_size(plan) for _, plan, _ in found))
        size = sizes[0] if len(sizes) == 1 else fmt.counted(found[0][1].threads, "thread")
        yield f"{loop}, at {len(rates)} rates from {fmt.rate(rates[0])} to {fmt.rate(rates[-1])}, {size}"


def _open(load: Open) -> str:
    return f"open loop, {load.arrivals} arrivals"


def _top(load: Open) -> float:
    return max(max(stage.from_per_s, stage.to_per_s) for stage in load.stages)


def _size(plan: LoadPlan) -> str:
    stop = plan.stop
    end = fmt.span(stop.ns / 1e9) if isinstance(stop, StopAfter) else fmt.counted(stop.count, "request")
    return f"{fmt.counted(plan.threads, 'thread')}, {end}"


PERCENTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


def percentile_name(p: float) -> str:
    """Name a quantile as a percentile: 0.999 is p99.9."""
    return f"p{100 * p:.10g}"


def is_invalid(findings: Iterable[Finding], figures: Figures = "throughput") -> bool:
    """Whether these figures of a load are no results. Its findings name no case."""
    return verdict.invalid(findings, "", figures)


def known_throughput(plan: LoadPlan, measured: Measurement, findings: Iterable[Finding]) -> Known | None:
    """What is known of a load's throughput; None where nothing was measured. One load has no interval:
    without a limit both ends are open."""
    rate = kept_per_s(plan, measured)
    return None if rate is None else _known(rate, "req/s", verdict.bounded(findings, ""))


def known_time(ns: float, findings: Iterable[Finding]) -> Known:
    """What is known of one of a load's times."""
    return _known(ns, "ns", verdict.bounded(findings, "", "times"))


def _known(value: float, unit: str, left: Bounded) -> Known:
    alone = Estimate(value=value, low=None, high=None, n=1, unit=unit, method="one load")
    found = verdict.known(alone, left)
    assert found is not None  # there is a value
    return found


_MARKS = {"kept": "✓", "broken": "✗", "could not tell": "?"}


def limit_lines(results: Iterable[LimitResult]) -> tuple[str, ...]:
    """A line for each limit: "✓ p99<200ms: 12.3 ms [11.9 ms, 12.8 ms]", and why where it is not told."""
    return tuple(_limit_line(one) for one in results)


def _limit_line(one: LimitResult) -> str:
    figure = one.figure
    written: dict[str, Callable[[float], str]] = {"throughput": fmt.rate, "errors": fmt.share}
    write = written.get(one.limit.figure, fmt.time)
    said = []
    if figure is not None:
        low = "0" if figure.low is None else write(figure.low)
        ends = f" [{low}, {'∞' if figure.high is None else write(figure.high)}]"
        said.append(f"{write(figure.value)}{'' if figure.low == figure.high else ends}")
    said += ["cannot be told"] if one.outcome == "could not tell" else []
    said += [one.why] if one.why else []
    return f"{_MARKS[one.outcome]} {fmt.safe(one.limit.text)}: {', '.join(said)}"


def limits_json(results: Iterable[LimitResult]) -> list[dict[str, object]]:
    """The same for JSON: figures in ns, requests a second or as shares."""
    return [
        {
            "limit": one.limit.text,
            "outcome": one.outcome.replace("could not tell", "cannot be told"),
            "value": one.figure.value if one.figure else None,
            "low": one.figure.low if one.figure else None,
            "high": one.figure.high if one.figure else None,
            "why": one.why,
        }
        for one in results
    ]
