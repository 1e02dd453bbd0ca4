"""Every flag of a tool has a case, and every difference a row in docs/drop-ins.md.

A case is words that the tool and `assay` both get, on servers of the same kind. Its tool's test says
in which respects the two differ; here that is held against the table of the tool's section. A case
that differs names its row and the respects, a row is named by a case, and both cease together. Where
the row's last cell is "as TOOL", the two are alike in strict mode.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

DOCUMENT = Path(__file__).parents[2] / "docs" / "drop-ins.md"
_CELL = re.compile(r"(?<!\\)\|")


class Case(Protocol):
    """Words for both, and where the two differ with them."""

    @property
    def words(self) -> Sequence[str]:
        """The words before the URL."""

    @property
    def row(self) -> str:
        """The first cell of the row that tells of the difference; "" where there is none."""

    @property
    def differs(self) -> Sequence[str]:
        """In which respects they differ: "exit code", "lines" and so on, as the tool's test calls them."""


@dataclass(frozen=True)
class Row:
    """A difference: what it concerns, what the tool does, what is done here, why, and in strict mode."""

    what: str
    theirs: str
    ours: str
    why: str
    strict: str


def rows(tool: str) -> dict[str, Row]:
    """The table of a tool's section in the document, by its first cells."""
    section = DOCUMENT.read_text("utf-8").partition(f"\n## {tool}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in _CELL.split(line)[1:-1]] for line in lines]
    assert all(len(row) == 5 and all(row) for row in cells[1:]), f"a row of {tool} has an empty cell"
    found = {row[0]: Row(*row) for row in cells[1:]}
    assert len(found) == len(cells) - 1, f"two rows of {tool} have the same name"
    return found


def check(tool: str, case: Case, differences: Callable[[bool], Mapping[str, str]]) -> None:
    """Hold a case against the document; `differences` runs both, in strict mode or not.

    It gives the respects in which they differ, each with what the two said.
    """
    found = differences(False)
    assert sorted(found) == sorted(case.differs), "\n".join(found.values())
    if not case.row:
        assert not found, "a difference has no row"
        return
    assert found, f"nothing differs any more: take the row {case.row!r} out"
    if rows(tool)[case.row].strict == f"as {tool}":
        strictly = differences(True)
        assert not strictly, "\n".join(strictly.values())


def without_case(flags: Iterable[str], cases: Sequence[Case]) -> list[str]:
    """The flags ("-n", "--rate") that no case's words have; letters may stand in a bundle."""
    words = [word for case in cases for word in case.words]

    def is_given(flag: str) -> bool:
        long = flag.startswith("--")
        return any(word.partition("=")[0] == flag if long else _has_letter(word, flag[1]) for word in words)

    return [flag for flag in flags if not is_given(flag)]


def _has_letter(word: str, letter: str) -> bool:
    """Whether a bundle of short flags ("-kn30") has the letter before its argument."""
    bundle = re.match(r"-([A-Za-z]+)", word)
    return bundle is not None and letter in bundle[1]


def rows_without_case(tool: str, cases: Sequence[Case]) -> list[str]:
    """The rows that no case names: nobody has seen that difference."""
    return sorted(rows(tool).keys() - {case.row for case in cases})
