"""The servers that `make bench` starts are what its tables say they are."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from loading import Load

pytestmark = pytest.mark.beside

BENCHES = Path(__file__).parents[2] / "benches"


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Load:
    return Load(capsys)


@pytest.fixture
def core() -> int:
    return min(os.sched_getaffinity(0))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The benchmarks' module of servers, with the null server of this installation in place of a build."""
    monkeypatch.syspath_prepend(BENCHES)
    module = importlib.import_module("programs")
    null_server = tmp_path / "null-server"
    null_server.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m assay.null_server "$@"\n')
    null_server.chmod(0o755)
    monkeypatch.setattr(module, "null_server", lambda: null_server)
    yield module
    del sys.modules["programs"]


@pytest.mark.parametrize(
    ("serves", "asks", "spoken"), [((), (), "1.1"), (("--http3",), ("--http3", "--insecure"), "3")]
)
def test_the_null_server_is_found_where_it_listens(
    programs: ModuleType, load: Load, core: int, serves: tuple[str, ...], asks: tuple[str, ...], spoken: str
) -> None:
    with programs.serving_null(core, "--body", "hello", *serves) as server:
        measured = load.clean(server.url(), *asks)["measurement"]
    assert measured["http_versions"] == {spoken: 4}
