"""What killed runs leave behind is found by its owner's mark and swept; what is in use is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from msgspec import structs

from assay.servers import supervised

pytestmark = pytest.mark.beside

HARNESS = """
import sys
from pathlib import Path
from assay.servers.supervised import Kept, StartOrder
from assay.servers.supervised import new_folder
made = new_folder("redis")
(made / "data").write_text("x")
command = sys.argv[2:] or ["sleep", "1000"]
path = {"PATH": "/usr/bin:/bin"}
order = StartOrder(command=command, env=path, cwd=made, log=Path(sys.argv[1]), cpus=(), grace_s=1)
kept = Kept(order)
print(made.parent, kept.supervisor_pid, kept.tree()[0].pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that no run outside of this test shares."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@contextmanager
def harness(
    log: Path, *command: str
) -> Iterator[tuple[subprocess.Popen[str], Path, psutil.Process, psutil.Process]]:
    """A process with a temporary folder and a program under a supervisor."""
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(log), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        folder, supervisor, program = running.stdout.readline().split()
        try:
            yield running, Path(folder), psutil.Process(int(supervisor)), psutil.Process(int(program))
        finally:
            running.kill()


def wait_for_the_end(*processes: psutil.Process) -> None:
    deadline = time.monotonic() + 30
    while any(map(supervised.is_alive, processes)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_folder_of_a_killed_run_is_swept_and_that_of_a_living_one_kept(
    tmp_path: Path, temporary: Path
) -> None:
    with harness(tmp_path / "log") as (running, folder, supervisor, program):
        supervised.sweep()
        assert (folder / "redis").parent.is_dir() and program.is_running()
        assert list(temporary.iterdir()) == [folder]
        running.kill()
        running.wait()
        wait_for_the_end(supervisor, program)
        assert folder.is_dir()  # nobody was left to remove it
        supervised.sweep()
    assert list(temporary.iterdir()) == []


def test_a_stopped_supervisor_that_outlived_its_run_is_ended_with_its_program(
    tmp_path: Path, temporary: Path
) -> None:
    with harness(tmp_path / "log") as (running, _, supervisor, program):
        supervisor.suspend()
        running.kill()
        running.wait()
        assert supervisor.is_running() and program.is_running()
        supervised.sweep()
        assert not supervised.is_alive(supervisor)
        wait_for_the_end(program)
    assert list(temporary.iterdir()) == []


def test_a_run_that_ends_in_order_leaves_nothing(tmp_path: Path, temporary: Path) -> None:
    with harness(tmp_path / "log") as (running, _, supervisor, program):
        assert running.stdin is not None
        running.stdin.close()
        assert running.wait() == 0
        wait_for_the_end(supervisor, program)
    assert list(temporary.iterdir()) == []


def test_nothing_of_somebody_else_is_swept(tmp_path: Path, temporary: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "owner").write_text("")
    (temporary / "assay-run-link").symlink_to(precious)
    (temporary / "assay-run-unfinished").mkdir()  # its owner's file is not there yet
    (temporary / "assay-run-file").write_text("")
    if os.geteuid() == 0:
        (temporary / "assay-run-foreign").mkdir()
        (temporary / "assay-run-foreign" / "owner").write_text("")
        os.chown(temporary / "assay-run-foreign", 65534, 65534)
    before = sorted(temporary.iterdir())
    supervised.sweep()
    assert sorted(temporary.iterdir()) == before
    assert (precious / "owner").is_file()


def test_a_lock_of_the_machine_sweeps_first(tmp_path: Path, temporary: Path) -> None:

    from assay.core.settings import Settings
    from assay.runner import machine_lock

    with harness(tmp_path / "log") as (running, folder, _, _):
        running.send_signal(signal.SIGKILL)
        running.wait()
        with machine_lock(structs.replace(Settings.resolve(), lock=tmp_path / "lock")):
            assert not folder.exists()


FORKING = {
    "a shell that waits": "sleep 1000 & sleep 1000 & wait",
    "a shell with a shell": "sh -c 'sleep 1000 & wait' & wait",
    "one that detaches itself": "setsid sh -c 'sleep 1000 & sleep 1000' & wait",
    "one that ignores TERM": "trap '' TERM; sleep 1000 & sleep 1000 & wait",
}
KILLED = {
    "the harness": lambda harness, guards, supervisor: [harness],
    "the harness after its children": lambda harness, guards, supervisor: [
        *guards,
        harness,
    ],  # as Ray does it
    "the supervisor": lambda harness, guards, supervisor: [supervisor],
    "the harness after the supervisor": lambda harness, guards, supervisor: [supervisor, harness],
    "the supervisor after its guard": lambda harness, guards, supervisor: [harness, *guards],
}


@pytest.mark.parametrize("killed", KILLED)
@pytest.mark.parametrize("program", FORKING)
def test_whoever_is_killed_first_no_program_outlives_its_harness(
    tmp_path: Path, program: str, killed: str
) -> None:
    with harness(tmp_path / "log", "sh", "-c", FORKING[program]) as (running, _, supervisor, shell):
        deadline = time.monotonic() + 30
        while len(below := shell.children(recursive=True)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        guards = psutil.Process(running.pid).children()
        for process in KILLED[killed](psutil.Process(running.pid), guards, supervisor):
            process.kill()
        wait_for_the_end(*below, shell, supervisor)
