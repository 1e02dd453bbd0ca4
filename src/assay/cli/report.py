"""`assay report RUN`: show a stored run again, or write it in another form."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay import console
from assay.cli import report_outputs
from assay.errors import EXIT_OK

if TYPE_CHECKING:
    from pathlib import Path

    from assay.cli.parser import Parser
    from assay.report.profiles import Pair
    from assay.settings import Settings
    from assay.values.run import Run


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="latest, a run's id or its beginning, or a path")
    parser.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    parser.add_argument("--beside", metavar="RUN",
                        help="the run under the other profile of the study [that of its series]")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="the whole run as JSON on standard output")
    report_outputs.add_to(parser)
    parser.examples(
        ("assay report latest", "the end screen of the last run"),
        ("assay report latest --html report.html", "a page with charts"),
        ("assay report latest --markdown results.md --png charts/", "tables and pictures for a README"),
        ("assay report heroes-2026 --beside heroes-2025", "published against fair, side by side"),
        ("assay report franklin-2026 --json | jq .judgement.ranking", "a run by the beginning of its id"),
    )


def run(args: argparse.Namespace) -> int:
    """Load, judge where nobody has yet, and show."""
    from assay import store, verdict
    from assay.settings import Settings

    settings = Settings.resolve(results=args.results)
    path = store.find(settings.results, args.run)
    read = store.read(path)
    for text in read.notes:
        console.note(f"assay: {text}")
    stored = verdict.judged(read.run)
    pair = _pair(stored, args.beside, path.parent.parent, settings)
    if args.json:
        show_json(stored)
    elif not report_outputs.write_all(stored, pair, args):
        from assay.report import beside, terminal

        console.show(terminal.summary(stored, (("run record", str(path)),)))
        if pair is not None:
            console.show(beside.summary(pair))
    return EXIT_OK


def _pair(stored: Run, word: str | None, folder: Path, settings: Settings) -> Pair | None:
    """The run with the one that `word` names, or with that of the other profile in its series."""
    from assay import store, verdict
    from assay.report import profiles

    if word is not None:
        return profiles.pair(stored, verdict.judged(store.load(store.find(settings.results, word))))
    return profiles.pair_of(stored, store.other_profile(folder, stored.header))


def show_json(stored: Run) -> None:
    """Print the run as one JSON document."""
    import msgspec

    console.write(msgspec.json.format(msgspec.json.encode(stored), indent=2).decode())
