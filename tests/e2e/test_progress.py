"""What a run says while it goes on: one line that is rewritten on a terminal, a line a block in a pipe."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import made_studies
import pytest

ASSAY = [sys.executable, "-m", "assay.cli.main"]
PATIENCE_S = 200
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def environment(folder: Path) -> dict[str, str]:
    own = {"ASSAY_CACHE": str(folder / "cache"), "ASSAY_LOCK": str(folder / "lock"), "TERM": "xterm"}
    return {name: word for name, word in os.environ.items() if name not in ("CI", "COLUMNS")} | own


@pytest.mark.beside
@pytest.mark.parametrize("interleaved", [False, True])
def test_a_log_has_one_line_a_block(tmp_path: Path, interleaved: bool) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=3, interleaved=interleaved)
    ended = subprocess.run(
        [*ASSAY, "run", "small", "--no-control"],
        cwd=tmp_path, env=environment(tmp_path), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    said = ended.stderr.splitlines()
    assert [line[:5] for line in said if line.startswith("[")] == ["[1/3]", "[2/3]", "[3/3]"], ended.stderr
    assert re.search(r"2 cases in 3 blocks, about .* of measuring", ended.stderr)
    assert all(re.search(r"block \d in .*/s.*; .* left", line) for line in said if line.startswith("["))
    assert "0 s left" in said[-1]
    assert len(said) <= 3 + 4  # beside the lines of the blocks: the size, and notes on the machine


def on_a_terminal(folder: Path, *words: str) -> str:
    """What the program writes to a terminal of 80 columns, where standard output is a pipe."""
    ours, theirs = pty.openpty()
    seen = b""
    with subprocess.Popen(
        [*ASSAY, *words], cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=theirs,
    ) as process:  # fmt: skip
        os.close(theirs)
        try:
            while part := os.read(ours, 65536):
                seen += part
        except OSError:  # the other end is closed
            pass
        finally:
            os.close(ours)
        process.wait(timeout=PATIENCE_S)
    return seen.decode()


@pytest.mark.beside
def test_a_terminal_has_a_line_that_moves(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=2, interleaved=True, measure_s=0.6)
    written = on_a_terminal(tmp_path, "run", "small", "--no-control")
    shown = [_CONTROL.sub("", line).strip() for line in re.split(r"[\r\n]+", written)]
    lines = [line for line in shown if " left  block " in line]
    assert [line for line in lines if "block 1 of 2" in line], shown
    assert [line for line in lines if "block 2 of 2" in line], shown
    full = [line.count("█") for line in lines]
    assert full[0] < full[-1] and len(set(full)) > 3
    assert max(map(len, lines)) <= 80
    assert "\x1b[1A" in written  # rewritten, not repeated
    assert not any(re.match(r"\[\d/2\]", line) for line in shown[-2:])  # and gone at the end
