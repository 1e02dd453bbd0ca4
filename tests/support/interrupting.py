"""Ctrl-C at a moment that a program tells itself."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE_S = 200


def interrupted(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    at: str,
    how: signal.Signals = signal.SIGINT,
) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder and interrupt it after the line of its standard error that begins so.

    The standard error of what is returned begins after that line.
    """
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            assert any(line.startswith(at) for line in process.stderr), f"it never said {at!r}"
        finally:
            process.send_signal(how)
        out, err = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(command, process.returncode, out, err)
