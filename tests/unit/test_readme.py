"""The README as a reader meets it: an answer on the first screen, and links that lead somewhere."""

from __future__ import annotations

import re

import pytest
from checkout import ROOT
from prose import long_sentences

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = TEXT.splitlines()
LONGEST = 120
FIRST_SCREEN = 40
DIFFERENCES = 4


def test_it_is_read_in_three_minutes() -> None:
    assert len(LINES) <= LONGEST
    assert long_sentences(TEXT) == []


def test_its_lines_stay_below_120_columns() -> None:
    assert [line for line in LINES if len(line) >= 120] == []


def test_what_it_links_to_is_there() -> None:
    linked = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXT)
    assert "docs/answer.svg" in linked
    assert [path for path in linked if not (ROOT / path).exists()] == []


def test_the_first_screen_says_what_it_is_how_to_have_it_and_what_it_answers() -> None:
    """A sentence, a picture, the way to install it, one command with its answer, the differences."""
    screen = "\n".join(LINES[:FIRST_SCREEN])
    order = (
        r"^Assay compares web servers",
        r"^!\[",
        r"pip install",
        r"^    \$ assay versus ",
        r"^    .* is faster: [\d.]+× .* \[[\d.]+, [\d.]+\]$",
        r"^\|---",
        r"^## Two commands",
    )
    places = [re.search(each, screen, re.MULTILINE) for each in order]
    assert None not in places
    starts = [place.start() for place in places if place is not None]
    assert starts == sorted(starts)


def test_the_differences_are_four_rows() -> None:
    first, *_ = re.findall(r"^\|---.*\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    assert len(first.splitlines()) == DIFFERENCES


@pytest.mark.parametrize("command", ["make run", "make test"])
def test_each_of_the_two_commands_has_a_line_of_its_own(command: str) -> None:
    assert any(line.startswith(f"    {command} ") for line in LINES)
