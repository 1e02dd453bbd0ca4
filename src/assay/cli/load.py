"""`assay load URL`: offer load, watch it, say what came of it; and keep it as a run of one trial."""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from assay.cli import before_run, load_flags, report_outputs
from assay.cli.parser import Parser
from assay.cli.scraped import scraped
from assay.core import console, credentials, signals
from assay.core.errors import EXIT_INTERRUPTED, AssayError, InputError
from assay.engine.generator import REFRESH_S, drive, to_its_end
from assay.plan.words import parse, settle
from assay.runner import one_load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.generator import EndedLoad, GoingLoad
    from assay.model.finding import Finding
    from assay.model.plan import LoadPlan
    from assay.model.run import Run
    from assay.plan.words.load_plan import DraftedLoad
    from assay.report.metrics import Live
    from assay.verdict.limits import LimitResult


def configure(parser: Parser) -> None:
    """Add the flags."""
    load_flags.add_to(parser)
    before_run.add_cluster_flags(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--json", action="store_true", common=True, help="the whole result as JSON on standard output"
    )
    report_outputs.add_verbose(output)
    before_run.add_why(output)
    output.add_argument("--metrics", metavar="HOST:PORT",
                        help="answer Prometheus while it goes on; a port alone is of loopback")  # fmt: skip
    output.add_argument("-q", "--quiet", action="store_true", help="no progress")
    output.add_argument("-y", "--yes", action="store_true", help="load a machine that is not yours: you may")
    _limit_flags(parser)
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
        (
            "assay load --curl 'curl http://127.0.0.1:8080/users -d name=ada' \\\n      --bearer-file token",
            "a command for curl, with a token that no command line holds",
        ),
        ("assay load http://127.0.0.1:8080/ --har page.har", "what a browser recorded, to this server"),
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
        ("assay load http://127.0.0.1:8080/ --why", "and what an answer costs that server"),
        (
            "assay load http://127.0.0.1:8080/ --slo 'p99<200ms,errors<1%,throughput>500'",
            "hold it to limits: exit code 3 where one is missed beyond doubt",
        ),
        ("assay load http://127.0.0.1:8080/ --json | jq .throughput_per_s", "one figure for a script"),
        (
            "assay load http://127.0.0.1:8080/ --save --html page.html",
            "keep it, for report, compare and history, and make a page of it",
        ),
    )


def run(args: argparse.Namespace) -> int:
    """Settle the load, offer it, judge it, and tell what came of it."""
    load = settle.load(
        args.url, load_flags.given(args), allowed=args.yes, check=lambda plan: _check_outputs(args, plan)
    )
    for note in load.notes:
        console.note(note)
    with signals.run(), scraped(args.metrics) as shown:
        try:
            return _tell(_judge(_drive(load, args, shown), args), args)
        except KeyboardInterrupt:
            signals.ignore()
            raise _GivenUp("interrupted before all was shown", "what is not shown is not kept") from None


class _GivenUp(AssayError):
    """Signals ended even the end of the load."""

    exit_code = EXIT_INTERRUPTED


def _drive(load: DraftedLoad, args: argparse.Namespace, shown: Live | None) -> EndedLoad[Any]:
    """The load from this machine, or from several."""
    watch = partial(_watch, quiet=args.quiet, shown=shown)
    if not args.ray:
        ended = one_load.offer(load, watch)
        return one_load.with_costs(ended) if args.why and not ended.interrupted else ended
    from assay.cluster import session

    threads = getattr(args, "threads", None)  # the plan's own are those of this machine unless it is given
    with session.generators(args.ray, args.generators, load.plan, threads) as (generators, plan):
        return drive(plan, generators.start, same_machine=False, watch=lambda going: watch(going, plan))


def _watch(going: GoingLoad, plan: LoadPlan, *, quiet: bool, shown: Live | None) -> None:
    """Show the load until it ends, to scrapers too."""
    if shown is not None:
        shown.watch(going.snapshot, plan.url)
    if quiet:
        to_its_end(going)
    elif console.is_live():
        _watch_live(going, plan)
    else:
        from assay.report.load import lines

        lines(going, plan, console.note)


