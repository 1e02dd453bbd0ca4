"""A run is told once: every form of the report lays the same words and figures out."""

from __future__ import annotations

import html as markup
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import sample_run
from msgspec.structs import replace
from rich.cells import cell_len
from test_run_output import rendered

from assay import store
from assay.model.design import Candidate, ComparisonDesign, LoadDesign, WarmUp
from assay.model.finding import Finding, Subject
from assay.model.run import Run
from assay.model.trial import WarmUpSeen
from assay.report import markdown, pages, terminal
from assay.report.document import Cell, Column, Document, Findings, Labelled, Table, TableLine, table
from assay.report.model import compared
from assay.report.model.rows import name_of_case, sections
from assay.report.model.run_document import document
from assay.report.model.values import effect_words, groups
from assay.report.style import Folded
from assay.verdict import RULES, Effects
from assay.verdict.rule import Hit

RECORDS = Path(__file__).parent / "records"
_FIGURE = re.compile(r"(?<![\d.,])\d[\d,]*(?:\.\d+)? ?(?:[kM]?/s\b|[nµm]?s\b|[kMGT]?B\b|%)")
"""A quantity as anybody would write it."""


def kept(name: str) -> Run:
    return store.load(RECORDS / name / "run.jsonl")


RUNS = ("sample", "capacity", "versus", "franklin", "kept")


def the_run(name: str) -> Run:
    return sample_run.run() if name == "sample" else kept("sample" if name == "kept" else name)


def as_terminal(run: Run) -> str:
    return " ".join(rendered(terminal.in_full(document(run)), 500).split())


def as_markdown(run: Run) -> str:
    return " ".join(re.sub(r"\\([\\`*_{}\[\]<>|#~$&])", r"\1", markdown.render(document(run))).split())


