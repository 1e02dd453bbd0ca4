"""Writing run files: line by line, synced, by one writer at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from msgspec.structs import replace

from assay.core.errors import EnvironmentLacks, InputError, reason_of
from assay.model.run import Header, Run, TrialDone
from assay.store.lines import Line, LinePlace, seal
from assay.store.read import FILE, Stored, read

LOGS = "logs"
_NEW = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_PRIVATE = 0o600
"""What servers say, and what they were started with, is its user's business alone."""


def new_run_id(study: str, unix_ns: int) -> str:
    """A run's name: study, UTC time, and four random digits: `franklin-20261121-093000-1a2b`."""
    when = time.strftime("%Y%m%d-%H%M%S", time.gmtime(unix_ns / 1e9))
    return f"{study}-{when}-{secrets.token_hex(2)}"


PUT_BACK = "the run's folder was removed while the run went on; it is there again, with all that was measured"


class RunFile:
    """An open run file, held against any second writer until it is closed.

    Where someone removes it, or its folder, it is put back before the next line: what it holds can still
    be read through the open descriptor.
    """

    def __init__(self, path: Path, descriptor: int, run_id: str, next_line: int = 1) -> None:
        """Take over an open, locked descriptor of that run, whose next line has that number; `create` and
        `reopen` make one."""
        self.path = path
        self._descriptor = descriptor
        self._next = LinePlace(run_id, next_line)

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self.path.parent

    @property
    def logs(self) -> Path:
        """Where the servers' logs go."""
        return self.folder / LOGS

    def append(self, record: Line, tell: Callable[[str], object] = lambda text: None) -> None:
        """Write one line and sync it; `tell` hears where the file had to be put back.

        EnvironmentLacks where it cannot be written whole; the file then ends as it did before.
        """
        end = os.fstat(self._descriptor).st_size
        try:
            if not self._is_there():
                self._put_back()
                tell(PUT_BACK)
            _write(self._descriptor, seal(record, self._next))
        except OSError as error:
            with contextlib.suppress(OSError):  # the reader drops a torn line too
                os.ftruncate(self._descriptor, end)
            raise cannot_write(self.path, error, nothing_yet=end == 0) from error
        self._next = replace(self._next, number=self._next.number + 1)

    def _is_there(self) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat()) and self.logs.is_dir()
        return False

    def _put_back(self) -> None:
        """The folder, and the file in it with what the open one holds."""
        self.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._is_there():  # the logs alone were gone
            return
        try:
            descriptor = os.open(self.path, _NEW, _PRIVATE)
        except FileExistsError as error:
            raise OSError(error.errno, "another file lies in its place") from None
        try:
            held = os.fstat(self._descriptor).st_size
            _write(descriptor, os.pread(self._descriptor, held, 0))
            _lock(self.path, descriptor)
            _sync_folder(self.folder)
        except BaseException:
            os.close(descriptor)
            self.path.unlink(missing_ok=True)
            raise
        os.close(self._descriptor)
        self._descriptor = descriptor

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
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise cannot_write(folder, error, nothing_yet=True) from error
    try:
        return _created(folder, header)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _created(folder: Path, header: Header) -> RunFile:
    path = folder / FILE
    try:
        (folder / LOGS).mkdir(mode=0o700)
        descriptor = os.open(path, _NEW, _PRIVATE)
    except OSError as error:
        raise cannot_write(path, error, nothing_yet=True) from error
    file = RunFile(path, descriptor, header.run_id)
    try:
        _lock(file.path, descriptor)
        file.append(header)
        _sync_folder(folder)
        _sync_folder(folder.parent)
    except BaseException:
        file.close()
        raise
    return file


def keep(results: Path, run: Run) -> Path:
    """A new run folder below `results` with the whole record of a judged run that has ended.

    EnvironmentLacks where it cannot be written.
    """
    assert run.judgement is not None
    with create(results, run.header) as kept:
        for trial in run.trials:
            kept.append(TrialDone(trial=trial))
        kept.append(run.judgement)
    return kept.folder


def reopen(path: Path) -> tuple[RunFile, Stored]:
    """Open a stored run to go on with it; a torn last line is cut off.

    InputError where another process writes it, or where it is not readable.
    """
    stored = read(path)
    try:
        descriptor = os.open(stored.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    except OSError as error:
        raise cannot_write(stored.path, error) from error
    try:
        _lock(stored.path, descriptor)
        stored = read(path)  # now that nobody else writes
        file = RunFile(stored.path, descriptor, stored.run.header.run_id, stored.next_line)
        os.ftruncate(descriptor, stored.whole_bytes)
        file.logs.mkdir(mode=0o700, exist_ok=True)
    except BaseException:
        os.close(descriptor)
        raise
    return file, stored


def _write(descriptor: int, content: bytes) -> None:
    """All of it, and synced."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


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


def cannot_write(path: Path, error: OSError, *, nothing_yet: bool = False) -> EnvironmentLacks:
    """Why a record could not be written, in a line with its remedy; whether there is `nothing_yet` in it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        kept = "nothing is measured yet" if nothing_yet else "what was measured until then is kept"
        return EnvironmentLacks(f"no room left to write {path}: {kept}", "make room")
    reason = reason_of(error)
    return EnvironmentLacks(f"cannot write {path}: {reason}", "choose another folder with --results")
