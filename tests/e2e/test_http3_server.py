"""The null server's HTTP/3, asked by quic-go: with ASSAY_LONG=1, for that takes a minute to build."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(os.environ.get("ASSAY_LONG") != "1", reason="long: builds quic-go"),
    pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed"),
]
SOURCES = Path(__file__).with_name("quic-go")
SERVER = (
    sys.executable,
    "-m",
    "assay.servers.null_server",
    "--port",
    "0",
    "--http3",
    "--body-bytes",
    "100000",
)
WHOLE = {
    "Status": 200,
    "Proto": "HTTP/3.0",
    "Bytes": 100_000,
    "Length": 100_000,
    "Type": "text/plain; charset=utf-8",
    "Problem": "",
}


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("quic-go") / "ask"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=SOURCES, check=True, timeout=600)
    return program


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with subprocess.Popen(SERVER, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        server.stdout.readline()
        yield server.stdout.readline().split()[2]
        server.terminate()


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        (("-connections", "4", "-streams", "20", "-requests", "10"), {**WHOLE, "Times": 800}),
        (("-method", "POST", "-body", "200000", "-streams", "5"), {**WHOLE, "Times": 5}),
        (("-method", "HEAD", "-streams", "3"), {**WHOLE, "Bytes": 0, "Times": 3}),
    ],
)
def test_quic_go_gets_every_answer(
    asking: Path, url: str, words: tuple[str, ...], answers: dict[str, object]
) -> None:
    told = subprocess.run([str(asking), *words, url], capture_output=True, text=True, timeout=120)
    assert [json.loads(line) for line in told.stdout.splitlines()] == [answers], told.stderr
