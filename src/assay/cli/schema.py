"""`assay schema FORMAT`: the JSON Schema of a file format."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser

FORMATS = ("run", "study", "server", "contract")


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    parser.examples(
        ("assay schema study > study.schema.json", "for an editor that checks a study while you write"),
        ("assay schema run", "what a stored run consists of"),
    )


def run(args: argparse.Namespace) -> int:
    """Print the schema."""
    from assay.core.format import as_json

    console.write(as_json(_schema(args.format)))
    return EXIT_OK


def _schema(name: str) -> dict[str, object]:
    match name:
        case "run":
            from assay.store import json_schema
        case "study":
            from assay.plan.study import json_schema
        case "server":
            from assay.servers.manifest import json_schema
        case _:
            from assay.servers.contract import json_schema
    return json_schema()
