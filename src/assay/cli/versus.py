"""`assay versus 'CMD A' 'CMD B'`: which of these serves more? Asked until it is settled."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli import adhoc_flags, before_run, load_flags
from assay.plan.words import parse

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.plan.words.case import Scan
    from assay.plan.words.settle_trials import SettledTrials


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("candidates", nargs="*", metavar="COMMAND|URL",
                        help="a command that serves on {port} or $PORT, or a URL")  # fmt: skip
    parser.add_argument("--url", common=True, default=adhoc_flags.DEFAULT_URL, metavar="URL",
                        help="URL of a started server [http://127.0.0.1:{port}/]")  # fmt: skip
    parser.add_argument("--name", common=True, action="append", default=[], metavar="NAME",
                        help="name of a candidate, in their order; repeatable")  # fmt: skip
    parser.add_argument("--scan", common=True, action="append", default=[], type=_scan, metavar="NAME=V1,V2…",
                        help="one candidate for each value of {NAME} in a command: workers=1,2,4 or "
                        "workers=1..4; repeatable")  # fmt: skip
    until = parser.add_argument_group("until when")
    until.add_argument("--budget", common=True, type=parse.time_ns, metavar="TIME",
                       help="end after so much load [90s, or what the four blocks "
                       "of a slow server may take]")  # fmt: skip
    until.add_argument("--margin", type=parse.share_above_zero, default=0.02, metavar="SHARE",
                       help="settled too when a difference this large is excluded [2%%]")  # fmt: skip
    until.add_argument("--no-control", dest="control", action="store_false",
                       help="leave out the A/A control (the first candidate once more in each block: a third "
                       "of the load of two candidates)")  # fmt: skip
    until.add_argument("--unlike", action="store_true", help="compare candidates whose answers differ, too")
    until.add_argument("--rank", action="store_true",
                       help="go on until every two are told apart or alike, not only the fastest from each "
                       "other")  # fmt: skip
    _gate_flags(parser)
    before_run.add_why(until)
    slices = parser.add_argument_group("slices")
    slices.add_argument("--slice", type=parse.slice_ns, metavar="TIME",
                       help="length of a slice [found: 100ms for builds of one program, 250ms for others, or "
                       "longer where they are slow]")  # fmt: skip
    slices.add_argument("--sequential", dest="interleave", action="store_false",
                       help="trials one after the other instead of servers that are interleaved")  # fmt: skip
    hooks = parser.add_argument_group("commands around them", "{NAME} of a scan is filled in")
    hooks.add_argument("--setup", default="", metavar="CMD", help="run once for each candidate, before all")
    hooks.add_argument("--prepare", default="", metavar="CMD", help="run before each start of a server")
    hooks.add_argument("--cleanup", default="", metavar="CMD", help="run once for each candidate, at the end")
    adhoc_flags.add_to(
        parser,
        duration="2s",
        duration_depends="; 0.6s or 0.4s of slices between builds of one program",
        warm_up="10s",
        warm_up_help="warm a candidate's first trial up until throughput is steady, at most so long, and the "
        "others as long as that one needed; 0: never",
    )
    parser.examples(
        ("assay versus './old --port {port}' './new --port {port}'", "two builds, on ports of their own"),
        ("assay versus http://127.0.0.1:8001/ http://127.0.0.1:8002/", "servers that run already"),
        ("assay versus ./base ./head --fail-if-slower 2%", "a gate: exit 3 only if surely > 2 % slower"),
        (
            "assay versus 'PORT={port} node a.js' 'PORT={port} node b.js' \\\n"
            "      --name express --name fastify --url http://127.0.0.1:{port}/users",
            "names, and a path",
        ),
        (
            "assay versus './old {port}' './new {port}' \\\n"
            "      --url https://127.0.0.1:{port}/ -k --http2 --streams 10",
            "HTTP/2 over TLS, with certificates of their own",
        ),
        ("assay versus ./a ./b --why", "and why: what an answer costs each"),
        ("assay versus ./a ./b --sequential -d 10s", "each alone, one trial after the other"),
        ("assay versus 'puma -w {workers} -p {port}' --scan workers=1,2,4 --rank", "a setting, all ranked"),
        (
            "assay versus ./a ./b --budget 5m --margin 0.5% --markdown result.md",
            "a small difference, and a table for a README",
        ),
        ("assay versus ./a ./b; echo $?", "0 settled, 1 not settled or invalid, 2 a server does not answer"),
    )


def _gate_flags(parser: Parser) -> None:
    gate = parser.add_argument_group("a gate")
    gate.add_argument("--fail-if-slower", common=True, type=parse.share, metavar="SHARE",
                      help="exit with 3 if the second surely serves less than the first by more than "
                      "this; the run ends once that is decided")  # fmt: skip
    gate.add_argument("--fail-if-unsure", action="store_true",
                      help="exit with 1 where that cannot be told; 0 without this")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Compare, and say what came of it: 0 where every question is settled, 1 otherwise."""
    return adhoc_flags.carry_out(settled(args), args)


def settled(args: argparse.Namespace) -> SettledTrials:
    """Everything settled; InputError where that cannot be a comparison."""
    from assay.plan.words import settle_trials

    return settle_trials.comparison(
        settle_trials.AskedComparison(
            load=load_flags.given(args),
            measure_ns=args.measure_ns,
            warm_up_ns=args.warm_up_ns,
            ready_timeout_ns=args.ready_timeout,
            candidates=args.candidates,
            names=args.name,
            scans=args.scan,
            url=args.url,
            budget_ns=args.budget,
            margin=args.margin,
            control=args.control,
            unlike=args.unlike,
            rank=args.rank,
            slice_ns=args.slice,
            interleave=args.interleave,
            fail_if_slower=args.fail_if_slower,
            fail_if_unsure=args.fail_if_unsure,
            why=args.why,
            setup=args.setup,
            prepare=args.prepare,
            cleanup=args.cleanup,
        )
    )


def _scan(word: str) -> Scan:
    from assay.plan.words.case import parse_scan

    try:
        return parse_scan(word)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
