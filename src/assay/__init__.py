"""Assay weighs web servers honestly."""

from __future__ import annotations


def version() -> str:
    """The version of the installed distribution; "0+source" where the code runs uninstalled."""
    # Not at import time: reading package metadata costs a tenth of the start of `assay load`.
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("assay-http")
    except PackageNotFoundError:
        return "0+source"
