"""`h2load …`, from its words to its exit code."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from assay.core import console
from assay.core.errors import EXIT_OK, AssayError
from assay.dropin import front
from assay.dropin.h2load import flags as command_line
from assay.dropin.h2load.flags import VERSION, EarlyEnd, H2loadFlags
from assay.dropin.h2load.plan import plan
from assay.dropin.h2load.progress import H2loadProgress
from assay.engine import driver, target_policy

if TYPE_CHECKING:
    from assay.engine.driver import EngineRun
    from assay.model.plan import LoadPlan

EXIT_FAILED = 1
"""h2load's only other exit code: whatever kept it from starting."""


def main(words: Sequence[str]) -> int:
    """Do what h2load does with these words."""
    manners = front.Manners.of_environment()
    try:
        flags = command_line.read(words)
        for warning in flags.warnings:
            console.note(warning)
        with contextlib.ExitStack() as opened:
            log = None if flags.log_file is None else opened.enter_context(_log(flags))
            return _test(flags, manners, log)
    except EarlyEnd as ended:
        return _end(ended)
    except target_policy.Unresolved as problem:
        console.note(f"getaddrinfo() failed: {problem.reason}")
    except driver.PlanRefused as problem:
        flag = _FLAGS.get(problem.field.partition("[")[0])
        console.note(f"h2load: {flag}: {problem.problem}" if flag else f"h2load: {problem}")
    except AssayError as problem:
        console.note(f"h2load: {problem}")
    return EXIT_FAILED


_FLAGS = {
    "load.connections": "-c",
    "load.max_connections": "-c",
    "load.stages": "--rps",
    "pipeline": "-m",
    "streams": "-m",
    "requests": "-H",
    "stop.count": "-n",
    "stop.ns": "-D",
    "threads": "-t",
    "timeout_ns": "-N",
    "warmup_max_ns": "--warm-up-time",
}


def _end(ended: EarlyEnd) -> int:
    if ended.asked == "version":
        import assay

        console.write(f"h2load nghttp2/{VERSION} [assay {assay.version()}] as spoken by Assay")
    elif ended.asked:
        from assay.dropin.h2load.usage import USAGE

        console.write(USAGE)
    else:
        console.note(ended.message)
        return EXIT_FAILED
    return EXIT_OK


def _log(flags: H2loadFlags) -> TextIO:
    if flags.duration_ns:
        raise EarlyEnd("h2load: --log-file: single requests are kept of a load of so many; -n instead of -D")
    try:
        return Path(flags.log_file or "").open("a", encoding="ascii")
    except OSError:
        raise EarlyEnd(f"--log-file: Could not open file {flags.log_file}") from None


def _test(flags: H2loadFlags, manners: front.Manners, log: TextIO | None) -> int:
    load = plan(flags, manners.strict)
    progress = H2loadProgress(flags)

    def start(load: LoadPlan) -> EngineRun:
        running = driver.start(load)
        # Only now: a load that cannot start is told of alone.
        progress.begin(running)
        return running

    offered = front.offer(load, manners, watch=progress.watch, start=start)
    progress.end(offered.measurement)
    # Imported after the load: the figures need more than the load does.
    from assay.dropin.h2load.figures import figures
    from assay.dropin.h2load.report import report

    console.write(report(figures(flags, offered.measurement, manners.strict)))
    if log is not None:
        from assay.dropin.h2load.log import write

        write(log, offered.running.request_log(), offered.measurement.started_at_unix_ns)
    front.tell("h2load", offered.findings)
    return EXIT_OK
