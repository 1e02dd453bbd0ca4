"""What a run leaves behind when it is killed, and how the next run finds it: by its owner's mark.

The temporary folders of a process lie below one of its own, the mark: `assay-run-…` in the system's folder
for such. A file in it is locked for as long as the process lives, however that ends, and the supervisors of
its programs carry the mark on their command line. So the next run knows of each folder, and of each
supervisor, whether its owner is still there. Neither a process id that is used again nor a container with
process ids of its own can deceive it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

_PREFIX = "assay-run-"
_OWNER = "owner"
_POLL_S = 0.02
_PATIENCE_S = 15.0
"""How long a supervisor that was stopped may take to end its programs: their own grace is 10 s at most."""


@functools.cache
def mark() -> Path:
    """The folder of this process; it goes with it."""
    made = Path(tempfile.mkdtemp(prefix=_PREFIX))
    made.chmod(0o711)  # a service that runs as another user has its folder below
    # Locked before it has its name: a mark without its file is one that is being made.
    descriptor = os.open(made / "new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    (made / "new").rename(made / _OWNER)
    atexit.register(_remove, made, os.getpid())
    return made


def new_folder(name: str) -> Path:
    """A private temporary folder of this process; whoever makes it removes it."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=mark()))


@contextlib.contextmanager
def folder(name: str) -> Iterator[Path]:
    """The same for as long as a `with` block lasts."""
    made = new_folder(name)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def sweep() -> None:
    """End the supervisors, and remove the folders, of this user's processes that are gone."""
    for found in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with _ownerless(found) as left:
            if left:
                _end_supervisors(found)
                shutil.rmtree(found, ignore_errors=True)


def _remove(made: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a child that inherited what is to be done at the end
        shutil.rmtree(made, ignore_errors=True)


@contextlib.contextmanager
def _ownerless(found: Path) -> Iterator[bool]:
    """Whether it is a mark of this user's whose process is gone; nobody else sweeps it meanwhile."""
    try:
        seen = found.lstat()
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid():
            raise PermissionError
        descriptor = os.open(found / _OWNER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _end_supervisors(found: Path) -> None:
    """Let those that were stopped go on: their input has ended, so they end all that they stand over."""
    import psutil

    supervisors = [
        process
        for process in psutil.process_iter(["cmdline", "uids"])
        if str(found) in (process.info["cmdline"] or ())
        and process.info["uids"] is not None
        and process.info["uids"].real == os.geteuid()
    ]
    for supervisor in supervisors:
        with contextlib.suppress(psutil.Error):
            supervisor.resume()
    deadline = time.monotonic() + _PATIENCE_S
    while any(map(is_alive, supervisors)) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    for supervisor in filter(is_alive, supervisors):
        with contextlib.suppress(psutil.Error):
            for process in [*supervisor.children(recursive=True), supervisor]:
                process.kill()


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs: one that has ended, and that nobody has asked after yet, does not."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
