"""`assay versus 'CMD A' 'CMD B'`: which of these serves more? Asked until it is settled."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli import adhoc_flags, words
from assay.cli.compare import share as any_share
from assay.core.errors import InputError

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.model.design import ComparisonDesign
    from assay.plan.words.case import Scan


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
    until.add_argument("--budget", common=True, type=words.time_ns, metavar="TIME",
                       help="end after so much load [90s, or what the four blocks "
                       "may take that settle anything]")  # fmt: skip
    until.add_argument("--margin", type=adhoc_flags.share, default=0.02, metavar="SHARE",
                       help="settled too when a difference this large is excluded [2%%]")  # fmt: skip
    until.add_argument("--no-control", dest="control", action="store_false",
                       help="leave out the A/A control (the first candidate once more in each block: a third "
                       "of the load of two candidates)")  # fmt: skip
    until.add_argument("--unlike", action="store_true", help="compare candidates whose answers differ, too")
    _gate_flags(parser)
    slices = parser.add_argument_group("slices")
    slices.add_argument("--slice", type=words.slice_ns, metavar="TIME",
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
        ("assay versus ./a ./b --sequential -d 10s", "each alone, one trial after the other"),
        ("assay versus 'puma -w {workers} -p {port}' --scan workers=1,2,4", "a setting"),
        (
            "assay versus ./a ./b --budget 5m --margin 0.5% --markdown result.md",
            "a small difference, and a table for a README",
        ),
        ("assay versus ./a ./b; echo $?", "0 settled, 1 not settled or invalid, 2 a server does not answer"),
    )


def _gate_flags(parser: Parser) -> None:
    gate = parser.add_argument_group("a gate")
    gate.add_argument("--fail-if-slower", common=True, type=any_share, metavar="SHARE",
                      help="exit with 3 if the second surely serves less than the first by more than "
                      "this; the run ends once that is decided")  # fmt: skip
    gate.add_argument("--fail-if-unsure", action="store_true",
                      help="exit with 1 where that cannot be told; 0 without this")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Compare, and say what came of it: 0 where every question is settled, 1 otherwise."""
    return adhoc_flags.carry_out("versus", comparison_of(args), args)


def comparison_of(args: argparse.Namespace) -> ComparisonDesign:
    """Everything settled; InputError where that cannot be a comparison."""
    from assay.core import credentials
    from assay.model.design import Commands, WarmUp
    from assay.plan.next.comparison import pilot_ns
    from assay.plan.next.warming import LEAST_NS
    from assay.plan.words import drafts
    from assay.plan.words.case import candidates_of

    given = tuple(map(credentials.hidden, args.candidates))
    args.url = credentials.hidden_url(args.url)
    candidates = tuple(map(adhoc_flags.at_address, candidates_of(given, args.name, args.scan)))
    credentials.check_names(candidate.name for candidate in candidates)
    if len(candidates) < 2:
        said = f"only {candidates[0].name!r} was given" if candidates else "nothing was given to compare"
        raise InputError(said, "give two commands or URLs, or one command with a --scan")
    if args.fail_if_slower is not None and len(candidates) > 2:
        said = (
            f"--fail-if-slower holds the second candidate against the first, and {len(candidates)} were given"
        )
        raise InputError(said, "give BASE and HEAD alone")
    if args.fail_if_unsure and args.fail_if_slower is None:
        said = "--fail-if-unsure is about a limit, and none was given"
        raise InputError(said, "add --fail-if-slower SHARE")
    interleave = (
        drafts.interleave_of(candidates, args.slice, args.fail_if_slower) if args.interleave else None
    )
    terms = adhoc_flags.terms_from(args, args.url)
    warm_up = WarmUp(min_ns=min(LEAST_NS, args.warm_up_ns), max_ns=args.warm_up_ns)
    entries = len(candidates) + args.control
    args.measure_ns = args.measure_ns or drafts.usual_measure_ns(interleave, args.budget, entries, warm_up)
    plan = adhoc_flags.plan_from(args, candidates, args.url)
    pilots_ns = entries * pilot_ns(interleave)
    budget_ns, warm_up = drafts.affordable(
        args.budget, entries, args.measure_ns, warm_up, pilots_ns, interleave
    )
    return drafts.comparison(
        candidates,
        terms,
        plan,
        warm_up,
        measure_ns=args.measure_ns,
        budget_ns=budget_ns,
        margin=args.margin,
        seed=adhoc_flags.seed_from(args),
        control=args.control,
        unlike_allowed=args.unlike,
        slower_allowed=args.fail_if_slower,
        unsure_fails=args.fail_if_unsure,
        interleave=drafts.within(interleave, budget_ns, entries),
        commands=Commands(
            setup=credentials.hidden(args.setup),
            prepare=credentials.hidden(args.prepare),
            cleanup=credentials.hidden(args.cleanup),
        ),
    )


def _scan(word: str) -> Scan:
    from assay.plan.words.case import parse_scan

    try:
        return parse_scan(word)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
