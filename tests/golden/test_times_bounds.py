"""Times that are known as bounds only are shown as bounds in every form, each with its reason."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
import sample_run
from msgspec import structs
from msgspec.structs import replace
from test_run_model import as_html, as_markdown, as_terminal
from test_run_output import rendered
from test_run_page import named

from assay.core import units as fmt
from assay.model.design import StudyDesign
from assay.model.estimate import Known, Limit
from assay.model.finding import Effect
from assay.model.run import Run
from assay.model.trial import OfCapacity, Trial
from assay.report import exports, load, markdown, pages, terminal
from assay.report.document import Table
from assay.report.model import compared, followers, rows
from assay.report.model.load_document import document as load_document
from assay.report.model.run_document import document
from assay.verdict.compare import compare

GO = "quotes/go"
WHY = "what makes times bounds: arrivals waited for connections (G4: quotes/go)"


def waiting(effect: Effect = "at least", run: Run | None = None) -> Run:
    """The sample, or another run, in which Go's times are bounds."""
    run = run or sample_run.run()
    assert run.judgement is not None
    found = sample_run.finding(
        "G4", "warning", GO, on_times=effect, because="arrivals waited for connections"
    )
    return replace(run, judgement=replace(run.judgement, findings=(*run.judgement.findings, found)))


@pytest.mark.parametrize(
    ("effect", "sign"),
    [("at least", r"≥ [\d.]+ \w?s"), ("at most", r"≤ [\d.]+ \w?s"), ("none", r"[\d.]+ \w?s")],
)
def test_a_table_shows_them_as_bounds_and_says_why(effect: Effect, sign: str) -> None:
    results = document(waiting(effect)).table
    assert results is not None
    names = results.texts("server")
    for column in ("p50", "p99"):
        told = dict(zip(names, results.texts(column), strict=True))
        assert re.fullmatch(sign, told[GO]), told[GO]
        assert re.fullmatch(r"[\d.]+ \w?s", told["quotes/java-vertx"])
    assert (WHY in results.note) == (effect != "none")


def test_of_an_unknown_rule_the_interval_is_shown_with_its_mark() -> None:
    results = document(waiting("unknown")).table
    assert results is not None
    told = dict(zip(results.texts("server"), results.texts("p50"), strict=True))
    assert re.fullmatch(r"[\d.]+ \w?s – [\d.]+ \w?s", told[GO])


def test_every_form_says_so_alike() -> None:
    run = waiting()
    results = document(run).table
    assert results is not None
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
        "G4", "warning", f"{GO}@0.9", on_times="at least", because="arrivals waited for connections"
    )
    run = replace(run, judgement=replace(run.judgement, findings=(found,)))
    _, following = followers.apart_by_rate(rows.sections(run))
    [each] = followers.by_table(following).values()
    told = {(cells[0], cells[1]): cells[3:7] for cells in followers.latency_cells(each)}
    p50, p99, interval, service = told[GO, "90 %"]
    assert all(one.startswith("≥ ") for one in (p50, p99, service)) and interval == ""
    assert not any(one.startswith("≥") for one in told[GO, "50 %"])
    assert followers.latency_note(each).endswith(f"; {WHY}")
    chart = named(run, "latency")
    assert [row[2].startswith("≥") for row in chart.rows if row[0] == GO] == [False, True]
    assert "(G4: quotes/go)" in chart.note


def test_a_single_load_says_so_on_the_screen_and_for_programs() -> None:
    measured = sample_run.measurement(5000, response_time=sample_run.histogram(2e6))
    found = sample_run.finding(
        "G4", "warning", None, on_times="at least", because="arrivals waited for connections"
    )
    text = rendered(terminal.in_full(load_document(sample_run.OPEN_PLAN, measured, (found,))))
    assert re.search(r"response time +(≥ [\d.]+ ms +){5}≥ 7.79 ms", text), text
    assert "what makes times bounds: arrivals waited for connections (G4)" in " ".join(text.split())
    told = json.loads(load.as_json(sample_run.OPEN_PLAN, measured, (found,)))
    assert told["times_known"] == {
        "at_least": True,
        "at_most": False,
        "limits": [{"code": "G4", "words": "arrivals waited for connections"}],
    }
    clean = json.loads(load.as_json(sample_run.OPEN_PLAN, measured, ()))
    assert clean["times_known"] == {"at_least": False, "at_most": False, "limits": []}


def test_exports_leave_them_out_or_name_the_rule() -> None:
    run = waiting()
    go = json.loads(exports.bmf(run))[GO]
    assert "throughput" in go and not any("time-p" in name for name in go)
    assert "times of quotes/go (arrivals waited for connections (G4))" in exports.left_out(run)
    trials = list(csv.DictReader(io.StringIO(exports.as_csv(run), newline="")))
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
    text = markdown.render(compared.document(found)).replace("\\", "")
    line = next(line for line in text.splitlines() if line.startswith(f"| {GO} | p99 time |"))
    assert re.search(r"\| [\d.]+ ms \| ≥ [\d.]+ ms \| ≥ 0\.", line), line
    assert "what makes figures bounds: arrivals waited for connections (G4: quotes/go)" in text


MS = 1e6


