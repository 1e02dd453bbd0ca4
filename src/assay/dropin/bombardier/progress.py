"""bombardier's progress bar: drawn again and again on one line; without a bar where nobody watches."""

from __future__ import annotations

import math
import os
import sys

from assay.core import console
from assay.dropin.bombardier import golang
from assay.dropin.bombardier.flags import BombardierFlags
from assay.model.measurement import Snapshot

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
