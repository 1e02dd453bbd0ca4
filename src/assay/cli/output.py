"""A file that a verb writes: whole or not at all."""

from __future__ import annotations

import os
import tempfile
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
            console.write(content if isinstance(content, str) else content.decode())
            return
        data = content.encode() if isinstance(content, str) else content
        try:
            _replace(Path(self._word), data)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise EnvironmentLacks(f"cannot write {self._word}: {reason}", "choose another path") from None
        if self._announce:
            console.note(f"wrote {self._word}")


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
