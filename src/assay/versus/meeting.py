"""A comparison from its first server to its last block. Read from top to bottom: this is its life."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from assay.adhoc import likeness
from assay.adhoc.case import AdHoc, expecting, warmed
from assay.adhoc.hooks import Hooks
from assay.errors import EXIT_WITHHELD, AssayError, InputError, ServerFailed
from assay.settings import Settings
from assay.store import RunFile
from assay.sut import leftovers
from assay.sut.kept import stop_all
from assay.sut.services import Services
from assay.trial.controller import on_client_cores, raise_limits
from assay.trial.observer import CutShort, Interrupted, Observer
from assay.trial.one_trial import Bench, run_trial, start
from assay.trial.schedule import Slot
from assay.trial.warmup import preload
from assay.values.run import Header, Run, TrialDone
from assay.values.trial import Trial
from assay.versus.answer import answer, load_ns
from assay.versus.contest import Contest, order_of_block
from assay.versus.warming import warm_up_for

_FAILURES_UNTIL_GIVEN_UP = 2
"""A rival that fails in so many blocks one after the other is not tried again."""


class Unlike(AssayError):
    """The rivals answer differently: a comparison of them would be withheld."""

    exit_code = EXIT_WITHHELD


class Meeting:
    """The servers, the hooks and the cores of one comparison; leaving the `with` block ends all of it."""

    def __init__(self, contest: Contest, settings: Settings, observer: Observer) -> None:
        """Nothing is started yet."""
        self._contest = contest
        self._settings = settings
        self._observer = observer
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Meeting:
        """Take the cores, and a folder for what is written before there is a run."""
        contest = self._contest
        try:
            self._logs = self._open.enter_context(leftovers.folder("versus"))
            self._open.callback(stop_all)
            self._hooks = self._open.enter_context(Hooks(contest.commands, self._logs))
            raise_limits(self._observer)
            self._open.enter_context(on_client_cores(contest.terms.split))
            services = Services((), self._settings, contest.terms.split, self._logs)
            self._services = self._open.enter_context(services)
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clean up; no process is left."""
        self._open.__exit__(kind, error, trace)

    def get_ready(self) -> Contest:
        """Set every rival up, start it once and look at its answers.

        The contest comes back with the length that every answer has, if it has one. InputError for a
        command or URL that does not answer, Unlike where the answers differ (unless that is allowed).
        """
        self._hooks.before_first([rival.rival for rival in self._contest.rivals])
        found = [(rival, self._look(rival)) for rival in self._contest.rivals]
        first, theirs = found[0]
        for other, answers in found[1:]:
            self._compare(first, theirs, other, answers)
        lengths = {answers.only_length for _, answers in found}
        length = lengths.pop() if len(lengths) == 1 else None
        if length is not None and self._contest.rivals[0].resolved.plan.requests[0].method != "HEAD":
            rivals = tuple(expecting(rival, length) for rival in self._contest.rivals)
            self._contest = replace(self._contest, rivals=rivals)
        preload()
        return self._contest

    def run(self, run_file: RunFile, header: Header) -> Run:
        """Block after block until the question is settled or the budget ends; each trial is stored.

        Interrupted, with the finished trials, on Ctrl-C; CutShort where one cannot be stored.
        """
        bench = self._bench(run_file.logs)
        trials: list[Trial] = []
        try:
            for block in itertools.count():
                run = Run(header=header, trials=tuple(trials), judgement=None)
                entries = [entry for entry in self._contest.entries if not _given_up(entry, trials)]
                if not self._goes_on(run, entries):
                    return run
                for slot in _slots(entries, block, len(trials), self._contest.seed):
                    trial = self._one(slot, entries, trials, bench)
                    run_file.append(TrialDone(trial=trial), self._observer.note)
                    trials.append(trial)
                    self._observer.trial_finished(trial)
        except KeyboardInterrupt:
            raise Interrupted(Run(header=header, trials=tuple(trials), judgement=None)) from None
        except AssayError as problem:
            so_far = Run(header=header, trials=tuple(trials), judgement=None)
            raise CutShort(so_far, problem.message, problem.remedy) from problem
        raise AssertionError("blocks are counted without an end")

    def _bench(self, logs: Path) -> Bench:
        split = self._contest.terms.split
        return Bench(split=split, logs=logs, observer=self._observer, services=self._services)

    def _look(self, rival: AdHoc) -> likeness.Answers:
        self._observer.server_preparing(rival.id, "asking it")
        case = rival.resolved
        try:
            self._hooks.before_start(rival.rival)
            running = start(case, rival.server, self._bench(self._logs), rival.id)
            try:
                return likeness.ask(case.contract, case.routes[0], running.host, running.port)
            finally:
                running.stop()
        except ServerFailed as failed:
            raise InputError(_why_not(rival, failed)) from failed

    def _compare(self, a: AdHoc, answers_a: likeness.Answers, b: AdHoc, answers_b: likeness.Answers) -> None:
        found = "; ".join(likeness.differences(answers_a, answers_b))
        if found and not self._contest.unlike_allowed:
            raise Unlike(
                f"{a.id} and {b.id} answer differently: {found}",
                "make them alike, or compare them all the same with --unlike",
            )
        aside = found or likeness.aside(answers_a, answers_b)
        if aside:
            self._observer.note(f"{a.id} / {b.id}: {aside}")

    def _goes_on(self, run: Run, entries: Sequence[AdHoc]) -> bool:
        """Whether another block is due: something to compare, not settled, and within the budget."""
        rivals = [entry for entry in entries if entry.resolved.case.role == "candidate"]
        if len(rivals) < 2:
            return False
        if not run.trials:
            return True
        now = answer(run)
        if now.settled:
            return False
        spent = load_ns(run)
        return spent + spent // max(1, now.blocks) <= self._contest.budget_ns

    def _one(self, slot: Slot, entries: Sequence[AdHoc], trials: Sequence[Trial], bench: Bench) -> Trial:
        entry = next(entry for entry in entries if entry.id == slot.case)
        servers = {one.id: one.rival.name for one in self._contest.entries}
        warm_up = warm_up_for(entry.rival.name, servers, trials, self._contest.terms.warm_up)
        self._observer.trial_started(slot)
        self._hooks.before_start(entry.rival)
        return run_trial(warmed(entry, warm_up).resolved, entry.server, slot, bench)


def _slots(entries: Sequence[AdHoc], block: int, number: int, seed: int) -> list[Slot]:
    order = order_of_block([entry.id for entry in entries], block, seed)
    return [Slot(number + place, block, place, case) for place, case in enumerate(order)]


def _given_up(entry: AdHoc, trials: Sequence[Trial]) -> bool:
    last = [trial for trial in trials if trial.case == entry.id][-_FAILURES_UNTIL_GIVEN_UP:]
    failed = [trial for trial in last if trial.failure is not None]
    return len(failed) == _FAILURES_UNTIL_GIVEN_UP


def _why_not(rival: AdHoc, failed: ServerFailed) -> str:
    last = failed.log_tail.splitlines()[-1:] if failed.stage != "contract" else []
    return f"{rival.id}: {failed.message}" + (f"; it said: {last[0]}" if last else "")
