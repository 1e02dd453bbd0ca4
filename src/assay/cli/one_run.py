"""One run of any kind from its beginning to its report: watched, kept and shown, also after Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.cli.report import Afterwards
from assay.core import console, credentials, signals
from assay.core.errors import InputError
from assay.verdict import exit_codes

if TYPE_CHECKING:
    from assay.core.settings import Settings
    from assay.model.run import Run
    from assay.plan.resolved import ResolvedRun
    from assay.report.run_live import RunView
    from assay.runner import Resumed
    from assay.runner.bench import Where

Show = Callable[["Run", Path], None]
"""Shows a judged run whose record lies in that folder."""


class EndedRun(msgspec.Struct, frozen=True):
    """A run that has come to its end, and its exit code."""

    run: Run
    code: int


def begin(
    resolved: ResolvedRun,
    settings: Settings,
    show: Show,
    *,
    series: str = "",
    begun: Callable[[str], None] = lambda run_id: None,
    where: Where | None = None,
) -> EndedRun:
    """Make a new run; `begun` is told its id once its record lies on the disk.

    The machine must be held (`machine_lock`).
    """
    from assay import runner
    from assay.runner import consent

    for text in resolved.notes:
        console.note(text)
    command = credentials.command()
    folders: list[Path] = []

    def own(run_id: str) -> None:
        consent.remember_record(run_id, resolved.design)
        folders.append(settings.results / run_id)
        begun(run_id)

    return _watched(
        lambda view: runner.begin(
            resolved, settings, view, command=command, series=series, begun=own, where=where or runner.HERE
        ),
        lambda run: show(run, settings.results / run.header.run_id),
        folders,
    )


def go_on(resumed: Resumed, settings: Settings, show: Show) -> EndedRun:
    """Go on with a run that was cut off. InputError where nothing of it is left to do."""
    from assay import runner
    from assay.plan.next import next_trial

    for text in resumed.notes:
        console.note(f"assay: {text}")
    if next_trial(resumed.run) is None:
        run_id = resumed.run.header.run_id
        raise InputError(f"run {run_id} has ended", f"`assay report {run_id}` shows it")
    folder = resumed.run_file.folder
    return _watched(
        lambda view: runner.go_on(resumed, settings, view), lambda run: show(run, folder), [folder]
    )


def ended(path: Path, show: Show) -> EndedRun:
    """A run all of whose trials are done, but that was cut off before it was judged and shown."""
    from assay import store
    from assay.verdict import judged

    run_file, stored = store.reopen(path)
    with run_file:
        run = judged(stored.run)
        if run.judgement is not None and stored.run.judgement is None:
            run_file.append(run.judgement, console.note)
        code = exit_codes.of(run)
        show(run, run_file.folder)
    return EndedRun(run, code)


def _watched(
    call: Callable[[RunView], Run], show: Callable[[Run], None], folders: Sequence[Path]
) -> EndedRun:
    """Run under the eyes of a view, and show what came of it, also where it was cut short; then say so.

    `folders` holds that of the record, as soon as there is one: where signals end even the end, its run is
    told with the command that goes on.
    """
    from assay import store
    from assay.runner import Interrupted

    with signals.run():
        try:
            ended = _driven_and_shown(call, show)
            if signals.came():
                raise Interrupted(ended.run)
        except Interrupted:
            signals.ignore()
            raise
        except KeyboardInterrupt:
            if not folders:  # nothing has begun
                raise
            signals.ignore()
            raise Interrupted(store.read(folders[0]).run) from None
    return ended


def _driven_and_shown(call: Callable[[RunView], Run], show: Callable[[Run], None]) -> EndedRun:
    """The run, driven and judged, and then shown."""
    from assay.runner import CutShort

    later = Afterwards()
    try:
        with _view() as view:
            run = call(view)
        code = exit_codes.of(run)
    except CutShort as cut:
        run, code = cut.run, cut.exit_code
        with later.kept():
            raise
    signals.ending()
    if run.trials:
        with later.kept():
            show(run)
    later.tell()
    return EndedRun(run, code)


@contextlib.contextmanager
def _view() -> Iterator[RunView]:
    from assay.report.run_live import RunView
    from assay.verdict import judge

    if not console.is_live():
        yield RunView(console.note, judge)
        return
    from rich.live import Live

    talk = console.talk()
    with Live(console=talk, auto_refresh=False, transient=True) as live:
        view = RunView(talk.print, judge, live=True)
        with _ticking(lambda: live.update(view.render(), refresh=True)):
            yield view


_TICK_S = 0.5


@contextlib.contextmanager
def _ticking(tick: Callable[[], None]) -> Iterator[None]:
    """Call `tick` about twice a second, also where nothing happens, on the cores that this thread is on."""
    over, watched = threading.Event(), threading.get_native_id()

    def keep_ticking() -> None:
        while not over.wait(_TICK_S):
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, os.sched_getaffinity(watched))
            tick()

    thread = threading.Thread(target=keep_ticking, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def shown(
    *,
    as_json: bool,
    verbose: bool = False,
    write: Callable[[Run], None] = lambda run: None,
    silent: bool = False,
) -> Show:
    """Write the report beside the record; show the run as JSON or, unless it is to be `silent`, as a summary,
    or whole where it is to be `verbose`; then write what else was asked for by `write`."""

    def show(run: Run, folder: Path) -> None:
        from assay.cli.report import show_json, show_run
        from assay.cli.report_outputs import OutputFile
        from assay.report import markdown
        from assay.report.model.run_document import document

        later = Afterwards()
        report, record = folder / "report.md", folder / "run.jsonl"
        with later.kept():  # a report that cannot be written does not keep the figures from being shown
            OutputFile(str(report), announce=False).write(markdown.render(document(run)))
        if as_json:
            show_json(run)
        elif not silent:
            kept = next((path for path in (report, record) if path.is_file()), None)
            show_run(run, kept, verbose=verbose)
        with later.kept():
            write(run)
        later.tell()

    return show
