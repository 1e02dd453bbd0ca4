"""`assay report RUN`: show a stored run again, or write it in another form."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay import console
from assay.cli.output import OutputFile
from assay.errors import EXIT_OK, EXIT_WITHHELD

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.values.run import Run


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="latest, a run's id or its beginning, or a path")
    parser.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    parser.add_argument(
        "--markdown", metavar="PATH", help="write Markdown for a README; - for standard output"
    )
    parser.add_argument("--json", action="store_true", help="the whole run as JSON on standard output")
    parser.examples(
        ("assay report latest", "the end screen of the last run"),
        ("assay report latest --markdown results.md", "the same as Markdown tables"),
        ("assay report 2025 --json | jq .judgement.ranking", "a run by the beginning of its id"),
    )


def run(args: argparse.Namespace) -> int:
    """Load, judge where nobody has yet, and show."""
    from assay import store
    from assay.settings import Settings

    settings = Settings.resolve(results=args.results)
    path = store.find(settings.results, args.run)
    stored = judged(store.load(path))
    if args.json:
        show_json(stored)
    elif args.markdown:
        from assay.report import markdown

        OutputFile(args.markdown).write(markdown.render(stored))
    else:
        from assay.report import terminal

        console.show(terminal.summary(stored, (("run record", str(path)),)))
    return exit_code(stored)


def judged(stored: Run) -> Run:
    """The run with a judgement: a run that was cut off has none, or one of fewer trials."""
    import msgspec

    from assay.verdict import judge

    if stored.judgement is not None:
        return stored
    return msgspec.structs.replace(stored, judgement=judge(stored))


def exit_code(stored: Run) -> int:
    """1 where every candidate's figures are withheld or missing, else 0."""
    ranking = stored.judgement.ranking if stored.judgement else ()
    roles = {case.id: case.role for case in stored.header.cases}
    candidates = [place for place in ranking if roles.get(place.case) == "candidate"]
    shown = [place for place in candidates if place.throughput is not None and not place.withheld]
    return EXIT_OK if len(shown) == len(candidates) and candidates else EXIT_WITHHELD


def show_json(stored: Run) -> None:
    """Print the run as one JSON document."""
    import msgspec

    console.write(msgspec.json.format(msgspec.json.encode(stored), indent=2).decode())