def scattered(*medians_ms: float) -> Run:
    """The open loops of Go and Java, in which Go's times at 90 % are those of each trial, and a bound."""
    run = rated()
    measured = iter(medians_ms * 2)

    def of_this_time(trial: Trial) -> Trial:
        if trial.case != f"{GO}@0.9" or trial.measurement is None:
            return trial
        times = sample_run.histogram(next(measured) * MS)
        return replace(trial, measurement=replace(trial.measurement, response_time=times, service_time=times))

    assert run.judgement is not None
    found = sample_run.finding(
        "G4", "warning", f"{GO}@0.9", on_times="at least", because="arrivals waited for connections"
    )
    judgement = replace(run.judgement, findings=(found,))
    return replace(run, trials=tuple(map(of_this_time, run.trials)), judgement=judgement)


def told_of_go(run: Run) -> dict[str, str]:
    _, following = followers.apart_by_rate(rows.sections(run))
    [each] = followers.by_table(following).values()
    [cells] = [cells for cells in followers.latency_cells(each) if cells[:2] == (GO, "90 %")]
    return dict(zip((head.removesuffix(":") for head in followers.LATENCY_HEADS), cells, strict=True))


def test_a_bound_of_trials_that_scatter_gives_way_to_what_they_measured() -> None:
    run = scattered(3.3, 896.0, 3.3, 850.0, 3.4)
    told = told_of_go(run)
    assert re.fullmatch(r"\d\d\.\d ms, wide \(3\.\d+ ms to 8\d\d ms\)", told["p50"]), told
    assert all(re.fullmatch(r"[\d.]+ ms, wide \(.+ to .+\)", told[one]) for one in ("p99", "service p99"))
    [later] = [one for one in document(run).sections if one.title.startswith("Response time")]
    [exports] = [part for part in later.parts if isinstance(part, Table)]
    assert "; wide: trials differ too much for their interval to give a bound" in exports.note
    for form in (as_terminal(run), as_markdown(run), as_html(run)):
        assert told["p50"] in form and told["p99"] in form and exports.note in form
    chart = named(run, "latency")
    assert told["p99"] in {row[2] for row in chart.rows} and "wide: trials differ" in chart.note
    drawn = [row for row in named(run, "percentiles-c64-0-9").rows if row[0] == GO]
    assert drawn and all(row[3].endswith(" ms, wide") for row in drawn)


def test_a_bound_of_trials_that_agree_is_told_as_one() -> None:
    run = scattered(3.3, 3.9, 3.6, 3.4, 4.1)
    told = told_of_go(run)
    assert re.fullmatch(r"≥ 3\.\d+ ms", told["p50"])
    _, following = followers.apart_by_rate(rows.sections(run))
    [each] = followers.by_table(following).values()
    assert "wide" not in followers.latency_note(each)


@pytest.mark.parametrize(
    ("low", "high", "measured", "least", "said"),
    [
        (2.03, None, 3.81, 0, "≥ 2.03 ms"),
        (1.90, None, 3.81, 0, "3.81 ms, wide (3.27 ms to 5.11 ms)"),
        (None, 7.62, 3.81, 0, "≤ 7.62 ms"),
        (None, 7.63, 3.81, 0, "3.81 ms, wide (3.27 ms to 5.11 ms)"),
        (0.01, 900.0, 3.81, 0, "10.0 µs – 900 ms"),
        (None, None, 3.81, 0, "about 3.81 ms"),
        (3.00, None, 3.81, 2.9, "≥ 3.00 ms"),
        (3.00, None, 3.81, 3.1, "3.81 ms, wide (3.27 ms to 5.11 ms)"),
    ],
)
def test_a_bound_is_told_within_a_factor_of_two_of_what_was_measured(
    low: float | None, high: float | None, measured: float, least: float, said: str
) -> None:
    known = Known(
        low=None if low is None else low * MS,
        high=None if high is None else high * MS,
        limits=(Limit(code="G4", words="arrivals waited for connections"),),
    )
    assert fmt.known_time(known, measured * MS, (3.27 * MS, 5.11 * MS), least * MS) == said


def test_a_tail_is_never_told_to_be_at_least_less_than_the_median() -> None:
    def seen(value: float, low: float) -> rows.OverTrials:
        return rows.OverTrials(
            value=value * MS, low=low * MS, high=99 * MS, n=5, unit="ns", method="", least=9e6, most=12e6
        )

    run = scattered(3.3, 3.9, 3.6, 3.4, 4.1)
    [row] = [row for one in rows.sections(run) for row in one.rows if row.case.id == f"{GO}@0.9"]
    row = structs.replace(row, response_p50_ns=seen(10, 9.9), response_p99_ns=seen(11, 5.6))
    assert rows.response_words(row) == ("≥ 9.90 ms", "11.0 ms, wide (9.00 ms to 12.0 ms)")


def test_a_table_of_open_loops_that_is_folded_says_each_load_again() -> None:
    text = rendered(terminal.in_full(document(rated())), 60)
    head = text[text.index("Response time") :]
    assert len(re.findall(r"^ *server +load", head, re.MULTILINE)) > 1


def test_on_the_page_the_reach_of_a_wide_time_stands_below_it_so_that_the_table_fits() -> None:
    run = scattered(3.3, 896.0, 3.3, 850.0, 3.4)
    page = pages.of_run(run)
    figure, reach = told_of_go(run)["p99"].split(" (", 1)
    assert f'<span>{figure} <span class="under">({reach}</span></span>' in page
    assert ".under { display: block; }" in page
