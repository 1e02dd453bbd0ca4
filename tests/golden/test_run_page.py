"""The report page and its charts: complete, offline, small, and deaf to markup in its data."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sample_run
from msgspec.structs import replace
from test_run_output import hostile_run

from assay.report import html
from assay.report.charts import charts, to_png, to_svg
from assay.values.finding import Subject
from assay.values.run import Run

TWO_MEGABYTES = 2_000_000


class Tags(HTMLParser):
    """Collects what a browser would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action")]


def tags_of(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def dom_of(page: str, folder: Path) -> str:
    """The page after its scripts ran in a real browser."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"]
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [chromium, *flags, profile, path.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def test_the_page_is_one_small_file_that_fetches_nothing() -> None:
    page = html.render(sample_run.run())
    assert len(page.encode()) < TWO_MEGABYTES
    tags = tags_of(page)
    assert all(link.startswith("#") for link in tags.links)
    assert tags.scripts == 3
    assert "default-src 'none'" in page


def test_the_page_draws_every_chart_in_a_browser(tmp_path: Path) -> None:
    run = sample_run.run()
    dom = dom_of(html.render(run), tmp_path)
    assert len(re.findall(r"<svg [^>]*marks", dom)) == len(charts(run)) == 7


def test_each_chart_has_its_data_as_a_table() -> None:
    for chart in charts(sample_run.run()):
        assert chart.rows
        assert all(len(row) == len(chart.heads) for row in chart.rows)


def test_charts_become_pictures() -> None:
    for chart in charts(sample_run.run()):
        assert to_png(chart).startswith(b"\x89PNG")
        assert to_svg(chart).startswith("<svg")


def test_bars_start_at_zero_and_carry_their_interval() -> None:
    throughput = next(chart for chart in charts(sample_run.run()) if chart.name == "throughput")
    drawn = str(throughput.spec)
    assert "'zero': True" in drawn
    assert "'x2': {'field': 'high'}" in drawn


def test_a_ceiling_far_above_the_others_is_told_and_not_drawn() -> None:
    def drawn(*cases: str) -> tuple[set[str], str]:
        run = sample_run.run()
        header = replace(run.header, cases=tuple(case for case in run.header.cases if case.id in cases))
        trials = tuple(trial for trial in run.trials if trial.case in cases)
        made = charts(replace(run, header=header, trials=trials, judgement=None))
        throughput = next(chart for chart in made if chart.name == "throughput")
        return {row[0] for row in throughput.rows}, throughput.note

    names, note = drawn("quotes/ruby-sinatra", "quotes/null")
    assert names == {"quotes/ruby-sinatra"}
    assert "Beyond the scale: quotes/null, " in note
    names, note = drawn("quotes/go", "quotes/null")
    assert names == {"quotes/go", "quotes/null"}
    assert "Beyond" not in note


def test_markup_from_a_record_stays_text(tmp_path: Path) -> None:
    page = html.render(hostile_run())
    assert tags_of(page).scripts == 3
    assert "<script>alert" not in page
    dom = dom_of(page, tmp_path)
    assert dom.count("<script") == 3
    assert "&lt;script&gt;alert(1)" in dom


def with_void(figure: str) -> Run:
    run = sample_run.run()
    assert run.judgement is not None
    about = Subject(case="quotes/go")
    finding = sample_run.finding("M1", "withheld", None, subject=about, **{f"on_{figure}": "void"})
    return replace(run, judgement=replace(run.judgement, findings=(finding,)))


def test_withheld_times_are_in_no_chart_and_no_table() -> None:
    run = with_void("times")
    names = {chart.name: {row[0] for row in chart.rows} for chart in charts(run)}
    assert "quotes/go" in names["throughput"]
    assert "quotes/go" not in names["percentiles"]


def test_a_withheld_case_is_in_no_chart() -> None:
    assert all(row[0] != "quotes/go" for chart in charts(with_void("throughput")) for row in chart.rows)


def test_a_run_with_no_finished_trial_still_makes_a_page() -> None:
    page = html.render(sample_run.run(trials=(), judgement=None))
    assert "othing was measured" in page
    assert not re.search(r"data-chart=", page.split("<script")[0])
