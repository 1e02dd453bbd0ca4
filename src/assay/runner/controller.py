"""A run from its header to its judgement. Read from top to bottom: so every run lives.

What a run is made of is its design; what it does next, `assay.plan.next` says. Here it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import cast

import msgspec
from msgspec.structs import replace

from assay import store
from assay.core import signals
from assay.core.errors import AssayError, InputError, ServerFailed
from assay.core.settings import Settings
from assay.engine import driver
from assay.model.block import Block
from assay.model.design import CandidatesDesign, Design, StudyDesign
from assay.model.run import FORMAT, BlockDone, Header, Run, TrialDone
from assay.model.trial import Trial
from assay.plan.next import Due, DueBlock, next_due, to_stand
from assay.plan.next.schedule import is_interleavable
from assay.plan.next.warming import preload
from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.plan.study import load_study, resolve
from assay.plan.words.case import cores_for, secrets_lacking
from assay.plan.words.case import resolve as resolve_candidates
from assay.runner.bench import (
    HERE,
    Bench,
    CutShort,
    Interrupted,
    Observer,
    Silent,
    Where,
    how_to_go_on,
    open_bench,
    settled,
)
from assay.runner.block import PlannedArm, run_block
from assay.runner.first_check import early_look, first_look
from assay.runner.one_trial import failure_of, run_trial
from assay.runner.prepare import prepare_all
from assay.servers import host
from assay.servers.build import Prepared
from assay.servers.emulation import lacking
from assay.servers.manifest import Requirement
from assay.servers.server import ExternalAddress
from assay.servers.services import Services
from assay.servers.supervised import stop_all
from assay.store import RunFile
from assay.verdict import judge


def header_for(run: ResolvedRun, command: Sequence[str], series: str = "", where: Where = HERE) -> Header:
    """All that is settled before the first trial. `command` is the command line as given.

    InputError where a plan is not one that the engine can execute.
    """
    for case in run.cases:
        driver.check(case.plan)
    environment = where.site.environment(run.split, _tools(run))
    if not where.nodes:
        carried = host.loopback_bytes_per_s(run.split)
        environment = msgspec.structs.replace(environment, loopback_bytes_per_s=carried)
    now_ns = time.time_ns()
    return Header(
        format=FORMAT,
        run_id=store.new_run_id(run.name, now_ns),
        created_unix_ns=now_ns,
        command=tuple(command),
        study_name=run.name,
        design=cast(Design, run.design),
        cases=tuple(case.case for case in run.cases),
        environment=environment,
        series=series,
        nodes=where.nodes,
    )


def _tools(run: ResolvedRun) -> tuple[Requirement, ...]:
    """All that a server of the run is built or run with; where servers run, their versions are looked up."""
    return tuple(dict.fromkeys(one for server in run.servers for one in server.requires))


@dataclass
class Resumed:
    """A run that was cut off, open to be gone on with. `notes` say what of its file was damaged."""

    resolved: ResolvedRun
    run_file: RunFile
    run: Run
    notes: tuple[str, ...]

    def __enter__(self) -> Resumed:
        """Close the run file at the end of a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the run file."""
        self.run_file.close()


def resume(path: Path, settings: Settings) -> Resumed:
    """Open the run at `path` with what it was made of.

    InputError where the study, the machine or the version has changed so that what is still to come
    could not be put beside what is there.
    """
    header = store.load(path).header
    if header.nodes:
        raise InputError(
            f"run {header.run_id} was made on the nodes {', '.join(header.nodes)}",
            "a run on a cluster cannot be gone on with yet: make a new one",
        )
    resolved = _resolved(header, settings)
    _check_same(header, resolved)
    run_file, stored = store.reopen(path)
    return Resumed(resolved, run_file, stored.run, stored.notes)


def _resolved(header: Header, settings: Settings) -> ResolvedRun:
    """The run that the header's design is: a study is read again, candidates are in the record."""
    match header.design:
        case StudyDesign() as design:
            source = design.path if Path(design.path).is_file() else header.study_name
            blocks = (
                design.choices.blocks if design.choices.quick else design.blocks
            )  # what fits, it finds anew
            choices = msgspec.structs.replace(design.choices, blocks=blocks, seed=design.seed)
            return resolve(load_study(source, settings), settings, choices)
        case CandidatesDesign() as design:
            lacking = [f"{where} ({token})" for token, where in secrets_lacking(design).items()]
            if lacking:
                problem = f"run {header.run_id} needs what its record hides: {', '.join(lacking)}"
                raise InputError(problem, "give each as it was: --secret VALUE")
            try:
                return resolve_candidates(header.study_name, design, cores_for(design.candidates))
            except InputError as error:
                problem = f"run {header.run_id} cannot be gone on with: {error.message}"
                raise InputError(problem, error.remedy) from error
    raise InputError(f"a run of this kind cannot be gone on with: {header.run_id}", "make a new run")


