"""Assay weighs web servers honestly."""

from __future__ import annotations


def version() -> str:
    """The version of the installed distribution."""
    # Not at import time: reading package metadata costs a tenth of the start of `assay load`.
    from importlib.metadata import version as installed

    return installed("assay-http")
