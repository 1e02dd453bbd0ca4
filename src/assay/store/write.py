"""Writing run files: line by line, synced, by one writer at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import time
from pathlib import Path
from types import TracebackType

from assay.errors import EnvironmentLacks, InputError
from assay.store.lines import seal
from assay.store.read import FILE, Stored, read
from assay.values.run import Header, Judgement, TrialDone

LOGS = "logs"


def new_run_id(study: str, unix_ns: int) -> str:
    """A run's name: study, UTC time, and four random digits: `franklin-20261121-093000-1a2b`."""
    when = time.strftime("%Y%m%d-%H%M%S", time.gmtime(unix_ns / 1e9))
    return f"{study}-{when}-{secrets.token_hex(2)}"


class RunFile:
    """An open run file, held against any second writer until it is closed."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Take over an open, locked descriptor; `create` and `reopen` make one."""
        self.path = path
        self._descriptor = descriptor

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self.path.parent

    @property
    def logs(self) -> Path:
        """Where the servers' logs go."""
        return self.folder / LOGS

    def append(self, record: Header | TrialDone | Judgement) -> None:
        """Write one line and sync it. EnvironmentLacks where it cannot be written whole; the file
        then ends as it did before."""
        line = memoryview(seal(record))
        end = os.fstat(self._descriptor).st_size
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):  # the reader drops a torn line too
                os.ftruncate(self._descriptor, end)
            raise cannot_write(self.path, error) from error

    def close(self) -> None:
        """Give the file free."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> RunFile:
        """Close at the end of a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()


def create(results: Path, header: Header) -> RunFile:
    """A new run folder below `results` with its header written.

    EnvironmentLacks where the folder cannot be written.
    """
    folder = results / header.run_id
    path = folder / FILE
    try:
        (folder / LOGS).mkdir(parents=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    file = RunFile(path, descriptor)
    try:
        _lock(file.path, descriptor)
        file.append(header)
        _sync_folder(folder)
        _sync_folder(results)
    except BaseException:
        file.close()
        path.unlink()
        (folder / LOGS).rmdir()
        folder.rmdir()
        raise
    return file


def reopen(path: Path) -> tuple[RunFile, Stored]:
    """Open a stored run to go on with it; a torn last line is cut off.

    InputError where another process writes it, or where it is not readable.
    """
    stored = read(path)
    try:
        descriptor = os.open(stored.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    except OSError as error:
        raise cannot_write(stored.path, error) from error
    file = RunFile(stored.path, descriptor)
    try:
        _lock(stored.path, descriptor)
        stored = read(path)  # now that nobody else writes
        os.ftruncate(descriptor, stored.whole_bytes)
        file.logs.mkdir(exist_ok=True)
    except BaseException:
        file.close()
        raise
    return file, stored


def _lock(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise cannot_write(path, error) from error
        raise InputError(f"{path} is being written by another process", "wait until that run ends") from error


def _sync_folder(folder: Path) -> None:
    """A new file's name survives a crash of the machine only once its folder is synced."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cannot_write(path: Path, error: OSError) -> EnvironmentLacks:
    """Why a record could not be written, in a line with its remedy."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "make room; what was measured is kept, and `assay run --resume` goes on with it"
        return EnvironmentLacks(f"no room left to write {path}", remedy)
    reason = (error.strerror or str(error)).lower()
    return EnvironmentLacks(f"cannot write {path}: {reason}", "choose another folder with --results")
