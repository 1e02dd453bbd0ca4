"""`assay report RUN`: show a stored run again, or write it in another form."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli import report_outputs, stored
from assay.core import console
from assay.core.errors import EXIT_OK

if TYPE_CHECKING:
    from pathlib import Path

    from assay.cli.parser import Parser
    from assay.core.settings import Settings
    from assay.model.run import Run
    from assay.report.model.profiles import ProfilePair


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
    from assay.core.settings import Settings

    settings = Settings.resolve(results=args.results)
    path = store.find(settings.results, args.run, console.note)
    shown = verdict.judged(stored.read(path))
    pair = _pair(shown, args.beside, path.parent.parent, settings)
    if args.json:
        show_json(shown)
    elif not report_outputs.takes_standard_output(args):
        from assay.report import comparison, terminal

        console.show(terminal.summary(shown, (("run record", str(path)),)))
        if pair is not None:
            console.show(comparison.side_by_side(pair))
    report_outputs.write_all(shown, pair, args)
    return EXIT_OK


def _pair(run: Run, word: str | None, folder: Path, settings: Settings) -> ProfilePair | None:
    """The run with the one that `word` names, or with that of the other profile in its series."""
    from assay import store, verdict
    from assay.report.model import profiles

    if word is not None:
        return profiles.pair(
            run, verdict.judged(stored.read(store.find(settings.results, word, console.note)))
        )
    return stored.pair_in_series(run, folder)


def show_json(run: Run) -> None:
    """Print the run as one JSON document: its answer in words, then the whole record."""
    import msgspec

    from assay.core.units import as_json
    from assay.report.model.report import report_of

    told = report_of(run).answer
    document = {"answer": told.sentences, **msgspec.structs.asdict(run)}
    console.write(as_json(document))
