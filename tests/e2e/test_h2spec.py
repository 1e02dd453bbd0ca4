"""The null server's HTTP/2 beside h2spec: clients that break RFC 9113 in each way. Long: it is built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(os.environ.get("ASSAY_LONG") != "1", reason="long: builds a program of Go's proxy"),
    pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed"),
]
MODULE = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible"


def test_every_case_of_h2spec_passes(tmp_path: Path) -> None:
    # It needs a folder that is no module: the program is of a time before Go had any.
    environment = {**os.environ, "GOBIN": str(tmp_path)}
    subprocess.run(["go", "install", MODULE], cwd=tmp_path, env=environment, check=True, timeout=600)
    # With HTTP/1.1 beside it, what is no preface is answered in that: to h2spec a broken frame.
    words = [
        sys.executable,
        "-m",
        "assay.servers.null_server",
        "--port",
        "0",
        "--http2-only",
        "--body",
        "hello",
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            listening = re.search(r":(\d+)/", server.stdout.readline())
            assert listening is not None
            told = subprocess.run(
                [str(tmp_path / "h2spec"), "--strict", "--port", listening[1]],
                capture_output=True,
                text=True,
                timeout=300,
            ).stdout
        finally:
            server.kill()
    assert "146 tests, 146 passed, 0 skipped, 0 failed" in told, told
