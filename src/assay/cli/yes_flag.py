"""The flag that lets commands run which came with a folder or a record."""

from __future__ import annotations

import argparse

_HELP = "run commands of servers, studies and records that are not Assay's own"


def add_to(parser: argparse._ActionsContainer) -> None:
    """Add it to a parser or to a group of one."""
    parser.add_argument("-y", "--yes", action="store_true", help=_HELP)
