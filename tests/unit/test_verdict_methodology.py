"""docs/method says what the code does: a page for each rule is the code's, and so are lists of rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from checkout import ROOT
from prose import long_sentences
from rule_pages import PAGES, index, main, pages

from assay.audit import AUDIT_RULES
from assay.report.model.rules import NOTES
from assay.verdict import RULES

VALIDITY = ROOT / "docs" / "method" / "validity.md"
written = pages()


def test_each_rule_has_its_page_and_nothing_else_has_one() -> None:
    assert written.keys() == RULES.keys() | AUDIT_RULES.keys()
    assert {path.stem for path in PAGES.glob("*.md")} == {*written, "README"}


@pytest.mark.parametrize("code", sorted(written))
def test_a_page_is_what_the_code_says(code: str) -> None:
    """`make rule-pages` writes them."""
    assert (PAGES / f"{code}.md").read_text(encoding="utf-8") == written[code]
    assert long_sentences(written[code]) == []


def test_the_index_is_the_code_s() -> None:
    assert (PAGES / "README.md").read_text(encoding="utf-8") == index()


def test_a_stale_page_is_written_anew_and_one_without_a_rule_goes(tmp_path: Path) -> None:
    (tmp_path / "G1.md").write_text("old")
    (tmp_path / "X9.md").write_text("no rule")
    assert main(["--pages", str(tmp_path)]) == 0
    assert {path.stem for path in tmp_path.iterdir()} == {*written, "README"}
    assert (tmp_path / "G1.md").read_text(encoding="utf-8") == written["G1"]


def notes() -> dict[str, str]:
    """What is written by hand of rules, by code."""
    found = {path.name.removesuffix(".md"): path for path in NOTES.iterdir() if path.name.endswith(".md")}
    return {code: path.read_text(encoding="utf-8") for code, path in found.items()}


def test_notes_are_of_rules_that_there_are() -> None:
    assert len(notes()) > 30
    assert notes().keys() <= written.keys()


@pytest.mark.parametrize("code", sorted(notes()))
def test_notes_are_two_lists_of_short_sentences(code: str) -> None:
    text = notes()[code]
    assert set(re.findall(r"^## (.*)$", text, re.MULTILINE)) <= {"Details", "Evidence"}
    assert long_sentences(text) == []


def test_exemptions_and_passing_rules_are_those_of_the_page() -> None:
    text = " ".join(VALIDITY.read_text(encoding="utf-8").split())
    passing = ", ".join(rule.code for rule in RULES.values() if rule.passing)
    assert f"**Passing** disturbances ({passing})" in text
    exempt = [rule.code for rule in RULES.values() if "ceiling" in rule.exempt]
    assert f"{', '.join(exempt[:-1])} and {exempt[-1]} do not apply to it" in text
