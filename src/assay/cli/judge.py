"""`assay judge RUN`: judge a stored run again, from its record alone, by this version's rules."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli import stored
from assay.core import console
from assay.core.errors import InputError

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.model.run import Judgement, Run


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="latest, a run's id or its beginning, or a path")
    parser.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    parser.add_argument("--dry-run", action="store_true", help="say what would change, and store nothing")
    parser.add_argument("--json", action="store_true", help="the new judgement as JSON on standard output")
    parser.examples(
        ("assay judge latest", "by the rules of this version; the judgements before stay in the record"),
        ("assay judge franklin-2026 --dry-run", "only what would change"),
        ("assay judge latest --json | jq .findings", "the findings for a script"),
    )


def run(args: argparse.Namespace) -> int:
    """Judge, append the judgement, and say what is new; the exit code is that of a run so judged."""
    import msgspec

    from assay import store
    from assay.cli import exit_codes
    from assay.core.settings import Settings
    from assay.verdict import judge

    settings = Settings.resolve(results=args.results)
    path = store.find(settings.results, args.run, console.note)
    before = stored.read(path)
    if not before.trials:
        again = "make a new run" if before.header.nodes else "run it again, or --resume it"
        raise InputError(f"{path}: there is no whole trial to judge", again)
    judgement = judge(before)
    if not args.dry_run:
        run_file, _ = store.reopen(path)
        with run_file:
            run_file.append(judgement)
    now = msgspec.structs.replace(before, judgement=judgement)
    _show(before, now, judgement, args)
    return exit_codes.of(now)


def _show(before: Run, now: Run, judgement: Judgement, args: argparse.Namespace) -> None:
    from assay.core.units import as_json

    if args.json:
        console.write(as_json(judgement))
        return
    from assay.report import comparison, terminal

    console.show(terminal.summary(now))
    console.show(comparison.rejudgement(before, judgement, stored=not args.dry_run))
