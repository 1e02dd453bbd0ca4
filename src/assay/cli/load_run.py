"""A load as a run of one trial: kept where `assay load` is asked to, and written in every form of a run."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.cli import report_outputs
from assay.core.errors import InputError

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.model.finding import Finding
    from assay.model.measurement import Measurement
    from assay.model.plan import LoadPlan
    from assay.model.run import Header, Run
    from assay.model.trial import GeneratorSeen, HostSeen

_NAME = "load"


@dataclass(frozen=True, kw_only=True)
class _Observed:
    """Who looked at a load, and from where: this machine, or several generators on their own."""

    same_machine: bool
    host: HostSeen | None = None
    generators: tuple[GeneratorSeen, ...] = ()


@dataclass(frozen=True)
class Loaded(_Observed):
    """A load that is over: what was asked for and what was measured."""

    plan: LoadPlan
    measurement: Measurement


def add_to(parser: Parser) -> None:
    """Add the flags."""
    keep = parser.add_argument_group("keep it", "as a run of one trial, as `assay report latest` shows it")
    keep.add_argument(
        "--save", action="store_true", help="keep a record and its report in the folder of runs"
    )
    keep.add_argument("--name", default="", metavar="NAME",
                      help="what the server is called, which loads are compared by [its URL]")  # fmt: skip
    keep.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    report_outputs.add_to(parser)


def is_wanted(args: argparse.Namespace) -> bool:
    """Whether anything was asked for that is made of a run."""
    return args.save or report_outputs.is_any_asked(args)


def check(args: argparse.Namespace, plan: LoadPlan) -> None:
    """InputError where a run is wanted that nothing would say the machines of, or whose name would hold what
    may be a credential."""
    from assay.core.credentials import check_names

    if is_wanted(args):
        check_names([args.name or plan.url])
    if args.ray and is_wanted(args):
        raise InputError(
            "a load from a cluster is not kept: nothing is known of its server's machine",
            "keep what --json says, or compare with `assay versus --ray`",
        )
    if is_wanted(args):
        from assay.core.settings import Settings

        results = Settings.resolve(results=args.results).results if args.save else None
        report_outputs.attempt(args, results)


def made(loaded: Loaded, name: str) -> Run:
    """The load as a judged run."""
    from assay.model.run import Run
    from assay.model.trial import Link, Trial
    from assay.verdict import judged

    header = _header(loaded, name)
    [(case, plan)] = header.design.plans.items()
    trial = Trial(
        number=0,
        case=case,
        block=0,
        position=0,
        started_at_unix_ns=loaded.measurement.started_at_unix_ns,
        plan=plan,
        measurement=loaded.measurement,
        host=loaded.host,
        link=Link(same_machine=loaded.same_machine),
    )
    return judged(Run(header=header, trials=(trial,), judgement=None))


def _header(loaded: Loaded, name: str) -> Header:
    from assay import store
    from assay.core import credentials
    from assay.model.design import LoadDesign
    from assay.model.run import FORMAT, Header
    from assay.model.trial import AS_GIVEN, Case
    from assay.servers import host
    from assay.servers.cores import CoreSplit

    plan = loaded.plan
    case = name or plan.url.removeprefix("http://")
    begun_ns = loaded.measurement.started_at_unix_ns
    design = LoadDesign(title=f"Load on {case}", plans={case: plan}, titles={case: plan.url})
    return Header(
        format=FORMAT,
        run_id=store.new_run_id(_NAME, begun_ns),
        created_unix_ns=begun_ns,
        command=credentials.command(),
        study_name=_NAME,
        design=design,
        cases=(Case(id=case, server=case, variant="", workload=plan.requests[0].target, load=AS_GIVEN),),
        environment=host.environment(CoreSplit(plan.cpus, (), os.cpu_count() or 1), {}),
    )


def findings(run: Run) -> tuple[Finding, ...]:
    """Those of its judgement; whom they are about goes without saying, as where no run is made."""
    import msgspec

    from assay.model.finding import Subject

    found = run.judgement.findings if run.judgement else ()
    return tuple(msgspec.structs.replace(one, subject=Subject()) for one in found)


def write(run: Run, args: argparse.Namespace) -> None:
    """Keep the run, where that was asked for, and write it in the forms that were."""
    from assay.cli.stored import Afterwards

    later = Afterwards()
    if args.save:
        with later.kept():
            _keep(run, args)
    with later.kept():
        report_outputs.write_all(run, None, args)
    later.tell()


def _keep(run: Run, args: argparse.Namespace) -> None:
    from assay import store
    from assay.cli.output import OutputFile
    from assay.core import console
    from assay.core.settings import Settings
    from assay.model.run import TrialDone
    from assay.report import markdown

    assert run.judgement is not None  # it was made with one
    with store.create(Settings.resolve(results=args.results).results, run.header) as kept:
        for trial in run.trials:
            kept.append(TrialDone(trial=trial))
        kept.append(run.judgement)
        OutputFile(str(kept.folder / "report.md"), announce=False).write(markdown.render(run))
    console.note(f"kept as run {run.header.run_id}: assay report {run.header.run_id}")
