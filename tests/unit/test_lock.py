"""One run measures at a time, and the lock harms nobody, whoever put what in its place."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec import structs

from assay.core.errors import EnvironmentLacks
from assay.core.settings import Settings
from assay.runner.prepare import machine_lock

HOLDER = """
import os, sys
from pathlib import Path
import psutil
from msgspec import structs
from assay.core.errors import AssayError
from assay.core.settings import Settings
from assay.runner.prepare import machine_lock
settings = structs.replace(Settings.resolve(), lock=Path(sys.argv[1]))
os.umask(0o077)
os.setuid(int(sys.argv[2]))  # by now all is imported: that user may not be able to read it
try:
    with machine_lock(settings):
        print("held", flush=True)
        sys.stdin.read()
except AssayError as problem:
    print(problem)
"""


def settings(lock: Path) -> Settings:
    return structs.replace(Settings.resolve(), lock=lock)


def holder(lock: Path, user: int | None = None) -> subprocess.Popen[str]:
    """Another process that takes the lock, or says why not, and lets it go when its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock), str(os.geteuid() if user is None else user)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_a_second_run_is_refused_with_the_process_of_the_first(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with machine_lock(settings(lock)):
        me = f"process {os.getpid()} of {pwd.getpwuid(os.geteuid()).pw_name}"
        with holder(lock) as second:
            assert f"another run measures on this machine ({me}); wait for its end" in said(second)
    with holder(lock) as second:
        assert said(second) == "held\n"
        with pytest.raises(EnvironmentLacks, match=f"process {second.pid} of"), machine_lock(settings(lock)):
            pass
    assert lock.read_bytes() == b""


@pytest.fixture
def common() -> Iterator[Path]:
    """A folder like /tmp: pytest's own are for its user alone."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o1777)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is two users")
def test_it_is_one_lock_for_all_users(common: Path) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    lock = common / "lock"
    with machine_lock(settings(lock)), holder(lock, user=nobody) as other:
        assert f"process {os.getpid()} of root" in said(other)
    lock.unlink()
    with holder(lock, user=nobody) as other:
        assert said(other) == "held\n"
        with pytest.raises(EnvironmentLacks, match=f"process {other.pid} of nobody"):
            machine_lock(settings(lock)).__enter__()
    with machine_lock(settings(lock)):
        assert lock.stat().st_uid == nobody


def link(place: Path) -> None:
    (place.parent / "precious").write_text("kept")
    place.symlink_to("precious")


@pytest.mark.parametrize(
    ("put", "why"),
    [(link, "symbolic link"), (os.mkfifo, "not a plain file"), (Path.mkdir, "not a plain file")],
    ids=["link", "pipe", "folder"],
)
def test_nothing_but_a_plain_file_is_locked(tmp_path: Path, put: Callable[[Path], None], why: str) -> None:
    lock = tmp_path / "lock"
    put(lock)
    with pytest.raises(EnvironmentLacks, match=f"{why}; set ASSAY_LOCK"):
        machine_lock(settings(lock)).__enter__()
    assert not (tmp_path / "precious").exists() or (tmp_path / "precious").read_text() == "kept"


def test_what_lies_there_is_never_written(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text("somebody's")
    with machine_lock(settings(lock)):
        assert lock.read_text() == "somebody's"
