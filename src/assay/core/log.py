"""The log of a defect: all that a report of it needs, and nothing that should stay private."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.core import credentials, settings
from assay.core.settings import version


def write_defect(defect: Exception, words: Sequence[str]) -> Path | None:
    """Write the log and return its path; None where no folder can be written."""
    text = "\n".join(_lines(defect, words))
    name = f"defect-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    for find_folder in (settings.folder, lambda: Path(tempfile.gettempdir())):
        try:
            folder = find_folder()
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / name
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC  # follows no link of others in /tmp
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
        except (OSError, RuntimeError):  # RuntimeError: there is no home folder
            continue
        return path
    return None


def _lines(defect: Exception, words: Sequence[str]) -> Iterator[str]:
    yield f"assay {version()}"
    yield f"command: assay {shlex.join(credentials.shown(words))}"
    yield f"python: {sys.version}"
    yield f"system: {platform.platform()}"
    yield ""
    yield credentials.without("".join(traceback.format_exception(defect)), words)
