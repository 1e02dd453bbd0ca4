"""`assay doctor`: what is there, what is missing, and whether the machine is fit to measure on."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli.parser import add_yes
from assay.core import console
from assay.core.errors import EXIT_INVALID, EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("study", nargs="?", metavar="STUDY", help="look at what this study needs as well")
    add_yes(parser)
    parser.add_argument("--ray", metavar="HOST:PORT", help="at the server nodes of a Ray cluster instead")
    parser.examples(
        ("assay doctor", "is this machine fit to measure on?"),
        ("assay doctor heroes", "and what does the study lack here?"),
        ("assay doctor heroes --ray 10.0.0.1:6379", "and on the server nodes of a cluster?"),
    )


def run(args: argparse.Namespace) -> int:
    """Look and tell; 1 where something is missing or unfit."""
    from assay.cli import consent, listings
    from assay.core.settings import Settings
    from assay.plan.study import load_study, resolve
    from assay.runner import doctor

    settings = Settings.resolve()
    study = resolve(load_study(args.study, settings), settings) if args.study else None
    if study is not None:
        consent.ask([study], settings, yes=args.yes)
    if args.ray:
        from assay.cluster import session

        seen = session.examined(args.ray, settings, study)
        for address, (needs, machine) in seen.items():
            console.show(listings.page(needs, machine, f"Node {address}"))
    else:
        needs = doctor.server_needs(study.servers, settings) + doctor.service_needs(study) if study else ()
        seen = {"": (needs, doctor.machine(settings, study))}
        console.show(listings.page(*seen[""]))
    whole = all(one.fulfilled for needs, _ in seen.values() for need in needs for one in need.checked)
    fit = all(one.fit for _, machine in seen.values() for one in machine)
    return EXIT_OK if whole and fit else EXIT_INVALID
