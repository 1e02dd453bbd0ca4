"""Signals that come while a run or a load ends: it is judged and shown, or a line says how to go on.

What is asked for at the end (a clean-up command) tells through a pipe that the end has begun, and waits.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import select
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import made_candidates
import pytest
from made_candidates import ASSAY, PATIENCE_S, QUICK, assay, environment

CLEANUP = "echo begun > begun; read word < go-on"
NOTED = "one more signal gives up"


def versus(folder: Path) -> tuple[str, ...]:
    server = made_candidates.command(folder)
    return ("versus", server, server, "--name", "a", "--name", "b", "--budget", "2s", "--no-control", *QUICK)


@contextlib.contextmanager
def ending(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Assay, whose end has begun, and the pipe in which a word lets one clean-up go on."""
    pipes = []
    for name in ("begun", "go-on"):
        os.mkfifo(folder / name)
        pipes.append(os.open(folder / name, os.O_RDWR))
    with subprocess.Popen(
        [*ASSAY, *words],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert select.select(pipes[:1], [], [], PATIENCE_S)[0], "its end never began"
            yield process, pipes[1]
        finally:
            process.kill()
            for pipe in pipes:
                os.close(pipe)


def heard(process: subprocess.Popen[str]) -> str:
    """What it says until it has noted a signal."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if NOTED in line:
            break
    return said


def goes_on(folder: Path, said: str) -> subprocess.CompletedProcess[str]:
    """The command that the last line names, run."""
    found = re.search(r"what was measured is kept; [^;]*: assay ((?:run --resume|report) \S+)", said)
    assert found, said
    return assay(folder, *found[1].split())


def test_one_signal_at_the_end_leaves_the_judgement(tmp_path: Path) -> None:
    with ending(tmp_path, *versus(tmp_path), "--cleanup", CLEANUP) as (process, go_on):
        process.send_signal(signal.SIGTERM)
        said = heard(process)
        os.write(go_on, b"a\nb\n")
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, "Traceback" in said + err) == (130, False), said + err
    assert "requests/s" in out and "more: --verbose" in out
    assert goes_on(tmp_path, err).returncode in (0, 1)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_signals_that_end_even_the_end_leave_the_way_to_go_on(tmp_path: Path, how: signal.Signals) -> None:
    with ending(tmp_path, *versus(tmp_path), "--cleanup", CLEANUP) as (process, _):
        process.send_signal(how)
        said = heard(process)
        for number in (how, signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, "Traceback" in said + err) == (130, False), said + err
    assert made_candidates.left_of(tmp_path) == []
    assert goes_on(tmp_path, err).returncode in (0, 1)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    command = shlex.split(made_candidates.command(tmp_path))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().split()[-1]}/"
        server.kill()


@pytest.mark.beside
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("several", [False, True])
def test_a_load_ends_in_all_its_figures_or_in_a_line(
    tmp_path: Path, several: bool, unbuffered: str, url: str
) -> None:
    """Its end has begun when the first byte of its result comes through a pipe that holds a page."""
    command = [*ASSAY, "load", url, "-c", "2", "-d", "100ms", "-q", "--json"]
    env = environment(tmp_path) | {"PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        first, said = process.stdout.read(1), b""
        process.send_signal(signal.SIGTERM)
        assert NOTED.encode() in process.stderr.read(4096)
        if several:
            process.send_signal(signal.SIGINT)
            said = process.stderr.read(4096)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, b"Traceback" in err) == (130, False)
    if several:
        assert "what is not shown is not kept" in " ".join(said.decode().split())
    else:
        assert json.loads(first + out)["completed"] > 0
