"""`assay capacity URL --slo 'p99<50ms'`: the highest rate that holds an objective, and how sure that is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli import adhoc_flags, words
from assay.cli.plan_words import full_url
from assay.core.errors import InputError

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.model.design import SearchDesign
    from assay.verdict.objective import Objective


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("url", nargs="?", metavar="URL", help="a URL; with --command, may hold {port}")
    parser.add_argument("--slo", common=True, required=True, type=_objective, metavar="LIMITS",
                        help="the objective: p50 … p99.99, mean, max (response time), errors; all "
                        "must hold: 'p99<50ms,errors<0.1%%'")  # fmt: skip
    parser.add_argument("--command", common=True, default="", metavar="CMD",
                        help="start this server for each trial, on {port} or $PORT")  # fmt: skip
    parser.add_argument("--name", default="", metavar="NAME", help="what the server is called")
    search = parser.add_argument_group("the search")
    search.add_argument("--from", common=True, dest="lowest", type=words.rate_per_s, metavar="RATE",
                        help="lowest rate [a 200th of the highest]")  # fmt: skip
    search.add_argument("--to", common=True, dest="highest", type=words.rate_per_s, metavar="RATE",
                        help="highest rate [a little above that of a closed loop]")  # fmt: skip
    search.add_argument("--resolution", type=adhoc_flags.share, default=0.05, metavar="SHARE",
                        help="end when the capacity is known to this share, 95 %% sure [5%%]")  # fmt: skip
    search.add_argument("--budget", common=True, type=words.time_ns, default=240_000_000_000, metavar="TIME",
                        help="end, settled or not, after so much load (warm-ups included) [4m]")  # fmt: skip
    search.add_argument("-c", "--connections", common=True, dest="most", type=words.whole, metavar="N",
                        help="use at most so many [as rate and objective can need]")  # fmt: skip
    adhoc_flags.add_to(
        parser, duration="3s", warm_up="1s", warm_up_help="warm up for so long", connections=False
    )
    parser.examples(
        ("assay capacity http://127.0.0.1:8080/ --slo 'p99<50ms,errors<0.1%'", "a server that runs"),
        (
            "assay capacity --command './server --port {port}' --slo 'p99<10ms'",
            "a server that is started anew for each trial",
        ),
        (
            "assay capacity localhost:8080/api --slo 'p99.9<100ms' --from 1k --to 20k",
            "between two rates",
        ),
    )


def run(args: argparse.Namespace) -> int:
    """Search, and say what came of it: 0 where it was found, 1 where not."""
    return adhoc_flags.carry_out("capacity", _search(args), args)


def _search(args: argparse.Namespace) -> SearchDesign:
    """Everything settled; InputError where that cannot be a search."""
    from assay.core import credentials
    from assay.model.design import Bounds, Candidate, WarmUp
    from assay.plan.words import drafts

    if not args.url and not args.command:
        raise InputError("no server was named", "give a URL, or --command")
    url = credentials.hidden_url(full_url(args.url) if args.url else adhoc_flags.DEFAULT_URL)
    command = credentials.hidden(args.command)
    given = Candidate(
        name=args.name or " ".join(command.split()) or url,
        command=command,
        url="" if args.command else url,
    )
    credentials.check_names([given.name])
    candidate = adhoc_flags.at_address(given)
    started_at = url if args.command else adhoc_flags.DEFAULT_URL
    plan = adhoc_flags.plan_from(args, (candidate,), started_at)
    terms = adhoc_flags.terms_from(args, started_at)
    if args.lowest and args.highest and args.lowest >= args.highest:
        raise InputError(f"--from {args.lowest:g} is not below --to {args.highest:g}", "give a lower --from")
    bounds = Bounds(
        objective=args.slo.text,
        lowest_per_s=args.lowest or 0.0,
        highest_per_s=args.highest or 0.0,
        resolution=args.resolution,
    )
    return drafts.search(
        candidate,
        terms,
        plan,
        WarmUp(min_ns=args.warm_up_ns, max_ns=args.warm_up_ns),
        bounds=bounds,
        measure_ns=args.measure_ns,
        budget_ns=args.budget,
        seed=adhoc_flags.seed_from(args),
        max_connections=args.most,
    )


def _objective(word: str) -> Objective:
    from assay.verdict.objective import parse

    try:
        return parse(word)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
