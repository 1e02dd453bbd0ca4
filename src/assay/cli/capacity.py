"""`assay capacity URL --slo 'p99<50ms'`: the highest rate that holds an objective, and how sure that is."""

from __future__ import annotations

import argparse
import contextlib
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay import console, credentials
from assay.cli import adhoc_flags, report_outputs, words
from assay.cli.address import full_url
from assay.cli.stored import Afterwards
from assay.errors import EXIT_OK, EXIT_WITHHELD, InputError

if TYPE_CHECKING:
    from assay.capacity.objective import Objective
    from assay.capacity.quest import Quest
    from assay.cli.parser import Parser
    from assay.report.capacity_live import CapacityView
    from assay.settings import Settings
    from assay.values.design import Bounds
    from assay.values.run import Run


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument(
        "url", nargs="?", metavar="URL", help="an http:// URL; with --command, may hold {port}"
    )
    parser.add_argument("--slo", required=True, type=_objective, metavar="LIMITS",
                        help="the objective: p50 … p99.99, mean, max (response time), errors; all "
                        "must hold: 'p99<50ms,errors<0.1%%'")  # fmt: skip
    parser.add_argument("--command", default="", metavar="CMD",
                        help="start this server anew for each trial, on {port} or $PORT")  # fmt: skip
    parser.add_argument("--name", default="", metavar="NAME", help="what the server is called")
    search = parser.add_argument_group("the search")
    search.add_argument("--from", dest="lowest", type=words.rate_per_s, metavar="RATE",
                        help="lowest rate [a 200th of the highest]")  # fmt: skip
    search.add_argument("--to", dest="highest", type=words.rate_per_s, metavar="RATE",
                        help="highest rate [a little above what a closed loop gets]")  # fmt: skip
    search.add_argument("--within", type=adhoc_flags.share, default=0.05, metavar="SHARE",
                        help="end when the capacity is known to this share, 95 %% sure [5%%]")  # fmt: skip
    search.add_argument("--budget", type=words.time_ns, default=240_000_000_000, metavar="TIME",
                        help="end, settled or not, after so much load (warm-ups included) [4m]")  # fmt: skip
    search.add_argument("--connections", "-c", dest="most", type=words.whole, metavar="N",
                        help="use at most so many [as many as rate and objective can need]")  # fmt: skip
    adhoc_flags.add_to(
        parser, duration="3s", warm_up="1s", warm_up_help="warm up for so long", connections=False
    )
    output = parser.add_argument_group("output")
    output.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    output.add_argument("--json", action="store_true", help="the whole run as JSON on standard output")
    report_outputs.add_to(parser)
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
    from assay.settings import Settings

    quest = _quest(args)
    settings = Settings.resolve(results=args.results)
    later = Afterwards()
    finished = _search(quest, settings, later)
    adhoc_flags.show(finished, settings, args, later)
    later.tell()
    return _exit_code(finished)


def _quest(args: argparse.Namespace) -> Quest:
    from assay.adhoc.case import case_of
    from assay.capacity.quest import Quest
    from assay.values.design import Rival

    if not args.url and not args.command:
        raise InputError("no server was named", "give a URL, or --command")
    url = full_url(args.url) if args.url else adhoc_flags.DEFAULT_URL
    asked = url if args.command else adhoc_flags.DEFAULT_URL
    terms = adhoc_flags.terms_from(args, asked, least_warm_up_ns=args.warm_up_ns, standing=not args.command)
    given = Rival(
        name=args.name or " ".join(args.command.split()) or url,
        command=args.command,
        url="" if args.command else url,
    )
    server = case_of(adhoc_flags.at_address(given), terms)
    if args.lowest and args.highest and args.lowest >= args.highest:
        raise InputError(f"--from {args.lowest:g} is not below --to {args.highest:g}", "give a lower --from")
    return Quest(
        server=server,
        terms=terms,
        objective=args.slo,
        measure_ns=args.measure_ns,
        budget_ns=args.budget,
        resolution=args.within,
        seed=args.seed if "seed" in args else secrets.randbelow(2**31),
        lowest_per_s=args.lowest,
        highest_per_s=args.highest,
        max_connections=args.most,
    )


def _search(quest: Quest, settings: Settings, later: Afterwards) -> Run:
    """The search as it ended, judged and stored."""
    from assay import store
    from assay.capacity.quest import first_look, run_capacity, study_of
    from assay.trial import header_for, machine_lock

    with _watching() as view, machine_lock(settings):
        quest, bounds = first_look(quest, settings, view)
        _tell(view, bounds)
        header = header_for(study_of(quest, bounds), credentials.command())
        with store.create(settings.results, header) as run_file:
            view.run_started(header)
            return adhoc_flags.judged(
                lambda: run_capacity(quest, bounds, run_file, header, settings, view), run_file, later
            )


def _tell(view: CapacityView, bounds: Bounds) -> None:
    lowest, highest = bounds.lowest_per_s, bounds.highest_per_s
    view.note(f"searching from {lowest:,.0f}/s to {highest:,.0f}/s for {bounds.objective}")


@contextlib.contextmanager
def _watching() -> Iterator[CapacityView]:
    from assay.report.capacity_live import CapacityView

    if not console.is_live():
        yield CapacityView(console.note)
        return
    from rich.live import Live

    talk = console.talk()
    with Live(console=talk, auto_refresh=False, transient=True) as live:
        yield CapacityView(talk.print, refresh=lambda view: live.update(view.render(), refresh=True))


def _exit_code(finished: Run) -> int:
    """0 where a capacity, or a bound from below, was found and stands."""
    from assay import verdict
    from assay.verdict.search import answer_of

    found = answer_of(finished)
    if found.outcome not in ("found", "above the range") or finished.judgement is None:
        return EXIT_WITHHELD
    taken = verdict.withheld(finished.judgement.findings, finished.header.cases[0].id, "times")
    return EXIT_WITHHELD if taken else EXIT_OK


def _objective(word: str) -> Objective:
    from assay.capacity.objective import parse

    try:
        return parse(word)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
