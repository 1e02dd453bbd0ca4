"""`assay nodes --ray HOST:PORT`: the machines of a cluster, their roles and versions, clocks and links."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK, EXIT_WITHHELD

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("--ray", required=True, metavar="HOST:PORT", help="the cluster's head")
    parser.add_argument("--json", action="store_true", help="all of it as JSON on standard output")
    parser.examples(
        ("assay nodes --ray 10.0.0.1:6379", "who is there, and what is wrong"),
        ("assay nodes --ray 10.0.0.1:6379 --json | jq '.nodes[].clock'", "the clocks for a script"),
    )


def run(args: argparse.Namespace) -> int:
    """Look at every node. Exit code 1 where something is wrong with one."""
    from assay.cluster import survey
    from assay.report import cluster

    seen = survey.of(args.ray)
    if args.json:
        from assay.core.format import as_json

        console.write(as_json(seen))
    else:
        console.show(cluster.table(seen))
    return EXIT_WITHHELD if seen.problems else EXIT_OK
