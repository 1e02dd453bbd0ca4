"""Small real studies of servers that misbehave. Not a test itself; run by path it runs such a study.

made_studies.py FOLDER [RUN]   runs (or resumes) the study and tells on standard output what happens
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import made_servers

from assay import runner as trial
from assay import store
from assay.core.errors import AssayError
from assay.model.block import Block
from assay.model.design import Choices
from assay.model.interleaving import InterleavedSnapshot
from assay.model.measurement import Snapshot
from assay.model.run import Run
from assay.model.trial import Phase, Trial
from assay.plan.next import Slot
from assay.plan.resolved import ResolvedRun
from assay.plan.study import load_study, resolve
from assay.runner.block import services_used_ns

STUDY = """
format = 1
name = "small"
title = "Small servers"
question = "Which of them behaves?"
{servers}
[[workloads]]
name = "hello"
routes = ["hello"]
[profiles.fair]
blocks = {blocks}
more_blocks = {more_blocks}
precision = 0.0001
control_blocks = {control_blocks}
interleaved = {interleaved}
slice_ms = 50
[[profiles.fair.loads]]
connections = {connections}
measure_s = {measure_s}
warm_up_min_s = {warm_up_s}
warm_up_max_s = {warm_up_max_s}
timeout_s = 2
"""


def write(
    folder: Path,
    modes: Sequence[str],
    *,
    blocks: int = 2,
    more_blocks: int = 0,
    measure_s: float = 0.3,
    warm_up_s: float = 0.2,
    warm_up_max_s: float | None = None,
    connections: int = 4,
    ready_timeout_s: float = 20,
    control_blocks: int = 0,
    interleaved: bool = False,
) -> None:
    """A study of one server for each mode; spaces in its name become dashes."""
    names = []
    for mode in modes:
        names.append(mode.replace(" ", "-"))
        more = f'"{folder}/child"' if mode == "leaves a child" else ""
        made_servers.write_server(folder, mode, name=names[-1], more=more, ready_timeout_s=ready_timeout_s)
    servers = "\n".join(f'[[servers]]\nserver = "greeting/{name}"' for name in names)
    (folder / "studies").mkdir()
    (folder / "studies" / "small.toml").write_text(
        STUDY.format(
            servers=servers,
            blocks=blocks,
            more_blocks=more_blocks,
            control_blocks=control_blocks,
            measure_s=measure_s,
            warm_up_s=warm_up_s,
            warm_up_max_s=warm_up_s if warm_up_max_s is None else warm_up_max_s,
            connections=connections,
            interleaved="true" if interleaved else "false",
        )
    )


def study(folder: Path) -> ResolvedRun:
    """The study of the folder, resolved."""
    settings = made_servers.settings(folder)
    return resolve(load_study("small", settings), settings, Choices(seed=1))


def run(folder: Path, observer: trial.Observer | None = None) -> Run:
    """Run the study of the folder to its end."""
    settings, made = made_servers.settings(folder), study(folder)
    with trial.machine_lock(settings):
        return trial.begin(made, settings, observer, command=["test"])


def go_on(folder: Path, word: str = "latest") -> Run:
    """Resume a run of the folder and run it to its end."""
    settings = made_servers.settings(folder)
    with trial.resume(store.find(settings.results, word), settings) as resumed:
        return trial.go_on(resumed, settings)


def add_upstream(folder: Path) -> None:
    """Have the servers of the folder's study use an upstream; only those that ask it give it work."""
    made_servers.write_server(folder, contract="asked")
    contract = folder / "servers" / "greeting" / "contract.toml"
    contract.write_text(contract.read_text() + '[services.upstream]\nserver = "asked/small"\n')


def check_upstream(block: Block) -> None:
    """What the upstream used is told of the server that asks it, and of no other that were interleaved with
    it."""
    used = {}
    for place, one in enumerate(block.trials):
        assert one.measurement is not None
        (service,) = one.services
        looked = services_used_ns(block.server_slices, place, one.measurement.measured_ns)
        assert looked == {"upstream": service.cpu_ns} and service.name == "upstream"
        assert service.cpu_share is not None and service.cpu_share <= 1
        used[one.case] = looked["upstream"]
    assert used["greeting/asks-upstream"] > 0
    assert used["greeting/right"] < used["greeting/asks-upstream"] / 10


class Teller(trial.Silent):
    """Tells each phase in a line."""

    def phase(self, slot: Slot, phase: Phase) -> None:
        print("phase", slot.number, phase, flush=True)

    def snapshot(self, slot: Slot, snapshot: Snapshot) -> None:
        print("snapshot", slot.number, snapshot.phase, flush=True)

    def trial_finished(self, trial: Trial) -> None:
        print("finished", trial.number, flush=True)

    def slices(self, slots: Sequence[Slot], snapshot: InterleavedSnapshot) -> None:
        print("slices", len(slots), snapshot.arms[0].snapshot.phase, flush=True)

    def block_finished(self, block: Block) -> None:
        print("block", block.number, "cut" if block.cut else "whole", flush=True)

    def note(self, text: str) -> None:
        print("note", text, flush=True)


def main() -> int:
    """Run or resume; tell an error in one line."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Path(sys.argv[1])
    try:
        if len(sys.argv) > 2:
            go_on(folder, sys.argv[2])
        else:
            run(folder, Teller())
    except AssayError as error:
        print("error", error, flush=True)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
