"""Before a run: is the machine quiet, which is waited for where that is asked; and the way to a cluster."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from assay.core import console
from assay.core.errors import EnvironmentLacks, InputError
from assay.plan.words import parse

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.core.settings import Settings
    from assay.plan.resolved import ResolvedRun
    from assay.runner.bench import Where
    from assay.servers.host import BackgroundLoad, Look


_GLANCE_S = 0.3
_LOOK_S = 1.0
_AGAIN_S = 1.0
"""A machine that is quiet for a moment is looked at again after so long."""


def add_yes(parser: argparse._ActionsContainer) -> None:
    """Add the flag that lets commands run which came with a folder or a record."""
    words = "run commands of servers, studies and records that are not Assay's own"
    parser.add_argument("-y", "--yes", action="store_true", help=words)


def add_why(parser: argparse._ActionsContainer) -> None:
    """Add the flag that asks what an answer costs."""
    parser.add_argument(
        "--why",
        action="store_true",
        help="count what an answer costs each server, and say why one is faster; each is then inspected in "
        "short loads of their own",
    )


def add_quiet_flag(parser: Parser) -> None:
    """Add the flag."""
    before = parser.add_argument_group("before it begins")
    before.add_argument("--wait-quiet", type=parse.time_ns, metavar="TIME",
                        help="where other programs are busy, wait up to so long for a quiet machine, "
                        "and refuse to measure on another [measure, and say so]")  # fmt: skip


def wait_until_quiet(args: argparse.Namespace) -> None:
    """Say that the machine is busy, or wait until it is quiet. EnvironmentLacks where it does not get so.

    Of a cluster the nodes would have to be looked at: there the rules speak afterwards.
    """
    from assay.servers import host

    if not args.ray:
        check_quiet(args.wait_quiet, partial(host.glance, meanwhile=_load_modules), host.measure)


def _load_modules() -> None:
    """What a run shows itself by takes a moment to load: while nothing else is done."""
    for name in ("assay.report.run_live", "assay.report.markdown", "assay.cli.report"):
        importlib.import_module(name)


def check_quiet(wait_ns: int | None, glance: Look, whole_look: Look) -> None:
    """As `wait_until_quiet`, by these ways of looking."""
    if _is_quiet(glance(_GLANCE_S)):
        return
    seen = whole_look(_LOOK_S)
    if _is_quiet(seen):
        return
    if wait_ns is None:
        console.note(
            f"{_load_words(seen)}: figures will suffer (H2); end them, or wait for quiet: --wait-quiet 5m"
        )
        return
    console.note(f"{_load_words(seen)}: waiting for quiet")
    ends = time.monotonic() + wait_ns / 1e9
    quiet = 0
    while quiet < 2:
        if time.monotonic() >= ends:
            raise EnvironmentLacks(
                f"{_load_words(seen)}, and it did not get quiet within {wait_ns / 1e9:g} s",
                "end them, wait for longer, or measure without --wait-quiet",
            )
        seen = whole_look(_AGAIN_S)
        quiet = quiet + 1 if _is_quiet(seen) else 0


def _is_quiet(seen: BackgroundLoad) -> bool:
    """By the measure of the rule that would speak afterwards."""
    from assay.verdict import RULES

    return seen.cores_busy <= RULES["H2"].defaults["background"]


def _load_words(seen: BackgroundLoad) -> str:
    from assay.core import units as fmt

    cores = fmt.counted(os.cpu_count() or 1, "core")
    named = f" ({fmt.safe(', '.join(seen.programs), 80)})" if seen.programs else ""
    return f"other programs keep {seen.cores_busy:.1f} of {cores} busy{named}"


def add_cluster_flags(parser: Parser) -> None:
    """Add the flags."""
    many = parser.add_argument_group("many machines")
    many.add_argument("--ray", metavar="HOST:PORT",
                      help="on the machines of a Ray cluster, by the address of its head")  # fmt: skip
    many.add_argument("--generators", type=parse.whole, metavar="N",
                      help="load from so many of them [all that there are]")  # fmt: skip


def check_cluster_flags(args: argparse.Namespace) -> None:
    """InputError where a number of generators is given and no cluster, or with one what is of a machine."""
    if args.generators and not args.ray:
        raise InputError("--generators are those of a cluster", "add --ray HOST:PORT")
    if args.ray and getattr(args, "wait_quiet", None) is not None:
        raise InputError("--wait-quiet looks at this machine alone", "leave it out with --ray")


@contextlib.contextmanager
def somewhere(
    args: argparse.Namespace, run: ResolvedRun, settings: Settings
) -> Iterator[tuple[ResolvedRun, Where]]:
    """Where the run takes place, and the run with the cores of that place."""
    check_cluster_flags(args)
    if not args.ray:
        from assay.runner import HERE

        yield run, HERE
        return
    far = [case.case.load for case in run.cases if case.case.emulation is not None]
    if far:
        raise InputError(
            f"--ray: load {far[0]!r} needs network emulation, which is made on one machine",
            "leave --ray out",
        )
    from assay.cluster import session
    from assay.servers.server import ExternalAddress

    met = [case.ready for case in run.cases if isinstance(case.ready, ExternalAddress)]
    external = dict.fromkeys((one.host, one.port) for one in met)
    threads = getattr(args, "threads", None)
    with session.whereabouts(args.ray, args.generators, settings, tuple(external), threads) as (where, split):
        yield structs.replace(run, split=split), where
