"""What keys and flags of earlier versions are called now: a file or a script that has one is told so."""

from __future__ import annotations

KEYS = {"woven": "interleaved", "distance": "emulation"}
"""Keys of studies and servers."""
FLAGS = {"--no-weave": ("--sequential",), "--within": ("--margin", "--resolution")}
"""Flags, and what the verbs that had them call them: each has one of these."""
