"""What `assay versus` and `assay capacity` share: how a server is had, and what it is asked."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli import before_run, load_flags, one_run, report_outputs
from assay.plan.words import parse

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.plan.words.settle_trials import SettledTrials

DEFAULT_URL = "http://127.0.0.1:{port}/"
DEFAULT_READY_NS = 30_000_000_000
_LOAD_FLAGS = frozenset(
    {"connections", "threads", "method", "header", "body", "body_file", "expect_status", "accept_encoding",
     "user", "bearer", "bearer_file", "header_file",
     "timeout", "no_keep_alive", "no_resend", "http2", "http3", "http", "streams", "seed",
     "cacert", "cert", "key", "sni", "tls_min", "tls_max", "insecure", "no_resumption"}
)  # fmt: skip
"""Those of `assay load` that make sense for every trial of a comparison."""


def add_to(
    parser: Parser,
    *,
    duration: str,
    warm_up: str,
    warm_up_help: str,
    connections: bool = True,
    duration_depends: str = "",
) -> None:
    """Add them; `duration` and `warm_up` are how long a trial takes unless it is said. Where the duration
    depends on what is compared, `duration_depends` says how, and it is None unless it is given."""
    before_run.add_cluster_flags(parser)
    before_run.add_quiet_flag(parser)
    start = parser.add_argument_group("the servers")
    start.add_argument("--ready-timeout", type=parse.time_ns, default=DEFAULT_READY_NS, metavar="TIME",
                       help="how long a server may take to answer rightly [30s]")  # fmt: skip
    how = parser.add_argument_group("each trial")
    how.add_argument("-d", "--duration", common=True, dest="measure_ns", type=parse.time_ns, metavar="TIME",
                     default=None if duration_depends else parse.time_ns(duration),
                     help=f"measure for so long [{duration}{duration_depends}]")  # fmt: skip
    how.add_argument("--warm-up", dest="warm_up_ns", type=parse.time_or_none_ns, metavar="TIME",
                     default=parse.time_ns(warm_up), help=f"{warm_up_help} [{warm_up}]")  # fmt: skip
    load_flags.add_some(parser, _LOAD_FLAGS if connections else _LOAD_FLAGS - {"connections"})
    output = parser.add_argument_group("output")
    output.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    output.add_argument(
        "--json", common=True, action="store_true", help="the whole run as JSON on standard output"
    )
    report_outputs.add_verbose(output, common=False)
    report_outputs.add_to(parser)


def carry_out(settled: SettledTrials, args: argparse.Namespace) -> int:
    """Run it, show what came of it, and write what was asked for."""
    from assay.core.settings import Settings
    from assay.plan.words.settle import named
    from assay.runner import machine_lock

    settings = Settings.resolve(results=args.results)
    report_outputs.attempt(args, settings.results)
    show = one_run.shown(
        as_json=args.json,
        verbose=args.verbose,
        write=lambda run: report_outputs.write_all(run, None, args),
        silent=report_outputs.takes_standard_output(args),
    )
    with machine_lock(settings), before_run.somewhere(args, settled.run, settings) as (resolved, where):
        before_run.wait_until_quiet(args)
        with named(settled.load):
            return one_run.begin(resolved, settings, show, where=where).code
