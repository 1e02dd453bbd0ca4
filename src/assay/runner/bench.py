"""What all trials of a run share: where it takes place, cores, services, commands, and their end."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assay.core.settings import Settings, working_folder
from assay.engine.generator import Generator, ThisProcess
from assay.model.design import CandidatesDesign, Commands
from assay.plan.resolved import ResolvedRun
from assay.runner.observer import Observer
from assay.runner.warm_pool import WarmPool
from assay.servers import host, leftovers
from assay.servers.cores import CoreSplit
from assay.servers.emulation import Ways
from assay.servers.hooks import Hooks
from assay.servers.services import Services
from assay.servers.site import Site
from assay.servers.supervised import stop_all


@dataclass(frozen=True)
class Where:
    """This process and this machine, unless a cluster takes their place.

    `link_bytes_per_s` is what the way between them was measured to carry, `same_machine` whether they share
    one; both are known of a cluster alone, here the loopback is measured.
    """

    generator: Generator = field(default_factory=ThisProcess)
    site: Site = field(default_factory=Site)
    same_machine: bool = True
    link_bytes_per_s: float | None = None
    nodes: tuple[str, ...] = ()


HERE = Where()


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Until there is a record, the servers' logs go to a folder that does not last, and no service runs."""

    settings: Settings
    split: CoreSplit
    logs: Path
    observer: Observer
    services: Services
    hooks: Hooks
    warm_pool: WarmPool
    ways: Ways
    loopback_bytes_per_s: float | None = None
    where: Where = HERE


@contextlib.contextmanager
def open_bench(
    run: ResolvedRun, settings: Settings, observer: Observer, where: Where = HERE
) -> Iterator[Bench]:
    """The bench of a run: the harness keeps off the servers' cores, and each candidate is set up.

    Leaving it ends every process and runs the clean-ups, whatever has happened. InputError where a command
    fails.
    """
    design = run.design
    commands, folder = Commands(), working_folder()
    if isinstance(design, CandidatesDesign) and design.terms is not None:
        commands, folder = design.commands, Path(design.terms.folder)
    with contextlib.ExitStack() as opened:
        logs = opened.enter_context(leftovers.folder("bench"))
        ways = opened.enter_context(Ways(design.seed))
        opened.callback(stop_all)
        hooks = opened.enter_context(Hooks(commands, logs, folder))
        _raise_limits(observer)
        opened.enter_context(_on_client_cores(run.split))
        hooks.before_first(design.candidates if isinstance(design, CandidatesDesign) else ())
        none = Services((), settings, run.split, logs)
        yield Bench(
            settings=settings,
            split=run.split,
            logs=logs,
            observer=observer,
            services=none,
            hooks=hooks,
            warm_pool=WarmPool(observer.note),
            ways=ways,
            where=where,
        )


def _raise_limits(observer: Observer) -> None:
    """Allow as many open files as there may be, and say so."""
    was, now = host.raise_descriptor_limit()
    if was != now:
        observer.note(f"raised the limit of open files from {was} to {now}")


@contextlib.contextmanager
def _on_client_cores(split: CoreSplit) -> Iterator[None]:
    """Keep the harness off the servers' cores; put back what was."""
    if not split.client:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, split.client)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
