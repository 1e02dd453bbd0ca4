"""The summary of every verb: it fits on a screen, answers first, and holds whatever the run is like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sample_run
from made_runs import interleaved_pair
from msgspec.structs import replace
from test_compare import scaled
from test_run_output import hostile_run, rendered

from assay import store
from assay.model.run import Run
from assay.report.document import Document
from assay.report.model import compared, load_document
from assay.report.model.run_document import document
from assay.report.terminal import on_screen
from assay.verdict import judge, judge_load
from assay.verdict.compare import compare

Golden = Callable[[str, str], None]
RECORDS = Path(__file__).parent / "records"
WHERE = "more: --verbose, results/r/report.md"
LONGEST_SENTENCE = 25


def kept(name: str) -> Run:
    run = store.read(RECORDS / name).run
    return replace(run, judgement=judge(run, 0))


def of_load(failed: int = 31) -> Document:
    measured = sample_run.whole(3_030, failed=failed)
    return load_document.document(
        sample_run.PLAN, measured, judge_load(sample_run.PLAN, measured, cores=2, same_machine=True)
    )


def of_open_load() -> Document:
    measured = sample_run.measurement(
        5000, response_time=sample_run.histogram(2e6), send_lag=sample_run.histogram(20_000), missed_starts=12
    )
    return load_document.document(sample_run.OPEN_PLAN, measured, ())


SUMMARIES: dict[str, tuple[Callable[[], Document], int]] = {
    "run": (lambda: document(sample_run.judged(sample_run.run())), 24),
    "run-invalid": (lambda: document(kept("franklin")), 24),
    "run-interleaved": (lambda: document(interleaved_pair("study")), 24),
    "versus": (lambda: document(interleaved_pair("comparison")), 14),
    "versus-equal": (lambda: document(interleaved_pair("comparison", apart=1.0)), 14),
    "versus-invalid": (lambda: document(kept("versus")), 14),
    "capacity": (lambda: document(kept("capacity")), 14),
    "load": (of_load, 14),
    "load-open": (of_open_load, 14),
    "load-failed": (lambda: of_load(failed=3_000), 14),
    "compare": (
        lambda: compared.document(compare(sample_run.run(), scaled(0.8), {"throughput": 0.05})),
        10,
    ),
    "compare-same": (lambda: compared.document(compare(sample_run.run(), sample_run.run(), {})), 10),
}
"""By name: the summary, and how many lines it may take."""


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_summary_fits_on_a_screen(name: str, golden: Golden) -> None:
    make, most = SUMMARIES[name]
    text = rendered(on_screen(make(), WHERE))
    lines = text.splitlines()
    assert len(lines) <= most
    assert max(map(len, lines)) <= 80
    golden(f"summary-{name}.txt", text)


@pytest.mark.parametrize("name", SUMMARIES)
def test_no_sentence_of_a_summary_is_long(name: str) -> None:
    told = SUMMARIES[name][0]()
    for sentence in (*told.headline, *told.below, *told.warnings, told.advice):
        for part in re.split(r"[.;:] ", sentence):
            assert len(part.split()) <= LONGEST_SENTENCE, part


@pytest.mark.parametrize("name", SUMMARIES)
@pytest.mark.parametrize("width", [40, 60, 120, 200])
def test_a_summary_keeps_any_width(name: str, width: int) -> None:
    lines = rendered(on_screen(SUMMARIES[name][0]()), width).splitlines()
    assert max(map(len, lines)) <= width


def test_a_narrow_screen_spares_columns_and_keeps_rates_and_tails() -> None:
    narrow = rendered(on_screen(document(sample_run.run())), 60)
    assert "requests/s" in narrow and "p99" in narrow and "61,200" in narrow and "2.42 ms" in narrow
    assert "memory" not in narrow and "memory" in rendered(on_screen(document(sample_run.run())), 120)


def odd_runs() -> Iterator[tuple[str, Run]]:
    run = sample_run.run()
    yield "nothing measured", sample_run.run(trials=(), judgement=None)
    yield "not judged", replace(run, judgement=None)
    yield "hostile names", hostile_run()
    long = tuple(replace(case, label=f"{case.id} {'x' * 200}") for case in run.header.cases)
    yield "long names", replace(run, header=replace(run.header, cases=long))
    arabic = tuple(replace(case, label=f"خادم {case.id}") for case in run.header.cases)
    yield "Arabic names", replace(run, header=replace(run.header, cases=arabic))
    html = tuple(replace(case, label=f"<b>{case.id}</b>") for case in run.header.cases)
    yield "HTML in names", replace(run, header=replace(run.header, cases=html))
    yield "one trial", sample_run.judged(sample_run.run(trials=run.trials[:1], judgement=None))
    failed = tuple(trial for trial in run.trials if trial.failure)
    yield "everything failed", sample_run.judged(sample_run.run(trials=failed, judgement=None))
    base = run.header.cases[0]
    many = tuple(
        replace(base, id=f"quotes/s{n}", server=f"quotes/s{n}", label=f"server {n}") for n in range(12)
    )
    each = tuple(replace(run.trials[0], number=n, case=case.id) for n, case in enumerate(many))
    header = replace(run.header, cases=many)
    yield "twelve servers", sample_run.judged(replace(run, header=header, trials=each, judgement=None))


@pytest.mark.parametrize(("kind", "run"), list(odd_runs()), ids=[kind for kind, _ in odd_runs()])
def test_a_summary_of_an_odd_run_still_fits(kind: str, run: Run) -> None:
    text = rendered(on_screen(document(run), WHERE))
    lines = text.splitlines()
    assert len(lines) <= 24 + 8 * (kind == "twelve servers")
    assert max(map(len, lines)) <= 80
    assert not {character for character in text if character < " " and character != "\n"}
    assert WHERE in text


def test_more_than_three_warnings_are_counted_with_their_codes() -> None:
    findings = [sample_run.finding(code, "warning", None) for code in ("S2", "S3", "S7", "H2", "M7")]
    run = sample_run.run()
    assert run.judgement is not None
    told = document(replace(run, judgement=replace(run.judgement, findings=tuple(findings)))).warnings
    assert len(told) == 3 and told[-1].startswith(("3 more warnings: ", "4 more warnings: "))


def test_a_rule_that_the_headline_names_is_not_told_twice() -> None:
    told = document(store.read(RECORDS / "franklin").run)
    assert "G1" in " ".join(told.headline)
    assert not any("G1" in line for line in told.warnings)


@pytest.mark.parametrize("label", ["S5", "H2 (S5)", "x (S5: y)"])
def test_a_server_that_is_called_like_a_rule_silences_none(label: str) -> None:
    run = sample_run.run()
    named = tuple(replace(case, label=f"{label} {n}") for n, case in enumerate(run.header.cases))
    told = document(replace(run, header=replace(run.header, cases=named)))
    assert "S5" in " ".join(told.headline)  # as its name
    assert any(line.startswith("S5 ") or " S5" in line for line in told.warnings), told.warnings
    assert any("5 trials of each case" in line for line in told.warnings), told.warnings


def test_an_error_that_leaves_no_answer_says_what_to_do() -> None:
    assert document(kept("franklin")).advice
    assert not document(sample_run.run()).advice