def _check_same(header: Header, run: ResolvedRun) -> None:
    now = host.environment(run.split, {})
    then = header.environment
    if now.machine_id != then.machine_id:
        raise InputError(
            f"run {header.run_id} is of another machine ({then.hostname})", "make a new run here"
        )
    if (now.client_cpus, now.server_cpus) != (then.client_cpus, then.server_cpus):
        raise InputError(f"run {header.run_id} had other cores than there are now", "make a new run")
    cases = tuple(case.case for case in run.cases)
    now_asked = (run.design.plans, run.design.warm_ups)
    same_loads = now_asked == (header.design.plans, header.design.warm_ups)
    if cases != header.cases or not same_loads:
        what = f"study {header.study_name!r} has changed since run {header.run_id} was made"
        raise InputError(what, "make a new run, or go back to the study as it was")


Ready = Prepared | ExternalAddress | ServerFailed


def begin(
    resolved: ResolvedRun,
    settings: Settings,
    observer: Observer | None = None,
    *,
    command: Sequence[str],
    series: str = "",
    begun: Callable[[str], None] = lambda run_id: None,
    where: Where = HERE,
) -> Run:
    """A new run to its end, judged; the machine must be held (`machine_lock`).

    `begun` is told its id once its record lies on the disk. A server that cannot be had, or fails, is a row
    with its reason; the run goes on. InputError where a run of candidates cannot begin. Interrupted, with
    what was measured, on Ctrl-C. EnvironmentLacks where a trial cannot be stored. Whatever happens, no
    process is left.
    """
    with open_bench(resolved, settings, observer or Silent(), where) as bench:
        resolved = _announced(first_look(settled(resolved, where), bench), bench.observer)
        header = header_for(resolved, command, series, where)
        with store.create(settings.results, header) as run_file:
            begun(header.run_id)
            return _to_its_end(resolved, Run(header=header, trials=(), judgement=None), run_file, bench)


def _announced(resolved: ResolvedRun, observer: Observer) -> ResolvedRun:
    """The run, after saying which of its loads are not interleaved where they usually do, and why."""
    others = [one for one in resolved.cases if one.case.dependent or not is_interleavable(one.case, one.plan)]
    if resolved.design.interleave is not None and others:
        observer.note(
            "one after the other: open loops, searches, counted loads and those over an emulated network; "
            "what follows from an interleaved block is asked of its servers"
        )
    lacks = lacking() if any(one.case.emulation for one in resolved.cases) else None
    if lacks is not None:
        observer.note(f"loads over an emulated network are not measured: {lacks}")
    if resolved.design.sequential:
        observer.note(f"one after the other: {resolved.design.sequential}")
    return resolved


def go_on(resumed: Resumed, settings: Settings, observer: Observer | None = None) -> Run:
    """A run that was cut off to its end, judged, as `begin` does it."""
    with open_bench(resumed.resolved, settings, observer or Silent()) as bench:
        before = msgspec.structs.replace(resumed.run, judgement=None)
        return _to_its_end(resumed.resolved, before, resumed.run_file, bench)


