"""Small files and small functions, in every language of ours: a reader sees a whole one at a time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import ROOT, tracked

FILE = 400
FUNCTION = 70
SHORT, SHORT_SHARE = 60, 0.05
"""Of the modules of the product so few may be shorter: what is read together stands together."""
CODE = {".py", ".rs", ".sh", ".css", ".js", ".html", ".j2", ".lua"}


def ours() -> list[Path]:
    """Every file of code in the checkout, but for the servers that are compared."""
    return [
        path for path in tracked() if path.suffix in CODE and path.relative_to(ROOT).parts[0] != "servers"
    ]


def test_no_file_is_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in ours()}
    assert {str(path.relative_to(ROOT)): n for path, n in lengths.items() if n > FILE} == {}


def test_few_modules_are_short() -> None:
    product = ROOT / "src" / "assay"
    modules = [one for one in tracked() if one.suffix == ".py" and product in one.parents]
    modules = [one for one in modules if one.name != "__init__.py"]
    short = {path.name for path in modules if len(path.read_text(encoding="utf-8").splitlines()) < SHORT}
    assert len(short) <= SHORT_SHARE * len(modules), sorted(short)


def test_no_function_is_long() -> None:
    reader = {".py": in_python, ".rs": in_rust}
    long = {
        f"{path.relative_to(ROOT)}: {name}": length
        for path in ours()
        if path.suffix in reader
        for name, length in reader[path.suffix](path.read_text(encoding="utf-8"))
        if length > FUNCTION
    }
    assert long == {}


def in_python(code: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            yield node.name, node.end_lineno - node.lineno + 1


def in_rust(code: str) -> Iterator[tuple[str, int]]:
    """As rustfmt lays functions out: a body on several lines ends with a brace below its start."""
    lines = code.splitlines()
    for start, line in enumerate(lines):
        begins = re.match(r"(\s*)(?:[a-z]+(?:\([\w: ]+\))? |extern \"C\" )*fn (\w+)", line)
        if begins is None or line.endswith(("}", ";")):
            continue
        ends = {f"{begins[1]}}}", f"{begins[1]});"}  # of a function, and of one that a trait only names
        length = next((n for n, later in enumerate(lines[start:], 1) if later in ends), len(lines))
        yield begins[2], length


@pytest.mark.parametrize("form", ["fn f(\n    a: u8,\n) {{\n{0}}}\n", "pub(crate) const fn f() {{\n{0}}}\n"])
def test_a_long_function_in_rust_is_seen(form: str) -> None:
    code = form.format("    let x = || {\n    };\n" * 40)
    assert [(name, length > FUNCTION) for name, length in in_rust(code)] == [("f", True)]
