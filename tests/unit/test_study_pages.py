"""The pages of docs/studies are rendered from stored JSON, which is strict, small and laid out."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from checkout import ROOT
from study_pages import from_run, schema
from study_pages.__main__ import main
from study_pages.page import render

from assay import store
from assay.report.document import Table
from assay.report.markdown import escape
from assay.report.model.run_document import document

PAGES = ROOT / "docs" / "studies"
STORED = sorted(PAGES.glob("*.json"))
LARGEST = 60_000
"""Bytes of a file that a reader of a difference can follow."""

each = pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)


def test_each_page_has_its_figures() -> None:
    pages = {path.stem for path in PAGES.glob("*.md")} - {"README"}
    assert (
        pages == {path.stem for path in STORED} == {path.stem for path in (ROOT / "studies").glob("*.toml")}
    )


@each
def test_a_page_is_what_its_figures_give(path: Path) -> None:
    """`make studies-pages` writes them."""
    assert path.with_suffix(".md").read_text(encoding="utf-8") == render(path.stem, schema.read(path))


@each
def test_figures_are_small_and_laid_out(path: Path, tmp_path: Path) -> None:
    again = tmp_path / path.name
    schema.write(again, schema.read(path))
    assert again.read_bytes() == path.read_bytes()
    assert path.stat().st_size <= LARGEST


@each
def test_sentences_of_the_prose_are_short(path: Path) -> None:
    page = schema.read(path)
    sentences = re.split(r"(?<=[.:;?])\*{0,2} ", " ".join((*page.about, *page.lessons)))
    assert [one for one in sentences if len(one.split()) > 25] == []


@pytest.mark.parametrize(
    "wrong", ['"minimum_effect": "one percent"', '"unknown": 1', '"limits": {"no rule": []}', '"seed": "1"']
)
def test_what_is_no_figure_is_refused(wrong: str) -> None:
    text = STORED[0].read_text(encoding="utf-8")
    bad = text.replace('"profile":', f'{wrong},"profile":', 1)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(bad.encode(), type=schema.StudyPage)


@pytest.mark.parametrize("kept", ["franklin", "sample"])
def test_a_stored_run_takes_the_place_of_its_profile(kept: str, tmp_path: Path) -> None:
    """Its page has every figure of the run's report, and keeps the prose and the other profile."""
    record = ROOT / "tests" / "golden" / "records" / kept / "run.jsonl"
    run = store.read(record).run
    before = schema.read(PAGES / "franklin.json")
    schema.write(tmp_path / f"{run.header.study_name}.json", before)
    path = from_run.take(record, tmp_path)
    after = schema.read(path)
    changed = [one.profile for one, other in zip(after.runs, before.runs, strict=True) if one != other]
    assert changed == [run.header.profile]
    assert (after.title, after.about, after.lessons) == (before.title, before.about, before.lessons)
    shown = [set(row.split(" | ")) for row in render(path.stem, after).replace("**", "").splitlines()]
    told = document(run)
    every = (part for one in told.sections if one.background for part in one.parts)
    for table in (one for one in (told.table, *every) if isinstance(one, Table)):
        for line in table.lines:
            texts = (re.sub(r" \((ceiling|reference)\)$|/s$", "", cell.text) for cell in line.cells)
            cells = {escape(text) for text in texts} - {"", "–"}
            assert any(cells <= {cell.strip("| ").removesuffix("/s") for cell in row} for row in shown), cells


def test_what_is_wrong_is_a_line_that_names_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.jsonl").write_text("{}\n")
    assert main([str(tmp_path / "run.jsonl"), "--pages", str(tmp_path)]) != 0
    (tmp_path / "one.json").write_text('{"title": "One"}')
    assert main(["--pages", str(tmp_path)]) != 0
    record, stored = capsys.readouterr().err.splitlines()
    assert "run.jsonl" in record
    assert "one.json: Object missing required field `about`" in stored
