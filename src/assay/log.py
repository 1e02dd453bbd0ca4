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

import assay

_SECRET_FLAGS = {"-H", "--header", "-b", "--body", "--user", "--bearer"}
"""Flags whose values may hold credentials: never written."""


def write_defect(defect: Exception, words: Sequence[str]) -> Path | None:
    """Write the log and return its path; None where no folder can be written."""
    text = "\n".join(_lines(defect, words))
    name = f"defect-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    for find_folder in (_state_folder, lambda: Path(tempfile.gettempdir())):
        try:
            folder = find_folder()
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / name
            with path.open("x", encoding="utf-8") as file:  # follows no link that others put into /tmp
                file.write(text)
        except (OSError, RuntimeError):  # RuntimeError: there is no home folder
            continue
        return path
    return None


def _lines(defect: Exception, words: Sequence[str]) -> Iterator[str]:
    yield f"assay {assay.version()}"
    yield f"command: assay {shlex.join(_without_secrets(words))}"
    yield f"python: {sys.version}"
    yield f"system: {platform.platform()}"
    yield ""
    yield "".join(traceback.format_exception(defect))


def _without_secrets(words: Sequence[str]) -> Iterator[str]:
    hide_next = False
    for word in words:
        flag, equals, _ = word.partition("=")
        if hide_next:
            yield "…"
        elif equals and flag in _SECRET_FLAGS:
            yield f"{flag}=…"
        elif word[:2] in _SECRET_FLAGS and not word.startswith("--") and len(word) > 2:
            yield f"{word[:2]}…"
        else:
            yield word
        hide_next = word in _SECRET_FLAGS and not hide_next


def _state_folder() -> Path:
    """Where logs go by the XDG base directory specification."""
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local" / "state") / "assay"
