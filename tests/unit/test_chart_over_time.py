"""Throughput over time as drawn: the warm-up shaded, the changes of level marked."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import numpy as np
import sample_run
from made_runs import case, measurement, run, trial
from msgspec.structs import replace

from assay.model.finding import Subject
from assay.model.measurement import Window
from assay.model.plan import Closed
from assay.model.trial import Trial, WarmUpSeen
from assay.report import pages
from assay.report.charts import charts
from assay.report.model.answer import remarks
from assay.report.model.rows import sections
from assay.report.picture import to_svg
from assay.verdict import judge

WINDOW_NS = 100_000_000


def windows(levels: list[int], warm_up: int) -> tuple[Window, ...]:
    """Twenty windows a level; the first `warm_up` of them all are warm-up."""
    rng = np.random.default_rng(1)
    counts = [int(rng.normal(level, level * 0.01)) for level in levels for _ in range(20)]
    return tuple(
        Window(
            start_ns=place * WINDOW_NS,
            length_ns=WINDOW_NS,
            phase="warmup" if place < warm_up else "measured",
            started=count,
            completed=count,
            failed=0,
            bytes_read=count * 100,
        )
        for place, count in enumerate(counts)
    )


def drawn(made: Trial) -> str:
    """The chart as a picture that scales."""
    return to_svg(next(one for one in charts(run([case("a")], [made])) if one.name == "over-time"), "")


def marks(picture: str) -> list[float]:
    """The seconds at which a change of level is marked."""
    return [float(second) for second in re.findall(r"the level changed at (-?[\d.]+) s", picture)]


def test_a_change_of_level_is_marked_where_it_was() -> None:
    made = measurement(windows=windows([1000, 1000, 500, 500], warm_up=20), warmup_ns=20 * WINDOW_NS)
    assert marks(drawn(trial("a", 0, made))) == [2.0]  # two seconds after the warm-up's end


def test_a_change_within_the_warm_up_is_marked_too() -> None:
    made = measurement(windows=windows([500, 1000, 1000], warm_up=40), warmup_ns=40 * WINDOW_NS)
    seen = WarmUpSeen(steady=True, bound_ns=10**10, changes_ns=(20 * WINDOW_NS,))
    assert marks(drawn(trial("a", 0, made, warm_up=seen))) == [-2.0]


def test_a_level_trial_has_no_mark_and_without_a_warm_up_nothing_is_shaded() -> None:
    level = drawn(trial("a", 0, measurement(windows=windows([1000] * 3, warm_up=0))))
    assert marks(level) == [] and 'class="shade"' not in level
    warm = measurement(windows=windows([1000] * 3, warm_up=20), warmup_ns=20 * WINDOW_NS)
    assert 'class="shade"' in drawn(trial("a", 0, warm))


def test_a_load_of_a_moment_has_no_line() -> None:
    made = measurement(windows=windows([1000], warm_up=0)[:1])
    assert "over-time" not in [one.name for one in charts(run([case("a")], [trial("a", 0, made)]))]


def test_every_trial_is_drawn_beside_their_mean() -> None:
    trials = [trial("a", block, measurement(windows=windows([1000] * 3, warm_up=0))) for block in range(4)]
    chart = next(one for one in charts(run([case("a")], trials)) if one.name == "over-time")
    assert to_svg(chart, "").count('class="faint') == 4
    assert to_svg(chart, "").count('class="curve') == 1


def test_a_sweep_of_connections_is_said_as_a_law_where_it_fits() -> None:
    def law(n: int) -> float:
        return 1000 * n / (1 + 0.05 * (n - 1) + 0.001 * n * (n - 1))

    def swept(rates: dict[int, float]) -> list[str]:
        cases = [case(f"a@c{n}", label="A", load=f"c{n}") for n in rates]
        trials = [
            trial(f"a@c{n}", 0, measurement(rate, connections=n), plan=_closed(n))
            for n, rate in rates.items()
        ]
        made = run(cases, trials)
        return [said for said in remarks(made, sections(made)) if "Scalability" in said]

    sweep = {n: law(n) for n in (1, 4, 16, 64, 128)}
    (said,) = swept(sweep)
    assert said.startswith("A scales with 5.0 % contention")
    assert "peak of" in said and "31 connections" in said
    assert swept({n: rate for n, rate in sweep.items() if n < 128}) == []  # four points
    assert swept(sweep | {16: 100.0}) == []  # nothing that fits


def _closed(connections: int) -> Any:  # noqa: ANN401 - the plan as a trial takes it
    return msgspec.structs.replace(trial("x", 0).plan, load=Closed(connections=connections))


def test_a_load_whose_times_are_invalid_is_drawn_over_time_alone_under_its_name() -> None:
    made = run([case("a")], [trial("a", 0, measurement(windows=windows([1000] * 3, warm_up=0)))])
    finding = sample_run.finding("M1", "error", None, subject=Subject(case="a"), on_times="void")
    judged = replace(judge(made), findings=(finding,))
    page = pages.of_run(replace(made, judgement=judged))
    assert "<h3>Throughput over time</h3>" in page and "Percentiles of time" not in page
