"""A file that a verb writes: whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from assay.core import console
from assay.core.errors import EnvironmentLacks, reason_of
from assay.core.units import counted


class OutputFile:
    """Where a flag said that something should be written; "-" is standard output."""

    def __init__(self, word: str, *, announce: bool = True) -> None:
        """Take the flag's word; `announce` says afterwards that the file was written."""
        self._word = word
        self._announce = announce

    def attempt(self) -> None:
        """EnvironmentLacks where it could not be written; nothing of what is there is changed."""
        if self._word == "-":
            return
        try:
            _attempt(_followed(Path(self._word)))
        except OSError as problem:
            raise _cannot_write(self._word, problem) from None

    def write(self, content: str | bytes) -> None:
        """Write a regular file through a temporary one beside it, so that no reader ever sees half of it;
        anything else (a pipe, a device, an open descriptor) as it is."""
        if self._word == "-":
            console.write_bytes(content) if isinstance(content, bytes) else console.write(content)
            return
        data = content.encode(errors="replace") if isinstance(content, str) else content
        try:
            _write(Path(self._word), data)
        except OSError as problem:
            raise _cannot_write(self._word, problem) from None
        if self._announce:
            console.note(f"wrote {self._word}")


def attempt_folder(folder: Path) -> None:
    """EnvironmentLacks where no file can be written into the folder; it is not made where there is none."""
    there = next((one for one in (folder, *folder.absolute().parents) if os.path.lexists(one)), folder)
    try:
        _attempt(there / "assay")
    except OSError as problem:
        raise _cannot_write(str(folder), problem) from None


def _attempt(target: Path) -> None:
    """OSError where a file cannot be put there, or what is there not be written to."""
    import tempfile

    if _own_descriptor(target) is not None:
        return
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not target.is_file():
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    Path(beside).unlink()


def is_standard_output(word: str | None) -> bool:
    """Whether what is written there comes out on standard output."""
    return word is not None and (word == "-" or _own_descriptor(_followed(Path(word))) == 1)


def write_files(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files into a folder, which is made where there is none."""
    number = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files:
            _write(folder / name, data)
            number += 1
    except OSError as problem:
        raise _cannot_write(str(folder), problem) from None
    console.note(f"wrote {counted(number, 'file')} to {folder}")


def append(path: Path, text: str) -> None:
    """Add text to the end of a file that others write too."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        raise _cannot_write(str(path), problem) from None


def _cannot_write(where: str, problem: OSError) -> EnvironmentLacks:
    return EnvironmentLacks(f"cannot write {where}: {reason_of(problem)}", "choose another path")


def _write(path: Path, data: bytes) -> None:
    """Replace a regular file, or make one; write through whatever else the path leads to.

    A symbolic link stays one: what it leads to is written. Nothing that is not a regular file is ever
    replaced: a rename over /dev/stdout, as root, would take it from the whole machine.
    """
    target = _followed(path)
    descriptor = _own_descriptor(target)
    if descriptor == 1:
        console.write_bytes(data)  # behind what was printed before, and quiet where the reader went away
        return
    if descriptor is not None:
        with os.fdopen(os.dup(descriptor), "wb") as opened:
            opened.write(data)
        return
    try:
        there = target.lstat().st_mode
    except FileNotFoundError:
        _replace(target, data, 0o666 & ~_umask())
        return
    if stat.S_ISREG(there):
        _replace(target, data, stat.S_IMODE(there))
    else:
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY), "wb") as opened:
            opened.write(data)


_MOST_LINKS = 40
"""Links followed before a chain of them is called endless, as in Linux."""


def _followed(path: Path) -> Path:
    """Where the path leads, link by link, but not out of the folder of open descriptors: what its links
    say are names of pipes, or of files that lie elsewhere by now."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink() or _own_descriptor(path) is not None:
            return path
        path = path.parent / path.readlink()
    return path  # opening or replacing it tells


def _own_descriptor(path: Path) -> int | None:
    """The number of the open descriptor that the path names (/dev/fd/3, where /dev/stdout leads to)."""
    folders = {os.path.realpath(name) for name in ("/proc/self/fd", "/dev/fd")}
    named = path.name.isascii() and path.name.isdigit() and os.path.realpath(path.parent) in folders
    return int(path.name) if named else None


def _replace(path: Path, data: bytes, mode: int) -> None:
    import tempfile  # with every kind of compression; a load that writes no file goes without

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
