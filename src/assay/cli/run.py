"""`assay run STUDY`: build, check, load in blocks, judge, and say what came of it."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay import console
from assay.cli import words
from assay.errors import EXIT_OK, EXIT_WITHHELD, InputError

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.report.run_live import RunView
    from assay.settings import Settings
    from assay.store import RunFile
    from assay.values.run import Header, Run
    from assay.values.trial import Trial

Watched = Callable[["RunView"], "Run"]


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("study", nargs="?", metavar="STUDY", help="a study's name or the path of its file")
    how = parser.add_argument_group("how it is run")
    how.add_argument("--profile", choices=("fair", "published"), metavar="{fair,published}",
                     help="equal terms, or the settings as published [fair]")  # fmt: skip
    how.add_argument("--quick", action="store_true", help="few, short trials: a first look, no ranking")
    how.add_argument("--blocks", type=words.whole, metavar="N", help="trials of each case [the study's]")
    how.add_argument("--seed", type=words.natural, metavar="N", help="seed of the order of trials [drawn]")
    how.add_argument("--server", action="append", default=[], metavar="NAME",
                     help="only this server (and the null server); repeatable")  # fmt: skip
    how.add_argument("--resume", metavar="RUN", help="go on with a run that was cut off")
    output = parser.add_argument_group("output")
    output.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    output.add_argument("--json", action="store_true", help="the whole run as JSON on standard output")
    parser.examples(
        ("assay run franklin", "the study, on equal terms"),
        ("assay run franklin --quick", "a first look in about a minute"),
        ("assay run franklin --profile published", "as published, flaws included"),
        ("assay run franklin --server quotes/go --blocks 3", "one server, three trials"),
        ("assay run --resume latest", "go on where a run was cut off"),
    )


def run(args: argparse.Namespace) -> int:
    """Run or resume the study."""
    from assay.settings import Settings

    settings = Settings.resolve(results=args.results)
    if args.resume:
        _refuse_with_resume(args)
        return _resume(args, settings)
    if not args.study:
        raise InputError("no study was named", f"one of: {_studies(settings)}")
    return _start(args, settings)


def _start(args: argparse.Namespace, settings: Settings) -> int:
    from assay import store
    from assay.study import load_study, resolve
    from assay.trial import header_for, machine_lock, run_study

    study = resolve(
        load_study(args.study, settings),
        settings,
        profile=args.profile or "fair",
        quick=args.quick,
        blocks=args.blocks,
        seed=args.seed,
        servers=args.server,
    )
    for text in study.notes:
        console.note(text)
    header = header_for(study, ("assay", *sys.argv[1:]))
    with machine_lock(settings, study.name), store.create(settings.results, header) as run_file:
        return _finish(args, header, run_file, (), lambda view: run_study(study, run_file, settings, view))


def _resume(args: argparse.Namespace, settings: Settings) -> int:
    from assay import store
    from assay.trial import machine_lock, resume, run_study

    path = store.find(settings.results, args.resume)
    with machine_lock(settings, path.parent.name), resume(path, settings) as resumed:
        for text in resumed.notes:
            console.note(f"assay: {text}")
        before = resumed.run
        if len(before.trials) >= len(before.header.cases) * before.header.blocks:
            run_id = before.header.run_id
            raise InputError(f"run {run_id} has ended", f"`assay report {run_id}` shows it")
        return _finish(
            args,
            before.header,
            resumed.run_file,
            before.trials,
            lambda view: run_study(resumed.study, resumed.run_file, settings, view, before=before),
        )


def _finish(
    args: argparse.Namespace, header: Header, run_file: RunFile, before: Sequence[Trial], call: Watched
) -> int:
    """Run under the eyes of a view, judge what is there, also after Ctrl-C, keep that and show it."""
    import msgspec

    from assay.trial import Interrupted
    from assay.verdict import judge

    interrupted: Interrupted | None = None
    try:
        with _watching(header, before) as view:
            finished = call(view)
    except Interrupted as ending:
        interrupted, finished = ending, ending.run
    if finished.trials:
        judgement = judge(finished)
        run_file.append(judgement)
        finished = msgspec.structs.replace(finished, judgement=judgement)
        _show(finished, run_file.path, as_json=args.json)
    if interrupted is not None:
        raise interrupted
    return _exit_code(finished)


def _exit_code(finished: Run) -> int:
    """0 where every candidate's throughput may be shown; 1 where one is withheld or failed.

    A server that this machine lacks something for was never part of the measuring: its row says so.
    """
    roles = {case.id: case.role for case in finished.header.cases}
    ranking = finished.judgement.ranking if finished.judgement else ()
    lacking = {trial.case for trial in finished.trials if trial.failure and trial.failure.stage == "requires"}
    candidates = [
        place for place in ranking if roles[place.case] == "candidate" and place.case not in lacking
    ]
    shown = all(place.throughput is not None and not place.withheld for place in candidates)
    return EXIT_OK if candidates and shown else EXIT_WITHHELD


@contextlib.contextmanager
def _watching(header: Header, before: Sequence[Trial]) -> Iterator[RunView]:
    from assay.report.run_live import RunView
    from assay.verdict import judge

    if not console.is_live():
        yield RunView(header, console.note, judge, before=before)
        return
    from rich.live import Live

    talk = console.talk()
    with Live(console=talk, auto_refresh=False, transient=True) as live:
        yield RunView(
            header,
            talk.print,
            judge,
            refresh=lambda view: live.update(view.render(), refresh=True),
            before=before,
        )


def _show(finished: Run, path: Path, *, as_json: bool) -> None:
    from assay.cli.output import OutputFile
    from assay.cli.report import show_json
    from assay.report import markdown, terminal

    report = path.with_name("report.md")
    OutputFile(str(report), announce=False).write(markdown.render(finished))
    if as_json:
        show_json(finished)
        return
    console.show(terminal.summary(finished, (("report", _short(report)), ("run record", _short(path)))))


def _short(path: Path) -> str:
    """The path as a person would type it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _studies(settings: Settings) -> str:
    from assay.study import list_studies

    return ", ".join(path.stem for path in list_studies(settings)) or "there is no study here"


def _refuse_with_resume(args: argparse.Namespace) -> None:
    """A resumed run is the run that it was: nothing of it can be chosen again."""
    chosen = ("study", "profile", "quick", "blocks", "server")
    given = [name for name in chosen if getattr(args, name)]
    if args.seed is not None:
        given.append("seed")
    if given:
        raise InputError(f"--resume goes on with a run as it was: {given[0]!r} cannot change", "leave it out")
