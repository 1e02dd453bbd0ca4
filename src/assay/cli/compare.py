"""`assay compare BASE NEW`: did it get worse? A gate for CI."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli import report_outputs
from assay.core import console
from assay.core.errors import EXIT_INVALID, EXIT_OK, EXIT_WORSE, InputError
from assay.plan.words import parse

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.verdict.compare import RunComparison, Watched

LIMITS: tuple[tuple[str, Watched, str], ...] = (
    ("slower", "throughput", "throughput falls by more than this"),
    ("p99", "p99", "p99 of response time (closed loop: service time) rises by more"),
    ("memory", "memory", "peak memory rises by more"),
    ("start", "start", "start time rises by more"),
    ("errors", "errors", "the share of errors rises by more (0.1%% is one in a thousand)"),
)
"""Flag `--fail-if-…`, the metric it watches, its help."""


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("base", metavar="BASE", help="a run (latest, an id, a path), or RUN:CASE")
    parser.add_argument("new", metavar="NEW", help="the run, or case, that may have got worse")
    parser.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    gate = parser.add_argument_group("exit with 3 if surely")
    for flag, _, text in LIMITS:
        gate.add_argument(f"--fail-if-{flag}", type=parse.share, metavar="SHARE", help=text)
    gate.add_argument("--fail-if-unsure", action="store_true",
                      help="exit with 1 where a limit cannot be told; 0 without this")  # fmt: skip
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="the comparison as JSON on standard output")
    report_outputs.add_verbose(output)
    output.add_argument("--markdown", metavar="PATH", help="write it as Markdown; - for standard output")
    output.add_argument(
        "--html", metavar="PATH", help="write it as a page with its chart; - for standard output"
    )
    parser.examples(
        ("assay compare franklin-20261101 latest", "every common case, new against base"),
        (
            "assay compare base head --results ci --fail-if-slower 5%",
            "a gate: exit 3 only if surely > 5 % slower",
        ),
        (
            "assay compare latest:app+base latest:app+head --fail-if-p99 10%",
            "two cases of one run, paired by block",
        ),
    )


def run(args: argparse.Namespace) -> int:
    """Compare; 3 where a limit is broken beyond doubt, 1 where what it watches is invalid, or where
    `--fail-if-unsure` asks for that and it cannot be told."""
    from assay.core.settings import Settings
    from assay.report import comparison as shown
    from assay.report import results
    from assay.report.model.compared import document
    from assay.report.terminal import in_full, on_screen

    settings = Settings.resolve(results=args.results)
    base = results.open_side(args.base, settings, console.note)
    new = results.open_side(args.new, settings, console.note)
    limits: dict[Watched, float] = {}
    for flag, metric, _ in LIMITS:
        limit = getattr(args, f"fail_if_{flag}")
        if limit is not None:
            limits[metric] = limit
    if args.fail_if_unsure and not limits:
        raise InputError("--fail-if-unsure is about limits, and none was given", "add --fail-if-slower SHARE")
    found = results.compared(base, new, limits)
    if args.json:
        console.write(shown.as_json(found))
    elif args.markdown or args.html:
        _write(found, args)
    else:
        told = document(found)
        console.show(in_full(told) if args.verbose else on_screen(told))
    if found.broken:
        return EXIT_WORSE
    return EXIT_INVALID if found.invalid or (args.fail_if_unsure and found.unsure) else EXIT_OK


def _write(found: RunComparison, args: argparse.Namespace) -> None:
    from assay.cli.report_outputs import OutputFile
    from assay.report import markdown, pages
    from assay.report.model.compared import document

    if args.markdown:
        OutputFile(args.markdown).write(markdown.render(document(found)))
    if args.html:
        OutputFile(args.html).write(pages.of_comparison(found))
