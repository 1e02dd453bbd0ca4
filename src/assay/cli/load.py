"""`assay load URL`: offer load, watch it, say what came of it; and keep it as a run of one trial."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.cli import before_run, load_flags, report_outputs
from assay.cli.parser import Parser
from assay.core import console, credentials, signals
from assay.core.errors import EXIT_INTERRUPTED, AssayError, InputError
from assay.engine import driver, target_policy
from assay.plan.words import settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.generator import GoingLoad
    from assay.model.finding import Finding
    from assay.model.measurement import Measurement
    from assay.model.plan import LoadPlan
    from assay.model.run import Header, Run
    from assay.model.trial import GeneratorSeen, HostSeen
    from assay.plan.words.load_plan import DraftedLoad
    from assay.servers.host import Watch


_REFRESH_S = 0.2
_LINE_EVERY_S = 2.0


def configure(parser: Parser) -> None:
    """Add the flags."""
    load_flags.add_to(parser)
    before_run.add_cluster_flags(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--json", action="store_true", common=True, help="the whole result as JSON on standard output"
    )
    report_outputs.add_verbose(output)
    output.add_argument("-q", "--quiet", action="store_true", help="no progress")
    output.add_argument("-y", "--yes", action="store_true", help="load a machine that is not yours: you may")
    _run_flags(parser)
    parser.examples(
        ("assay load http://127.0.0.1:8080/", "64 connections as fast as they go, for 10 s"),
        ("assay load localhost:8080/api -c 8 -d 30s --warm-up 5s", "8 connections, measured once warm"),
        (
            "assay load http://127.0.0.1:8080/ --rate 5k",
            "latency at 5,000 requests a second: p50, p99, p99.9",
        ),
        (
            'assay load http://127.0.0.1:8080/users -b \'{"name": "ada"}\' \\\n'
            "      -H 'Content-Type: application/json' --expect-status 201",
            "POST a body; only 201 is a right answer",
        ),
        ("assay load http://127.0.0.1:8080/ --requests mix.jsonl --order weighted", "a mix of requests"),
        (
            "assay load https://127.0.0.1:8443/ --insecure --http3 -c 8 --streams 10",
            "HTTP/3, eighty requests at once on eight connections",
        ),
        (
            "assay load https://app.test/ --resolve app.test:443:127.0.0.1 --cacert ca.pem",
            "TLS with an authority of your own, to a server that DNS does not know yet",
        ),
        (
            "assay load http://10.0.0.7:8080/ --ray 10.0.0.1:6379 --generators 4",
            "from four machines of a cluster",
        ),
        ("assay load http://127.0.0.1:8080/ --json | jq .throughput_per_s", "one figure for a script"),
        (
            "assay load http://127.0.0.1:8080/ --save --html page.html",
            "keep it, for report, compare and history, and make a page of it",
        ),
    )


def run(args: argparse.Namespace) -> int:
    """Run the load and report it."""
    drafted = settle.checked_load(args.url, load_flags.given(args))
    before_run.check_cluster_flags(args)
    _check_kept(args, drafted.plan)
    load = settle.at_address(drafted, allowed=args.yes)
    with signals.run():
        try:
            return _from_cluster(load.plan, args) if args.ray else _from_here(load, args)
        except KeyboardInterrupt:
            signals.ignore()
            raise _GivenUp("interrupted before all was shown", "what is not shown is not kept") from None


class _GivenUp(AssayError):
    """Signals ended even the end of the load."""

    exit_code = EXIT_INTERRUPTED


def _from_here(load: DraftedLoad, args: argparse.Namespace) -> int:
    """The load from this machine."""
    plan = load.plan
    with settle.named(load):
        running = driver.start(plan)
    host = _look_at_host(plan)
    interrupted = not _watch(running, plan, quiet=args.quiet)
    signals.ending()
    here = target_policy.is_this_machine(target_policy.first_hops(plan))
    loaded = _Loaded(plan=plan, measurement=running.result(), host=host.observed(), same_machine=here)
    return _report(loaded, args, interrupted=interrupted)


def _from_cluster(plan: LoadPlan, args: argparse.Namespace) -> int:
    """The same load, from several machines."""
    from assay.cluster import session

    threads = getattr(args, "threads", None)  # the plan's own are those of this machine unless it is given
    with session.generators(args.ray, args.generators, plan, threads) as (generators, plan):
        running = generators.start(plan)
        interrupted = not _watch(running, plan, quiet=args.quiet)
        signals.ending()
        loaded = _Loaded(
            plan=plan,
            measurement=running.result(),
            generators=running.generators(),
            same_machine=False,
        )
        return _report(loaded, args, interrupted=interrupted)


def _look_at_host(plan: LoadPlan) -> Watch:
    """Watch the machine from here on. Imported while the load runs already: it is not light."""
    from assay.servers.cores import CoreSplit
    from assay.servers.host import Watch

    return Watch(CoreSplit(client=plan.cpus, server=(), cores=os.cpu_count() or 1))


def _watch(running: GoingLoad, plan: LoadPlan, *, quiet: bool) -> bool:
    """Show the load until it ends; False when Ctrl-C ended it."""
    try:
        if quiet:
            while not running.wait(_REFRESH_S):
                pass
        elif console.is_live():
            _watch_live(running, plan)
        else:
            _watch_lines(running, plan)
    except KeyboardInterrupt:
        running.stop()
        while not running.wait(_REFRESH_S):
            pass
        return False
    return True


def _watch_live(running: GoingLoad, plan: LoadPlan) -> None:
    # Imported while the load already runs: nothing of it is needed to send the first request.
    from rich.live import Live

    from assay.report.load import LoadView

    view = LoadView(plan)
    with Live(console=console.talk(), auto_refresh=False, transient=True) as live:
        while not running.wait(_REFRESH_S):
            view.take(running.snapshot())
            live.update(view.render(), refresh=True)


def _watch_lines(running: GoingLoad, plan: LoadPlan) -> None:
    from assay.report.load import LoadView

    view = LoadView(plan)
    said = time.monotonic()
    while not running.wait(_REFRESH_S):
        view.take(running.snapshot())
        if time.monotonic() - said >= _LINE_EVERY_S:
            said = time.monotonic()
            console.note(view.line())


def _report(loaded: _Loaded, args: argparse.Namespace, *, interrupted: bool) -> int:
    """Show what came of it, then write what was asked for: figures first, whatever happens to files."""
    from assay.verdict import exit_codes

    run = _run_of(loaded, args.name) if _is_kept(args) else None
    findings = _findings_of(run) if run is not None else _findings(loaded)
    if args.json:
        from assay.report.load import as_json

        console.write(as_json(loaded.plan, loaded.measurement, findings, loaded.generators))
    elif not report_outputs.takes_standard_output(args):
        _show(loaded, findings, verbose=args.verbose)
    if run is not None:
        _write(run, args)
    return EXIT_INTERRUPTED if interrupted or signals.came() else exit_codes.of_load(findings)


def _show(loaded: _Loaded, findings: Sequence[Finding], *, verbose: bool) -> None:
    from assay.core.units import safe
    from assay.report.model.load_document import document
    from assay.report.terminal import in_full, on_screen

    told = document(loaded.plan, loaded.measurement, findings)
    where = f"{safe(told.title, 120)}, more: --verbose"
    console.show(in_full(told) if verbose else on_screen(told, where))


def _findings(loaded: _Loaded) -> Sequence[Finding]:
    from assay.verdict import judge_load

    return judge_load(
        loaded.plan,
        loaded.measurement,
        cores=os.cpu_count() or 1,
        same_machine=loaded.same_machine,
        host=loaded.host,
        generators=loaded.generators,
    )


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    """A load that is over: what was asked for, what was measured, and who looked on from where."""

    plan: LoadPlan
    measurement: Measurement
    same_machine: bool
    host: HostSeen | None = None
    generators: tuple[GeneratorSeen, ...] = ()


def _run_flags(parser: Parser) -> None:
    """Add the flags."""
    keep = parser.add_argument_group("keep it", "as a run of one trial, as `assay report latest` shows it")
    keep.add_argument(
        "--save",
        action="store_true",
        common=True,
        help="keep a record and its report in the folder of runs",
    )
    keep.add_argument("--name", default="", metavar="NAME",
                      help="what the server is called, which loads are compared by [its URL]")  # fmt: skip
    keep.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    report_outputs.add_to(parser)


def _is_kept(args: argparse.Namespace) -> bool:
    """Whether anything was asked for that is made of a run."""
    return args.save or report_outputs.is_any_asked(args)


def _check_kept(args: argparse.Namespace, plan: LoadPlan) -> None:
    """InputError where a run is wanted that nothing would say the machines of, or whose name would hold what
    may be a credential."""
    from assay.core.credentials import check_names
    from assay.core.settings import Settings

    if not _is_kept(args):
        return
    check_names([args.name or plan.url])
    if args.ray:
        raise InputError(
            "a load from a cluster is not kept: nothing is known of its server's machine",
            "keep what --json says, or compare with `assay versus --ray`",
        )
    results = Settings.resolve(results=args.results).results if args.save else None
    report_outputs.attempt(args, results)


def _run_of(loaded: _Loaded, name: str) -> Run:
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


def _header(loaded: _Loaded, name: str) -> Header:
    from assay import store
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
        run_id=store.new_run_id("load", begun_ns),
        created_unix_ns=begun_ns,
        command=credentials.command(),
        study_name="load",
        design=design,
        cases=(Case(id=case, server=case, variant="", workload=plan.requests[0].target, load=AS_GIVEN),),
        environment=host.environment(CoreSplit(plan.cpus, (), os.cpu_count() or 1), {}),
    )


def _findings_of(run: Run) -> tuple[Finding, ...]:
    """Those of its judgement; whom they are about goes without saying, as where no run is made."""
    import msgspec

    from assay.model.finding import Subject

    found = run.judgement.findings if run.judgement else ()
    return tuple(msgspec.structs.replace(one, subject=Subject()) for one in found)


def _write(run: Run, args: argparse.Namespace) -> None:
    """Keep the run, where that was asked for, and write it in the forms that were."""
    from assay.cli.report import Afterwards

    later = Afterwards()
    if args.save:
        with later.kept():
            _keep(run, args)
    with later.kept():
        report_outputs.write_all(run, None, args)
    later.tell()


def _keep(run: Run, args: argparse.Namespace) -> None:
    from assay import store
    from assay.cli.report_outputs import OutputFile
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
