"""`assay capacity URL --slo 'p99<50ms'`: the highest rate that holds an objective, and how sure that is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli import adhoc_flags, load_flags
from assay.plan.words import parse

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("url", nargs="?", metavar="URL", help="a URL; with --command, may hold {port}")
    parser.add_argument("--slo", common=True, required=True, type=parse.objective, metavar="LIMITS",
                        help="the objective: p50 … p99.99, mean, max (response time), errors; all "
                        "must hold: 'p99<50ms,errors<0.1%%'")  # fmt: skip
    parser.add_argument("--command", common=True, default="", metavar="CMD",
                        help="start this server for each trial, on {port} or $PORT")  # fmt: skip
    parser.add_argument("--name", default="", metavar="NAME", help="what the server is called")
    search = parser.add_argument_group("the search")
    search.add_argument("--from", common=True, dest="lowest", type=parse.rate_per_s, metavar="RATE",
                        help="lowest rate [a 200th of the highest]")  # fmt: skip
    search.add_argument("--to", common=True, dest="highest", type=parse.rate_per_s, metavar="RATE",
                        help="highest rate [a little above that of a closed loop]")  # fmt: skip
    search.add_argument("--resolution", type=parse.share_above_zero, default=0.05, metavar="SHARE",
                        help="end when the capacity is known to this share, 95 %% sure [5%%]")  # fmt: skip
    search.add_argument("--budget", common=True, type=parse.time_ns, default=240_000_000_000, metavar="TIME",
                        help="end, settled or not, after so much load (warm-ups included) [4m]")  # fmt: skip
    search.add_argument("-c", "--connections", common=True, dest="most", type=parse.whole, metavar="N",
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
    from assay.plan.words import settle_trials

    words = settle_trials.AskedSearch(
        load=load_flags.given(args),
        measure_ns=args.measure_ns,
        warm_up_ns=args.warm_up_ns,
        ready_timeout_ns=args.ready_timeout,
        objective=args.slo,
        url=args.url or "",
        command=args.command,
        name=args.name,
        lowest_per_s=args.lowest,
        highest_per_s=args.highest,
        resolution=args.resolution,
        budget_ns=args.budget,
        max_connections=args.most,
    )
    return adhoc_flags.carry_out(settle_trials.search(words), args)
