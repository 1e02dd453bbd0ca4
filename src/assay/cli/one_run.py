"""One run from its header to its report: watched, judged, kept and shown, also after Ctrl-C."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay import console, credentials
from assay.cli.stored import Afterwards
from assay.errors import EXIT_OK, EXIT_WITHHELD, InputError

if TYPE_CHECKING:
    from assay.report.run_live import RunView
    from assay.settings import Settings
    from assay.store import RunFile
    from assay.study import ResolvedStudy
    from assay.trial.header import Resumed
    from assay.values.run import Header, Run
    from assay.values.trial import Trial

Watched = Callable[["RunView"], "Run"]


@dataclass(frozen=True)
class Ended:
    """A run that has come to its end, its exit code, and the folder that holds it."""

    run: Run
    code: int
    folder: Path


def begin(
    study: ResolvedStudy,
    settings: Settings,
    *,
    as_json: bool,
    series: str = "",
    begun: Callable[[str], None] = lambda run_id: None,
) -> Ended:
    """Make a new run of the study; `begun` is told its id once its record lies on the disk.

    The machine must be held (`machine_lock`).
    """
    import msgspec

    from assay import store
    from assay.trial import header_for, run_study

    for text in study.notes:
        console.note(text)
    header = msgspec.structs.replace(header_for(study, credentials.command()), series=series)
    with store.create(settings.results, header) as run_file:
        begun(header.run_id)
        return _finish(
            header, run_file, (), lambda view: run_study(study, run_file, settings, view), as_json=as_json
        )


def go_on(resumed: Resumed, settings: Settings, *, as_json: bool) -> Ended:
    """Go on with a run that was cut off. InputError where nothing of it is left to do."""
    from assay.trial import run_study

    for text in resumed.notes:
        console.note(f"assay: {text}")
    before = resumed.run
    if len(before.trials) >= (before.header.trials or 0):
        run_id = before.header.run_id
        raise InputError(f"run {run_id} has ended", f"`assay report {run_id}` shows it")
    return _finish(
        before.header,
        resumed.run_file,
        before.trials,
        lambda view: run_study(resumed.study, resumed.run_file, settings, view, before=before),
        as_json=as_json,
    )


def ended(path: Path, *, as_json: bool) -> Ended:
    """A run all of whose trials are done, but that was cut off before it was judged and shown."""
    from assay import store

    run_file, stored = store.reopen(path)
    with run_file:
        return _close(stored.run, run_file, Afterwards(), as_json=as_json)


def _finish(
    header: Header, run_file: RunFile, before: Sequence[Trial], call: Watched, *, as_json: bool
) -> Ended:
    """Run under the eyes of a view, judge what is there, also after Ctrl-C, keep that and show it."""
    from assay.trial import CutShort

    later = Afterwards()
    try:
        with _watching(header, before) as view:
            finished = call(view)
    except CutShort as cut:
        finished = cut.run
        with later.kept():
            raise
    if finished.trials:
        return _close(finished, run_file, later, as_json=as_json)
    later.tell()
    return Ended(finished, _exit_code(finished), run_file.folder)


def _close(finished: Run, run_file: RunFile, later: Afterwards, *, as_json: bool) -> Ended:
    """Judge, keep the judgement, and show the run, whatever happens to its files; then tell of them."""
    import msgspec

    from assay.verdict import judge

    judgement = judge(finished)
    with later.kept():
        run_file.append(judgement, console.note)
    judged = msgspec.structs.replace(finished, judgement=judgement)
    _show(judged, run_file.path, later, as_json=as_json)
    later.tell()
    return Ended(judged, _exit_code(judged), run_file.folder)


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


def _show(finished: Run, path: Path, later: Afterwards, *, as_json: bool) -> None:
    from assay.cli.output import OutputFile
    from assay.cli.report import show_json
    from assay.report import markdown, terminal

    report = path.with_name("report.md")
    with later.kept():
        OutputFile(str(report), announce=False).write(markdown.render(finished))
    if as_json:
        show_json(finished)
        return
    console.show(terminal.summary(finished, files(report, path)))


def files(report: Path, record: Path) -> tuple[tuple[str, str], ...]:
    """What a screen lists of the files that a run has left."""
    named = (("report", report), ("run record", record))
    return tuple((name, shortest(path)) for name, path in named if path.is_file())


def shortest(path: Path) -> str:
    """The path as a person would type it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