def as_html(run: Run) -> str:
    page = re.sub(r"<style>.*?</style>", "", pages.of_run(run), flags=re.DOTALL)
    return " ".join(markup.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def tables(report: Document) -> list[Table]:
    """Those that all forms show."""
    parts = [part for one in report.sections if not one.long for part in one.parts]
    return [one for one in (report.table, *parts) if isinstance(one, Table)]


def told(report: Document) -> Iterator[str]:
    """Every text of the report that all forms show."""
    yield from (*report.headline, report.state, *report.below, *report.warnings, report.advice)
    for one in tables(report):
        yield from (cell.text for line in one.lines for cell in line.cells)
    for part in (part for one in report.sections for part in one.parts):
        if isinstance(part, Findings):
            for group in part.groups:
                yield from (group.title, *(seen.subject for seen in group.subjects[:3]))


@pytest.mark.parametrize("name", RUNS)
def test_every_figure_is_written_the_same_in_every_form(name: str) -> None:
    run = the_run(name)
    report = document(run)
    for form in (as_terminal(run), as_markdown(run), as_html(run)):
        assert [text for text in told(report) if " ".join(text.split()) not in form] == []


@pytest.mark.parametrize("name", RUNS)
def test_a_figure_of_one_form_is_a_figure_of_another(name: str) -> None:
    """What the screen says in figures stands in the page and in Markdown, digit by digit."""
    run = the_run(name)
    shown = set(_FIGURE.findall(as_terminal(run)))
    assert shown
    for form in (as_markdown(run), as_html(run)):
        assert shown - set(_FIGURE.findall(form)) == set()


def test_new_findings_write_their_figures_as_tables_do() -> None:
    """A rule's sentence beside a table: never 84,766/s beside 84,800/s."""
    from assay.verdict import judge

    run = kept("franklin")
    told_anew = as_markdown(msgspec.structs.replace(run, judgement=judge(run, 0)))
    assert re.search(r"\d{2}[1-9]/s", told_anew) is None
    assert "/s x " in told_anew


@pytest.mark.parametrize("name", RUNS)
def test_whether_it_is_clean_is_told_once(name: str) -> None:
    run = the_run(name)
    assert as_terminal(run).count("clean") == 1
    assert as_markdown(run).count("clean") == 1


# --- findings -----------------------------------------------------------------------------


def test_findings_are_one_group_by_what_they_do_and_not_by_their_prose() -> None:
    def one(case: str, **changes: object) -> Finding:
        return sample_run.finding("G1", "error", case, **({"on_throughput": "void"} | changes))

    [group] = groups([one("a"), one("b", remedy="Stop the others."), one("c", title="in other words")])
    assert [seen.subject for seen in group.subjects] == ["a", "b", "c"]
    assert group.remedies == (
        "a, c: Measure for 10 s or longer: leave out --quick.",
        "b: Stop the others.",
    )
    apart = groups([one("a"), one("b", on_throughput="at least", at_most_times=1.5)])
    assert [group.effect for group in apart] == [
        "its throughput is no result and has no place",
        "its throughput is at least what was measured, and ≤ 1.50× what was measured",
    ]


def test_bounds_of_several_cases_are_one_group_with_the_span_of_their_factors() -> None:
    bounds = [
        sample_run.finding("G1", "error", case, on_throughput="at least", at_most_times=times)
        for case, times in (("a", 1.12), ("b", 1.95))
    ]
    [group] = groups(bounds)
    assert group.effect.endswith("and ≤ 1.12 – 1.95× what was measured")


def test_each_effect_on_a_comparison_is_said_in_the_words_of_its_rule() -> None:
    def told(code: str, effects: Effects, other: str | None = "b") -> str:
        hit = Hit("warning", "seen", effects=effects)
        subject = Subject(case="a" if other else None, other_case=other)
        return effect_words([RULES[code].finding(subject, hit)])

    _, more_bytes, _ = RULES["W3"].effects
    assert told("W3", more_bytes).endswith("direction: who sends more and is faster all the same, is faster")
    assert told("D1", RULES["D1"].effects[0], None) == "every ratio is widened by it"
    for code in ("T1", "T2", "T6"):
        assert told(code, RULES[code].effects[0]) == "the ratio of the two is widened by it"
    moved = Hit("warning", "seen", {"moved": 0.02})
    cold = RULES["T2"].finding(Subject(case="a", other_case="b"), moved)
    assert effect_words([cold]).startswith("the ratio of the two is that of the last four fifths of slices")


def test_both_runs_of_a_comparison_group_their_findings_alike() -> None:
    from assay.verdict.compare import compare

    run = sample_run.run()
    text = markdown.render(compared.document(compare(run, run, {})))
    base, new = text[text.index("## Findings of base") :].split("## Findings of new")
    assert base.count("**S5 warning: ") == new.count("**S5 warning: ") == 1


# --- tables -------------------------------------------------------------------------------


def made(*rows: tuple[str, ...]) -> Table:
    columns = [Column("name", "name", key=True)]
    columns += [Column(f"c{n}", f"head {n}", right=True) for n in range(1, len(rows[0]))]
    return table("T", columns, (TableLine(tuple(map(Cell, row))) for row in rows))


def test_a_column_in_which_nothing_is_known_is_not_there() -> None:
    found = made(("a", "–", "1", ""), ("b", "–", "–", ""))
    assert [column.name for column in found.columns] == ["name", "c2"]
    assert found.texts("c2") == ("1", "–")


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_wide_table_is_folded_and_no_figure_is_cut(width: int) -> None:
    found = made(*((f"server-{n}", *(f"{n}{c}.{c} k/s" for c in range(9))) for n in range(4)))
    text = rendered(Folded(found), width)
    assert max(map(len, text.splitlines())) <= width
    for line in found.lines:
        for cell in line.cells:
            assert re.search(rf"(?<!\S){re.escape(cell.text)}(?!\S)", text), cell.text
    assert text.count("server-2") == len(re.findall(r"^name", text, flags=re.MULTILINE))


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_screen_shows_every_figure_of_the_results(name: str, width: int) -> None:
    run = the_run(name)
    text = rendered(terminal.in_full(document(run)), width)
    assert max(map(len, text.splitlines())) <= width
    for one in filter(None, [document(run).table]):
        for place in (place for place, column in enumerate(one.columns) if column.right):
            missing = [line.cells[place].text for line in one.lines if line.cells[place].text not in text]
            assert missing == []


@pytest.mark.parametrize("label", ["x" * 200, "سيرفر " * 20, "<b>bold</b>", "名前" * 60])
@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_name_of_any_length_and_script_keeps_the_width_and_every_rate(label: str, width: int) -> None:
    run = sample_run.run()
    cases = tuple(replace(case, label=label + case.id) for case in run.header.cases)
    text = rendered(terminal.in_full(document(replace(run, header=replace(run.header, cases=cases)))), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert all(rate in text for rate in ("61,200", "55,100", "3,030", "231,000"))


# --- how it was measured ------------------------------------------------------------------


def stood(*cases: str) -> Run:
    """The sample's run, where nobody started these servers."""
    run = sample_run.run()
    trials = tuple(replace(one, server=None) if one.case in cases else one for one in run.trials)
    return replace(run, trials=trials)


def how(run: Run) -> dict[str, str]:
    [section] = [one for one in document(run).sections if one.name == "how"]
    [labelled] = [part for part in section.parts if isinstance(part, Labelled)]
    return dict(labelled.lines)


def test_of_servers_that_stood_nothing_is_said_that_nobody_saw() -> None:
    every = [case.id for case in sample_run.CASES]
    assert how(sample_run.run())["servers"] == "a fresh process for each trial"
    some = how(stood("quotes/go"))
    assert some["servers"].startswith("a fresh process for each trial, but of quotes/go, met at the URL")
    alone = how(stood(*every))
    assert alone["servers"] == "met at the URL where they stand: their start, CPU and memory are not known"
    assert alone["machine"].endswith("client on core 0, the servers stood where they were")
    results = document(stood(*every)).table
    assert results is not None
    names = {column.name for column in results.columns}
    assert not names & {"cpu", "memory", "start"} and {"throughput", "p50"} <= names


def test_it_is_told_for_how_long_servers_were_warmed_up_where_the_record_says_so() -> None:
    run = sample_run.run()
    assert "warm-up" not in how(run)

    first, second, third, *others = (one for one in run.trials if one.measurement)
    trials = (
        replace(first, warm_up=WarmUpSeen(steady=False, bound_ns=10**10, took_ns=10_000_000_000)),
        replace(second, warm_up=WarmUpSeen(steady=True, bound_ns=10**10, took_ns=2_100_000_000)),
        replace(third, warm_up=WarmUpSeen(steady=False, bound_ns=3 * 10**9, took_ns=3_000_000_000)),
        *(replace(one, warm_up=WarmUpSeen(steady=False, bound_ns=0, took_ns=0)) for one in others),
    )
    whole = {one.case: WarmUp(min_ns=0, max_ns=10**10) for one in trials}
    header = replace(run.header, design=replace(run.header.design, warm_ups=whole))
    some = replace(run, header=header, trials=trials)
    assert how(some)["warm-up"] == (
        "2 s to 10 s of load before what was measured; 1 of 2 that were watched ended steady, "
        "1 trial went by earlier ones"
    )
    assert how(replace(some, trials=trials[:2]))["warm-up"].endswith(
        "; 1 of 2 that were watched ended steady"
    )


def test_a_search_is_told_as_its_trials_and_not_as_blocks() -> None:
    told = how(kept("capacity"))
    assert told["order"] == "10 trials, each at the rate that those before it asked for"
    assert re.fullmatch(r"open loop, poisson arrivals, at \d+ rates from 200/s to 362/s, .*", told["load"])


def a_load(per_s: float) -> Run:
    """One load on a URL where a server stands, kept as a run."""
    run = sample_run.run()
    case = replace(run.header.cases[0], id="127.0.0.1:8080/x", server="127.0.0.1:8080", variant="")
    measured = sample_run.measurement(per_s)
    trial = replace(run.trials[0], case=case.id, server=None, measurement=measured)
    design = LoadDesign(title="Load")
    run = replace(run, header=replace(run.header, study_name="load", cases=(case,), design=design))
    return replace(run, trials=(trial,), judgement=None)


def test_a_single_load_is_told_without_candidates_and_blocks() -> None:
    loaded = a_load(51_200)
    report = document(loaded)
    assert report.headline == ("127.0.0.1:8080/x serves 51,200/s",)
    assert report.subtitle.startswith("load, 1 trial, 2025-")
    told = how(loaded)
    assert told["order"] == "1 trial" and told["servers"].startswith("met at the URL where it stands: its")
    void = sample_run.finding("M3", "error", loaded.header.cases[0].id, on_throughput="void")
    judged = replace(
        loaded, judgement=replace(sample_run.judgement(), ranking=(), claims=(), findings=(void,))
    )
    assert document(judged).headline == ("What 127.0.0.1:8080/x serves is not known",)
    assert "ranking" not in as_terminal(judged) and "block" not in as_terminal(judged)


def test_a_comparison_says_how_many_blocks_it_took() -> None:
    run = sample_run.run()
    candidates = tuple(Candidate(name=case.id, command="true") for case in sample_run.CASES)
    design = ComparisonDesign(seed=7, budget_ns=1, margin=0.02, candidates=candidates)
    told = how(replace(run, header=replace(run.header, design=design)))
    assert told["order"] == "5 blocks, each with every case once, in an order drawn from seed 7"


# --- what stays ---------------------------------------------------------------------------


def test_an_invalid_row_keeps_what_its_finding_does_not_touch() -> None:
    run = sample_run.run()
    assert run.judgement is not None
    taken = sample_run.finding("G1", "error", "quotes/go", on_throughput="void", on_times="void")
    judged = replace(run, judgement=replace(run.judgement, findings=(taken,)))
    results = document(judged).table
    assert results is not None
    row = dict(zip(results.texts("server"), results.lines, strict=True))["quotes/go"]
    told = {column.name: cell.text for column, cell in zip(results.columns, row.cells, strict=True)}
    assert (told["throughput"], told["p99"]) == ("invalid", "–")
    assert (told["memory"], told["start"], told["cpu"]) == ("18.4 MB", "9.40 ms", "98 %")
    go = next(row for row in sections(judged)[0].rows if row.name == "quotes/go")
    assert go.throughput is None and go.invalid
    assert name_of_case(run, go.case.id) == "quotes/go"
