"""Programs that tests and benchmarks keep as text, for a Python of their own: what they name is there."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from checkout import ROOT, tracked


def programs() -> Iterator[tuple[str, ast.Module]]:
    """Each text of several lines that is Python and imports something of ours, and where it stands.

    Those of `test_extending.py` name what they add, and it runs them."""
    for path in tracked():
        if path.suffix != ".py" or path.name in (Path(__file__).name, "test_extending.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "import " in node.value:
                try:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", ast.parse(node.value)
                except (SyntaxError, ValueError):
                    continue  # prose, or a program with places to fill in


def missing(program: ast.Module) -> Iterator[str]:
    """The names that a program takes from us and that are not there."""
    modules: dict[str, ModuleType] = {}
    for node in ast.walk(program):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "assay":
            there = importlib.import_module(str(node.module))
            for alias in node.names:
                try:
                    value = getattr(there, alias.name, None) or importlib.import_module(
                        f"{node.module}.{alias.name}"
                    )
                except ImportError:
                    yield f"{node.module}.{alias.name}"
                    continue
                if isinstance(value, ModuleType):
                    modules[alias.asname or alias.name] = value
    for node in ast.walk(program):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            module = modules[node.value.id]
            if not hasattr(module, node.attr):
                yield f"{module.__name__}.{node.attr}"


def test_what_they_name_is_there() -> None:
    assert {where: names for where, program in programs() if (names := list(missing(program)))} == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from assay import engine\nengine.start(1)", ["assay.engine.start"]),
        ("from assay.engine import nothing", ["assay.engine.nothing"]),
        ("from assay.engine import driver\ndriver.start(1)", []),
    ],
)
def test_a_name_that_is_gone_is_found(text: str, names: list[str]) -> None:
    assert list(missing(ast.parse(text))) == names
