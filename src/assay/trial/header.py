"""The first line of a run, and taking a run up again from it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import msgspec

from assay import engine, host, loopback, store
from assay.errors import InputError
from assay.settings import Settings
from assay.store import RunFile
from assay.study import ResolvedStudy, load_study, resolve
from assay.sut.requires import check_all
from assay.values.run import FORMAT, Header, Run


def header_for(study: ResolvedStudy, command: Sequence[str]) -> Header:
    """All that is settled before the first trial. `command` is the command line as given.

    InputError where a plan is not one that the engine can execute.
    """
    for case in study.cases:
        engine.check(case.plan)
    environment = msgspec.structs.replace(
        host.environment(study.split, _tool_versions(study)),
        loopback_bytes_per_s=loopback.bytes_per_s(study.split),
    )
    now_ns = time.time_ns()
    return Header(
        format=FORMAT,
        run_id=store.new_run_id(study.name, now_ns),
        created_unix_ns=now_ns,
        command=tuple(command),
        study_name=study.name,
        design=study.design,
        cases=tuple(case.case for case in study.cases),
        environment=environment,
    )


def _tool_versions(study: ResolvedStudy) -> dict[str, str]:
    """Of every tool that a server of the study is built or run with."""
    wanted = dict.fromkeys(requirement for server in study.servers for requirement in server.requires)
    return {one.requirement.name: one.version for one in check_all(tuple(wanted)) if one.version}


@dataclass
class Resumed:
    """A run that was cut off, open to be gone on with. `notes` say what of its file was damaged."""

    study: ResolvedStudy
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
    """Open the run at `path` with the study that it was made of.

    InputError where the study, the machine or the version has changed so that what is still to come
    could not be put beside what is there, and where the run has ended.
    """
    header = store.load(path).header
    design = header.study
    if design is None:
        raise InputError(f"run {header.run_id} is of no study", "make a new run")
    source = design.path if Path(design.path).is_file() else header.study_name
    choices = msgspec.structs.replace(design.choices, blocks=design.blocks, seed=design.seed)
    study = resolve(load_study(source, settings), settings, choices)
    _check_same(header, study)
    run_file, stored = store.reopen(path)
    return Resumed(study, run_file, stored.run, stored.notes)


def _check_same(header: Header, study: ResolvedStudy) -> None:
    now = host.environment(study.split, {})
    then = header.environment
    if now.machine_id != then.machine_id:
        raise InputError(
            f"run {header.run_id} is of another machine ({then.hostname})", "make a new run here"
        )
    if (now.client_cpus, now.server_cpus) != (then.client_cpus, then.server_cpus):
        raise InputError(f"run {header.run_id} had other cores than there are now", "make a new run")
    cases = tuple(case.case for case in study.cases)
    same_loads = (study.design.plans, study.design.warm_ups) == (header.design.plans, header.design.warm_ups)
    if cases != header.cases or not same_loads:
        what = f"study {header.study_name!r} has changed since run {header.run_id} was made"
        raise InputError(what, "make a new run, or go back to the study as it was")
