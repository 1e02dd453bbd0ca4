"""What every drop-in does between its flags and its report: offer the load, and judge it.

A drop-in keeps its tool's manners: its report goes to standard output, Ctrl-C ends the load
early and the report is printed as always, and an exit code is what the tool would give. What we add goes
to standard error: one line a finding.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.engine import driver, target_policy
from assay.engine.generator import REFRESH_S, drive

if TYPE_CHECKING:
    from assay.core.errors import AssayError
    from assay.engine.driver import EngineRun
    from assay.engine.generator import EndedLoad, Watching
    from assay.model.finding import Finding
    from assay.model.measurement import Measurement, Snapshot
    from assay.model.plan import LoadPlan

_PATIENCE_S = 2.0
"""For how long workers are waited for that were told to end: a request of a script takes less."""
_GRAVEST_FIRST = ("error", "warning", "note")
_FAILURES = "W2"
"""The rule about requests that failed."""
_WRONG = 400
"""Statuses from here on are failures."""


class Manners(msgspec.Struct, frozen=True):
    """How the environment wants the drop-ins: resolved once, before anything else.

    `strict` reproduces the tool's own arithmetic (ASSAY_STRICT=1); `quiet` keeps the findings
    to ourselves (ASSAY_QUIET=1).
    """

    strict: bool
    quiet: bool

    @classmethod
    def of_environment(cls) -> Manners:
        """Read the two variables; "" and "0" are off."""
        on = {name for name in ("ASSAY_STRICT", "ASSAY_QUIET") if os.environ.get(name, "0") not in ("", "0")}
        return cls(strict="ASSAY_STRICT" in on, quiet="ASSAY_QUIET" in on)


class Offered(msgspec.Struct, frozen=True):
    """A load that has ended: what was asked for, what came of it, and what is to be said of it.

    `running` has what the measurement leaves out: single requests, where they are logged.
    """

    plan: LoadPlan
    running: EngineRun
    measurement: Measurement
    findings: tuple[Finding, ...]


def offer(
    plan: LoadPlan,
    manners: Manners,
    watch: Callable[[Snapshot], None] | None = None,
    start: Callable[[LoadPlan], EngineRun] = driver.start,
) -> Offered:
    """Offer the load to its end, or until Ctrl-C, and judge it.

    `watch` is given a snapshot every 0.2 s. `AssayError` where nothing was sent.
    """
    ended = drive(
        plan,
        start,
        same_machine=target_policy.is_this_machine(map(target_policy.without_port, plan.addresses)),
        watch=lambda going: _watch(going, watch),
        machine=None if manners.quiet else lambda: _machine(plan),
        stopped=_await_end,
    )
    findings = () if manners.quiet else _judged(ended)
    return Offered(plan, ended.going, ended.measurement, findings)


def _watch(going: EngineRun, watch: Callable[[Snapshot], None] | None) -> None:
    while not going.wait(REFRESH_S):
        if watch is not None:
            watch(going.snapshot())


def _await_end(running: EngineRun) -> None:
    """Wait for the end of a load that was interrupted. Its workers end at once, but for one that is in a
    script which loops: that never does, and ends with the program."""
    if running.wait(_PATIENCE_S):
        return
    from assay.core import console

    sys.stdout.flush()
    console.note("assay: the script does not come back, so there are no figures")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def _machine(plan: LoadPlan) -> Watching:
    """Watch the machine from here on. Imported while the load runs already: it is not light."""
    from assay.servers.host import client_watch

    return client_watch(plan.cpus)


def _judged(ended: EndedLoad[EngineRun]) -> tuple[Finding, ...]:
    """The findings, gravest first. Failures are those that `assay load` would see (W2)."""
    from assay.verdict import judge_load

    judge = functools.partial(
        judge_load,
        ended.plan,
        cores=os.cpu_count() or 1,
        same_machine=ended.same_machine,
        host=ended.host,
    )
    findings = judge(ended.measurement)
    expecting = _expecting(ended.measurement)
    if expecting is ended.measurement:
        return findings
    failures = [finding for finding in judge(expecting) if finding.code == _FAILURES]
    found = (*failures, *(finding for finding in findings if finding.code != _FAILURES))
    return tuple(sorted(found, key=lambda finding: _GRAVEST_FIRST.index(finding.severity)))


def _expecting(measured: Measurement) -> Measurement:
    """The measurement as `assay load` has it, which expects statuses below 400: other answers are failures.

    The tools expect nothing, so their plans do not; what is found is the same.
    """
    from assay.model.measurement import Outcome

    wrong = {status: count for status, count in measured.statuses.items() if int(status) >= _WRONG}
    if not wrong:
        return measured
    count = sum(wrong.values())
    most = max(wrong, key=wrong.__getitem__)
    failed = Outcome(origin="plan", kind="unexpected_status", count=count, example=f"HTTP/1.1 {most}")
    return msgspec.structs.replace(
        measured,
        completed=measured.completed - count,
        failed=measured.failed + count,
        outcomes=(*measured.outcomes, failed),
    )


def why_unwritable(path: Path) -> str:
    """Why a file cannot be written, in the system's words; "" where it can. Nothing of it changes."""
    try:
        is_new = not path.exists()
        if not is_new and not path.is_file() and not path.is_dir():
            return ""  # to open a pipe waits for its reader
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except (OSError, ValueError) as problem:
        return getattr(problem, "strerror", "") or str(problem)
    return ""


def tell_problem(tool: str, problem: AssayError, flags: Mapping[str, str]) -> None:
    """Say why nothing was offered; of a field of the plan by the one of `flags` that it is from."""
    from assay.core import console

    said = str(problem)
    if isinstance(problem, driver.PlanRefused):
        flag = flags.get(problem.field) or flags.get(problem.field.partition("[")[0])
        said = f"{flag}: {problem.problem}" if flag else said
    console.note(f"{tool}: {said}")


def tell(tool: str, findings: Iterable[Finding]) -> None:
    """Say the findings on standard error, one line each, gravest first."""
    from assay.core import console
    from assay.core.units import safe

    sys.stdout.flush()
    for finding in findings:
        titled = "" if finding.evidence.startswith(finding.title) else f"{finding.title}: "
        line = f"{titled}{finding.evidence}; {finding.remedy}"
        console.note(f"assay {tool}: {finding.severity} {finding.code}: {safe(line, 1000)}")
