"""`assay compare`: what it says, and when it fails a build."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import sample_run
from msgspec.structs import replace
from sample_run import stored

from assay.cli import main as cli
from assay.model.finding import Subject
from assay.model.run import Run

Captured = pytest.CaptureFixture[str]


def scaled(factor: float, **changes: object) -> Run:
    """The sample run with every rate, memory and start time of Go multiplied."""
    run = sample_run.run()
    trials = []
    for trial in run.trials:
        if trial.case == "quotes/go" and trial.measurement and trial.server:
            measured = replace(
                trial.measurement, completed=round(trial.measurement.completed * factor), **changes
            )
            server = replace(trial.server, peak_rss_bytes=round(trial.server.peak_rss_bytes / factor))
            trial = replace(trial, measurement=measured, server=server)
        trials.append(trial)
    header = replace(run.header, run_id="franklin-20251122-080000-aaaa")
    return replace(run, header=header, trials=tuple(trials))


@pytest.fixture
def compare(tmp_path: Path) -> Callable[..., int]:
    def call(new: Run, *flags: str, base: Run | None = None) -> int:
        stored(base or sample_run.run(), tmp_path / "base")
        stored(new, tmp_path / "new")
        first, second = (str(next((tmp_path / side).iterdir())) for side in ("base", "new"))
        return cli.main(["compare", first, second, *flags])

    return call


def test_the_screen_of_a_comparison(
    compare: Callable[..., int], capsys: Captured, golden: Callable[[str, str], None]
) -> None:
    assert compare(scaled(0.8), "--fail-if-slower", "5%", "--fail-if-errors", "0.1%", "--verbose") == 3
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    golden("compare.txt", text)


def test_the_markdown_of_a_comparison(
    compare: Callable[..., int], capsys: Captured, golden: Callable[[str, str], None]
) -> None:
    assert compare(scaled(0.8), "--fail-if-slower", "5%", "--markdown", "-") == 3
    golden("compare.md", capsys.readouterr().out)


def test_the_page_of_a_comparison_says_what_changed_and_draws_it(
    compare: Callable[..., int], capsys: Captured
) -> None:
    assert compare(scaled(0.8), "--fail-if-slower", "5%", "--html", "-") == 3
    page = capsys.readouterr().out
    assert "throughput is worse: 0.80" in page
    assert "no change is shown in the other 10 figures" in page
    assert page.count("<svg") == 2 and "no change</text>" in page
    assert "<script" not in page and 'href="/' not in page


@pytest.mark.parametrize(("factor", "word", "tone"), [(0.8, "worse", "bad"), (1.25, "better", "good")])
def test_the_page_says_better_or_worse_in_a_word_and_a_colour(
    factor: float, word: str, tone: str, compare: Callable[..., int], capsys: Captured
) -> None:
    assert compare(scaled(factor), "--html", "-") == 0
    page = capsys.readouterr().out.split("</style>")[1]
    assert f'class="answer {"worse" if tone == "bad" else "clean"}"' in page
    assert f"2 {word}, 10 without a change shown" in page
    assert page.count(f'class="t name {tone}"') == 2 * page.count("<svg")  # throughput and memory
    assert len(re.findall(f'<td data-head="new is" class="{tone}">{word}</td>', page)) == 4
    assert [one for one in ("better", "worse") if f"{one}<" in page] == [word]


def test_the_page_says_where_nothing_changed(compare: Callable[..., int], capsys: Captured) -> None:
    assert compare(scaled(1.0), "--html", "-") == 0
    page = capsys.readouterr().out
    assert "no change is shown in any of" in page
    for side in ("base", "new"):
        assert f"How {side} was measured" in page


@pytest.mark.parametrize(
    ("factor", "flags", "code"),
    [
        (1.0, ("--fail-if-slower", "5%"), 0),
        (0.9, ("--fail-if-slower", "5%"), 3),
        (0.9, ("--fail-if-slower", "20%"), 0),
        (0.945, ("--fail-if-slower", "5%", "--fail-if-unsure"), 1),
        (1.0, ("--fail-if-slower", "5%", "--fail-if-unsure"), 0),
        (0.9, ("--fail-if-slower", "5%", "--fail-if-unsure"), 3),
        (1.0, ("--fail-if-unsure",), 2),
        (0.945, ("--fail-if-slower", "5%"), 0),  # worse by more than the limit, but not beyond doubt
        (0.8, (), 0),
        (0.8, ("--fail-if-memory", "10%"), 3),
        (1.2, ("--fail-if-slower", "0%", "--fail-if-memory", "0.1"), 0),
    ],
)
def test_it_fails_only_beyond_its_limit(
    factor: float, flags: tuple[str, ...], code: int, compare: Callable[..., int]
) -> None:
    assert compare(scaled(factor), *flags) == code


def test_in_doubt_it_promises_no_number_of_trials(compare: Callable[..., int], capsys: Captured) -> None:
    assert compare(scaled(0.951), "--fail-if-slower", "5%", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    go = next(one for one in told["changes"] if (one["case"], one["metric"]) == ("quotes/go", "throughput"))
    assert go["outcome"] == "could not tell"
    assert "more_trials" not in go


def test_invalid_figures_are_not_held_to_a_limit(compare: Callable[..., int], capsys: Captured) -> None:
    new = scaled(0.5)
    assert new.judgement is not None
    finding = sample_run.finding("W1", "error", None, on_throughput="void", subject=Subject(case="quotes/go"))
    new = replace(new, judgement=replace(new.judgement, findings=(finding,)))
    assert compare(new, "--fail-if-slower", "5%") == 1
    told = capsys.readouterr().out
    assert "quotes/go: throughput is invalid" in told
    assert "27,500/s" not in told


def test_runs_of_which_nothing_stands_are_said_to_have_nothing_to_compare(
    compare: Callable[..., int], capsys: Captured
) -> None:
    new = scaled(1.0)
    assert new.judgement is not None
    taken = sample_run.finding("W1", "error", None, on_throughput="void", on_times="void")
    nothing = replace(new, trials=(), judgement=replace(new.judgement, findings=(taken,)))
    assert compare(nothing, "--markdown", "-") == 0
    assert "Nothing can be compared: no figure stands on both sides" in capsys.readouterr().out


def test_errors_are_a_difference_of_shares(compare: Callable[..., int], capsys: Captured) -> None:
    assert compare(scaled(1.0, failed=5000), "--fail-if-errors", "0.5%") == 3
    assert "points" in capsys.readouterr().out


def test_a_case_that_new_could_not_measure_is_not_kept(compare: Callable[..., int], capsys: Captured) -> None:
    new = scaled(1.0)
    trials = tuple(trial for trial in new.trials if trial.case != "quotes/go")
    assert compare(replace(new, trials=trials), "--fail-if-slower", "5%") == 1
    assert "quotes/go: throughput was not measured in new" in capsys.readouterr().out


def test_other_machines_are_warned_about(compare: Callable[..., int], capsys: Captured) -> None:
    new = scaled(1.0)
    environment = replace(new.header.environment, machine_id="other", cpu_model="AMD Turin\x1b[2J")
    assert compare(replace(new, header=replace(new.header, environment=environment)), "--verbose") == 0
    told = capsys.readouterr().out
    assert "different machines" in told
    [cpu] = [line.split("  ") for line in told.splitlines() if line.startswith("CPU ")]
    assert [word.strip() for word in cpu if word] == ["CPU", "AMD EPYC 7B13", "AMD Turin\\x1b[2J"]


def test_two_cases_of_one_run_are_paired_by_block(tmp_path: Path, capsys: Captured) -> None:
    run = stored(sample_run.run(), tmp_path)
    words = [f"{run}:quotes/java-vertx", f"{run}:quotes/go", "--json"]
    assert cli.main(["compare", *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["warnings"] == []
    assert "paired by block" in told["changes"][0]["change"]["method"]
    assert told["changes"][0]["change"]["value"] == pytest.approx(0.9, rel=0.01)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none", "latest"), "there is no run 'none'"),
        (("latest:quotes/perl", "latest:quotes/go"), "has no case 'quotes/perl'"),
        (("latest:quotes/go", "latest"), "one side names a case"),
        (("latest", "latest", "--fail-if-slower", "lots"), "'lots' is not a share"),
        (("latest", "latest", "--fail-if-slower", "150%"), "is not a share"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], said: str, tmp_path: Path, capsys: Captured) -> None:
    stored(sample_run.run(), tmp_path)
    assert cli.main(["compare", *words, "--results", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1


def test_runs_without_a_common_case_are_refused(compare: Callable[..., int], capsys: Captured) -> None:
    new = scaled(1.0)
    cases = tuple(replace(case, id=f"other/{case.id}") for case in new.header.cases)
    assert compare(replace(new, header=replace(new.header, cases=cases), trials=())) == 2
    assert "no case in common" in capsys.readouterr().err
