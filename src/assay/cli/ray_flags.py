"""The flags by which a verb goes to a cluster, and the way there."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.cli import words
from assay.core.errors import InputError

if TYPE_CHECKING:
    from assay.cli.parser import Parser
    from assay.core.settings import Settings
    from assay.plan.resolved import ResolvedRun
    from assay.runner.bench import Where


def add_to(parser: Parser) -> None:
    """Add the flags."""
    many = parser.add_argument_group("many machines")
    many.add_argument("--ray", metavar="HOST:PORT",
                      help="on the machines of a Ray cluster, by the address of its head")  # fmt: skip
    many.add_argument("--generators", type=words.whole, metavar="N",
                      help="load from so many of them [all that there are]")  # fmt: skip


def check(args: argparse.Namespace) -> None:
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
    check(args)
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
    from assay.servers.external import ExternalAddress

    met = [case.ready for case in run.cases if isinstance(case.ready, ExternalAddress)]
    external = dict.fromkeys((one.host, one.port) for one in met)
    threads = getattr(args, "threads", None)
    with session.whereabouts(args.ray, args.generators, settings, tuple(external), threads) as (where, split):
        yield dataclasses.replace(run, split=split), where
