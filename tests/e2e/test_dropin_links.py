"""The published command lines, word for word, by links that are called as the tools are."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ab_pair import closing
from wire import HELLO, recording

pytestmark = pytest.mark.beside

PATIENCE_S = 120
PROGRAM = Path(sys.executable).with_name("assay")
WORKFLOW = Path(__file__).parents[2] / "servers" / "workflow" / "benchmark.json"


@pytest.fixture
def links(tmp_path: Path) -> dict[str, str]:
    if not PROGRAM.exists():
        pytest.skip("assay is not installed beside this Python")
    for name in ("ab", "bombardier", "h2load", "wrk"):
        (tmp_path / name).symlink_to(PROGRAM)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}


def run(line: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    words = shlex.split(line)
    found = shutil.which(words[0], path=env["PATH"])
    assert found
    return subprocess.run([found, *words[1:]], capture_output=True, text=True, timeout=PATIENCE_S, env=env)


@pytest.mark.parametrize(
    ("line", "seconds", "shape"),
    [
        ("wrk -t12 -c400 -d30s {}/franklin-says", "-d30s", "12 threads and 400 connections"),
        ("wrk -t10 -c500 -d10s {}/test", "-d10s", "10 threads and 500 connections"),
        (
            "wrk -t 1000 -c 1000 --timeout 5s -d 10s -H 'Accept-Encoding: gzip' {}/",
            "-d 10s",
            "1000 threads and 1000 connections",
        ),
    ],
)
def test_the_other_studies_ask_with_wrk(links: dict[str, str], line: str, seconds: str, shape: str) -> None:
    # For a second instead of the published time; nothing else differs.
    with recording() as wire:
        ended = run(line.replace(seconds, "-d1s").format(wire.url("")), links)
    assert ended.returncode == 0
    assert ended.stdout.startswith(f"Running 1s test @ {wire.url('')}")
    assert f"\n  {shape}\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n" in ended.stdout
    assert "assay wrk: " in ended.stderr
    assert wire.requests


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


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("wrk -t1 -c1 -d1s --latency {}", r"Transfer/sec: +[\d.]+[KMG]?B"),
        ("wrk -t1 -c1 -d1s -R 50 -L {}", r"Transfer/sec: +[\d.]+[KMG]?B"),
        ("ab -n 20 {}", r" 100% +\d+ \(longest request\)"),
        ("bombardier -c 1 -n 50 {}", r"  Throughput: .*/s"),
        ("bombardier -c 1 -n 50 -p r -o json {}", r"\{.*\}"),
        ("h2load --h1 -n 50 {}", r"req/s           : .*%"),
    ],
)
def test_findings_come_after_the_whole_report(links: dict[str, str], line: str, last: str) -> None:
    with recording(closing(b"hello") if line.startswith("ab") else hello) as wire:
        both_outputs = f"{line} 2>&1".format(wire.url())
        told = subprocess.run(
            ["/bin/sh", "-c", both_outputs], capture_output=True, text=True, timeout=PATIENCE_S, env=links
        )
    report, colon, findings = told.stdout.partition("assay " + line.split()[0] + ": ")
    assert colon
    # JSON ends without an end of its line, as bombardier's does.
    assert re.fullmatch(last, report.rstrip("\n").rpartition("\n")[2])
    assert all(found.startswith("assay ") for found in findings.splitlines()[1:])


def hello(_: bytes) -> bytes:
    return HELLO
