"""`assay load URL`: offer load, watch it, and say what came of it."""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING

from assay.cli import address, load_flags, load_run, plan_words, ray_flags
from assay.cli.load_run import Loaded
from assay.cli.parser import Parser
from assay.core import console, credentials, signals
from assay.core.errors import EXIT_INTERRUPTED, AssayError
from assay.engine import driver, target_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.generator import GoingLoad
    from assay.model.finding import Finding
    from assay.model.plan import LoadPlan
    from assay.servers.host import Watch

_REFRESH_S = 0.2
_LINE_EVERY_S = 2.0


def configure(parser: Parser) -> None:
    """Add the flags."""
    load_flags.add_to(parser)
    ray_flags.add_to(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="the whole result as JSON on standard output")
    output.add_argument("-q", "--quiet", action="store_true", help="no progress")
    output.add_argument("-y", "--yes", action="store_true", help="load a machine that is not yours: you may")
    load_run.add_to(parser)
    parser.examples(
        ("assay load http://127.0.0.1:8080/", "64 connections as fast as they go, for 10 s"),
        ("assay load localhost:8080/api -c 8 -d 30s --warm-up 5s", "8 connections, measured once warm"),
        ("assay load http://127.0.0.1:8080/ --rate 5k", "response times at 5,000 requests a second"),
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
    plan = credentials.hidden_plan(load_flags.plan_from(args))
    address.host_and_port(plan.url)
    with plan_words.typed(plan, args):
        driver.check(plan)
    ray_flags.check(args)
    load_run.check(args, plan)
    plan = address.settled(plan, allowed=args.yes)
    with signals.run():
        try:
            return _from_cluster(plan, args) if args.ray else _from_here(plan, args)
        except KeyboardInterrupt:
            signals.ignore()
            raise _GivenUp("interrupted before all was shown", "what is not shown is not kept") from None


class _GivenUp(AssayError):
    """Signals ended even the end of the load."""

    exit_code = EXIT_INTERRUPTED


def _from_here(plan: LoadPlan, args: argparse.Namespace) -> int:
    """The load from this machine."""
    with plan_words.typed(plan, args):
        running = driver.start(plan)
    host = _look_at_host(plan)
    interrupted = not _watch(running, plan, quiet=args.quiet)
    signals.ending()
    here = target_policy.is_this_machine(target_policy.first_hops(plan))
    loaded = Loaded(plan, running.result(), host=host.observed(), same_machine=here)
    return _report(loaded, args, interrupted=interrupted)


def _from_cluster(plan: LoadPlan, args: argparse.Namespace) -> int:
    """The same load, from several machines."""
    from assay.cluster import session

    threads = getattr(args, "threads", None)  # the plan's own are those of this machine unless it is given
    with session.generators(args.ray, args.generators, plan, threads) as (generators, plan):
        running = generators.start(plan)
        interrupted = not _watch(running, plan, quiet=args.quiet)
        signals.ending()
        loaded = Loaded(plan, running.result(), generators=running.generators(), same_machine=False)
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


def _report(loaded: Loaded, args: argparse.Namespace, *, interrupted: bool) -> int:
    """Show what came of it, then write what was asked for: figures first, whatever happens to files."""
    from assay.cli import exit_codes, report_outputs

    run = load_run.made(loaded, args.name) if load_run.is_wanted(args) else None
    findings = load_run.findings(run) if run is not None else _findings(loaded)
    if args.json:
        from assay.report.load import as_json

        console.write(as_json(loaded.plan, loaded.measurement, findings, loaded.generators))
    elif not report_outputs.takes_standard_output(args):
        from assay.report.load import summary

        console.show(summary(loaded.plan, loaded.measurement, findings))
    if run is not None:
        load_run.write(run, args)
    return EXIT_INTERRUPTED if interrupted or signals.came() else exit_codes.of_load(findings)


def _findings(loaded: Loaded) -> Sequence[Finding]:
    from assay.verdict import judge_load

    return judge_load(
        loaded.plan,
        loaded.measurement,
        cores=os.cpu_count() or 1,
        same_machine=loaded.same_machine,
        host=loaded.host,
        generators=loaded.generators,
    )
