"""The first line of a run, and taking a run up again from it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import cast

import msgspec

from assay import store
from assay.core.errors import InputError
from assay.core.settings import Settings
from assay.engine import driver
from assay.model.design import CandidatesDesign, Design, StudyDesign
from assay.model.run import FORMAT, Header, Run
from assay.plan.resolved import ResolvedRun
from assay.plan.study import load_study, resolve
from assay.plan.words.case import cores_for, secrets_lacking
from assay.plan.words.case import resolve as resolve_candidates
from assay.runner.bench import HERE, Where
from assay.servers import host, loopback
from assay.servers.manifest import Requirement
from assay.store import RunFile


def header_for(run: ResolvedRun, command: Sequence[str], series: str = "", where: Where = HERE) -> Header:
    """All that is settled before the first trial. `command` is the command line as given.

    InputError where a plan is not one that the engine can execute.
    """
    for case in run.cases:
        driver.check(case.plan)
    environment = where.site.environment(run.split, _tools(run))
    if not where.nodes:
        carried = loopback.bytes_per_s(run.split)
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
            choices = msgspec.structs.replace(design.choices, blocks=design.blocks, seed=design.seed)
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
