"""The field's words: what occurs nowhere in this project, and what is no name in it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from checkout import ROOT, tracked

NOWHERE = frozenset(
    [
        "sitting",
        "sittings",
        "woven",
        "unwoven",
        "weave",
        "weaves",
        "weaving",
        "hallmark",
        "rival",
        "rivals",
        "contest",
        "contests",
        "keeper",
        "keepers",
        "complaint",
        "complaints",
        "withheld",
        "flagged",
        "turnbook",
    ]
)
"""Private words that have a word of the field: see GLOSSARY.md."""
PHRASES = ("settle time", "lends its turns", "lends its slices")
NO_NAMES = frozenset(
    [
        "lane",
        "lanes",
        "tier",
        "tiers",
        "books",
        "ledger",
        "held",
        "look",
        "looks",
        "others",
        "reach",
        "standing",
        "later",
        "told",
        "said",
        "seen",
        "found",
        "one",
        "had",
    ]
)
"""What is no name of a module, a type, a function, a flag or a key: it says nothing of what it holds."""
FOREIGN = (
    "CHANGELOG.md",
    "servers/",
    "src/assay/core/renamed.py",
    "tests/audit/",
    "tests/golden/expected/audit",
    "tests/unit/test_renamed.py",
    "tests/unit/test_words.py",
)
"""What others wrote, what was measured under older words, and the history of the words themselves."""


def texts() -> Iterator[tuple[str, str]]:
    for path in tracked():
        name = str(path.relative_to(ROOT))
        if name.startswith(FOREIGN) or path.suffix in {".png", ".gz", ".svg", ".pem", ".lock"}:
            continue
        try:
            yield name, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def parts(text: str) -> set[str]:
    """The words of a text, also those within names: snake_case, CamelCase and UPPER_CASE."""
    return {part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)}


def test_private_words_occur_nowhere() -> None:
    found = {}
    for name, text in texts():
        flowing = " ".join(text.split())
        if bad := [*(parts(text) & NOWHERE), *(phrase for phrase in PHRASES if phrase in flowing)]:
            found[name] = bad
    assert found == {}


def names_in_python(code: str) -> Iterator[str]:
    """Types, functions and fields of classes: these are keys of JSON, too."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    yield item.target.id
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            for word in node.args:
                if isinstance(word, ast.Constant) and str(word.value).startswith("--"):
                    yield str(word.value).lstrip("-")


def names_in_rust(code: str) -> Iterator[str]:
    yield from re.findall(r"\b(?:fn|struct|enum|trait|mod) (\w+)", code)
    yield from re.findall(r"^\s*pub(?:\([\w:]+\))? (\w+): ", code, re.MULTILINE)


def test_names_say_what_they_hold() -> None:
    readers = {".py": names_in_python, ".rs": names_in_rust}
    found: dict[str, set[str]] = {}
    for name, text in texts():
        suffix = Path(name).suffix
        if suffix in readers and name.startswith(("src/", "crates/", "benches/")) and "/tests/" not in name:
            names = {one.strip("_").lower() for one in (Path(name).stem, *readers[suffix](text))}
            if bad := names & NO_NAMES:
                found[name] = bad
    assert found == {}


@pytest.mark.parametrize(
    ("reader", "code"),
    [
        (names_in_python, "class Held:\n    pass\n"),
        (names_in_python, "def _told(run):\n    pass\n"),
        (names_in_python, "class A:\n    found: int = 0\n"),
        (names_in_python, "parser.add_argument('--later')\n"),
        (names_in_rust, "pub(crate) fn seen(&self) {\n"),
        (names_in_rust, "struct A {\n    pub held: u64,\n"),
    ],
)
def test_such_a_name_is_found(reader: Callable[[str], Iterator[str]], code: str) -> None:
    assert {one.strip("_").lower() for one in reader(code)} & NO_NAMES


def test_no_type_means_two_things() -> None:
    named: dict[str, list[str]] = defaultdict(list)
    for name, text in texts():
        if name.startswith("src/") and name.endswith(".py") and "/example/" not in name:
            for node in ast.parse(text).body:
                if isinstance(node, ast.ClassDef):
                    named[node.name.lstrip("_")].append(name)
    assert {name: places for name, places in named.items() if len(places) > 1} == {}


def test_the_glossary_is_short_and_each_term_has_its_source() -> None:
    rows = re.findall(r"^\| \*\*(.+?)\*\* \|(.*)\|(.*)\|$", (ROOT / "GLOSSARY.md").read_text(), re.MULTILINE)
    assert 0 < len(rows) <= 40
    assert [term for term, _, source in rows if not source.strip()] == []
