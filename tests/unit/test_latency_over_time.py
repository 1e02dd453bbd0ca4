"""Times over time: windows put together exactly, drawn on the page, shown while a load goes on."""

from __future__ import annotations

from made_runs import case, measurement, run, trial
from msgspec.structs import replace
from sample_load import PLAN

from assay import _engine
from assay.model.measurement import Snapshot, WindowTimes
from assay.report.charts import charts
from assay.report.charts.latency import steps
from assay.report.load import LoadView
from assay.report.picture import to_svg
from assay.stats import quantiles
from assay.stats.quantiles import of_windows

MS = 1_000_000
WINDOW_NS = 100 * MS


def window(place: int, times_ms: dict[int, int]) -> WindowTimes:
    counts = [(ms * MS, count) for ms, count in sorted(times_ms.items())]
    return WindowTimes(
        start_ns=2_000 * MS + place * WINDOW_NS,
        length_ns=WINDOW_NS,
        count=sum(times_ms.values()),
        max_ns=max(times_ms, default=0) * MS,
        data=_engine.histogram_of(counts) if counts else "",
    )


def test_windows_together_have_the_percentiles_of_all_their_times() -> None:
    times = of_windows([window(0, {1: 990}), window(1, {}), window(2, {1: 500, 300: 500, 700: 10})])
    found = [one.value_ns / MS for one in quantiles(times, (0.5, 0.9, 0.99)) if one]
    assert [round(value) for value in found] == [1, 300, 300]
    assert (times.count, times.max_ns) == (2_000, 700 * MS)
    assert of_windows([window(0, {})]).count == 0


def test_steps_count_from_the_measured_phase_and_take_trials_together() -> None:
    one = replace(
        measurement(), warmup_ns=2_000 * MS, window_times=tuple(window(n, {1 + n: 500}) for n in range(6))
    )
    found = list(steps([one, one], most=3))
    assert [(step.from_ns // MS, step.length_ns // MS, step.answers) for step in found] == [
        (0, 200, 2_000),
        (200, 200, 2_000),
        (400, 200, 2_000),
    ]
    assert [round((step.percentiles[0] or 0) / MS) for step in found] == [1, 3, 5]
    assert [step.max_ns for step in found] == [2 * MS, 4 * MS, 6 * MS]
    assert list(steps([measurement()], most=3)) == []


def test_a_stall_and_a_pause_are_seen_on_the_page() -> None:
    calm, pause, stall = {1: 500}, {1: 499, 80: 1}, dict[int, int]()
    courses = [calm, calm, pause, calm, stall, calm]
    seen = replace(
        measurement(),
        warmup_ns=2_000 * MS,
        window_times=tuple(window(place, times) for place, times in enumerate(courses)),
    )
    made = run([case("a")], [replace(trial("a", 0), measurement=seen)])
    drawn = next(one for one in charts(made) if one.name.startswith("latency-over-time"))
    assert [row[1] for row in drawn.rows] == ["500", "500", "500", "500", "0", "500"]
    assert drawn.rows[2][-1].startswith("80") and drawn.rows[4][2:] == ("–",) * 4
    assert to_svg(drawn, "").count("<path") >= 4


def test_the_live_view_has_a_level_for_each_half_second() -> None:
    view, done, up_to = LoadView(PLAN), 0, {"1000000": 0, "2000000": 0, "5000000": 0}
    for number, slowest in enumerate((None, "1000000", "5000000", None, "2000000")):
        if slowest:
            done += 100
            up_to = {end: n + 100 * (int(end) >= int(slowest)) for end, n in up_to.items()}
        view.take(looked(number, done, up_to))
    assert view._slow_trace() == "▁▃ ▂"


def looked(number: int, completed: int, up_to_ns: dict[str, int]) -> Snapshot:
    return Snapshot(
        phase="measured",
        elapsed_ns=(1 + number) * 500 * MS,
        started=completed,
        completed=completed,
        failed=0,
        bytes_read=0,
        open_connections=1,
        service_time_p50_ns=MS,
        service_time_p99_ns=MS,
        service_time_max_ns=MS,
        up_to_ns=up_to_ns,
        client_cpu=0.1,
        windows=(),
    )
