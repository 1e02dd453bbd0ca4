"""Asking git about a folder that somebody else may have made: nothing that its configuration names is run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_RUNS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.untrackedCache": "false",
    "core.attributesFile": os.devnull,
    "core.sshCommand": "false",
    "core.askPass": "",
    "core.alternateRefsCommand": "false",
    "diff.external": "",
    "protocol.allow": "never",
    "submodule.recurse": "false",
}
"""Settings by which git runs programs, or goes to other places, and the value with which it does not."""


def ask(folder: Path, *words: str) -> bytes | None:
    """What a command of git's says of the folder; None where there is no git, or no repository.

    Filters that the repository names are left out: a file that is only smaller by one counts as changed.
    """
    filters = _run(folder, {}, "config", "--name-only", "-z", "--get-regexp", r"^filter\..*")
    named = {name for name in (filters or b"").decode(errors="surrogateescape").split("\0") if name}
    return _run(folder, {name: "false" if name.endswith(".required") else "" for name in named}, *words)


def _run(folder: Path, settings: dict[str, str], *words: str) -> bytes | None:
    chosen = [part for name, value in (_RUNS | settings).items() for part in ("-c", f"{name}={value}")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    command = ["git", "--no-pager", *chosen, "-C", str(folder), *words]
    try:
        return subprocess.run(
            command, capture_output=True, check=True, stdin=subprocess.DEVNULL, env=kept
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
