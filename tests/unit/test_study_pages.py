"""The pages of docs/studies are rendered from stored JSON, which is strict, small and laid out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from checkout import ROOT
from study_pages import schema
from study_pages.page import render

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


@pytest.mark.parametrize(
    "wrong", ['"minimum_effect": "one percent"', '"unknown": 1', '"limits": {"no rule": []}', '"seed": "1"']
)
def test_what_is_no_figure_is_refused(wrong: str) -> None:
    text = STORED[0].read_text(encoding="utf-8")
    bad = text.replace('"profile":', f'{wrong},"profile":', 1)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(bad.encode(), type=schema.StudyPage)
