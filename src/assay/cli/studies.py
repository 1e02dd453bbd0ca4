"""`assay studies`: the studies that there are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the examples."""
    parser.examples(("assay studies", "every study of this checkout and of ./studies"))


def run(args: argparse.Namespace) -> int:
    """List them."""
    from assay.cli import listings
    from assay.core.settings import Settings
    from assay.plan.study import list_studies, load_study

    settings = Settings.resolve()
    console.show(listings.studies(load_study(str(path), settings) for path in list_studies(settings)))
    return EXIT_OK
