"""A file that a verb writes: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from assay import console
from assay.errors import EnvironmentLacks


class OutputFile:
    """Where a flag said that something should be written; "-" is standard output."""

    def __init__(self, word: str, *, announce: bool = True) -> None:
        """Take the flag's word; `announce` says afterwards that the file was written."""
        self._word = word
        self._announce = announce

    def write(self, content: str | bytes) -> None:
        """Write through a temporary file beside it, so that no reader ever sees half of it."""
        if self._word == "-":
            console.write_bytes(content) if isinstance(content, bytes) else console.write(content)
            return
        data = content.encode() if isinstance(content, str) else content
        try:
            _replace(Path(self._word), data)
        except OSError as problem:
            raise _cannot_write(self._word, problem) from None
        if self._announce:
            console.note(f"wrote {self._word}")


def write_files(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files into a folder, which is made where there is none."""
    number = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files:
            _replace(folder / name, data)
            number += 1
    except OSError as problem:
        raise _cannot_write(str(folder), problem) from None
    console.note(f"wrote {number} file{'' if number == 1 else 's'} to {folder}")


def append(path: Path, text: str) -> None:
    """Add text to the end of a file that others write too."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        raise _cannot_write(str(path), problem) from None


def _cannot_write(where: str, problem: OSError) -> EnvironmentLacks:
    reason = (problem.strerror or str(problem)).lower()
    return EnvironmentLacks(f"cannot write {where}: {reason}", "choose another path")


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(0o666 & ~_umask())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
