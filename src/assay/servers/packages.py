"""Installing Debian packages, where we may; naming the command, where we may not."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from assay.core.error_line import last_words
from assay.core.errors import EnvironmentLacks

_SCRIPT = Path(__file__).with_name("apt-install.sh")
_UNKNOWN = 3
"""How the script ends where some packages do not exist for this Debian; it names them last."""


def install(packages: Sequence[str], log: Path) -> tuple[str, ...]:
    """Install the packages as root, or through a sudo that asks for no password; the output goes to `log`.

    Returns those that this Debian does not know.
    EnvironmentLacks with the exact command where neither works, or where the installation fails.
    """
    by_hand = f"install by hand: sudo apt-get install {' '.join(packages)}"
    become_root = _become_root()
    if become_root is None:
        raise EnvironmentLacks(f"missing Debian packages: {', '.join(packages)}", by_hand)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        done = subprocess.run(
            [*become_root, str(_SCRIPT), *packages],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    said = log.read_text(errors="replace").strip()
    if done.returncode == _UNKNOWN:
        return tuple(said.rpartition("\n")[2].partition(":")[2].split())
    if done.returncode != 0:
        raise EnvironmentLacks(f"apt-get failed: {last_words(said)} (all of it: {log})", by_hand)
    return ()


def _become_root() -> list[str] | None:
    """What to put before a command that root must run; None where we may not."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if asked.returncode == 0 else None
