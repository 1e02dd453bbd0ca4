"""Injected flaws: real runs of real servers in which one thing is wrong, and clean ones."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import psutil
from msgspec import structs
from sample_run import begun

from assay import runner, store
from assay.core.settings import Settings
from assay.model.design import Choices
from assay.model.finding import Severity
from assay.model.run import Judgement, Run
from assay.plan.next.study import slots_of
from assay.plan.resolved import ResolvedRun
from assay.plan.study import load_study, resolve
from assay.servers.cores import CoreSplit, split_cores
from assay.servers.emulation import lacking
from assay.verdict import RULES, judge

PROGRAMS = [Path(__file__).with_name(name) for name in ("server.py", "http2_server.py")]
LONGEST_S = 120.0

CONTRACT = """
format = 1
name = "injected"
title = "A greeting"
[[routes]]
name = "hello"
target = "/hello"
[routes.answer]
body = { min_bytes = 1 }
during = { equals = "hello\\n" }
[[routes]]
name = "other"
target = "/other"
[routes.answer]
body = { min_bytes = 1 }
"""

MANIFEST = """
format = 1
title = "{name}"
language = "Python"
framework = "none"
role = "{role}"
[version]
command = ["{python}", "--version"]
[run]
command = ["{python}", "-S", "-E", "{{source}}/server.py", "{flaw}", "{state}"]
stop_timeout_s = 1
services = [{services}]
[facts]
{facts}
"""


@dataclass(frozen=True, kw_only=True)
class Injected:
    """A flaw, and how a run gets it.

    `servers` are the flaws of its servers by name ("right" has none), `roles` and `facts` what their
    manifests say, `routes` what the contract has beside hello, `services` what its servers use.
    `interleaved` servers are interleaved of 100 ms. `disturb` is told the process of the run and makes
    trouble while it lasts. `apart` runs the study in a process of its own. `after` is what becomes of the
    run and of its folder. `least` is the severity that must be found at least. A flaw with `unless` is
    one that a busy machine hides: with one of those findings nothing is proved. Where a rule has a second
    flaw `again` says what is other about it.
    """

    code: str
    flaw: str
    again: str = ""
    servers: dict[str, str] = field(default_factory=lambda: {"one": "right"})
    roles: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    blocks: int = 1
    control: bool = False
    load: str = "connections = 4\nmeasure_s = 1.0"
    routes: str = ""
    services: str = ""
    workloads: str = '[[workloads]]\nname = "w"\nroutes = ["hello"]'
    more: str = ""
    interleaved: bool = False
    disturb: Callable[[int], AbstractContextManager[None]] | None = None
    apart: bool = False
    descriptors: int | None = None
    split: Callable[[], CoreSplit] = split_cores
    seed: Callable[[ResolvedRun], bool] | None = None
    after: Callable[[Run, Path], Run] | None = None
    least: Severity = "warning"
    unless: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The rule's code, and what is other about a second flaw of it."""
        return f"{self.code} {self.again}".rstrip()


def write(plant: Injected, folder: Path) -> None:
    """The study's files below `folder`."""
    home = folder / "servers" / "injected"
    for name, flaw in plant.servers.items():
        (home / name).mkdir(parents=True)
        for program in PROGRAMS:
            shutil.copy(program, home / name)
        (home / name / "server.toml").write_text(
            MANIFEST.format(
                name=name,
                role=plant.roles.get(name, "candidate"),
                python=sys.executable,
                flaw=flaw,
                state=folder / f"{name}.starts",
                services=f'"{plant.services}"' if plant.services else "",
                facts=plant.facts.get(name, ""),
            )
        )
    (home / "contract.toml").write_text(CONTRACT + plant.routes)
    servers = "\n".join(f'[[servers]]\nserver = "injected/{name}"' for name in plant.servers)
    control = "" if plant.control else "control_blocks = 0"
    slices = "slice_ms = 100" if plant.interleaved else "interleaved = false"
    (folder / "studies").mkdir()
    (folder / "studies" / "injected.toml").write_text(
        f'format = 1\nname = "injected"\ntitle = "{plant.code}"\nquestion = "?"\n'
        f"{servers}\n{plant.workloads}\n"
        f"[profiles.fair]\nblocks = {plant.blocks}\n{control}\n{slices}\n"
        f"[[profiles.fair.loads]]\n{plant.load}\n{plant.more}\n"
    )


def settings_of(folder: Path) -> Settings:
    """Everything below one folder, the lock too."""
    found = {name: name.removeprefix("ASSAY_").lower() for name in ("ASSAY_RESULTS", "ASSAY_CACHE")}
    made = Settings.resolve(here=folder, environ=found)
    return structs.replace(
        made,
        lock=folder / "lock",
        server_folders=(folder / "servers",),
        study_folders=(folder / "studies",),
    )


def resolved(plant: Injected, folder: Path) -> ResolvedRun:
    """The study, with a seed that suits the plant."""
    settings = settings_of(folder)
    study = load_study("injected", settings)
    for seed in range(1000):
        made = resolve(study, settings, Choices(seed=seed, control=plant.control), split=plant.split())
        if plant.seed is None or plant.seed(made):
            return made
    raise LookupError(f"no seed suits {plant.code}")