def _watch_live(going: GoingLoad, plan: LoadPlan) -> None:
    # Imported while the load already runs: nothing of it is needed to send the first request.
    from rich.live import Live

    from assay.report.load import LoadView

    view = LoadView(plan)
    with Live(console=console.talk(), auto_refresh=False, transient=True) as live:
        while not going.wait(REFRESH_S):
            view.take(going.snapshot())
            live.update(view.render(), refresh=True)


class _JudgedLoad(msgspec.Struct, frozen=True, kw_only=True):
    """A load with what is found of it, as a `run` too where it is kept or written."""

    ended: EndedLoad[Any]
    findings: Sequence[Finding]
    code: int
    limits: Sequence[LimitResult] = ()
    run: Run | None = None


def _judge(ended: EndedLoad[Any], args: argparse.Namespace) -> _JudgedLoad:
    from assay import verdict
    from assay.verdict import exit_codes
    from assay.verdict.limits import judged_limits

    run = None
    if _is_kept(args):
        held_to = (",".join(one.text for one in args.slo), args.fail_if_unsure)
        made = one_load.as_run(ended, args.name, command=credentials.command(), held_to=held_to)
        run = verdict.judged(made)
        findings = _findings_of(run)
    else:
        findings = verdict.judge_load(
            ended.plan,
            ended.measurement,
            cores=os.cpu_count() or 1,
            same_machine=ended.same_machine,
            host=ended.host,
            generators=ended.generators,
            account=ended.account,
        )
    limits = judged_limits(args.slo, ended.plan, ended.measurement, findings) if args.slo else ()
    code = exit_codes.of_load(findings, limits, unsure_fails=args.fail_if_unsure)
    return _JudgedLoad(ended=ended, findings=findings, code=code, limits=limits, run=run)


def _tell(judged: _JudgedLoad, args: argparse.Namespace) -> int:
    """Show what came of it, then write what was asked for: figures first, whatever happens to files."""
    ended, findings = judged.ended, judged.findings
    if args.json:
        from assay.report.load import as_json

        seen = (ended.generators, ended.account, ended.costs)
        console.write(as_json(ended.plan, ended.measurement, findings, *seen, limits=judged.limits))
    elif not report_outputs.takes_standard_output(args):
        _show(judged, verbose=args.verbose)
    if judged.run is not None:
        _write(judged.run, args)
    return EXIT_INTERRUPTED if ended.interrupted or signals.came() else judged.code


def _show(judged: _JudgedLoad, *, verbose: bool) -> None:
    from assay.core.units import safe
    from assay.report.model.load_document import document
    from assay.report.terminal import in_full, on_screen

    ended = judged.ended
    told = document(
        ended.plan, ended.measurement, judged.findings, ended.costs, ended.account, limits=judged.limits
    )
    where = f"{safe(told.title, 120)}, more: --verbose"
    console.show(in_full(told) if verbose else on_screen(told, where))


def _limit_flags(parser: Parser) -> None:
    """Add the flags."""
    held = parser.add_argument_group("what it has to hold")
    held.add_argument(
        "--slo", type=parse.limits, default=(), common=True, metavar="LIMITS",
        help="exit code 3 where one is missed: p50 … p99.99, mean, max, errors below, throughput above: "
        "'p99<200ms,errors<1%%,throughput>500'",
    )  # fmt: skip
    held.add_argument("--fail-if-unsure", action="store_true",
                      help="exit code 1 where one of --slo cannot be told")  # fmt: skip


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


def _check_outputs(args: argparse.Namespace, plan: LoadPlan) -> None:
    """InputError where a run is wanted that nothing would say the machines of, whose name would hold what
    may be a credential, or that cannot be written where it is to be."""
    from assay.core.credentials import check_names
    from assay.core.settings import Settings

    before_run.check_cluster_flags(args)
    if args.fail_if_unsure and not args.slo:
        raise InputError("--fail-if-unsure needs limits", "add --slo 'p99<200ms'")
    if args.why and args.ray:
        raise InputError("--why of one load counts on this machine", "use `assay versus --ray --why`")
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
    from assay.core.settings import Settings
    from assay.report import markdown
    from assay.report.model.run_document import document

    folder = store.keep(Settings.resolve(results=args.results).results, run)
    report_outputs.OutputFile(str(folder / "report.md"), announce=False).write(markdown.render(document(run)))
    console.note(f"kept as run {run.header.run_id}: assay report {run.header.run_id}")
