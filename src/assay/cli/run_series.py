"""Several runs one after the other: every study, or one under both profiles, resumable as a whole."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from assay.cli import one_run
from assay.cli.catalogue import show_sections
from assay.core import console
from assay.core.errors import EXIT_INTERRUPTED, EXIT_INVALID, EXIT_OK, AssayError, InputError

if TYPE_CHECKING:
    from assay.core.settings import Settings
    from assay.model.design import Choices
    from assay.model.run import Run, Series, SeriesPart
    from assay.model.trial import Trial
    from assay.plan.resolved import ResolvedRun
    from assay.report.model.history import Expected
    from assay.servers.manifest import Requirement


class _Coming(msgspec.Struct, frozen=True):
    """A part that can be run: its study, resolved; `to_do` are its trials that are still to come."""

    study: ResolvedRun
    to_do: int

    def expected(self, part: SeriesPart, missing: Set[Requirement]) -> Expected:
        """What it is likely to take. A server that lacks something here is a row that costs no time."""
        from assay.report.model.history import Expected

        study = self.study
        cases = study.cases
        lacking = {case.server.name for case in cases if not missing.isdisjoint(case.server.requires)}
        there = tuple(case for case in cases if case.server.name not in lacking)
        share = self.to_do / study.trials
        least, most = (share * seconds for seconds in replace(study, cases=there).expected_s())
        return Expected(part, len(cases), study.blocks, least, most, tuple(sorted(lacking)))


class SeriesView(msgspec.Struct, frozen=True):
    """How the runs are shown, and `check_quiet` of the machine, once it is known that something can be run;
    `yes` says that their commands may be run."""

    as_json: bool
    check_quiet: Callable[[], None]
    yes: bool = False
    verbose: bool = False


def start(
    names: Sequence[str], profiles: Sequence[str], choices: Choices, settings: Settings, shown: SeriesView
) -> int:
    """Run each study under each profile, the rest as `choices` say. InputError where none can be run.

    Of several studies one that was never published has its fair profile alone.
    """
    from assay import store
    from assay.model.run import Series

    now_ns = time.time_ns()
    series = Series(
        series_id=store.new_run_id("series", now_ns),
        created_unix_ns=now_ns,
        choices=choices,
        parts=tuple(parts_of(names, profiles, settings)),
    )
    return _Runs(series, settings, shown).run()


def parts_of(names: Sequence[str], profiles: Sequence[str], settings: Settings) -> Iterator[SeriesPart]:
    """Each study under the first of the profiles, then each under the next: what is worth most comes first
    where a series is cut off. Of several studies under those that it has."""
    from assay.model.run import SeriesPart
    from assay.plan.study import load_study

    there: dict[str, Collection[str]] = dict.fromkeys(names, profiles)
    if len(names) > 1:
        for name in names:
            with contextlib.suppress(InputError):  # its part says so
                there[name] = load_study(name, settings).file.profiles
    for profile in profiles:
        yield from (SeriesPart(study=name, profile=profile) for name in names if profile in there[name])


def go_on(series: Series, settings: Settings, shown: SeriesView) -> int:
    """Run what is still to come of a series that was cut off."""
    if all(part.state in ("ended", "failed") for part in series.parts):
        last = next((part.run for part in reversed(series.parts) if part.run), "latest")
        raise InputError(f"series {series.series_id} has ended", f"`assay report {last}` shows its last run")
    return _Runs(series, settings, shown).run()


def _missing(studies: Iterable[ResolvedRun]) -> Set[Requirement]:
    """What the servers of all these studies need and this machine lacks; each is looked up once."""
    from assay.servers import check_all

    wanted = dict.fromkeys(one for study in studies for server in study.servers for one in server.requires)
    return {checked.requirement for checked in check_all(tuple(wanted)) if not checked.fulfilled}


class _Runs:
    """A series under way. Its file is written anew at each step, so that it can always be gone on with."""

    def __init__(self, series: Series, settings: Settings, shown: SeriesView) -> None:
        self._series = series
        self._settings = settings
        self._as_json = shown.as_json
        self._look = shown.check_quiet
        self._yes = shown.yes
        self._show = one_run.shown(as_json=shown.as_json, verbose=shown.verbose)
        self._code = EXIT_OK

    def run(self) -> int:
        """Every part that is still to come; 1 where one failed or has an invalid figure."""
        from assay.runner import consent, machine_lock

        coming = dict(self._coming())
        if not any(isinstance(one, _Coming) for one in coming.values()):
            raise next(one for one in coming.values() if isinstance(one, AssayError))
        studies = [one.study for one in coming.values() if isinstance(one, _Coming)]
        consent.ask(studies, self._settings, yes=self._yes)
        self._tell_estimate(coming)
        with machine_lock(self._settings):
            self._look()
            for place, one in coming.items():
                self._part(place, one)
        self._tell_end()
        return self._code

    def _coming(self) -> Iterator[tuple[int, _Coming | AssayError]]:
        """Each part to come, resolved, or why it cannot be."""
        for place, part in enumerate(self._series.parts):
            if part.state in ("to do", "begun"):
                try:
                    yield place, self._resolved(part)
                except AssayError as problem:
                    yield place, problem

    def _resolved(self, part: SeriesPart) -> _Coming:
        import msgspec

        from assay.plan.study import load_study, resolve

        choices = msgspec.structs.replace(self._series.choices, profile=part.profile)
        study = resolve(load_study(part.study, self._settings), self._settings, choices)
        return _Coming(study, study.trials - len(self._done(part)))

    def _done(self, part: SeriesPart) -> Sequence[Trial]:
        """The trials of a part that was cut off."""
        from assay import store

        return store.load(self._settings.results / part.run).trials if part.run else ()

    def _part(self, place: int, one: _Coming | AssayError) -> None:
        """One run; what goes wrong with it is told and kept, and does not stop the others."""
        part = self._series.parts[place]
        head = f"{part.study}, profile {part.profile}"
        console.note(f"\n[{place + 1}/{len(self._series.parts)}] {head}")
        try:
            if isinstance(one, AssayError):
                raise one
            ended = self._run_part(place, one)
        except AssayError as problem:
            if problem.exit_code == EXIT_INTERRUPTED:
                raise
            console.error(problem)
            self._set(place, state="failed", problem=str(problem))
            self._code = EXIT_INVALID
            return
        self._set(place, state="ended")
        self._code = max(self._code, ended.code)
        self._side_by_side(ended.run)

    def _run_part(self, place: int, one: _Coming) -> one_run.EndedRun:
        from assay.runner import consent, resume

        run_id = self._series.parts[place].run
        if not run_id:
            return one_run.begin(
                one.study,
                self._settings,
                self._show,
                series=self._series.series_id,
                begun=lambda new_id: self._set(place, state="begun", run=new_id),
            )
        path = self._settings.results / run_id
        if one.to_do == 0:  # cut off between its last trial and its end
            return one_run.ended(path, self._show)
        with resume(path, self._settings) as resumed:
            record = resumed.run.header
            consent.ask([resumed.resolved], self._settings, yes=self._yes, record=record)
            return one_run.go_on(resumed, self._settings, self._show)

    def _set(self, place: int, **changes: object) -> None:
        """Note how far a part has come, on the disk too."""
        import msgspec

        from assay import store

        parts = list(self._series.parts)
        parts[place] = msgspec.structs.replace(parts[place], **changes)
        self._series = msgspec.structs.replace(self._series, parts=tuple(parts))
        store.write_series(self._settings.results, self._series)

    def _side_by_side(self, run: Run) -> None:
        """Once a study has been run under both profiles: show the two, and write them down."""
        from assay.cli.report import pair_in_series

        pair = pair_in_series(run, self._settings.results) if run.trials else None
        if pair is None:
            return
        from assay.cli.report_outputs import write_files
        from assay.report import markdown, pages
        from assay.report.model import profiles

        if not self._as_json:
            show_sections(*profiles.beside(pair))
        name = run.header.study_name
        files = (
            (f"{name}.md", markdown.render(profiles.document(pair)).encode()),
            (f"{name}.html", pages.of_run(pair.fair, pair).encode()),
        )
        write_files(self._settings.results / self._series.series_id, files)

    def _tell_estimate(self, coming: dict[int, _Coming | AssayError]) -> None:
        from assay.report.model import history as shown
        from assay.report.terminal import sections

        missing = _missing(one.study for one in coming.values() if isinstance(one, _Coming))
        expected, refused = [], []
        for place, one in coming.items():
            part = self._series.parts[place]
            if isinstance(one, AssayError):
                refused.append((part, str(one)))
            else:
                expected.append(one.expected(part, missing))
        console.say(sections((shown.estimate(expected, refused),)))

    def _tell_end(self) -> None:
        from assay.cli import report
        from assay.report.model import history as shown
        from assay.verdict import judged

        results = self._settings.results
        runs = {}
        for part in self._series.parts:
            try:
                if part.run:
                    runs[part.run] = judged(report.read_stored(results / part.run))
            except InputError as problem:  # its line says that there is no figure of it
                console.error(problem)
        if not self._as_json:
            console.write("")
            show_sections(shown.series_summary(self._series, runs))
