"""The published command lines, word for word, by links that are called as the tools are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ab_pair import closing
from wire import recording

PATIENCE_S = 120
PROGRAM = Path(sys.executable).with_name("assay")
WORKFLOW = Path(__file__).parents[2] / "servers" / "workflow" / "benchmark.json"


@pytest.fixture
def links(tmp_path: Path) -> dict[str, str]:
    if not PROGRAM.exists():
        pytest.skip("assay is not installed beside this Python")
    for name in ("ab", "bombardier"):
        (tmp_path / name).symlink_to(PROGRAM)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}


def run(line: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    words = line.split()
    found = shutil.which(words[0], path=env["PATH"])
    assert found
    return subprocess.run([found, *words[1:]], capture_output=True, text=True, timeout=PATIENCE_S, env=env)


def test_the_workflow_study_posts_with_ab(links: dict[str, str]) -> None:
    with recording(closing(b"{}")) as wire:
        url = wire.url("/execute/internal/workflow")
        ended = run(f"ab -p {WORKFLOW} -T application/json -n 1000 -c 200 {url}", links)
    assert ended.returncode == 0
    assert "\nComplete requests:      1000\nFailed requests:        0\n" in ended.stdout
    assert "Completed 1000 requests\nFinished 1000 requests\n" in ended.stderr
    assert "assay ab: " in ended.stderr
    assert len(wire.requests) == 1000
    assert set(wire.requests) == {wire.requests[0]}
    assert wire.requests[0].endswith(WORKFLOW.read_bytes())


def test_the_heroes_study_asks_with_bombardier(links: dict[str, str]) -> None:
    with recording() as wire:
        host = wire.url("/heroes/1").removeprefix("http://")
        ended = run(f"bombardier -m GET {host} -c 50 -n 10000", links)
    assert ended.returncode == 0
    assert ended.stdout.startswith(f"Bombarding http://{host} with 10000 request(s) using 50 connection(s)\n")
    assert "2xx - 10000," in ended.stdout
    assert "assay bombardier: " in ended.stderr
    assert len(wire.requests) == 10000
