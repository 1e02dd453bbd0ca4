"""TOML errors name file, line and key, what is wrong and what would be right."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import toml
from assay.core.errors import InputError
from assay.core.toml import KeyPath, line_of
from assay.model.plan import Value


class Inner(Value, frozen=True, kw_only=True):
    words: tuple[str, ...]
    size: int = 1
    kind: Literal["small", "large"] = "small"


class Outer(Value, frozen=True, kw_only=True):
    format: Literal[1] = 1
    name: str
    inner: Inner | None = None
    many: tuple[Inner, ...] = ()
    by_name: dict[str, Inner] = {}
    by_kind: dict[Literal["one", "two"], int] = {}


def problem(folder: Path, text: str) -> str:
    path = folder / "x.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        toml.read(path, Outer, "example")
    return str(caught.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("format = 1\nname = 3\n", "x.toml:2: name: expected a string, got a whole number"),
        ("format = 1\n", "x.toml: the key 'name' is missing"),
        ("name = 'a'\n[inner]\nsize = 1\n", "x.toml:2: inner: the key 'words' is missing"),
        ("name = 'a'\nnmae = 'b'\n", "x.toml:2: nmae: unknown key; did you mean 'name'?"),
        (
            "name = 'a'\n\n[inner]\nwords = []\nsiez = 2\n",
            "x.toml:5: inner.siez: unknown key; did you mean 'size'?",
        ),
        (
            "name = 'a'\n[[many]]\nwords = []\n[[many]]\nwords = ['a', 2]\n",
            "x.toml:5: many[1].words[1]: expected a string, got a whole number",
        ),
        (
            "name = 'a'\n[by_name.one]\nwords = []\n[by_name.two]\nwords = []\nwrods = []\n",
            "x.toml:6: by_name.two.wrods: unknown key; did you mean 'words'?",
        ),
        (
            "name = 'a'\n[by_name.one]\nwords = []\n[by_name.two]\nwords = 1\n",
            "x.toml:5: by_name.two.words: expected a list, got a whole number",
        ),
        (
            'name = """\nmany = 1\n"""\nmany = [\n  # many = 2\n  { words = 7 },\n]\n',
            "x.toml:4: many[0].words: expected a list, got a whole number",
        ),
        (
            "name = 'a'\n[inner]\nwords = []\nkind = 'lrage'\n",
            "x.toml:4: inner.kind: 'lrage' is not known here; did you mean 'large'?",
        ),
        (
            "name = 'a'\n[by_kind]\none = 1\ntow = 2\n",
            "x.toml:4: by_kind.tow: 'tow' is not known here; did you mean 'two'?",
        ),
        ("name = 'a'\nname = 'b'\n", "x.toml:2: no valid TOML: cannot overwrite a value"),
        ("name = \n", "x.toml:1: no valid TOML: invalid value"),
        ("name = 'a'\ninner = [\n", "x.toml:3: no valid TOML: invalid value"),
        (
            "format = 2\nname = 'a'\nnews = 1\n",
            "x.toml:1: format: this example is of format 2; this Assay reads up to 1; update Assay",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert problem(tmp_path, text) == said


@pytest.mark.parametrize(
    "text",
    [
        f"name = {'[' * 3000}{']' * 3000}",
        f"name = {'{a=' * 3000}1{'}' * 3000}",
        f"name = {'[' * 100_000}",
        f"name.{'.'.join('a' * 3000)} = 1",
        f"[{'.'.join('a' * 3000)}]",
    ],
    ids=["lists", "tables", "open", "dotted", "head"],
)
def test_deep_nesting_is_told(tmp_path: Path, text: str) -> None:
    assert problem(tmp_path, text).startswith("x.toml:")


def test_a_right_file_is_decoded(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("name = 'a'\n[inner]\nwords = ['b']\n")
    assert toml.read(path, Outer, "example").value == Outer(name="a", inner=Inner(words=("b",)))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the example: no such file"):
        toml.read(tmp_path / "none.toml", Outer, "example")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(InputError, match="not UTF-8 text at byte 8"):
        toml.read(tmp_path / "latin.toml", Outer, "example")


KEYS = st.text("abcdefgh", min_size=1, max_size=3)
SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.integers(0, 9), st.text("ab[]{}#=.'", max_size=5), st.lists(st.integers(0, 9), max_size=2)
)


@given(st.dictionaries(KEYS, st.dictionaries(KEYS, SCALARS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_every_key_of_a_file_is_found_on_its_line(tables: dict[str, dict[str, Any]]) -> None:
    """Against the writer, which knows where it has put what."""
    lines: list[str] = []
    where: dict[KeyPath, int] = {}
    for table, keys in tables.items():
        lines.append(f"[{table}]")
        for key, value in keys.items():
            where[table, key] = len(lines) + 1
            lines += f"{key} = {_spelled(value)}".split("\n")
    text = "\n".join(lines)
    assert tomllib.loads(text) == tables
    for path, line in where.items():
        assert line_of(text, path) == line


def _spelled(value: object) -> str:
    if isinstance(value, str):
        return '"""\n' + value + '"""'
    return str(value).replace(", ", ",\n ")
