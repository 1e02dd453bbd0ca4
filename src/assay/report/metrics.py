"""Figures for Prometheus: of a load while it goes on, and of a run as OpenMetrics text.

Counters and histograms have the labels `case`, `request` (empty where all requests have one name) and
`phase`. What is made here needs the extra `metrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from assay.core import units as fmt
from assay.model.measurement import Histogram, Measurement, Snapshot
from assay.model.run import Run
from assay.stats.quantiles import recorded

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

_LABELS = ("case", "request", "phase")
_UP_TO_NS = tuple(step * 10**power for power in range(5, 10) for step in (1, 2, 5)) + (10**10,)


class RequestCounts(msgspec.Struct, frozen=True):
    """Requests of one name (empty: of all), and how many took at most so many nanoseconds. `sum_ns` of
    their times is not known of a load that goes on."""

    case: str
    request: str
    phase: str
    completed: int
    failed: int
    up_to_ns: dict[str, int]
    sum_ns: float | None = None

    @property
    def labels(self) -> tuple[str, str, str]:
        """Values of the labels."""
        return fmt.visible(self.case), fmt.visible(self.request), self.phase


def of_snapshot(now: Snapshot, case: str) -> list[RequestCounts]:
    """The counts of a load that goes on."""
    named = [(one.name, one.completed, one.failed, one.up_to_ns) for one in now.by_request]
    found = named or [("", now.completed, now.failed, now.up_to_ns)]
    return [RequestCounts(case, name, now.phase, *counts) for name, *counts in found]  # type: ignore[arg-type]


def of_run(run: Run) -> list[RequestCounts]:
    """The counts of the measured phases of each case, all trials together."""
    found: dict[tuple[str, str], RequestCounts] = {}
    for trial in run.trials:
        for one in _of_measurement(trial.case, trial.measurement) if trial.measurement else ():
            before = found.get((one.case, one.request))
            found[one.case, one.request] = _added(before, one) if before else one
    return list(found.values())


def _of_measurement(case: str, seen: Measurement) -> Iterator[RequestCounts]:
    whole = ("", seen.completed, seen.failed, seen.response_time or seen.service_time)
    named = [(o.name, o.completed, o.failed, o.response_time or o.service_time) for o in seen.by_request]
    for name, completed, failed, times in named or [whole]:
        sum_ns = times.mean_ns * times.count
        yield RequestCounts(case, name, "measured", completed, failed, _buckets(times), sum_ns)


def _buckets(times: Histogram) -> dict[str, int]:
    values = recorded(times)
    # A slot stands for its highest value, which may be 0.1 % beyond a bound that its times are not.
    return {str(up): sum(n for ns, n in values if ns <= up * 1.001) for up in _UP_TO_NS}


def _added(one: RequestCounts, other: RequestCounts) -> RequestCounts:
    return RequestCounts(
        one.case,
        one.request,
        one.phase,
        one.completed + other.completed,
        one.failed + other.failed,
        {up: count + other.up_to_ns[up] for up, count in one.up_to_ns.items()},
        (one.sum_ns or 0.0) + (other.sum_ns or 0.0),
    )


def families(counts: Iterable[RequestCounts]) -> Iterator[Metric]:
    """The metrics of the counts."""
    from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

    completed = CounterMetricFamily(
        "assay_requests_completed", "Requests answered as expected.", labels=_LABELS
    )
    failed = CounterMetricFamily("assay_requests_failed", "Requests failed.", labels=_LABELS)
    times = HistogramMetricFamily(
        "assay_request_duration_seconds",
        "Time of completed requests: of an open loop from the intended start, else from the send.",
        labels=_LABELS,
    )
    for one in counts:
        completed.add_metric(one.labels, one.completed)
        failed.add_metric(one.labels, one.failed)
        ends = sorted((int(up), float(count)) for up, count in one.up_to_ns.items())
        last = max((count for _, count in ends), default=0.0)
        buckets = [(f"{up / 1e9:g}", count) for up, count in ends]
        # A view may count an answer before its time: the last bucket holds what both know.
        whole = ("+Inf", max(last, float(one.completed)))
        times.add_metric(one.labels, [*buckets, whole], None if one.sum_ns is None else one.sum_ns / 1e9)
    yield from (completed, failed, times)


def _of_load(now: Snapshot, case: str) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    yield from families(of_snapshot(now, case))
    labels = (fmt.visible(case), now.phase)
    for name, help_text, value in (
        ("assay_requests_started", "Requests begun.", now.started),
        ("assay_received_bytes", "Bytes received.", now.bytes_read),
    ):
        counter = CounterMetricFamily(name, help_text, labels=("case", "phase"))
        counter.add_metric(labels, value)
        yield counter
    lag_ns = now.send_lag_p99_ns
    lag_s = None if lag_ns is None else lag_ns / 1e9
    for name, help_text, shown in (
        ("assay_open_connections", "Connections open now.", float(now.open_connections)),
        ("assay_client_cpu_ratio", "CPU of the load generator, as a share of its threads.", now.client_cpu),
        ("assay_send_lag_p99_seconds", "p99 of actual minus intended starts.", lag_s),
    ):
        if shown is not None:
            gauge = GaugeMetricFamily(name, help_text, labels=("case", "phase"))
            gauge.add_metric(labels, shown)
            yield gauge


class Live:
    """What a scraper sees: nothing before the load has begun, then its live view, then its last one."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._view: Callable[[], Snapshot] | None = None
        self._case = ""

    def watch(self, view: Callable[[], Snapshot], case: str) -> None:
        """Show this load from now on."""
        self._case, self._view = case, view

    def collect(self) -> Iterator[Metric]:
        """What `prometheus_client` asks of a collector, in a thread of each scrape."""
        if self._view is not None:
            yield from _of_load(self._view(), self._case)

    def registry(self) -> CollectorRegistry:
        """A registry of this alone."""
        from prometheus_client import CollectorRegistry

        registry = CollectorRegistry()
        registry.register(self)
        return registry


def open_metrics(run: Run) -> str:
    """The counts of a run as OpenMetrics text."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.openmetrics.exposition import generate_latest

    class Counted:
        def collect(self) -> Iterator[Metric]:
            return families(of_run(run))

    registry = CollectorRegistry()
    registry.register(Counted())
    text: bytes = generate_latest(registry)
    return text.decode()
