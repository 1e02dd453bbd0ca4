"""`assay rules`: the rules by which numbers are judged, in a table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("--json", action="store_true", help="the rules as JSON")
    parser.examples(
        ("assay rules", "every rule: how grave it is, what it does to which figures, what it finds"),
        ("assay explain G1", "one rule in full"),
    )


def run(args: argparse.Namespace) -> int:
    """List the rules."""
    from assay.report import rules

    if args.json:
        console.write(rules.as_json())
    else:
        console.show(rules.listing())
    return EXIT_OK
