"""`assay init NAME`: a study and a server of one's own to start from."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK, AssayError

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("name", metavar="NAME", help="what the study and its contract are called")
    parser.examples(("assay init shop", "studies/shop.toml and servers/shop/ in this folder, commented"))


def run(args: argparse.Namespace) -> int:
    """Write the files and say what comes next."""
    from assay.core.settings import working_folder
    from assay.plan.study.load import write_example

    here = working_folder()
    for path in write_example(args.name, here):
        console.write(str(path.relative_to(here)))
    _trust(here / "studies" / f"{args.name}.toml")
    console.note(f"run it as it is with: assay run {args.name} --quick")
    return EXIT_OK


def _trust(path: Path) -> None:
    """What Assay itself has just written is not asked for until somebody changes it."""
    from assay.cli import consent
    from assay.core.settings import Settings
    from assay.model.design import Choices
    from assay.plan.study import load_study, resolve

    # Where ASSAY_SERVERS leads elsewhere, say, it is asked for then.
    with contextlib.suppress(AssayError, OSError, RuntimeError):
        settings = Settings.resolve()
        study = load_study(str(path), settings)
        profiles = study.file.profiles
        consent.remember((resolve(study, settings, Choices(profile=one)) for one in profiles), settings)