def _to_its_end(resolved: ResolvedRun, run: Run, run_file: RunFile, bench: Bench) -> Run:
    """Trial after trial, or block after block, while one is due; each is stored before the next begins.
    Then the judgement."""
    observer = bench.observer
    ending: BaseException | None = None
    try:
        observer.run_started(run, resolved.costs)
        servers = _prepared(resolved, bench)
        preload()
        run_services = Services(resolved.services, bench.settings, bench.split, run_file.logs)
        with bench.where.site.services(run_services) as services, bench.warm_pool as held:
            loopback = run.header.environment.loopback_bytes_per_s
            bench = replace(bench, logs=run_file.logs, services=services, loopback_bytes_per_s=loopback)
            while (due := next_due(run)) is not None:
                held.only(to_stand(run))
                if isinstance(due, DueBlock):
                    block = _block(resolved, due, servers, bench)
                    after = run.after(block)
                    held.dismiss_but(standing := to_stand(after))  # they end while it is stored and judged
                    run_file.append(BlockDone(block=block), observer.note)
                    run = after
                    if not standing:
                        bench.expects(sum(trial.server is not None for trial in block.trials))
                    observer.block_finished(block)
                    if block.cut:
                        raise KeyboardInterrupt
                else:
                    observer.trial_started(due.slot)
                    trial = _trial(resolved, due, servers, bench)
                    run_file.append(TrialDone(trial=trial), observer.note)
                    run = run.after(trial)
                    observer.trial_finished(trial)
            signals.ending()
    except (KeyboardInterrupt, AssayError) as problem:
        ending = problem
    finally:
        signals.ending()
        ending = _all_stopped(ending)
    if run.trials:
        judgement = judge(run)
        run = msgspec.structs.replace(run, judgement=judgement)
        try:
            run_file.append(judgement, observer.note)
        except AssayError as problem:
            ending = ending or problem
    _raise(ending, run)
    return run


def _all_stopped(ending: BaseException | None) -> BaseException | None:
    """How the run ended, once no server is left. What goes wrong here keeps no run from its judgement."""
    try:
        stop_all()
    except (KeyboardInterrupt, AssayError) as problem:  # the supervisors end what is left
        return ending or problem
    return ending


def _raise(ending: BaseException | None, run: Run) -> None:
    """Say how the run ended before its time, if it did, with what is there of it."""
    if isinstance(ending, KeyboardInterrupt):
        raise Interrupted(run)
    if isinstance(ending, AssayError):
        kept = "what is stored stands" if run.header.nodes else ""
        told = (ending.remedy, kept, how_to_go_on(run))
        raise CutShort(run, ending.message, "; ".join(filter(None, told))) from ending


def _prepared(resolved: ResolvedRun, bench: Bench) -> Mapping[str, Ready]:
    """Each case's server, ready or with why it is not."""
    to_prepare = [case.server for case in resolved.cases if case.ready is None]
    made = prepare_all(
        to_prepare,
        bench.settings,
        bench.split.server_cores,
        bench.observer,
        site=bench.where.site,
        meanwhile=early_look(resolved, bench),
    )

    def of(case: ResolvedCase) -> Ready:
        return case.ready or next(server for spec, server in made if spec == case.server)

    return {case.case.id: of(case) for case in resolved.cases}


def _trial(resolved: ResolvedRun, due: Due, servers: Mapping[str, Ready], bench: Bench) -> Trial:
    """The trial that is due: run, or a row with why it cannot be."""
    trial, case, server = _begun(due), _case(resolved, due), servers[due.slot.case]
    if isinstance(server, ServerFailed):
        return msgspec.structs.replace(trial, failure=failure_of(server))
    if due.failure is not None:
        return msgspec.structs.replace(trial, failure=due.failure)
    return run_trial(trial, case, server, due, bench)


def _block(resolved: ResolvedRun, due: DueBlock, servers: Mapping[str, Ready], bench: Bench) -> Block:
    """The block that is due, of the servers that can be had. KeyboardInterrupt where too little of it was
    measured to be kept."""
    bench.observer.block_started(tuple(arm.slot for arm in due.arms))
    asked, lacking = [], []
    for arm in due.arms:
        trial, server = _begun(arm), servers[arm.slot.case]
        if isinstance(server, ServerFailed):
            lacking.append(msgspec.structs.replace(trial, failure=failure_of(server)))
        else:
            asked.append(PlannedArm(trial, _case(resolved, arm), arm, server))
    block = run_block(due, asked, bench)
    if block is None:
        raise KeyboardInterrupt
    return msgspec.structs.replace(block, trials=(*block.trials, *lacking))


def _begun(due: Due) -> Trial:
    """The trial before anything is known of it."""
    slot = due.slot
    return Trial(
        number=slot.number,
        case=slot.case,
        block=slot.block,
        position=slot.position,
        started_at_unix_ns=time.time_ns(),
        plan=due.plan,
    )


def _case(resolved: ResolvedRun, due: Due) -> ResolvedCase:
    return next(case for case in resolved.cases if case.case.id == due.slot.case)
