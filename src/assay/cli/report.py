"""`assay report RUN` and `judge RUN`: a stored run read, shown again in any form, or judged again."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import report_outputs
from assay.cli.catalogue import show_sections
from assay.cli.verbs import VerbPart
from assay.core import console
from assay.core.errors import EXIT_OK, AssayError, InputError

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.core.settings import Settings
    from assay.model.run import Judgement, Run
    from assay.report.model.profiles import ProfilePair


def read_stored(path: Path) -> Run:
    """The run of that file or folder; each line of it that cannot be read is told.

    InputError where there is none that can be read.
    """
    from assay import store

    stored = store.read(path)
    for text in stored.notes:
        console.note(f"assay: {text}")
    return stored.run


def pair_in_series(run: Run, results: Path) -> ProfilePair | None:
    """The run with that of the other profile in its series, if there is one.

    Where that, or the series, cannot be read, it is told, and the run stands alone.
    """
    from assay import store
    from assay.report.model.profiles import pair_of

    try:
        return pair_of(run, store.other_profile(results, run.header))
    except InputError as problem:
        console.note(f"assay: shown without the other profile: {problem.message}")
        return None


class Afterwards:
    """What went wrong with files while figures were still to be shown: those first, then the error."""

    def __init__(self) -> None:
        """Nothing went wrong yet."""
        self._problem: AssayError | None = None

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Keep what goes wrong within the block; the first counts."""
        try:
            yield
        except AssayError as problem:
            self._problem = self._problem or problem

    def tell(self) -> None:
        """Raise what was kept, if anything was."""
        if self._problem is not None:
            raise self._problem


def _report_flags(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="latest, a run's id or its beginning, or a path")
    parser.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    parser.add_argument("--beside", metavar="RUN", common=True,
                        help="the run under the other profile of the study [that of its series]")  # fmt: skip
    parser.add_argument(
        "--json", action="store_true", common=True, help="the whole run as JSON on standard output"
    )
    report_outputs.add_verbose(parser)
    report_outputs.add_to(parser, common=True)
    parser.examples(
        ("assay report latest", "the answer of the last run, on one screen"),
        ("assay report latest --html report.html", "a page with charts"),
        ("assay report latest --markdown results.md --png charts/", "tables and pictures for a README"),
        ("assay report heroes-2026 --beside heroes-2025", "published against fair, side by side"),
        ("assay report franklin-2026 --json | jq .judgement.ranking", "a run by the beginning of its id"),
    )


def _report(args: argparse.Namespace) -> int:
    """Load, judge where nobody has yet, and show."""
    from assay import store, verdict
    from assay.core.settings import Settings

    report_outputs.check_standard_output(args)
    settings = Settings.resolve(results=args.results)
    path = store.find(settings.results, args.run, console.note)
    shown = verdict.judged(read_stored(path))
    pair = _pair(shown, args.beside, path.parent.parent, settings)
    if args.json:
        show_json(shown)
    elif not report_outputs.takes_standard_output(args):
        from assay.report.model.profiles import beside

        written = path.with_name("report.md")
        show_run(shown, written if written.is_file() else path, verbose=args.verbose)
        if pair is not None:
            show_sections(*beside(pair))
    report_outputs.write_all(shown, pair, args)
    return EXIT_OK


def show_run(run: Run, where: Path | None, *, verbose: bool) -> None:
    """Print the summary of a run, or all of it. `where` is the file in which the rest can be read, if any."""
    from assay.report.model.run_document import document
    from assay.report.terminal import in_full, on_screen

    kept = _shortest(where) if where is not None else ""
    told = document(run)
    console.show(
        in_full(told, kept) if verbose else on_screen(told, f"more: --verbose{kept and f', {kept}'}")
    )


def _shortest(path: Path) -> str:
    """The path as a person would type it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # it lies elsewhere, or the working folder is gone
        return str(path)


def _pair(run: Run, word: str | None, folder: Path, settings: Settings) -> ProfilePair | None:
    """The run with the one that `word` names, or with that of the other profile in its series."""
    from assay import store, verdict
    from assay.report.model import profiles

    if word is not None:
        return profiles.pair(
            run, verdict.judged(read_stored(store.find(settings.results, word, console.note)))
        )
    return pair_in_series(run, folder)


def show_json(run: Run) -> None:
    """Print the run as one JSON document: its answer in words, then the whole record."""
    import msgspec

    from assay.core.units import as_json
    from assay.report.model.answer import answer
    from assay.report.model.rows import sections

    told = answer(run, sections(run))
    document = {"answer": told.sentences, **msgspec.structs.asdict(run)}
    console.write(as_json(document))


report = VerbPart(_report_flags, _report)


def _judge_flags(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="latest, a run's id or its beginning, or a path")
    parser.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    parser.add_argument("--dry-run", action="store_true", help="say what would change, and store nothing")
    parser.add_argument("--json", action="store_true", help="the new judgement as JSON on standard output")
    report_outputs.add_verbose(parser)
    parser.examples(
        ("assay judge latest", "by the rules of this version; the judgements before stay in the record"),
        ("assay judge franklin-2026 --dry-run", "only what would change"),
        ("assay judge latest --json | jq .findings", "the findings for a script"),
    )


def _judge(args: argparse.Namespace) -> int:
    """Judge, append the judgement, and say what is new; the exit code is that of a run so judged."""
    import msgspec

    from assay import store
    from assay.core.settings import Settings
    from assay.verdict import exit_codes, judge

    settings = Settings.resolve(results=args.results)
    path = store.find(settings.results, args.run, console.note)
    before = read_stored(path)
    if not before.trials:
        again = "make a new run" if before.header.nodes else "run it again, or --resume it"
        raise InputError(f"{path}: there is no whole trial to judge", again)
    judgement = judge(before)
    if not args.dry_run:
        run_file, _ = store.reopen(path)
        with run_file:
            run_file.append(judgement)
    now = msgspec.structs.replace(before, judgement=judgement)
    _show(before, now, judgement, path, args)
    return exit_codes.of(now)


def _show(before: Run, now: Run, judgement: Judgement, path: Path, args: argparse.Namespace) -> None:
    from assay.core.units import as_json

    if args.json:
        console.write(as_json(judgement))
        return
    from assay.report import comparison

    show_run(now, path, verbose=args.verbose)
    console.write("")
    show_sections(comparison.rejudgement(before, judgement, stored=not args.dry_run))


judge = VerbPart(_judge_flags, _judge)
