"""`bombardier …`, from its words to its exit code, and its progress bar."""

from __future__ import annotations

import math
import os
import platform
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK, AssayError
from assay.dropin import front
from assay.dropin.bombardier import flags as command_line
from assay.dropin.bombardier import golang, report
from assay.dropin.bombardier.flags import USAGE, VERSION, BombardierFlags, HelpAsked, Wrong
from assay.dropin.bombardier.golang import KingpinMisuse
from assay.dropin.bombardier.plan import plan
from assay.engine import driver, target_policy
from assay.model.measurement import Snapshot

if TYPE_CHECKING:
    from assay.dropin.bombardier.report import BombardierFigures
    from assay.engine.driver import EngineRun
    from assay.model.plan import LoadPlan


_NS = 1_000_000_000


class Bar:
    """The bar of one load."""

    def __init__(self, flags: BombardierFlags) -> None:
        """Draw it empty. Counted loads count requests, the others whole seconds."""
        self._counted = flags.requests is not None
        self._total = flags.requests if flags.requests is not None else flags.duration_ns // _NS
        self._columns = os.get_terminal_size().columns if sys.stdout.isatty() else 0
        if self._counted or self._columns:
            console.write_part(self._frame(0, 0, ""))

    def watch(self, snapshot: Snapshot) -> None:
        """Draw it as far as the load has come."""
        ended = snapshot.completed + snapshot.failed
        current = ended if self._counted else min(snapshot.elapsed_ns // _NS, self._total)
        speed = current / (snapshot.elapsed_ns / _NS) if snapshot.elapsed_ns else 0.0
        left_s = int((self._total - current) / speed) if speed else 0
        console.write_part(self._frame(current, speed, f" {span(left_s)}" if left_s > 0 else ""))

    def end(self, took_ns: int, ended: int, *, interrupted: bool) -> None:
        """Draw it for the last time, with how long the load took and how many requests ended."""
        took_s = took_ns / _NS
        current = self._total if not self._counted and not interrupted else int(took_s)
        if self._counted:
            current = ended
        elapsed = golang.duration(int(took_s) * _NS)
        console.write_part(
            self._frame(current, ended / took_s if took_s else 0.0, f" {elapsed}") + "\nDone!\n"
        )

    def _frame(self, current: int, speed: float, tail: str) -> str:
        before = after = ""
        if self._counted:
            before = f" {current} / {self._total} "
            after = f" {current / self._total * 100:6.2f}%" + (f" {speed:.0f}/s" if speed else "")
        after += tail
        size = self._columns - len(before) - len(after) - 2
        bar = drawn(current, self._total, size) if size > 0 else ""
        return "\r" + f"{before}{bar}{after}".ljust(self._columns)


def drawn(current: int, total: int, size: int) -> str:
    """A bar with so many places between its brackets."""
    filled = min(size, math.ceil(current / total * size)) if total else 0
    if filled == size:
        return f"[{'=' * size}]"
    head = "=" * (filled - 1) + ">" if filled else ""
    return f"[{head}{'-' * (size - filled)}]"


def span(seconds: int) -> str:
    """A time that is left: "00m03s", "01h00m03s", "1d00h00m03s"."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    text = f"{minutes:02d}m{rest:02d}s"
    if days or hours:
        text = f"{hours:02d}h{text}"
    return f"{days}d{text}" if days else text


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
        # As in kingpin: what asks for more is a document and goes to standard output.
        (console.note if asked.what == "help" else console.write)(USAGE)
        return
    from assay.core.settings import version

    report = platform.machine().lower()
    report = f"{platform.system().lower()}/{_MACHINES.get(report, report)}"
    console.note(f"bombardier version {VERSION} {report} [assay {version()}] as spoken by Assay")


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
        _report(flags, report.figures(flags, measured, offered.running, manners.strict))
    front.tell("bombardier", offered.findings)
    return EXIT_OK


def _introduced(flags: BombardierFlags) -> list[Bar]:
    """Say what begins; its progress bar, where one is wanted."""
    if "intro" in flags.parts:
        console.write(report.intro(flags))
    return [Bar(flags)] if "progress" in flags.parts else []


def _undialled(flags: BombardierFlags, manners: front.Manners, reason: str, took_ns: int) -> int:
    """Report a load whose URL leads to no address: to bombardier a load whose requests all failed."""
    found = report.undialled(flags, reason, took_ns, manners.strict)
    for bar in _introduced(flags):
        bar.end(took_ns, found.ended, interrupted=False)
    if "result" in flags.parts:
        _report(flags, found)
    return EXIT_OK


def _report(flags: BombardierFlags, found: BombardierFigures) -> None:

    if flags.format == "text":
        console.write(report.text_report(flags, found))
    else:
        console.write_part(report.json_report(flags, found))
