"""Whether servers can be alive at once: what is in the way is said in a line, and they follow one another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from msgspec.structs import replace as changed

from assay.core.settings import Settings
from assay.model.design import Choices, WarmUp
from assay.model.plan import StopAtCount
from assay.plan.resolved import ResolvedRun
from assay.plan.study import load_study, resolve
from assay.runner.bench import HERE, Where, settled
from assay.servers.site import Site

ROOM = 1 << 40


def franklin(choices: Choices = Choices(seed=1)) -> ResolvedRun:  # noqa: B008
    settings = Settings.resolve(environ={})
    return resolve(load_study("franklin", settings), settings, choices)


def asking(run: ResolvedRun, method: str) -> ResolvedRun:
    """The run beside a database that its servers share, asked in that way."""
    cases = []
    for case in run.cases:
        requests = tuple(changed(request, method=method) for request in case.plan.requests)
        cases.append(replace(case, plan=changed(case.plan, requests=requests)))
    shared: Any = SimpleNamespace(name="postgres")
    return replace(run, cases=tuple(cases), services=(shared,))


def counted(run: ResolvedRun) -> ResolvedRun:
    return replace(
        run,
        cases=tuple(replace(one, plan=changed(one.plan, stop=StopAtCount(count=9))) for one in run.cases),
    )


@pytest.mark.parametrize(
    ("run", "free_bytes", "said"),
    [
        (franklin(), 1 << 30, "all servers at once would take 1.4 GB of memory, 1.1 GB are free"),
        (asking(franklin(), "POST"), ROOM, "the servers write to one postgres"),
        (counted(franklin()), ROOM, "no two closed loops for a set time"),
    ],
)
def test_what_is_in_the_way_is_said(run: ResolvedRun, free_bytes: int, said: str) -> None:
    found = settled(run, HERE, free_bytes).design
    assert found.interleave is None and said in found.sequential


class Small(Site):
    def free_bytes(self) -> int:
        return 1 << 30


def test_memory_is_that_of_the_servers_machine() -> None:
    found = settled(franklin(), Where(site=Small(), nodes=("10.0.0.1",))).design
    assert found.sequential == "all servers at once would take 1.4 GB of memory, 1.1 GB are free"


def copied(run: ResolvedRun, times: int, *, loads: bool) -> ResolvedRun:
    """Each case so many times: under as many loads, or as as many entries under its one."""
    cases = [
        replace(one, case=changed(one.case, id=f"{one.case.id}{n}", load=f"c{n}" if loads else one.case.load))
        for one in run.cases
        for n in range(times)
    ]
    return replace(run, cases=tuple(cases))


def test_only_those_that_would_be_alive_at_once_are_counted() -> None:
    times = 65 // len(franklin().cases) + 1
    assert settled(copied(franklin(), times, loads=True), HERE, ROOM).design.interleave is not None
    found = settled(copied(franklin(), times, loads=False), HERE, ROOM).design
    assert found.interleave is None and found.sequential is not None
    assert "servers are more than the 64 that can be interleaved" in found.sequential


def test_warm_ups_that_the_engine_would_end_are_not_in_slices() -> None:
    day = WarmUp(min_ns=0, max_ns=86_400_000_000_000)
    run = replace(franklin(), cases=tuple(replace(one, warm_up=day) for one in franklin().cases))
    found = settled(run, HERE, ROOM).design
    assert found.interleave is None and found.sequential.startswith("an interleaved warm-up could take ")


@pytest.mark.parametrize("run", [franklin(), asking(franklin(), "GET")])
def test_servers_that_fit_take_slices(run: ResolvedRun) -> None:
    assert settled(run, HERE, ROOM).design.interleave is not None


@pytest.mark.parametrize("choices", [Choices(seed=1, interleave=False), Choices(seed=1, profile="published")])
def test_what_was_not_to_be_interleaved_is_not_and_nothing_is_said_of_it(choices: Choices) -> None:
    found = settled(franklin(choices), HERE, ROOM).design
    assert (found.interleave, found.sequential) == (None, "")
