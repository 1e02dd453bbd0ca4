"""`assay schema FORMAT`: the JSON Schema of a file format."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay import console
from assay.errors import EXIT_OK

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
    import msgspec

    console.write(msgspec.json.format(msgspec.json.encode(_schema(args.format)), indent=2).decode())
    return EXIT_OK


def _schema(name: str) -> dict[str, object]:
    import msgspec

    if name == "run":
        from assay.values.run import Run

        return msgspec.json.schema(Run)
    raise NotImplementedError
