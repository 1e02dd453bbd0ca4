"""`assay doctor`: what is there, what is missing, and whether the machine is fit to measure on."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay import console
from assay.errors import EXIT_OK, EXIT_WITHHELD

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("study", nargs="?", metavar="STUDY", help="look at what this study needs as well")
    parser.examples(
        ("assay doctor", "is this machine fit to measure on?"),
        ("assay doctor heroes", "and what does the study lack here?"),
    )


def run(args: argparse.Namespace) -> int:
    """Look and tell; 1 where something is missing or unfit."""
    from assay import doctor
    from assay.report import doctor as page
    from assay.settings import Settings
    from assay.study import load_study, resolve

    settings = Settings.resolve()
    study = resolve(load_study(args.study, settings), settings) if args.study else None
    needs: tuple[doctor.Need, ...] = ()
    if study is not None:
        needs = doctor.server_needs(study.servers, settings) + doctor.service_needs(study)
    machine = doctor.machine(settings, study)
    console.show(page.page(needs, machine))
    whole = all(one.fulfilled for need in needs for one in need.checked)
    return EXIT_OK if whole and all(one.fit for one in machine) else EXIT_WITHHELD
