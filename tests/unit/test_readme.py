"""The README as a reader meets it: lines that fit a window, and links that lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_lines_stay_below_120_columns() -> None:
    assert [line for line in TEXT.splitlines() if len(line) >= 120] == []


def test_what_it_links_to_is_there() -> None:
    linked = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXT)
    assert "docs/answer.svg" in linked
    assert [path for path in linked if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("command", ["make run", "make test"])
def test_each_of_the_two_commands_has_a_line_of_its_own(command: str) -> None:
    assert any(line.startswith(f"    {command} ") for line in TEXT.splitlines())
