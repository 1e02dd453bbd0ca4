"""Assay weighs web servers honestly: load them, compare them, and know which figures can be believed.

Each verb of the command line is a function: `load`, `versus`, `capacity`, `run`, `compare`, `read_run`. A
time is a number of seconds or a word ("500ms", "10s", "2m"), a rate a number of requests a second or a word
("20k"), a share a number or a word (0.02, "2%"). Nothing is printed and nobody is asked; `progress=print`
tells what happens.

Errors are `AssayError`s, one line each: `InputError` where an argument is wrong, `EnvironmentLacks` where the
machine lacks something. A server that fails is no error: its case has no figures, and says why. Ctrl-C ends
what runs, stops every server, and raises `KeyboardInterrupt`, or an `AssayError` that has the `run` so far.

In the examples `url` is that of a server (`python -m assay.servers.null_server --port 0` starts one),
`study` a small study, and `folder` one for runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from typing import Unpack

    from assay.core.errors import AssayError, EnvironmentLacks, InputError
    from assay.plan.resolved import ResolvedRun
    from assay.plan.words.options import CapacityOptions, LoadOptions, Rate, Share, Time, VersusOptions
    from assay.report.results import CaseResult, RunResult
    from assay.verdict.compare import RunComparison, Watched

__all__ = [
    "AssayError",
    "CaseResult",
    "EnvironmentLacks",
    "InputError",
    "RunComparison",
    "RunResult",
    "capacity",
    "compare",
    "load",
    "read_run",
    "run",
    "versus",
]

_HOMES = {
    **dict.fromkeys(("AssayError", "EnvironmentLacks", "InputError"), "core.errors"),
    **dict.fromkeys(("CaseResult", "RunResult"), "report.results"),
    "RunComparison": "verdict.compare",
}


def __getattr__(name: str) -> object:
    """A type, imported when it is first used, and the version (PEP 562)."""
    from importlib import import_module

    if name == "__version__":
        from assay.core.settings import version

        return version()
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(import_module(f"assay.{_HOMES[name]}"), name)


def load(
    url: str = "",
    *,
    connections: int | None = None,
    duration: Time | None = None,
    count: int | None = None,
    rate: Rate | None = None,
    warm_up: Time | None = None,
    slo: str | None = None,
    fail_if_unsure: bool = False,
    name: str = "",
    save: bool = False,
    results: str | PathLike[str] | None = None,
    yes: bool = False,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[LoadOptions],
) -> RunResult:
    """Offer load to a URL, as fast as `connections` go or at a `rate`, and judge what came of it.

    Args:
        url: `http://` or `https://`; "localhost:8080/x" is short for http; `curl` and `har` may say it.
        connections: kept busy (64); with a `rate`, at most so many.
        duration: how long to measure (10 s).
        count: measure so many requests instead.
        rate: an open loop: so many requests a second, whatever the server does.
        warm_up: load for so long before measuring (0 s).
        slo: limits, for exit code 3 where one is missed: "p99<200ms,errors<1%,throughput>500".
        fail_if_unsure: exit code 1 where one of them cannot be told.
        name: what the server is called, in tables and by `compare` (its URL).
        save: keep the run.
        results: the folder that it is kept in (./results).
        yes: you may load a machine that is neither this one nor on a private network.
        progress: is told where the load stands, in a line every two seconds.
        options: every other flag of `assay load`; docs/api.md lists them.

    Raises:
        InputError: an option is wrong, the name has no address, or it is another's machine.
        EnvironmentLacks: this machine cannot offer the load, or `results` cannot be written.

    >>> result = assay.load(url, connections=4, duration=0.2)
    >>> [case] = result.cases.values()
    >>> case.throughput_per_s > 100, case.error_share
    (True, 0.0)
    >>> assay.load(url, rate=200, duration="200ms", headers={"Accept": "text/html"}).exit_code
    0
    >>> assay.load(url, connections=0)
    Traceback (most recent call last):
    assay.core.errors.InputError: connections: '0' is not a whole number above zero
    """
    from functools import partial

    from assay import store
    from assay.core.settings import Settings
    from assay.plan.words import options as python
    from assay.plan.words import settle
    from assay.report.load import lines
    from assay.report.results import RunResult
    from assay.runner import one_load
    from assay.verdict import judged

    given = {"connections": connections, "duration": duration, "count": count, "rate": rate}
    with python.called():
        values = python.values({**given, "warm_up": warm_up, **options})
        held_to = (",".join(one.text for one in python.limits(slo)), fail_if_unsure)
        settled = settle.load(url, values, allowed=yes)
        ended = one_load.offer(settled, partial(lines, say=progress) if progress else None)
        if ended.interrupted:
            raise KeyboardInterrupt
        run = judged(one_load.as_run(ended, name, command=_command("load", url), held_to=held_to))
        return RunResult(run, store.keep(Settings.resolve(results=results).results, run) if save else None)


def versus(
    *candidates: str,
    names: Sequence[str] = (),
    scan: Mapping[str, Sequence[object]] | None = None,
    url: str | None = None,
    connections: int | None = None,
    duration: Time | None = None,
    warm_up: Time | None = None,
    budget: Time | None = None,
    margin: Share | None = None,
    control: bool = True,
    interleave: bool = True,
    fail_if_slower: Share | None = None,
    results: str | PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[VersusOptions],
) -> RunResult:
    """Compare servers until it is settled which serves more, and keep the run.

    Args:
        candidates: commands that serve on `{port}` or `$PORT`, or URLs; the first is the base.
        names: of the candidates, in their order.
        scan: one candidate for each value of a `{name}` in a command: `{"workers": [1, 2, 4]}`.
        url: URL of a started server ("http://127.0.0.1:{port}/").
        connections: kept busy (64).
        duration: how long each server is measured in a block (2 s; of one program's builds 0.6 s).
        warm_up: the longest warm-up of a first trial (10 s).
        budget: end after so much load (90 s, or what four blocks may take).
        margin: settled too when a difference this large is excluded ("2%").
        control: measure the first once more in each block (A/A).
        interleave: load in slices, all servers warm at once; False: one trial after the other.
        fail_if_slower: exit code 3 if the second surely serves less by more than this share.
        results: the folder that the run is kept in (./results).
        progress: is told each block, in a line.
        options: more of `assay versus` and of a load; docs/api.md lists them.

    Raises:
        InputError: an option is wrong, a budget too short, or a URL is of another's machine.
        EnvironmentLacks: another run measures here, or `results` cannot be written.

    >>> result = assay.versus(url, f"{url}?new", names=["base", "head"], connections=4, duration=0.05,
    ...                       warm_up=0, budget=0.5, control=False, interleave=False, results=folder)
    >>> sorted(result.cases), result.folder.parent == folder
    (['base', 'head'], True)
    """
    from assay.plan.words import options as python
    from assay.plan.words import settle_trials

    given: dict[str, object] = {"candidates": candidates, "names": names, "url": url}
    given |= {"connections": connections, "duration": duration, "warm_up": warm_up, "budget": budget}
    given |= {
        "margin": margin,
        "control": control,
        "interleave": interleave,
        "fail_if_slower": fail_if_slower,
    }
    with python.called():
        settled = settle_trials.comparison(python.comparison({**given, **options}, scan or {}))
        return _measured(settled.run, results, progress, _command("versus", *candidates))


def capacity(
    url: str | None = None,
    *,
    slo: str,
    command: str | None = None,
    name: str | None = None,
    lowest: Rate | None = None,
    highest: Rate | None = None,
    budget: Time | None = None,
    connections: int | None = None,
    duration: Time | None = None,
    warm_up: Time | None = None,
    results: str | PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[CapacityOptions],
) -> RunResult:
    """Find the highest rate at which an objective holds, and keep the run.

    Args:
        url: of the server; with a `command`, may hold `{port}`.
        slo: the objective, all of which must hold: "p99<50ms,errors<0.1%".
        command: start this server for each trial, on `{port}` or `$PORT`.
        name: what the server is called.
        lowest: lowest rate (a 200th of the highest).
        highest: highest rate (a little above that of a closed loop).
        budget: end, settled or not, after so much load (4 minutes).
        connections: use at most so many (as rate and objective can need).
        duration: how long a trial measures (3 s).
        warm_up: how long a trial loads before (1 s).
        results: the folder that the run is kept in (./results).
        progress: is told each trial, in a line.
        options: more of `assay capacity` and of a load; docs/api.md lists them.

    Raises:
        InputError: an option is wrong, or the URL is of another's machine.
        EnvironmentLacks: another run measures here, or `results` cannot be written.

    >>> result = assay.capacity(url, slo="p90<900ms", lowest=200, highest=400, duration=0.3, warm_up=0,
    ...                         budget=1, results=folder)
    >>> [case] = result.cases.values()
    >>> case.throughput_per_s > 0
    True
    """
    from assay.plan.words import options as python
    from assay.plan.words import settle_trials

    given: dict[str, object] = {"url": url, "command": command, "name": name}
    given |= {"lowest": lowest, "highest": highest}
    given |= {"budget": budget, "connections": connections, "duration": duration, "warm_up": warm_up}
    with python.called():
        settled = settle_trials.search(python.search({**given, **options}, slo))
        return _measured(settled.run, results, progress, _command("capacity", url or command or ""))


def run(
    study: str | PathLike[str],
    *,
    profile: str = "fair",
    quick: bool = False,
    blocks: int | None = None,
    seed: int | None = None,
    servers: Sequence[str] = (),
    control: bool = True,
    latency: bool = False,
    interleave: bool = True,
    results: str | PathLike[str] | None = None,
    yes: bool = False,
    progress: Callable[[str], None] | None = None,
) -> RunResult:
    """Run a study: build its servers, check them, load them in blocks, judge, and keep the run.

    Args:
        study: its name, or the path of its file.
        profile: "fair" (equal terms) or "published" (the settings as published).
        quick: a first look, 3 minutes of measuring at most.
        blocks: trials of each case (the study's).
        seed: of the order of trials (drawn).
        servers: only these, and the null server (all).
        control: measure one server a second time (A/A).
        latency: open loops too: response times at 25 to 90 % of capacity.
        interleave: load in slices, all servers warm at once; False: one trial after the other.
        results: the folder that the run is kept in (./results).
        yes: commands of servers and studies that are not Assay's own may run.
        progress: is told each block, in a line.

    Raises:
        InputError: there is no such study, it is wrong, or `yes` is needed.
        EnvironmentLacks: another run measures here, or `results` cannot be written.

    >>> result = assay.run(study, blocks=1, control=False, results=folder, yes=True)
    >>> len(result.run.trials) > 0
    True
    """
    from assay.core.settings import Settings
    from assay.model.design import Choices
    from assay.plan.study import load_study, resolve
    from assay.plan.words import options as python
    from assay.runner import consent

    choices = Choices(
        profile=profile, quick=quick, blocks=blocks, seed=seed, servers=tuple(servers), control=control,
        latency=latency, interleave=interleave,
    )  # fmt: skip
    with python.called():
        settings = Settings.resolve(results=results)
        resolved = resolve(load_study(str(study), settings), settings, choices)
        consent.ask([resolved], settings, yes=yes)
        return _measured(resolved, results, progress, _command("run", str(study)))


def compare(
    base: RunResult | str | PathLike[str],
    new: RunResult | str | PathLike[str],
    *,
    slower: Share | None = None,
    p99: Share | None = None,
    memory: Share | None = None,
    start: Share | None = None,
    errors: Share | None = None,
    results: str | PathLike[str] | None = None,
) -> RunComparison:
    """Compare two runs case by case: did it get worse?

    Args:
        base: a run; "latest", an id or its beginning, a path, or "RUN:CASE".
        new: the run, or the case, that may have got worse.
        slower: a limit: throughput may fall by this share.
        p99: a limit: the p99 of response time (closed loop: service time) may rise by this share.
        memory: a limit: peak memory may rise by this share.
        start: a limit: start time may rise by this share.
        errors: a limit: the share of errors may rise by this.
        results: the folder of runs (./results).

    Returns:
        One `Change` a case and metric, with ratios and intervals; `broken`, `unsure` and `invalid` say how
        the limits fared.

    Raises:
        InputError: there is no such run or case, the runs have no case in common, or a limit is wrong.

    >>> base, new = (assay.load(url, duration=0.2, name="app") for _ in range(2))
    >>> found = assay.compare(base, new, slower="90%")
    >>> found.broken, {change.metric for change in found.changes} >= {"throughput", "p99"}
    (False, True)
    """
    from assay.plan.words import options as python
    from assay.report import results as stored

    given: dict[Watched, Share | None] = {"throughput": slower, "p99": p99, "memory": memory}
    given |= {"start": start, "errors": errors}
    with python.called():
        limits = {metric: python.limit(metric, one) for metric, one in given.items() if one is not None}
        return stored.compared(stored.side(base, results), stored.side(new, results), limits)


def read_run(run: str | PathLike[str] = "latest", *, results: str | PathLike[str] | None = None) -> RunResult:
    """Read a stored run; one that nobody judged yet is judged.

    Args:
        run: "latest", an id or its beginning, or the path of a run's folder or file.
        results: the folder of runs (./results).

    Raises:
        InputError: there is no such run, or it cannot be read.

    >>> kept = assay.load(url, duration=0.2, save=True, results=folder)
    >>> assay.read_run(kept.run.header.run_id, results=folder).answer == kept.answer
    True
    """
    from assay.plan.words import options as python
    from assay.report.results import read

    with python.called():
        return read(run, results)


def _command(verb: str, *words: str) -> tuple[str, ...]:
    """What a record says of how it was asked for."""
    from assay.core.credentials import shown

    return (f"assay.{verb}", *shown((verb, *words))[1:])


def _measured(
    resolved: ResolvedRun,
    results: str | PathLike[str] | None,
    progress: Callable[[str], None] | None,
    command: tuple[str, ...],
) -> RunResult:
    """The run to its end, watched by who wants to be told."""
    from assay import runner
    from assay.core.settings import Settings
    from assay.report.results import RunResult
    from assay.report.run_live import RunView
    from assay.verdict import judge

    settings = Settings.resolve(results=results)
    view = RunView(progress, judge) if progress else None
    with runner.machine_lock(settings):
        run = runner.begin(resolved, settings, view, command=command)
    return RunResult(run, settings.results / run.header.run_id)
