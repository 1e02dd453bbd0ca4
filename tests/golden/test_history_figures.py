"""The figures in a list of runs: each run's fastest, what it served, and how that is to the run before."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from sample_run import stored
from test_history import history, run_of_day

from assay.model.estimate import Known, Limit
from assay.model.run import Run
from assay.report import pages
from assay.report.model.answer import in_a_line
from assay.store.index import Filter, Index

Captured = pytest.CaptureFixture[str]


def rows_of(shown: str) -> list[list[str]]:
    """The words of each run's row, without its answer."""
    return [line.split() for line in shown.splitlines()[2::2]]


def test_the_list_has_each_runs_fastest_its_figure_and_how_that_is_to_the_run_before(
    tmp_path: Path, capsys: Captured
) -> None:
    for day, factor in enumerate((1.2, 1.5)):
        stored(fastest_go(run_of_day(day, factor=factor)), tmp_path)
    stored(fastest_go(run_of_day(2, factor=1.0, machine="ffff")), tmp_path)
    stored(fastest_go(run_of_day(3, factor=1.0, study="other")), tmp_path)
    stored(fastest_go(run_of_day(4, factor=3.0)), tmp_path)
    assert history(tmp_path) == 0
    assert [row[:4] for row in rows_of(capsys.readouterr().out)] == [
        ["franklin-day004", "quotes/go", "165,000/s", "2.00×"],
        ["other-day003", "quotes/go", "55,100/s", "2"],  # nothing before it: its two warnings follow
        ["franklin-day002", "quotes/go", "55,100/s", "2"],
        ["franklin-day001", "quotes/go", "82,600/s", "1.25×"],
        ["franklin-day000", "quotes/go", "66,100/s", "2"],
    ]
    entries = Index(tmp_path, in_a_line).runs(Filter())
    page = pages.history(entries, Filter(), "/token")
    cells = re.findall(r'<td data-head="(?:fastest|served|vs last)" class="[a-z ]*">(.*?)</td>', page)
    assert cells[:3] == ["quotes/go", "165,000/s", "2.00×"] and cells[3:6] == ["quotes/go", "55,100/s", ""]


def test_a_bound_has_no_ratio_to_the_run_before_and_gives_none(tmp_path: Path) -> None:
    limit = Limit(code="G1", words="its generator was full")
    for day in range(3):
        run = fastest_go(run_of_day(day, factor=1.2))
        assert run.judgement is not None
        first, *others = run.judgement.ranking
        known = Known(low=54_000.0, high=None, limits=(limit,)) if day == 1 else first.known
        ranking = (replace(first, known=known), *others)
        stored(replace(run, judgement=replace(run.judgement, ranking=ranking)), tmp_path)
    entries = Index(tmp_path, in_a_line).runs(Filter())
    assert [entry.over_previous for entry in entries] == [None, None, None]
    assert [entry.server for entry in entries] == ["quotes/go"] * 3


def fastest_go(run: Run) -> Run:
    """The run with Go in the first place."""
    assert run.judgement is not None
    ranking = sorted(run.judgement.ranking, key=lambda place: place.case != "quotes/go")
    return replace(run, judgement=replace(run.judgement, ranking=tuple(ranking)))
