"""The form of documents: paths that exist, and lines that an editor shows whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from checkout import ROOT
from markdown_it import MarkdownIt
from prose import long_sentences, sentences

WORDS_OF_ARCHITECTURE = 2500
LINE = 100


def test_the_architecture_is_read_in_ten_minutes() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split()) <= WORDS_OF_ARCHITECTURE


def test_paths_of_the_architecture_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:[\w-]+/)[\w./-]*|\w[\w-]*\.(?:rs|py))`", text))
    assert len(paths) > 60
    below = (ROOT, ROOT / "src" / "assay", ROOT / "crates" / "engine" / "src")
    assert [path for path in sorted(paths) if not any((root / path).exists() for root in below)] == []


@pytest.mark.parametrize("part", ["Context", "Decision", "Rejected"])
def test_each_decision_has_its_three_parts(part: str) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    decisions = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    assert len(decisions) > 20
    assert [one.splitlines()[0] for one in decisions if one.count(f"- **{part}**: ") != 1] == []


STUDIES = ROOT / "docs" / "studies"
METHOD = ROOT / "docs" / "method"
WORDS_OF_METHOD = 5000


def documents() -> list[Path]:
    """All that a reader of the project reads."""
    folders = (ROOT, ROOT / "docs", STUDIES, METHOD, METHOD / "evidence", METHOD / "rules")
    return [path for folder in folders for path in sorted(folder.glob("*.md"))]


def long_lines(text: str) -> list[int]:
    """Numbers of lines that are too long, except those that cannot be shorter: tables, code, one link."""
    lines = text.splitlines()
    blocks = MarkdownIt("commonmark").enable("table").parse(text)
    free = {
        number
        for block in blocks
        if block.type in {"table_open", "fence", "code_block"} and block.map is not None
        for number in range(*block.map)
    }
    return [
        number + 1
        for number, line in enumerate(lines)
        if len(line) > LINE and number not in free and not re.fullmatch(r"\s*(?:[-*>] |\d+\. )*\S+", line)
    ]


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_of_documents_fit_an_editor(path: Path) -> None:
    assert long_lines(path.read_text(encoding="utf-8")) == []


def anchors(text: str) -> set[str]:
    """What GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one).strip().lower().replace(" ", "-") for one in headings}


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_documents_lead_somewhere(path: Path) -> None:
    broken = []
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", path.read_text(encoding="utf-8")):
        place, _, anchor = link.partition("#")
        target = path.parent / place if place else path
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    assert broken == []


def test_the_method_fits_in_a_head() -> None:
    """What is written; measurements stand in `evidence`, and the pages of rules are generated."""
    words = [word for path in METHOD.glob("*.md") for word in path.read_text(encoding="utf-8").split()]
    assert sum(re.search(r"\w", word) is not None for word in words) <= WORDS_OF_METHOD


@pytest.mark.parametrize("path", sorted(METHOD.glob("*.md")), ids=lambda path: path.name)
def test_sentences_of_the_method_are_short(path: Path) -> None:
    assert long_sentences(path.read_text(encoding="utf-8")) == []


def test_a_long_sentence_is_seen() -> None:
    long = "word " * 25 + "word."
    text = f"Short. {long}\n\n    {long}\n\n# {long}\n\n- {long}\n"
    assert [len(one.split()) for one in sentences(text)] == [1, 26, 26]


def test_only_what_can_be_broken_is_too_long() -> None:
    long = "word " * 30
    assert long_lines(f"{long}\n\n- {long}\n\n# {long}") == [1, 3, 5]
    assert long_lines(f"    {long}\n\n```\n{long}\n```\n\n- https://{'a' * 100}") == []
    assert long_lines(f"|a|\n|-|\n|{long}|") == []
