"""A search from its first look to its last trial: one server, one objective, open loops at rates in turn."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace

import msgspec

from assay import engine
from assay.adhoc import likeness
from assay.adhoc.case import AdHoc, Terms, expecting, planned
from assay.capacity.objective import Objective
from assay.capacity.plans import plan_at, range_of
from assay.errors import AssayError, InputError, ServerFailed
from assay.settings import Settings
from assay.store import RunFile
from assay.study.resolved import ResolvedStudy
from assay.sut import leftovers
from assay.sut.kept import stop_all
from assay.sut.services import Services
from assay.trial.controller import on_client_cores, raise_limits
from assay.trial.observer import CutShort, Interrupted, Observer
from assay.trial.one_trial import Bench, run_trial, start
from assay.trial.schedule import Slot
from assay.values.design import Bounds, RuleSetting, SearchDesign
from assay.values.plan import Closed, StopAfter
from assay.values.run import Header, Run, TrialDone
from assay.values.trial import Trial
from assay.verdict.search import Answer, answer, step_of

_FIRST_LOOK_NS = 2_000_000_000
_CLOSED_CONNECTIONS = 64
_FAILURES_IN_A_ROW = 3


@dataclass(frozen=True, kw_only=True)
class Quest:
    """What is asked. `lowest_per_s` and `highest_per_s` bound the search where they are given.

    `budget_ns` is of load. `max_connections` None: as many as the rate and the objective can need.
    """

    server: AdHoc
    terms: Terms
    objective: Objective
    measure_ns: int
    budget_ns: int
    resolution: float
    seed: int
    lowest_per_s: float | None = None
    highest_per_s: float | None = None
    max_connections: int | None = None


def first_look(quest: Quest, settings: Settings, observer: Observer) -> tuple[Quest, Bounds]:
    """Start the server once, look at its answers, and see what a closed loop gets: the search's range.

    InputError where it does not answer rightly.
    """
    with leftovers.folder("capacity") as folder:
        split = quest.terms.split
        services = Services((), settings, split, folder)
        bench = Bench(split=split, logs=folder, observer=observer, services=services)
        case = quest.server.resolved
        observer.note(f"{quest.server.id}: a first look")
        try:
            with on_client_cores(split):
                running = start(case, quest.server.server, bench, quest.server.id)
                try:
                    answers = likeness.ask(case.contract, case.routes[0], running.host, running.port)
                    bounded = quest.lowest_per_s and quest.highest_per_s
                    closed_per_s = None if bounded else _closed_per_s(quest, running.url)
                    if running.died() is not None:
                        observer.note(f"{quest.server.id}: it died in a closed loop at saturation")
                finally:
                    running.stop()
        except ServerFailed as failed:
            raise InputError(f"{quest.server.id}: {failed.message}") from failed
        finally:
            stop_all()
    if answers.only_length is not None and case.plan.requests[0].method != "HEAD":
        quest = replace(quest, server=expecting(quest.server, answers.only_length))
    bounds = range_of(
        quest.objective,
        closed_per_s or 0.0,
        quest.measure_ns,
        resolution=quest.resolution,
        lowest_per_s=quest.lowest_per_s,
        highest_per_s=quest.highest_per_s,
    )
    return quest, bounds


def study_of(quest: Quest, bounds: Bounds) -> ResolvedStudy:
    """The study that this search is."""
    case = quest.server.resolved
    question = f"What is the highest rate at which {quest.objective.text} holds?"
    design = SearchDesign(
        title=f"Capacity of {quest.server.id}",
        question=question,
        seed=quest.seed,
        bounds=bounds,
        budget_ns=quest.budget_ns,
        measure_ns=quest.measure_ns,
        max_connections=quest.max_connections,
        rivals=(quest.server.rival,),
        terms=quest.terms.how,
        plans={case.case.id: case.plan},
        warm_ups={case.case.id: case.warm_up},
        titles={case.case.id: case.server.title},
        rules={"S5": RuleSetting(thresholds={"trials": 1.0}, reason="a search is no ranking")},
    )
    return ResolvedStudy(name="capacity", design=design, cases=(case,), services=(), split=quest.terms.split)


def run_capacity(
    quest: Quest, bounds: Bounds, run_file: RunFile, header: Header, settings: Settings, observer: Observer
) -> Run:
    """Trial after trial until the search has ended or the budget has; each is stored as it ends.

    Interrupted, with the finished trials, on Ctrl-C; CutShort where one cannot be stored. No process is left.
    """
    trials: list[Trial] = []
    now = answer(bounds, ())
    spent_ns = 0
    try:
        raise_limits(observer)
        with on_client_cores(quest.terms.split):
            services = Services((), settings, quest.terms.split, run_file.logs)
            split = quest.terms.split
            bench = Bench(split=split, logs=run_file.logs, observer=observer, services=services)
            while (rate := now.search.ask()) is not None and spent_ns < quest.budget_ns:
                if _gone(trials):
                    break
                trial = _one(quest, rate, len(trials), bench)
                run_file.append(TrialDone(trial=trial), observer.note)
                trials.append(trial)
                spent_ns += _load_ns(trial)
                now = _told(now, trial, quest, header)
                observer.trial_finished(trial)
    except KeyboardInterrupt:
        raise Interrupted(Run(header=header, trials=tuple(trials), judgement=None)) from None
    except AssayError as problem:
        so_far = Run(header=header, trials=tuple(trials), judgement=None)
        raise CutShort(so_far, problem.message, problem.remedy) from problem
    finally:
        stop_all()
    return Run(header=header, trials=tuple(trials), judgement=None)


def _told(now: Answer, trial: Trial, quest: Quest, header: Header) -> Answer:
    return answer(now.bounds, (*now.steps, step_of(trial, quest.objective, header.environment)))


def _one(quest: Quest, rate: float, number: int, bench: Bench) -> Trial:
    given = quest.server.resolved.plan
    plan = plan_at(given, quest.objective, rate, quest.measure_ns, quest.max_connections)
    slot = Slot(number, number, 0, quest.server.id)
    bench.observer.trial_started(slot)
    at_rate = planned(quest.server, plan)
    return run_trial(at_rate.resolved, at_rate.server, slot, bench)


def _closed_per_s(quest: Quest, url: str) -> float:
    """What a short closed loop gets in its better moments: only the range of the search rests on it, and
    the server may have died of it."""
    plan = msgspec.structs.replace(
        quest.server.resolved.plan,
        url=url,
        load=Closed(connections=_CLOSED_CONNECTIONS),
        stop=StopAfter(ns=_FIRST_LOOK_NS),
        warmup_max_ns=0,
        cpus=quest.terms.split.client,
    )
    load = engine.start(plan)
    try:
        while not load.wait(0.1):
            pass
    except BaseException:
        load.stop()
        while not load.wait(0.1):
            pass
        raise
    windows = [one.completed / one.length_ns * 1e9 for one in load.result().windows if one.completed]
    return statistics.quantiles(windows, n=10)[-1] if len(windows) > 1 else sum(windows)


def _gone(trials: list[Trial]) -> bool:
    """Whether the server can no longer be had: it did not even start several times in a row."""
    last = trials[-_FAILURES_IN_A_ROW:]
    failed = [one for one in last if one.failure is not None and one.failure.stage != "load"]
    return len(failed) == _FAILURES_IN_A_ROW


def _load_ns(trial: Trial) -> int:
    """For how long load was offered; of a trial that failed, at most so long."""
    measured, stop = trial.measurement, trial.plan.stop
    if measured is not None:
        return measured.warmup_ns + measured.measured_ns
    return stop.ns if isinstance(stop, StopAfter) else 0
