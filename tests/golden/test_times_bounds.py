"""Times that are known as bounds only are shown as bounds in every form, each with its reason."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
import sample_run
from msgspec.structs import replace
from test_run_model import as_html, as_markdown, as_terminal
from test_run_output import rendered
from test_run_page import named

from assay.compare import compare
from assay.report import comparison, load, load_json
from assay.report.exports import benchmarks, table
from assay.report.model import latency, rows
from assay.report.model.report import report_of
from assay.values.design import StudyDesign
from assay.values.finding import Effect
from assay.values.run import Run
from assay.values.trial import OfCapacity, Trial

GO = "quotes/go"
WHY = "what makes times bounds: arrivals waited for connections (G4: quotes/go)"


def waiting(effect: Effect = "at least", run: Run | None = None) -> Run:
    """The sample, or another run, in which Go's times are bounds."""
    run = run or sample_run.run()
    assert run.judgement is not None
    found = sample_run.finding(
        "G4", "flagged", GO, on_times=effect, because="arrivals waited for connections"
    )
    return replace(run, judgement=replace(run.judgement, findings=(*run.judgement.findings, found)))


@pytest.mark.parametrize(
    ("effect", "sign"),
    [("at least", r"≥ [\d.]+ \w?s"), ("at most", r"≤ [\d.]+ \w?s"), ("none", r"[\d.]+ \w?s")],
)
def test_a_table_shows_them_as_bounds_and_says_why(effect: Effect, sign: str) -> None:
    [results] = report_of(waiting(effect)).results
    names = results.texts("server")
    for column in ("p50", "p99"):
        told = dict(zip(names, results.texts(column), strict=True))
        assert re.fullmatch(sign, told[GO]), told[GO]
        assert re.fullmatch(r"[\d.]+ \w?s", told["quotes/java-vertx"])
    assert (WHY in results.note) == (effect != "none")


def test_of_an_unknown_rule_the_interval_is_shown_with_its_mark() -> None:
    [results] = report_of(waiting("unknown")).results
    told = dict(zip(results.texts("server"), results.texts("p50"), strict=True))
    assert re.fullmatch(r"[\d.]+ \w?s – [\d.]+ \w?s", told[GO])


def test_every_form_says_so_alike() -> None:
    run = waiting()
    [results] = report_of(run).results
    shown = [cell for cell in (*results.texts("p50"), *results.texts("p99")) if cell.startswith("≥")]
    assert len(shown) == 2
    for form in (as_terminal(run), as_markdown(run), as_html(run)):
        assert WHY in form and all(cell in form for cell in shown)


def test_the_percentile_chart_marks_the_curve_and_its_figures() -> None:
    chart = named(waiting(), "percentiles")
    assert "What makes times bounds: arrivals waited for connections (G4: quotes/go)." in chart.note
    go = [row for row in chart.rows if row[0] == GO]
    assert go and all(row[3].startswith("≥ ") and row[5] == "–" for row in go)
    assert not any(row[3].startswith("≥") for row in chart.rows if row[0] != GO)


def rated() -> Run:
    """Open loops of Go and Java at two shares of their capacities each."""
    run = sample_run.run()

    def open_loop(trial: Trial, share: float) -> Trial:
        assert trial.measurement is not None
        seen = replace(trial.measurement, response_time=trial.measurement.service_time)
        return replace(trial, case=f"{trial.case}@{share}", plan=sample_run.OPEN_PLAN, measurement=seen)

    chosen = [case for case in run.header.cases if case.id in (GO, "quotes/java-vertx")]
    cases = tuple(
        replace(
            case,
            id=f"{case.id}@{share}",
            entry=case.id,
            load=f"c64@{share}",
            rate=OfCapacity(cases=(case.id,), load="c64", share=share),
        )
        for case in chosen
        for share in (0.5, 0.9)
    )
    trials = tuple(
        open_loop(trial, share)
        for trial in run.trials
        if trial.measurement and trial.case in (GO, "quotes/java-vertx")
        for share in (0.5, 0.9)
    )
    header = replace(run.header, cases=cases, design=StudyDesign(blocks=5))
    return sample_run.judged(replace(run, header=header, trials=trials, judgement=None))


def test_the_table_of_open_loops_shows_them_as_bounds() -> None:
    run = rated()
    assert run.judgement is not None
    found = sample_run.finding(
        "G4", "flagged", f"{GO}@0.9", on_times="at least", because="arrivals waited for connections"
    )
    run = replace(run, judgement=replace(run.judgement, findings=(found,)))
    _, following = latency.apart(rows.sections(run))
    [each] = latency.by_table(following).values()
    told = {(cells[0], cells[1]): cells[3:7] for cells in latency.cells(each)}
    p50, p99, interval, service = told[GO, "90 %"]
    assert all(one.startswith("≥ ") for one in (p50, p99, service)) and interval == ""
    assert not any(one.startswith("≥") for one in told[GO, "50 %"])
    assert latency.note(each).endswith(f"; {WHY}")
    chart = named(run, "latency")
    assert [row[2].startswith("≥") for row in chart.rows if row[0] == GO] == [False, True]
    assert "(G4: quotes/go)" in chart.note


def test_a_single_load_says_so_on_the_screen_and_for_programs() -> None:
    measured = sample_run.measurement(5000, response_time=sample_run.histogram(2e6))
    found = sample_run.finding(
        "G4", "flagged", None, on_times="at least", because="arrivals waited for connections"
    )
    text = rendered(load.summary(sample_run.OPEN_PLAN, measured, (found,)))
    assert re.search(r"p50 +≥ 1\.99 ms", text) and re.search(r"max +≥ ", text)
    assert "what makes times bounds: arrivals waited for connections (G4)" in " ".join(text.split())
    told = json.loads(load_json.encode(sample_run.OPEN_PLAN, measured, (found,)))
    assert told["times_known"] == {
        "at_least": True,
        "at_most": False,
        "limits": [{"code": "G4", "words": "arrivals waited for connections"}],
    }
    clean = json.loads(load_json.encode(sample_run.OPEN_PLAN, measured, ()))
    assert clean["times_known"] == {"at_least": False, "at_most": False, "limits": []}


def test_exports_leave_them_out_or_name_the_rule() -> None:
    run = waiting()
    go = json.loads(benchmarks.bmf(run))[GO]
    assert "throughput" in go and not any("time-p" in name for name in go)
    assert "times of quotes/go (arrivals waited for connections (G4))" in benchmarks.left_out(run)
    trials = list(csv.DictReader(io.StringIO(table.as_csv(run), newline="")))
    assert {(row["limited_by"], row["times_limited_by"]) for row in trials if row["case"] == GO} == {
        ("", "G4")
    }
    assert {row["times_limited_by"] for row in trials if row["case"] != GO} == {""}


def test_two_runs_side_by_side_show_them_as_bounds() -> None:
    base = sample_run.run()
    new = waiting(run=replace(base, header=replace(base.header, run_id="another")))
    found = compare(base, new, {"p99": 0.5})
    change = next(one for one in found.changes if (one.case, one.metric) == (GO, "p99"))
    assert change.change is not None and change.change.high is None and change.outcome == "could not tell"
    text = comparison.as_markdown(found).replace("\\", "")
    line = next(line for line in text.splitlines() if line.startswith(f"| {GO} | p99 time |"))
    assert re.search(r"\| [\d.]+ ms \| ≥ [\d.]+ ms \| at least 0\.", line), line
    assert "what makes figures bounds: arrivals waited for connections (G4: quotes/go)" in text
