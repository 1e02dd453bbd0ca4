"""A study from its first server to its last trial. Read from top to bottom: this is the life of a study."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence

from assay import host
from assay.errors import AssayError, ServerFailed
from assay.settings import Settings
from assay.store import RunFile
from assay.store import load as load_run
from assay.study import ResolvedCase, ResolvedStudy
from assay.sut.build import Prepared
from assay.sut.cores import CoreSplit
from assay.sut.kept import stop_all
from assay.sut.services import Services
from assay.trial.observer import CutShort, Interrupted, Observer, Silent
from assay.trial.one_trial import Bench, failed_trial, run_trial
from assay.trial.prepare import prepare_all
from assay.trial.rates import settled
from assay.trial.schedule import Slot, order, remaining
from assay.trial.warmup import preload
from assay.values.run import Environment, Run, TrialDone
from assay.values.trial import Trial

_FAILURES_UNTIL_SKIPPED = 2
"""A case that failed in this many blocks without one measured trial is not tried again."""


def run_study(
    study: ResolvedStudy,
    run_file: RunFile,
    settings: Settings,
    observer: Observer | None = None,
    before: Run | None = None,
) -> Run:
    """Run every trial of the study that `before` (a resumed run) does not hold, and store each as it ends.

    A server that cannot be had, or fails, is a row with its reason; the study goes on. Interrupted, with
    the finished trials, on Ctrl-C; CutShort, with them too, where a trial cannot be stored. Whatever happens,
    no process is left. The run comes back without a judgement: that is the caller's next step.
    """
    observer = observer or Silent()
    header = before.header if before else load_run(run_file.path).header
    trials = list(before.trials) if before else []
    damage = before.damage if before else ()
    slots = remaining(slots_of(study), ((trial.case, trial.block) for trial in trials))
    try:
        observer.study_started(study, header.run_id, slots)
        raise_limits(observer)
        with on_client_cores(study.split):
            prepared = _prepared(study, settings, observer)
            preload()
            with Services(study.services, settings, study.split, run_file.logs) as services:
                bench = Bench(split=study.split, logs=run_file.logs, observer=observer, services=services)
                for slot in slots:
                    observer.trial_started(slot)
                    trial = _one(study, slot, prepared, header.environment, trials, bench)
                    if trial is None:
                        observer.trial_spared(slot)
                        continue
                    run_file.append(TrialDone(trial=trial), observer.note)
                    trials.append(trial)
                    observer.trial_finished(trial)
    except KeyboardInterrupt:
        raise Interrupted(Run(header=header, trials=tuple(trials), judgement=None, damage=damage)) from None
    except AssayError as problem:
        so_far = Run(header=header, trials=tuple(trials), judgement=None, damage=damage)
        again = f"go on with: assay run --resume {header.run_id}"
        raise CutShort(so_far, problem.message, f"{problem.remedy}; {again}") from problem
    finally:
        stop_all()
    return Run(header=header, trials=tuple(trials), judgement=None, damage=damage)


def slots_of(study: ResolvedStudy) -> tuple[Slot, ...]:
    """Every trial of the study in its order."""
    only = {case.case.id: case.case.blocks for case in study.cases if case.case.blocks}
    later = {case.case.id: case.case.trials_a_block for case in study.cases if case.case.later}
    return order([case.case.id for case in study.cases], study.blocks, study.design.seed, only, later)


def _prepared(
    study: ResolvedStudy, settings: Settings, observer: Observer
) -> dict[str, Prepared | ServerFailed]:
    """Each case's server, ready or with why it is not."""
    specs = [case.server for case in study.cases]
    ready = prepare_all(specs, settings, study.split.server_cores, observer)
    return {case.case.id: next(had for spec, had in ready if spec == case.server) for case in study.cases}


def _one(
    study: ResolvedStudy,
    slot: Slot,
    prepared: dict[str, Prepared | ServerFailed],
    environment: Environment,
    trials: Sequence[Trial],
    bench: Bench,
) -> Trial | None:
    """The trial of that slot; None where its search has ended before."""
    case = next(case for case in study.cases if case.case.id == slot.case)
    had = prepared[case.case.id]
    hopeless = had if isinstance(had, ServerFailed) else _given_up(slot.case, trials)
    if hopeless is not None:
        return failed_trial(_untried(case, slot), hopeless)
    assert isinstance(had, Prepared)  # else it is hopeless
    try:
        now = settled(case, slot.block, study.cases, trials, environment)
        return run_trial(now, had, slot, bench) if now else None
    except ServerFailed as failed:  # there is no rate to offer
        return failed_trial(_untried(case, slot), failed)


def _given_up(case: str, trials: Sequence[Trial]) -> ServerFailed | None:
    """Why a case is not tried again, if it is not."""
    tried = [trial for trial in trials if trial.case == case]
    failures = [trial.failure for trial in tried if trial.failure is not None]
    if len(failures) < len(tried) or len(failures) < _FAILURES_UNTIL_SKIPPED:
        return None
    return ServerFailed(failures[-1].stage, failures[-1].reason, failures[-1].log_tail)


def _untried(case: ResolvedCase, slot: Slot) -> Trial:
    return Trial(
        number=slot.number,
        case=slot.case,
        block=slot.block,
        position=slot.position,
        started_at_unix_ns=time.time_ns(),
        plan=case.plan,
    )


def raise_limits(observer: Observer) -> None:
    """Allow as many open files as there may be, and say so."""
    was, now = host.raise_descriptor_limit()
    if was != now:
        observer.note(f"raised the limit of open files from {was} to {now}")


@contextlib.contextmanager
def on_client_cores(split: CoreSplit) -> Iterator[None]:
    """Keep the harness off the servers' cores; put back what was."""
    if not split.client:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, split.client)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
