"""`assay servers`: the servers that there are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the examples."""
    parser.examples(("assay servers", "every server of this checkout and of ./servers"))


def run(args: argparse.Namespace) -> int:
    """List them."""
    from assay.cli import listings
    from assay.core.settings import Settings
    from assay.servers import list_servers

    console.show(listings.servers(list_servers(Settings.resolve())))
    return EXIT_OK
