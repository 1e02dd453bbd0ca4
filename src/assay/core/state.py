"""The user's state folder: what outlives a run and belongs to no folder of runs."""

from __future__ import annotations

import os
from pathlib import Path


def folder() -> Path:
    """Where it is by the XDG base directory specification. RuntimeError without a home."""
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local" / "state") / "assay"
