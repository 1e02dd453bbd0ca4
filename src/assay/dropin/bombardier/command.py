"""`bombardier …`, from its words to its exit code."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK, AssayError
from assay.dropin import front
from assay.dropin.bombardier import flags as command_line
from assay.dropin.bombardier import plain
from assay.dropin.bombardier.flags import VERSION, BombardierFlags, HelpAsked, Wrong
from assay.dropin.bombardier.kingpin import KingpinMisuse
from assay.dropin.bombardier.plan import plan
from assay.dropin.bombardier.progress import Bar
from assay.engine import driver, target_policy

if TYPE_CHECKING:
    from assay.dropin.bombardier.figures import BombardierFigures
    from assay.engine.driver import EngineRun
    from assay.model.measurement import Snapshot
    from assay.model.plan import LoadPlan

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Go's names."""
EXIT_FAILED = 1
"""bombardier's only other exit code: whatever kept it from starting."""


def main(words: Sequence[str]) -> int:
    """Do what bombardier does with these words. It tells its errors on standard output."""
    manners = front.Manners.of_environment()
    try:
        flags = command_line.read(words)
    except HelpAsked as asked:
        _tell(asked)
        return EXIT_OK
    except KingpinMisuse as problem:
        console.write(f"Error parsing the arguments: {problem}")
        return EXIT_FAILED
    try:
        command_line.check(flags)
        return _test(flags, manners)
    except (Wrong, AssayError) as problem:
        console.write(f"Error initializing bombardier: {problem}")
    except OSError as problem:
        reason = (problem.strerror or "").lower()
        console.write(f"Error initializing bombardier: open {problem.filename}: {reason}")
    return EXIT_FAILED


def _tell(asked: HelpAsked) -> None:
    if asked.what != "version":
        from assay.dropin.bombardier.usage import USAGE

        # As in kingpin: what asks for more is a document and goes to standard output.
        (console.note if asked.what == "help" else console.write)(USAGE)
        return
    import assay

    machine = platform.machine().lower()
    machine = f"{platform.system().lower()}/{_MACHINES.get(machine, machine)}"
    console.note(f"bombardier version {VERSION} {machine} [assay {assay.version()}] as spoken by Assay")


def _test(flags: BombardierFlags, manners: front.Manners) -> int:
    begun_ns = time.monotonic_ns()
    if flags.bad_port:
        reason = f"address {flags.bad_port}: invalid port"
        return _undialled(flags, manners, reason, time.monotonic_ns() - begun_ns)
    try:
        load = plan(flags, manners.strict)
    except target_policy.Unresolved:
        reason = f"lookup {flags.url.hostname}: no such host"
        return _undialled(flags, manners, reason, time.monotonic_ns() - begun_ns)
    bars: list[Bar] = []

    def start(load: LoadPlan) -> EngineRun:
        running = driver.start(load)
        # Only now: a load that cannot start is told of alone.
        bars.extend(_introduced(flags))
        return running

    def watch(snapshot: Snapshot) -> None:
        for bar in bars:
            bar.watch(snapshot)

    offered = front.offer(load, manners, watch=watch, start=start)
    measured = offered.measurement
    for bar in bars:
        bar.end(measured.measured_ns, measured.completed + measured.failed, interrupted=measured.interrupted)
    if "result" in flags.parts:
        # Imported after the load: the figures need more than the load does.
        from assay.dropin.bombardier.figures import figures

        _report(flags, figures(flags, measured, offered.running, manners.strict))
    front.tell("bombardier", offered.findings)
    return EXIT_OK


def _introduced(flags: BombardierFlags) -> list[Bar]:
    """Say what begins; its progress bar, where one is wanted."""
    if "intro" in flags.parts:
        console.write(plain.intro(flags))
    return [Bar(flags)] if "progress" in flags.parts else []


def _undialled(flags: BombardierFlags, manners: front.Manners, reason: str, took_ns: int) -> int:
    """Report a load whose URL leads to no address: to bombardier a load whose requests all failed."""
    from assay.dropin.bombardier.figures import undialled

    found = undialled(flags, reason, took_ns, manners.strict)
    for bar in _introduced(flags):
        bar.end(took_ns, found.ended, interrupted=False)
    if "result" in flags.parts:
        _report(flags, found)
    return EXIT_OK


def _report(flags: BombardierFlags, found: BombardierFigures) -> None:
    from assay.dropin.bombardier import machine

    if flags.format == "text":
        console.write(plain.report(flags, found))
    else:
        console.write_part(machine.report(flags, found))
