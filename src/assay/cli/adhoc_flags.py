"""What `assay versus` and `assay capacity` share: how a server is had, what it is asked, how a run ends."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from assay import console
from assay.cli import words
from assay.errors import EXIT_INTERRUPTED, AssayError, InputError

if TYPE_CHECKING:
    from assay.adhoc.case import Terms
    from assay.cli.parser import Parser
    from assay.cli.stored import Afterwards
    from assay.settings import Settings
    from assay.store import RunFile
    from assay.values.design import Rival
    from assay.values.run import Run

DEFAULT_URL = "http://127.0.0.1:{port}/"
DEFAULT_READY_NS = 30_000_000_000
_LOAD_FLAGS = frozenset(
    {"connections", "threads", "method", "header", "body", "body_file", "expect_status", "accept_encoding",
     "user", "bearer", "timeout", "no_keep_alive", "seed"}
)  # fmt: skip
"""Those of `assay load` that make sense for every trial of a comparison."""


def add_to(
    parser: Parser, *, duration: str, warm_up: str, warm_up_help: str, connections: bool = True
) -> None:
    """Add them; `duration` and `warm_up` are how long a trial takes unless it is said."""
    from assay.cli import load_flags

    start = parser.add_argument_group("the servers")
    start.add_argument("--ready-timeout", type=words.time_ns, default=DEFAULT_READY_NS, metavar="TIME",
                       help="how long a server may take to answer rightly [30s]")  # fmt: skip
    how = parser.add_argument_group("each trial")
    how.add_argument("-d", "--duration", dest="measure_ns", type=words.time_ns, metavar="TIME",
                     default=words.time_ns(duration), help=f"measure for so long [{duration}]")  # fmt: skip
    how.add_argument("--warm-up", dest="warm_up_ns", type=_time_or_none, metavar="TIME",
                     default=words.time_ns(warm_up), help=f"{warm_up_help} [{warm_up}]")  # fmt: skip
    load_flags.add_some(parser, _LOAD_FLAGS if connections else _LOAD_FLAGS - {"connections"})


def terms_from(args: argparse.Namespace, url: str, *, least_warm_up_ns: int, standing: bool) -> Terms:
    """The terms that the flags ask for. InputError where they exclude each other.

    `standing`: no server is started here, so none has cores that we know.
    """
    import msgspec

    from assay.adhoc.case import Terms
    from assay.cli import load_flags
    from assay.sut.cores import split_cores
    from assay.values.design import WarmUp
    from assay.values.plan import Closed, StopAfter

    split = split_cores()
    split = replace(split, server=()) if standing else split
    stated = argparse.Namespace(**{**vars(args), "url": "http://127.0.0.1/"})
    plan = load_flags.plan_from(stated)
    assert isinstance(plan.load, Closed)  # no flag for a rate is offered
    threads = args.threads if "threads" in args else split.client_cores
    plan = msgspec.structs.replace(
        plan, threads=min(threads, plan.load.connections), stop=StopAfter(ns=args.measure_ns)
    )
    if not re.match(r"https?://", url):
        raise InputError(f"{url!r} is not a URL", f"write it like {DEFAULT_URL}")
    warm_up = WarmUp(min_ns=min(least_warm_up_ns, args.warm_up_ns), max_ns=args.warm_up_ns)
    return Terms(plan=plan, url=url, warm_up=warm_up, ready_timeout_s=args.ready_timeout / 1e9, split=split)


def at_address(rival: Rival) -> Rival:
    """The rival with the address of its URL, which is looked up only here; one to start stays as it is.

    Other people's machines are not loaded for half an hour on a word: InputError for one of theirs.
    """
    import msgspec

    from assay import reach
    from assay.cli import address

    if not rival.url:
        return rival
    found = address.resolve(rival.url)
    outside = reach.outsiders(endpoint.ip for endpoint in found)
    if outside:
        said = f"{rival.url} is {outside[0]}, neither loopback nor private"
        raise InputError(said, "compare and search on machines of your own; `assay load` asks")
    return msgspec.structs.replace(rival, address=reach.first_that_answers(found).ip)


def judged(measure: Callable[[], Run], run_file: RunFile, later: Afterwards) -> Run:
    """What was measured, with its judgement, which is stored; what cut it short is kept for later."""
    import msgspec

    from assay.trial import CutShort, Interrupted
    from assay.verdict import judge

    try:
        finished = measure()
    except CutShort as cut:
        finished = cut.run
        ending = Interruption.of(finished) if isinstance(cut, Interrupted) else cut
        if not finished.trials:
            raise ending from None
        with later.kept():
            raise ending from None
    judgement = judge(finished)
    with later.kept():
        run_file.append(judgement, console.note)
    return msgspec.structs.replace(finished, judgement=judgement)


def show(finished: Run, settings: Settings, args: argparse.Namespace, later: Afterwards) -> None:
    """Write the report beside the record, and what was asked for; else the end screen.

    A report that cannot be written does not keep the figures from being shown.
    """
    from assay.cli import report_outputs
    from assay.cli.one_run import files
    from assay.cli.output import OutputFile
    from assay.cli.report import show_json
    from assay.report import markdown, terminal

    folder = settings.results / finished.header.run_id
    report = folder / "report.md"
    with later.kept():
        OutputFile(str(report), announce=False).write(markdown.render(finished))
    if args.json:
        show_json(finished)
    if not report_outputs.write_all(finished, None, args) and not args.json:
        console.show(terminal.summary(finished, files(report, folder / "run.jsonl")))


class Interruption(AssayError):
    """Ctrl-C: what is finished is stored, nothing is left running."""

    exit_code = EXIT_INTERRUPTED

    @classmethod
    def of(cls, finished: Run) -> Interruption:
        """Say where what was measured is."""
        if not finished.trials:
            return cls("interrupted before the first trial ended")
        trials, run_id = len(finished.trials), finished.header.run_id
        ended = f"interrupted after {trials} trial{'' if trials == 1 else 's'}"
        return cls(ended, f"what was measured is kept: `assay report {run_id}`")


def share(word: str) -> float:
    """A share above zero: 2%, 0.5%, 0.02."""
    from assay.cli.compare import share as any_share

    found = any_share(word)
    if not found:
        raise argparse.ArgumentTypeError(f"{word!r} is not above zero")
    return found


def _time_or_none(word: str) -> int:
    return 0 if word in ("0", "0s") else words.time_ns(word)
