"""Which charts a run has: those that its data can fill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.report import format as fmt
from assay.report.charts import bars, data, lines, ratios
from assay.report.charts.chart import Chart
from assay.report.model.rows import Row, Section, sections
from assay.values.estimate import Estimate
from assay.values.measurement import Histogram
from assay.values.plan import Closed
from assay.values.run import Run
from assay.values.trial import Trial

_TELLING = 100.0
"""The ratio of its ends up to which the interval of a tail is drawn."""

_FAR = 25.0
"""How many times the fastest a ceiling may serve and be drawn beside it."""


def charts(run: Run, found: tuple[Section, ...] | None = None) -> tuple[Chart, ...]:
    """Every chart of the run, in the order in which a reader asks. `found` are its sections."""
    found = sections(run) if found is None else found
    made = [chart for section in found for chart in _of_section(run, section, len(found) > 1)]
    return tuple(chart for chart in (ratios.claims(run), *made, *_across(run, found)) if chart is not None)


def _of_section(run: Run, section: Section, several: bool) -> Iterator[Chart | None]:
    where = f": {section.title}" if section.title else ""
    suffix = f"-{_slug(section.title)}" if several else ""
    shown = [row for row in (*section.candidates, *section.others) if not row.withheld]
    if all(row.case.rate for row in section.rows):  # an open loop at a share of capacity: times alone
        yield _percentiles(section, where, suffix, {row.name: _trials(run, row) for row in shown})
        return
    if all(row.case.search for row in section.rows):
        yield bars.bars(
            f"capacity{suffix}", f"Capacity{where}",
            "The highest rate at which the objective held. Whiskers: 95 % sure; none: known from one side.",
            shown, lambda row: row.throughput, fmt.rate, unit="answers a second",
        )  # fmt: skip
        return
    interval = "Whiskers are 95 % intervals over the trials. Grey: what does not compete."
    far = _far_ceilings(shown)
    beyond = "".join(f" Beyond the scale: {row.name}, {fmt.rate(_rate(row))}." for row in far)
    near = [row for row in shown if row not in far]
    yield bars.bars(
        f"throughput{suffix}", f"Throughput{where}", interval + beyond, near,
        lambda row: row.throughput, fmt.rate, unit="right answers a second",
    )  # fmt: skip
    by_case = {row.name: _trials(run, row) for row in shown}
    competing = {row.name: by_case[row.name] for row in shown if row.case.role == "candidate"}
    steps = data.steps_for(len(run.header.cases))
    courses = [
        (name, drawn := data.course(trials, steps), data.changes(trials, drawn))
        for name, trials in competing.items()
    ]
    yield lines.over_time(f"over-time{suffix}", f"Throughput over time{where}", courses)
    yield _percentiles(section, where, suffix, by_case)
    yield bars.bars(
        f"cpu{suffix}", f"CPU of the server{where}", "Share of the cores given to the server.", shown,
        _cpu, lambda share: fmt.share(None if share is None else share / 100), unit="% of its cores",
    )  # fmt: skip
    yield bars.bars(
        f"memory{suffix}", f"Peak memory{where}", interval, shown,
        lambda row: row.peak_memory_bytes, fmt.size, scale=1e6, unit="MB",
    )  # fmt: skip
    yield bars.bars(
        f"start{suffix}", f"Start to the first right answer{where}", interval, shown,
        lambda row: row.start_ns, fmt.time, scale=1e6, unit="ms",
    )  # fmt: skip


def _far_ceilings(shown: Iterable[Row]) -> list[Row]:
    """Ceilings so far above all else that beside their bars no other could be told from none."""
    rows = list(shown)
    fastest = max((_rate(row) for row in rows if row.case.role != "ceiling"), default=0.0)
    return [row for row in rows if row.case.role == "ceiling" and 0 < _FAR * fastest < _rate(row)]


def _rate(row: Row) -> float:
    return row.throughput.value if row.throughput else 0.0


def _cpu(row: Row) -> Estimate | None:
    if row.cpu_share is None:
        return None
    percent = row.cpu_share * 100
    return Estimate(value=percent, low=None, high=None, n=row.trials, unit="%", method="mean of the trials")


def _percentiles(section: Section, where: str, suffix: str, by_case: dict[str, list[Trial]]) -> Chart | None:
    series = []
    for row in section.candidates:
        if row.name not in by_case or row.service_p50_ns is None:
            continue
        tails = row.service_p99_ns is not None or row.response_p99_ns is not None
        for clock in ("response time", "service time"):
            points = data.curve(list(_histograms(by_case[row.name], clock)))
            kept = points if tails else tuple(point for point in points if point[0] <= 0.5)
            if kept:
                series.append((row.name, clock, kept))
    closed = all(row.closed_loop for row in section.candidates)
    note = (
        "Closed loop: service time describes the queue that the client makes; it is not the server's tail."
        if closed
        else "Response time runs from the intended start, service time from the send: the gap is waiting."
    )
    return lines.percentiles(f"percentiles{suffix}", f"Percentiles of time{where}", note, series)


def _histograms(trials: Iterable[Trial], clock: str) -> Iterator[Histogram]:
    for trial in trials:
        if trial.measurement is None:
            continue
        times = (
            trial.measurement.response_time if clock == "response time" else trial.measurement.service_time
        )
        if times is not None and times.count:
            yield times


def _across(run: Run, found: tuple[Section, ...]) -> Iterator[Chart | None]:
    """Charts over several loads: the latency-throughput curve and the connection sweep."""
    for workload in dict.fromkeys(case.workload for case in run.header.cases):
        rows = [row for section in found for row in section.rows if row.case.workload == workload]
        rows = [row for row in rows if not row.withheld and row.case.role != "control"]
        suffix = f"-{_slug(workload)}" if len({case.workload for case in run.header.cases}) > 1 else ""
        where = f": {workload}" if suffix else ""
        yield lines.against(
            f"latency{suffix}", f"Response time against throughput{where}",
            "Open loop: p99 response time at each offered rate; a curve that turns up has reached its knee.",
            "answers a second", "p99 response time (ms)",
            [p for row in rows for p in _latency(row)], log=True,
        )  # fmt: skip
        yield lines.against(
            f"connections{suffix}", f"Throughput against connections{where}",
            "Closed loop; whiskers are 95 % intervals over the trials.",
            "connections", "answers a second", [p for row in rows for p in _sweep(run, row)], log=False,
        )  # fmt: skip


def _latency(row: Row) -> Iterator[dict[str, object]]:
    p99 = row.response_p99_ns
    if row.closed_loop or p99 is None or row.throughput is None:
        return
    low, high = p99.low or p99.value, p99.high or p99.value
    if high > _TELLING * low:  # of a few trials that disagree: it would only flatten the curve
        low = high = p99.value
    yield {
        "server": row.name, "x": row.throughput.value, "y": p99.value / 1e6,
        "low": low / 1e6, "high": high / 1e6, "text": fmt.time(p99.value),
    }  # fmt: skip


def _sweep(run: Run, row: Row) -> Iterator[dict[str, object]]:
    plan = next((trial.plan for trial in run.trials if trial.case == row.case.id), None)
    if row.throughput is None or plan is None or not isinstance(plan.load, Closed):
        return
    rate = row.throughput
    low = rate.value if rate.low is None else rate.low
    high = rate.value if rate.high is None else rate.high
    yield {
        "server": row.name, "x": plan.load.connections, "y": rate.value,
        "low": low, "high": high, "text": fmt.rate(rate.value),
    }  # fmt: skip


def _trials(run: Run, row: Row) -> list[Trial]:
    return [trial for trial in run.trials if trial.case == row.case.id and trial.measurement]


def _slug(text: str) -> str:
    return "".join(character if character.isalnum() else "-" for character in text.lower()).strip("-")[:60]
