"""One measuring run at a time on a machine: two would measure each other."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from assay.core.errors import EnvironmentLacks
from assay.core.settings import Settings
from assay.servers.leftovers import sweep

_NAME_OTHERWISE = "set ASSAY_LOCK to the path of another lock for all runs here"


@contextlib.contextmanager
def machine_lock(settings: Settings) -> Iterator[None]:
    """Hold the machine, free of what killed runs left. The lock ends with the process, however that ends.

    EnvironmentLacks where another run holds it, naming its process, and where the lock cannot be had.

    The lock lies where every user finds it, so it may have been put there by anyone: it is opened for
    reading only and never written, no link is followed, and nothing but a plain file is locked.
    """
    descriptor = _opened(settings.lock)
    try:
        _lock(descriptor, settings.lock)
        sweep()
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """The lock's descriptor; it is made where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            made = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
            os.fchmod(made, 0o444)  # whatever the umask: every user must be able to lock it
            os.close(made)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        reason = "it is a symbolic link" if error.errno == errno.ELOOP else (error.strerror or "").lower()
        raise EnvironmentLacks(f"cannot open the machine's lock {path}: {reason}", _NAME_OTHERWISE) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise EnvironmentLacks(f"the machine's lock {path} is not a plain file", _NAME_OTHERWISE)
    return descriptor


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            reason = (error.strerror or "").lower()
            raise EnvironmentLacks(f"cannot lock {path}: {reason}", _NAME_OTHERWISE) from error
        raise EnvironmentLacks(
            f"another run measures on this machine ({_holder(descriptor)})",
            "wait for its end: two would measure each other",
        ) from error


def _holder(descriptor: int) -> str:
    """Who holds the lock, as far as the system tells (proc_locks(5)): its process and its user."""
    import psutil

    # By the inode alone: the device is another one there on overlay file systems.
    number = str(os.fstat(descriptor).st_ino)
    with contextlib.suppress(OSError, psutil.Error, ValueError, IndexError):
        for line in Path("/proc/locks").read_text(encoding="utf-8").splitlines():
            _, kind, _, _, process, place, *_ = line.split()
            if kind == "FLOCK" and place.rpartition(":")[2] == number:
                return f"process {process} of {psutil.Process(int(process)).username()}"
    return "another process"
