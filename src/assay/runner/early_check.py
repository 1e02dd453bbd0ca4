"""A look at servers that are ready while others are still built: whoever waits minutes for a build should not
hear only then that another server answers wrongly."""

from __future__ import annotations

from collections.abc import Callable

from assay.core.errors import ServerFailed
from assay.plan.resolved import ResolvedCase, ResolvedRun
from assay.runner.bench import Bench
from assay.runner.one_trial import start, tested_routes, wrong_answers
from assay.servers import probe
from assay.servers.build import Prepared
from assay.servers.manifest import ServerSpec


def early_look(resolved: ResolvedRun, bench: Bench) -> Callable[[ServerSpec, Prepared], None]:
    """Starts a server, tests its contract and tells what is wrong; its trials will say so again.

    A server that needs a service is left out, as none runs yet, and so is one on another machine.
    """

    def check(spec: ServerSpec, ready: Prepared) -> None:
        if spec.services or bench.where.nodes:
            return
        case = next(case for case in resolved.cases if case.server == spec)
        problem = _problem(case, ready, bench)
        if problem:
            bench.observer.server_failed(spec.name, f"{problem} (seen while others are still built)")

    return check


def _problem(case: ResolvedCase, ready: Prepared, bench: Bench) -> str:
    try:
        running = start(case, ready, bench, f"{case.case.id}-early")
        try:
            asked, wrong = probe.test(case.contract, tested_routes(case), running.host, running.port)
        finally:
            running.stop()
    except ServerFailed as failed:
        return failed.reason
    return wrong_answers(asked, wrong) if wrong else ""
