"""Installing Debian packages, where we may; naming the command, where we may not."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from assay.errors import EnvironmentLacks

_SCRIPT = Path(__file__).with_name("apt-install.sh")


def install(packages: Sequence[str], log: Path) -> None:
    """Install the packages as root, or through a sudo that asks for no password; the output goes to `log`.

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
    if done.returncode != 0:
        last = (log.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
        raise EnvironmentLacks(f"apt-get failed: {last} (all of it: {log})", by_hand)


def _become_root() -> list[str] | None:
    """What to put before a command that root must run; None where we may not."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if asked.returncode == 0 else None
