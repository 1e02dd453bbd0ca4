"""The report page and its charts: complete, offline, small, without a script, and deaf to markup in data."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import sample_run
from msgspec.structs import replace
from test_run_model import as_html, as_markdown, as_terminal
from test_run_output import hostile_run

from assay.model.estimate import Known, Limit, Ranked
from assay.model.finding import Subject
from assay.model.run import Run
from assay.report import pages
from assay.report.charts import about, charts
from assay.report.document import Chart
from assay.report.model.run_document import document
from assay.report.picture import to_png, to_svg

ONE_MEGABYTE = 1_000_000


class Tags(HTMLParser):
    """Collects what a browser would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action")]
        self.anchors |= {value or "" for name, value in attrs if name == "id"}


def tags_of(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def named(run: Run, name: str) -> Chart:
    return next(chart for chart in charts(run) if chart.name == name)


def bounded(**known: float | None) -> Run:
    """Java's figure is known from one side: its generator was full."""
    run = sample_run.run()
    assert run.judgement is not None
    limit = Limit(code="G1", words="the generator was full")
    best = replace(
        run.judgement.ranking[0], known=Known(**({"low": None, "high": None} | known), limits=(limit,))
    )
    second = replace(
        run.judgement.ranking[1],
        relative_to_best=replace(sample_run.estimate(0.9, 0.015, "ratio"), low=None),
    )
    places: tuple[Ranked, ...] = (best, second, *run.judgement.ranking[2:])
    return replace(run, judgement=replace(run.judgement, ranking=places))


def test_the_page_is_one_small_file_that_fetches_and_runs_nothing() -> None:
    page = pages.of_run(sample_run.run())
    assert len(page.encode()) < ONE_MEGABYTE / 5
    tags = tags_of(page)
    assert all(link.startswith("#") for link in tags.links)
    assert {link[1:] for link in tags.links} <= tags.anchors
    assert tags.scripts == 0
    assert "default-src 'none'" in page and "script-src" not in page


def test_the_answer_its_picture_and_the_contents_come_first() -> None:
    page = pages.of_run(sample_run.run())
    places = [page.index(part) for part in ('class="said"', 'id="answer"', "<nav", 'id="results-1"')]
    assert places == sorted(places)


def test_the_contents_of_a_large_study_stay_short() -> None:
    run = sample_run.run()
    places = ("w1", "w2", "w3", "w4")
    cases = tuple(
        replace(case, id=f"{case.id}@{place}", workload=place)
        for place in places
        for case in run.header.cases
    )
    trials = tuple(replace(one, case=f"{one.case}@{place}") for place in places for one in run.trials)
    many = replace(run, header=replace(run.header, cases=cases), trials=trials, judgement=None)
    page = pages.of_run(many)
    nav = page[page.index("<nav") : page.index("</nav>")]
    assert nav.count("<li>") < 16 and 'href="#charts"' in nav
    assert {link[1:] for link in tags_of(page).links} <= tags_of(page).anchors


def test_the_page_of_a_thousand_trials_stays_below_a_megabyte() -> None:
    run = sample_run.run()
    trials = tuple(
        replace(run.trials[number % 25], number=number, block=number // 5) for number in range(1000)
    )
    assert len(trials) == 1000
    assert len(pages.of_run(replace(run, trials=trials)).encode()) < ONE_MEGABYTE


def test_each_chart_has_its_data_as_a_table() -> None:
    for chart in charts(sample_run.run()):
        assert chart.rows
        assert all(len(row) == len(chart.heads) for row in chart.rows)


def test_charts_become_pictures_that_say_what_they_are_of() -> None:
    run = sample_run.run()
    for chart in charts(run):
        assert to_png(chart, about(run)).startswith(b"\x89PNG")
        words = " ".join("".join(ET.fromstring(to_svg(chart, about(run))).itertext()).split())
        for said in ("franklin", "AMD EPYC 7B13", "2025-11-21", run.header.run_id, chart.title):
            assert "".join(said.split()) in "".join(words.split())
        assert "".join(chart.note.split()) in "".join(words.split())


def test_a_server_has_one_colour_wherever_it_is_drawn() -> None:
    run = sample_run.run()
    for name in ("answer", "throughput", "over-time", "cpu"):
        picture = to_svg(named(run, name), "")
        found = dict(re.findall(r'class="t name own (s\d)">(?:<title>[^<]*</title>)?([^<]+)', picture))
        assert found.get("s0") == "quotes/go" and found.get("s1") == "quotes/java-vertx", name


def test_a_bound_is_an_arrow_and_says_why() -> None:
    run = bounded(low=60_500.0)
    picture = to_svg(named(run, "answer"), "")
    assert picture.count("hatch s1") == 1 and picture.count("hatch s0") == 1
    assert "the generator was full (G1): ≥ 60,500/s" in picture
    assert "≥ 1.09×" in picture
    assert "hatch s" not in to_svg(named(sample_run.run(), "answer"), "")
    assert to_svg(named(run, "throughput"), "").count("hatch s1") == 1


def test_the_null_server_is_a_line_and_told_where_it_is_beyond_the_scale() -> None:
    def drawn(*cases: str) -> tuple[str, str]:
        run = sample_run.run()
        header = replace(run.header, cases=tuple(case for case in run.header.cases if case.id in cases))
        trials = tuple(trial for trial in run.trials if trial.case in cases)
        alone = named(replace(run, header=header, trials=trials, judgement=None), "answer")
        return to_svg(alone, ""), alone.note

    picture, note = drawn("quotes/ruby-sinatra", "quotes/null")
    assert 'class="refline"' not in picture
    assert "Beyond the scale: quotes/null, " in note
    picture, note = drawn("quotes/go", "quotes/null")
    assert 'class="refline"' in picture and "quotes/null, 231,000/s" in picture
    assert "Beyond" not in note


def test_a_claim_whose_direction_holds_and_whose_size_does_not_says_so() -> None:
    page = pages.of_run(sample_run.run())
    row = re.search(r"Java/Vert.x beats Go</bdi>.*?</tr>", page, re.DOTALL)
    assert row is not None and "direction holds, size does not" in row[0]
    assert "direction holds, size does not" in to_svg(named(sample_run.run(), "claims"), "")


def test_a_column_in_which_nothing_is_known_is_not_there() -> None:
    run = sample_run.run()
    assert 'data-head="memory"' in pages.of_run(run)
    bare = replace(run, trials=tuple(replace(trial, server=None) for trial in run.trials))
    assert 'data-head="memory"' not in pages.of_run(bare)
    assert 'data-head="throughput"' in pages.of_run(bare)


def test_markup_from_a_record_stays_text() -> None:
    page = pages.of_run(hostile_run())
    assert tags_of(page).scripts == 0
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def with_void(figure: str) -> Run:
    run = sample_run.run()
    assert run.judgement is not None
    about = Subject(case="quotes/go")
    finding = sample_run.finding("M1", "error", None, subject=about, **{f"on_{figure}": "void"})
    return replace(run, judgement=replace(run.judgement, findings=(finding,)))


def test_invalid_times_are_in_no_chart_and_no_table() -> None:
    run = with_void("times")
    names = {chart.name: {row[0] for row in chart.rows} for chart in charts(run)}
    assert "quotes/go" in names["throughput"]
    assert "quotes/go" not in names["percentiles"]


def test_an_invalid_case_is_drawn_without_its_figure_and_keeps_what_is_not_touched() -> None:
    run = with_void("throughput")
    for name in ("answer", "throughput"):
        picture = to_svg(named(run, name), "")
        assert "hatch s0" in picture and "invalid" in picture and "55.1" not in picture
    for name in ("memory", "start", "cpu"):
        assert "quotes/go" in {row[0] for row in named(run, name).rows}


def test_a_run_with_no_finished_trial_still_makes_a_page() -> None:
    page = pages.of_run(sample_run.run(trials=(), judgement=None))
    assert "othing was measured" in page
    assert "<figure" not in page


def also_at_a_fixed_rate() -> Run:
    """The sample, whose servers were also asked at a fixed rate by an open loop."""
    run = sample_run.run()
    cases = tuple(replace(case, id=f"{case.id}@r50", load="r50") for case in run.header.cases)
    trials = tuple(
        replace(one, case=f"{one.case}@r50", plan=sample_run.OPEN_PLAN)
        if one.measurement is None
        else replace(
            one,
            case=f"{one.case}@r50",
            plan=sample_run.OPEN_PLAN,
            measurement=replace(one.measurement, response_time=one.measurement.service_time),
        )
        for one in run.trials
    )
    header = replace(run.header, cases=(*run.header.cases, *cases))
    return sample_run.judged(replace(run, header=header, trials=(*run.trials, *trials), judgement=None))


def test_the_picture_that_answers_leaves_out_open_loops_at_a_fixed_rate() -> None:
    run = also_at_a_fixed_rate()
    picture = to_svg(named(run, "answer"), "")
    assert ">c64<" in picture and "r50" not in picture and "open loop" not in picture
    assert "Hatched throughout" not in named(run, "answer").note
    assert {row[0] for row in named(run, "answer").rows} == {
        case.label or case.server for case in sample_run.CASES if case.role == "candidate"
    }
    rates = replace(
        run,
        header=replace(run.header, cases=tuple(case for case in run.header.cases if case.load == "r50")),
        trials=tuple(one for one in run.trials if one.case.endswith("@r50")),
    )
    assert "answer" not in {chart.name for chart in charts(rates)}


def test_a_server_that_stands_alone_is_the_best_of_nothing_in_any_form() -> None:
    run = sample_run.run()
    assert run.judgement is not None
    first, *others = run.judgement.ranking
    places = (
        replace(first, rank=None),
        *(replace(one, rank=None, invalid=True, relative_to_best=None) for one in others),
    )
    run = replace(run, judgement=replace(run.judgement, ranking=places, comparisons=()))
    results = document(run).table
    assert results is not None and not results.texts("ahead")
    [row] = [row for row in named(run, "answer").rows if row[0] == "quotes/java-vertx"]
    assert row[1] == "61,200/s"
    picture = to_svg(named(run, "answer"), "")
    assert ">the best<" not in picture and "61,200/s" in picture
    bare = re.compile(r"fastest is")
    for shown in (as_terminal, as_markdown, as_html):
        assert bare.search(shown(sample_run.run())) and not bare.search(shown(run))