def run(plant: Injected, folder: Path) -> Judgement:
    """Run the injected study, and judge it. EnvironmentLacks for one over an emulated network, where none can
    be had."""
    from planting.far import EMULATED

    if plant in EMULATED and (lacks := lacking()):
        raise lacks
    write(plant, folder)
    if plant.apart:
        finished = _apart(plant, folder)
    else:
        with plant.disturb(os.getpid()) if plant.disturb else contextlib.nullcontext():
            finished = run_here(plant, folder)
    return judge(plant.after(finished, folder) if plant.after else finished, 0)


def run_here(plant: Injected, folder: Path) -> Run:
    """In this process."""
    settings, study = settings_of(folder), resolved(plant, folder)
    with runner.machine_lock(settings):
        return runner.begin(study, settings, command=["injected"])


def _apart(plant: Injected, folder: Path) -> Run:
    """In a process of its own, which may be stopped, or given few descriptors."""
    from planting import plants

    # It is one of these, but for its blocks: how much bounds hold is asked of three at least.
    number = [replace(one, blocks=plant.blocks) for one in plants.EVERY].index(plant)
    words = [sys.executable, "-m", "planting", str(number), str(plant.blocks), str(folder)]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    with subprocess.Popen(words, env={**os.environ, "PYTHONPATH": path}, start_new_session=True) as process:
        try:
            with plant.disturb(process.pid) if plant.disturb else contextlib.nullcontext():
                process.wait(LONGEST_S)
        finally:
            process.kill()
    results = settings_of(folder).results
    return store.load(store.find(results, "latest"))


def relabelled(run: Run, _: Path) -> Run:
    """The same trials as if each server had run all of its blocks before the next began."""
    trials = sorted(run.trials, key=lambda one: one.started_at_unix_ns)
    times = [one.started_at_unix_ns for one in trials]
    one_by_one = sorted(trials, key=lambda one: (one.case, one.block))
    moved = [
        msgspec.structs.replace(one, started_at_unix_ns=at) for one, at in zip(one_by_one, times, strict=True)
    ]
    return msgspec.structs.replace(run, trials=tuple(moved))


def flipped(_: Run, folder: Path) -> Run:
    """What is read of the run after one bit of its last trial has turned."""
    path = store.find(settings_of(folder).results, "latest")
    content = bytearray(path.read_bytes())
    content[-500] ^= 1
    path.write_bytes(content)
    return store.load(path)


@contextlib.contextmanager
def hog(_: int) -> Iterator[None]:
    """A program that keeps the generator's core busy."""
    cpus = split_cores().client
    busy = "import os,sys\nos.sched_setaffinity(0, {int(c) for c in sys.argv[1:]})\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", busy, *map(str, cpus)]) as process:
        try:
            yield
        finally:
            process.kill()


def itself(pid: int) -> list[int]:
    """The process of the run."""
    return [pid]


def links_of(pid: int) -> list[int]:
    """The programs of links with a delay that the run has started."""
    return [child.pid for child in psutil.Process(pid).children() if "assay.servers.link" in child.cmdline()]


@contextlib.contextmanager
def stopped(
    pid: int, stop_s: float, go_s: float, whom: Callable[[int], list[int]] = itself
) -> Iterator[None]:
    """Stop the process of the run, or others of it, now and then, as a host takes a virtual machine's core
    away."""
    ended = threading.Event()

    def interrupt() -> None:
        while not ended.wait(go_s):
            with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
                for one in whom(pid):
                    os.kill(one, signal.SIGSTOP)
                    time.sleep(stop_s)
                    os.kill(one, signal.SIGCONT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def first_before_again(study: ResolvedRun) -> bool:
    """Whether in every block the control follows the case that it repeats."""
    order = [slot.case for slot in slots_of(begun(study).header)]
    own = [case for case in order if case.startswith("injected/one")]
    return own == ["injected/one", "injected/one+again"] * study.blocks


RANK: dict[Severity, int] = {"note": 0, "warning": 1, "error": 2}


def outcome(plant: Injected, judgement: Judgement) -> str:
    """The severity it was caught with; "missed", or "hidden" where a busy machine hides this flaw."""
    found = [one.severity for one in judgement.findings if one.code == plant.code]
    gravest = max(found, key=lambda severity: RANK[severity], default=None)
    if gravest is not None and RANK[gravest] >= RANK[plant.least]:
        return gravest
    hidden = {one.code for one in judgement.findings} & set(plant.unless)
    return f"hidden ({', '.join(sorted(hidden))})" if hidden else "missed"


def table(caught: Mapping[str, str], clean: Callable[[str], str]) -> str:
    """Rule against flaw, how it was caught, and the clean runs in which it was silent."""
    from planting import plants

    flaws = {plant.code: plant.flaw for plant in plants.ALL} | plants.ON_A_CLUSTER
    caught = {**plants.CAUGHT_ON_A_CLUSTER, **caught}
    lines = ["| rule | injected flaw | caught | clean |", "| --- | --- | --- | --- |"]
    for code, rule in RULES.items():
        star = " *" if code in plants.NOISE else ""
        flaw = flaws.get(code, f"cannot be injected: {plants.IMPOSSIBLE.get(code, '')}")
        lines.append(f"| {code}{star} {rule.title} | {flaw} | {caught.get(code, '')} | {clean(code)} |")
        for plant in plants.EVERY:
            if plant.again and plant.code == code:
                lines.append(f"| {plant.name} | {plant.flaw} | {caught.get(plant.name, '')} |  |")
    return "\n".join(lines) + "\n"
