"""The form of documents: paths that exist, and lines that an editor shows whole."""

from __future__ import annotations

import re

import pytest
from checkout import ROOT

WORDS_OF_ARCHITECTURE = 2500


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
