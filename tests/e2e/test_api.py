"""`import assay`: each example of its documentation is run, and each argument is told of."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import made_studies
import pytest

import assay
from assay.report import results

NULL = f"{sys.executable} -m assay.servers.null_server"
EXAMPLES = doctest.DocTestFinder(exclude_empty=True)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A null server."""
    program = [sys.executable, "-m", "assay.servers.null_server", "--port", "0"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1]
        server.terminate()


@pytest.fixture
def world(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the examples use."""
    monkeypatch.setenv("ASSAY_LOCK", str(tmp_path / "lock"))
    return {"assay": assay, "url": url, "serve": f"{NULL} --port {{port}}", "folder": tmp_path / "results"}


def examples(module: ModuleType) -> list[doctest.DocTest]:
    return [one for one in EXAMPLES.find(module) if one.examples]


@pytest.mark.beside
@pytest.mark.parametrize("example", [*examples(assay), *examples(results)], ids=lambda one: one.name)
def test_an_example_does_what_it_says(
    example: doctest.DocTest, world: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1, measure_s=0.2, warm_up_s=0.1)
    for name in ("servers", "studies"):
        monkeypatch.setenv(f"ASSAY_{name.upper()}", str(tmp_path / name))
    example.globs = {**world, "study": "small"}
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    said: list[str] = []
    assert runner.run(example, out=said.append).failed == 0, "".join(said)


@pytest.mark.beside
def test_each_verb_has_an_example_its_errors_and_what_each_argument_means() -> None:
    for name in assay.__all__:
        thing = getattr(assay, name)
        if inspect.isfunction(thing):
            text = inspect.getdoc(thing) or ""
            assert ">>> " in text and "Raises:" in text
            for argument in inspect.signature(thing).parameters:
                assert f"{argument}:" in text, (name, argument)
