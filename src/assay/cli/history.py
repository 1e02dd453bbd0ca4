"""`assay history`: the runs there are, and how a figure moved over them."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from assay.cli.catalogue import show_sections
from assay.core import console
from assay.core.errors import EXIT_OK, InputError
from assay.plan.words import parse

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.store.index import Filter, Index

DEFAULT_LIMIT = 20


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    which = parser.add_argument_group("which runs")
    which.add_argument("--study", default="", metavar="NAME", help="of this study")
    which.add_argument("--server", default="", metavar="NAME", help="with a case whose id holds this")
    which.add_argument("--commit", default="", metavar="HASH", help="made at this commit, or its beginning")
    which.add_argument("--machine", default="", metavar="NAME", help="made on this host, or machine id")
    which.add_argument("--since", type=_begin, metavar="DATE", help="from this day on: 2026-11-21")
    which.add_argument("--until", type=_end, metavar="DATE", help="up to and with this day")
    output = parser.add_argument_group("output")
    output.add_argument("--trend", metavar="CASE", help="the course of this case's throughput")
    output.add_argument("--limit", type=parse.whole, default=DEFAULT_LIMIT, metavar="N",
                        help=f"list so many runs [{DEFAULT_LIMIT}]")  # fmt: skip
    output.add_argument("--json", action="store_true", help="all of it as JSON on standard output")
    parser.add_argument("--reindex", action="store_true", help="make the index anew from the run files first")
    parser.examples(
        ("assay history", "the last runs"),
        ("assay history --study franklin --since 2026-11-01", "this month's runs of a study"),
        ("assay history --trend quotes/go", "how a server's throughput moved, and where it changed"),
    )


def run(args: argparse.Namespace) -> int:
    """List the runs, or draw a trend."""
    from assay.core.settings import Settings
    from assay.report.model import history
    from assay.report.model.answer import in_a_line
    from assay.store.index import Filter, Index, rebuild

    settings = Settings.resolve(results=args.results)
    if args.reindex:
        rebuild(settings.results)
    chosen = Filter(
        study=args.study,
        server=args.server,
        commit=args.commit,
        machine=args.machine,
        since_unix_ns=args.since or 0,
        until_unix_ns=args.until or Filter.until_unix_ns,
    )
    index = Index(settings.results, in_a_line)
    if args.trend is not None:
        case = _case(index, args.trend, chosen)
        points = index.trend(case, chosen)
        console.write(history.as_json(points)) if args.json else show_sections(history.trend(case, points))
    else:
        entries = index.runs(chosen)
        shown = history.as_json(entries) if args.json else None
        console.write(shown) if shown else show_sections(history.listing(entries, args.limit))
    return EXIT_OK


def _case(index: Index, word: str, chosen: Filter) -> str:
    """The case that `word` names in full or by the only id that holds it."""
    cases = index.cases(chosen)
    if word in cases:
        return word
    near = [case for case in cases if word in case]
    if len(near) == 1:
        return near[0]
    known = ", ".join(near or cases) or "no run has one yet"
    raise InputError(f"{'several cases hold' if near else 'no case is called'} {word!r}", f"one of: {known}")


def _begin(word: str) -> int:
    return round(_day(word).timestamp()) * 10**9


def _end(word: str) -> int:
    return round((_day(word) + timedelta(days=1)).timestamp()) * 10**9 - 1


def _day(word: str) -> datetime:
    try:
        return datetime.strptime(word, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is not a date such as 2026-11-21") from None
