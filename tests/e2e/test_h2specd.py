"""The engine's HTTP/2 beside h2specd: servers that break RFC 9113 in each way. Long, so with ASSAY_LONG=1."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(os.environ.get("ASSAY_LONG") != "1", reason="long: a load for each of 57 servers"),
    pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed"),
]
MODULE = "github.com/summerwind/h2spec/cmd/h2specd@v2.2.1+incompatible"
FIRST_PORT = "31000"


def test_every_case_of_h2specd_passes(tmp_path: Path) -> None:
    # It needs a folder that is no module: the program is of a time before Go had any.
    environment = {**os.environ, "GOBIN": str(tmp_path), "ASSAY_QUIET": "1"}
    subprocess.run(["go", "install", MODULE], cwd=tmp_path, env=environment, check=True, timeout=600)
    client, log = tmp_path / "client", tmp_path / "log"
    load = f"{sys.executable} -m assay.cli.main h2load -n 1 -N 1"
    client.write_text(f'#!/bin/sh\nexec {load} "$@" >> {log} 2>&1\n')
    client.chmod(0o755)
    words = ["-o", "1", "-f", FIRST_PORT, "-e", str(client)]
    told = subprocess.run(
        [str(tmp_path / "h2specd"), *words], capture_output=True, text=True, env=environment, timeout=300
    ).stdout
    # What the server has sent and we have not read when we close makes the close a reset, and h2specd does
    # not take that for a close.
    failed = [
        actual for actual in re.findall(r"Actual: (.*)", told) if "connection reset by peer" not in actual
    ]
    assert "57 tests" in told, told
    assert failed == [], told
    said = log.read_text()
    assert "Traceback" not in said
    # Each load is one request, and it is told whatever the server did.
    ends = re.findall(
        r"requests: 1 total, \d started, (\d) done, \d succeeded, \d failed, (\d) errored", said
    )
    assert len(ends) == 57, f"{len(ends)} reports:\n{said}"
    assert all(int(done) + int(errored) == 1 for done, errored in ends)
