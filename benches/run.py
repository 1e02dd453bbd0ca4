"""Measure Assay itself, side by side with other tools: `make bench`.

Examples:
    python benches/run.py                       everything, a short look (about 6 minutes)
    python benches/run.py --only null nginx     two benchmarks
    python benches/run.py --full --only null    as many requests as the published figures were taken with
    python benches/run.py --only http2          HTTP/2 beside h2load and a floor, also over TLS
    python benches/run.py --only http3          HTTP/3 beside a floor on the same QUIC, in five shapes
    python benches/run.py --only bottleneck beside   who limits a load, and loads beside a busy program
    python benches/run.py --only memory         what connections and millions of requests take, each HTTP
    python benches/run.py --only answer-time --tries 1    the shortest look at how soon versus answers
    python benches/run.py --only cluster        what many machines cost, on three hosts of namespaces (root)
    python benches/run.py --only answers --tries 5      how often five runs of franklin give an answer
    python benches/run.py --json                the outcomes as JSON on standard output
    python benches/run.py --markdown FILE       also write the tables to a file
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import answer_time
import answers
import bottleneck
import burden
import cluster
import cluster_hosts
import comparisons
import costs
import figures
import http2
import http3
import interleaved
import report_time
import resting
import why
from model import Benchmark, Effort, Outcome
from render import markdown, page

from assay.core.errors import EXIT_INTERRUPTED

FULL = Effort(rounds=5, share=1.0)
SHORT = Effort(rounds=5, share=0.25)
"""A quarter: here the start and end of the process still weigh a few per cent."""
BENCHMARKS: tuple[Benchmark, ...] = (
    comparisons.BENCHMARKS
    + costs.BENCHMARKS
    + http2.BENCHMARKS
    + http3.BENCHMARKS
    + resting.BENCHMARKS
    + answer_time.BENCHMARKS
    + answers.BENCHMARKS
    + bottleneck.BENCHMARKS
    + burden.BENCHMARKS
    + report_time.BENCHMARKS
    + why.BENCHMARKS
    + figures.BENCHMARKS
    + interleaved.BENCHMARKS
    + cluster.BENCHMARKS
    + cluster_hosts.BENCHMARKS
)


def main() -> int:
    """Run what was asked for; 1 where a required figure was missed."""
    arguments = _arguments()
    chosen = [each for each in BENCHMARKS if _is_chosen(each, arguments)]
    effort = replace(FULL if arguments.full else SHORT, tries=arguments.tries, minutes=arguments.minutes)
    outcomes: list[Outcome] = []
    for benchmark in chosen:
        sys.stderr.write(f"{benchmark.name}: {benchmark.title} ...\n")
        try:
            outcomes.append(benchmark.run(effort))
        except KeyboardInterrupt:
            sys.stderr.write("\ninterrupted\n")
            return EXIT_INTERRUPTED
        if not arguments.json:
            sys.stdout.write(markdown(outcomes[-1]) + "\n")
            sys.stdout.flush()
    if arguments.json:
        sys.stdout.write(json.dumps([asdict(outcome) for outcome in outcomes], indent=2) + "\n")
    if arguments.markdown:
        arguments.markdown.write_text(page(outcomes))
    missed = [figure for outcome in outcomes for figure in outcome.figures if figure.passed is False]
    return 1 if missed else 0


def _is_chosen(benchmark: Benchmark, arguments: argparse.Namespace) -> bool:
    if arguments.only:
        return bool({benchmark.name, benchmark.family} & set(arguments.only))
    return arguments.full or not benchmark.long


def _arguments() -> argparse.Namespace:
    description, examples = (__doc__ or "").split("\n\n", 1)
    parser = argparse.ArgumentParser(
        description=description, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = list(dict.fromkeys(name for each in BENCHMARKS for name in (each.family, each.name) if name))
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--full", action="store_true", help="all requests instead of a quarter")
    parser.add_argument(
        "--tries",
        type=int,
        metavar="N",
        help="of answer-time: N tries of each question [10]; of answers [20]; of interleaved: blocks [12]; "
        "of cluster-hosts: rounds [6; 12 with --full]",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="N",
        help="of answer-time and interleaved: begin nothing more after so long [14]",
    )
    parser.add_argument("--json", action="store_true", help="JSON on standard output instead of tables")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
