"""One measuring run at a time on a machine: two would measure each other."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator

from assay.errors import EnvironmentLacks
from assay.settings import Settings


@contextlib.contextmanager
def machine_lock(settings: Settings, what: str) -> Iterator[None]:
    """Hold the machine for `what`. The lock ends with the process, however that ends.

    EnvironmentLacks where another run holds it, naming its process and study.
    """
    settings.lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(settings.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "another process"
            raise EnvironmentLacks(
                f"another run measures on this machine ({holder})",
                "wait for its end: two would measure each other",
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{what}, process {os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
