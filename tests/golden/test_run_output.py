"""What a run looks like in each form, character by character."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
import sample_run
from msgspec.structs import replace
from rich.console import Console, RenderableType

from assay.model.design import StudyDesign
from assay.model.finding import Subject
from assay.model.run import Run
from assay.report import markdown, terminal
from assay.report.model.load_document import document as load_document
from assay.report.model.run_document import document
from assay.verdict import judge_load

Golden = Callable[[str, str], None]
HOSTILE = "<script>alert(1)</script>\x1b[2J\x1b]0;owned\x07|`*[x](y)\u202e"


def rendered(renderable: RenderableType, width: int = 80) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, markup=False, highlight=False).print(renderable)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def test_a_terminal_of_60_columns_is_kept_and_loses_no_figure() -> None:
    texts = [rendered(terminal.in_full(document(sample_run.run())), width) for width in (60, 120)]
    assert max(map(len, texts[0].splitlines())) <= 60
    narrow, wide = (
        set(re.findall(r"\d[\d.,]*(?:/s| (?:ms|MB|s|%))", " ".join(text.split()))) for text in texts
    )
    assert len(wide) > 20 and wide <= narrow


@pytest.mark.parametrize("width", [80, 120])
def test_the_end_screen_of_a_run(golden: Golden, width: int) -> None:
    text = rendered(terminal.in_full(document(sample_run.run()), "results/r/report.md"), width)
    assert max(map(len, text.splitlines())) <= width
    golden(f"run-{width}.txt", text)


def test_the_markdown_of_a_run(golden: Golden) -> None:
    golden("run.md", markdown.render(document(sample_run.run())))


def test_a_finding_about_many_pairs_lists_the_first_and_counts_the_rest() -> None:
    run = sample_run.run()
    assert run.judgement is not None
    pairs = tuple(sample_run.finding("W6", "warning", f"servers/number-{n}") for n in range(30))
    text = markdown.render(document(replace(run, judgement=replace(run.judgement, findings=pairs))))
    assert text.count("\n  - servers/number-") == 24
    assert "\n  - and 6 more; the run record has them all\n" in text


def test_the_end_of_a_load(golden: Golden) -> None:
    measurement = sample_run.whole(3_030, failed=31)
    findings = judge_load(sample_run.PLAN, measurement, cores=2, same_machine=True)
    assert [finding.code for finding in findings] == ["W2", "B1"]
    golden("load.txt", rendered(terminal.in_full(load_document(sample_run.PLAN, measurement, findings))))


def test_the_end_of_an_open_load_shows_both_clocks(golden: Golden) -> None:
    measurement = sample_run.measurement(
        5000, response_time=sample_run.histogram(2e6), send_lag=sample_run.histogram(20_000), missed_starts=12
    )
    golden("load-open.txt", rendered(terminal.in_full(load_document(sample_run.OPEN_PLAN, measurement, ()))))


def test_a_percentile_without_enough_requests_is_left_out() -> None:
    measurement = sample_run.measurement(50, samples=458)
    text = rendered(terminal.in_full(load_document(sample_run.PLAN, measurement, ())))
    assert "p95" in text
    assert "p99 needs 459 requests, 458 were measured" in " ".join(text.split())
    assert not re.search(r"p99  ", text)


def test_invalid_figures_are_not_shown() -> None:
    invalid = sample_run.finding("G1", "error", None, on_throughput="void")
    measurement = sample_run.measurement(55_100)
    text = rendered(terminal.in_full(load_document(sample_run.PLAN, measurement, (invalid,))))
    assert "55,100/s" not in text
    assert "p99" not in text
    assert "error" in text


def test_who_is_left_out_of_the_ranking_is_named_beside_who_leads_it() -> None:
    text = rendered(terminal.in_full(document(sample_run.with_wrong_answers("quotes/java-vertx"))))
    said = " ".join(text.split())
    assert "quotes/go is fastest: " in said
    assert "quotes/java-vertx is not ranked: its throughput is void (W1: wrong answers)." in said


def hostile_run() -> Run:
    run = sample_run.run()
    cases = tuple(replace(case, label=HOSTILE + case.id) for case in run.header.cases)
    trials = tuple(
        replace(trial, failure=replace(trial.failure, reason=HOSTILE * 500, log_tail=HOSTILE))
        if trial.failure
        else trial
        for trial in run.trials
    )
    judgement = run.judgement
    assert judgement is not None
    finding = sample_run.finding("W1", "error", None, evidence=HOSTILE, subject=Subject(case=cases[0].id))
    claims = tuple(replace(claim, statement=HOSTILE) for claim in judgement.claims)
    design = StudyDesign(title=HOSTILE, question=HOSTILE, blocks=5, seed=42)
    return replace(
        run,
        header=replace(run.header, cases=cases, design=design),
        trials=trials,
        judgement=replace(judgement, findings=(finding,), claims=claims),
    )


def test_text_from_servers_cannot_move_the_cursor() -> None:
    text = rendered(terminal.in_full(document(hostile_run())))
    assert "alert" in text
    assert not {character for character in text if character < " " and character != "\n"}
    assert "\u202e" not in text
    assert len(text) < 20_000


def test_text_from_servers_is_no_markup_in_markdown() -> None:
    text = markdown.render(document(hostile_run()))
    assert "alert" in text
    assert "<script>" not in text.replace("\\<script\\>", "")
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "alert" in line]
    assert rows
    cells = {line.replace("\\|", "").count("|") for line in rows if "± " in line}
    assert len(cells) == 1


def test_a_run_with_no_finished_trial_says_so() -> None:
    run = sample_run.run(trials=(), judgement=None)
    text = rendered(terminal.in_full(document(run)))
    assert "othing was measured" in text
    assert "not judged" in text
    assert "othing was measured" in markdown.render(document(run))
