"""Open loops at shares of each server's own capacity, found in the same run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import made_studies
import msgspec
import psutil
import pytest
from rich.console import Console

from assay import runner as trial
from assay import store
from assay.engine import driver
from assay.model.block import Block
from assay.model.plan import Closed, LoadPlan, Open
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report import markdown, terminal
from assay.report.model.run_document import document
from assay.stats import rate_per_s
from assay.verdict import judge

pytestmark = pytest.mark.beside

SHARES = {"25%": 0.25, "50%": 0.5, "75%": 0.75, "90%": 0.9}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("latency")
    made_studies.write(folder, ["right", "slow"], blocks=1, connections=2)
    with (folder / "studies" / "small.toml").open("a") as file:
        file.write("latency = true\n")
    finished = made_studies.run(folder)
    return msgspec.structs.replace(finished, judgement=judge(finished, 0))


def only(run: Run, case: str) -> Trial:
    (found,) = (trial for trial in run.trials if trial.case == case)
    return found


def offered(trial: Trial) -> float:
    assert isinstance(trial.plan.load, Open)
    (stage,) = trial.plan.load.stages
    assert stage.from_per_s == stage.to_per_s
    return stage.from_per_s


def capacity(run: Run, server: str) -> float:
    measured = only(run, f"greeting/{server}").measurement
    assert measured is not None
    return rate_per_s(measured)


@pytest.mark.parametrize("server", ["right", "slow"])
def test_each_server_is_offered_shares_of_its_own_throughput(run: Run, server: str) -> None:
    for name, share in SHARES.items():
        trial = only(run, f"greeting/{server}@{name}")
        assert offered(trial) == pytest.approx(share * capacity(run, server))
        assert trial.measurement is not None and trial.measurement.response_time is not None
        assert trial.measurement.response_time.count == trial.measurement.completed > 0


def test_one_rate_is_common_to_all(run: Run) -> None:
    rates = {offered(only(run, f"greeting/{server}@common")) for server in ("right", "slow")}
    assert rates == {0.5 * min(capacity(run, server) for server in ("right", "slow"))}


def test_the_open_loops_follow_the_closed_ones(run: Run) -> None:
    order = [trial.case for trial in run.trials]
    closed = {"greeting/right", "greeting/slow"}
    assert set(order[:2]) == closed and len(order) == 2 + 2 * 5


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[LoadPlan]:
    """The loads, one after the other, that the engine is given alone."""
    seen: list[LoadPlan] = []
    start = driver.start

    def noted(plan: LoadPlan) -> driver.EngineRun:
        seen.append(plan)
        return start(plan)

    monkeypatch.setattr(driver, "start", noted)
    return seen


def write(folder: Path, *, interleaved: bool, blocks: int = 1) -> None:
    made_studies.write(folder, ["right", "slow"], blocks=blocks, connections=2, interleaved=interleaved)
    with (folder / "studies" / "small.toml").open("a") as file:
        file.write("latency = true\n")


def later_of(run: Run) -> list[Trial]:
    return [trial for trial in run.trials if "@" in trial.case]


def pids_by_server(trials: Iterable[Trial]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for one in trials:
        assert one.server is not None
        found.setdefault(one.case.partition("@")[0], set()).add(one.server.pid)
    return found


def test_each_is_warmed_by_its_closed_loop(tmp_path: Path, started: list[LoadPlan]) -> None:
    write(tmp_path, interleaved=False)
    later = later_of(made_studies.run(tmp_path))
    loads = [plan.load for plan in started[-2 * len(later) :]]
    assert len(later) == 2 * 5 and all(trial.warm_up is not None for trial in later)
    assert loads[::2] == [Closed(connections=2)] * len(later)
    assert loads[1::2] == [trial.plan.load for trial in later]
    assert all(len(pids) == 5 for pids in pids_by_server(later).values())


def test_after_a_block_its_servers_are_asked_as_they_stand(tmp_path: Path, started: list[LoadPlan]) -> None:
    write(tmp_path, interleaved=True, blocks=2)
    run = made_studies.run(tmp_path)
    later = later_of(run)
    assert len(later) == 2 * 2 * 5
    assert [plan.load for plan in started[-len(later) :]] == [trial.plan.load for trial in later]
    for block in run.blocks:
        of_block = [trial for trial in later if trial.block == block.block]
        assert pids_by_server(of_block) == pids_by_server(block.trials)
        warm = {trial.case: trial.warm_up for trial in block.trials}
        assert all(trial.warm_up == warm[trial.case.partition("@")[0]] for trial in of_block)
    assert all(len(pids) == 2 for pids in pids_by_server(later).values())
    assert psutil.Process().children(recursive=True) == []


def test_what_follows_a_block_is_gone_on_with_on_servers_that_are_warmed_anew(
    tmp_path: Path, started: list[LoadPlan]
) -> None:
    write(tmp_path, interleaved=True)
    whole = made_studies.run(tmp_path)
    file = store.find(tmp_path / "results", "latest")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:3]))  # the header, the block, a trial that followed it
    started.clear()
    again = made_studies.go_on(tmp_path)
    assert [trial.case for trial in again.trials] == [trial.case for trial in whole.trials]
    later = later_of(again)[1:]
    closed = [plan for plan in started if isinstance(plan.load, Closed)]
    assert len(later) == 9 and len(closed) == 2
    sat, anew = pids_by_server(again.blocks[0].trials), pids_by_server(later)
    assert all(len(pids) == 1 for pids in anew.values())
    assert all(sat[server].isdisjoint(pids) for server, pids in anew.items())


class KillsWhatRests(trial.Silent):
    """Kills a server of the block that has just ended, and waits until its supervisor has gone, too."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def block_finished(self, block: Block) -> None:
        server = next(one.server for one in block.trials if one.case.endswith("right"))
        assert server is not None
        rests = psutil.Process(server.pid)
        supervisor = rests.parent()
        assert supervisor is not None
        supervisor.kill()
        supervisor.wait()

    def note(self, text: str) -> None:
        self.told.append(text)


def test_a_server_that_ended_while_it_rested_is_started_again(tmp_path: Path) -> None:
    write(tmp_path, interleaved=True)
    run = made_studies.run(tmp_path, kills := KillsWhatRests())
    later = later_of(run)
    assert all(trial.measurement is not None for trial in later)
    sat, anew = pids_by_server(run.blocks[0].trials), pids_by_server(later)
    assert sat["greeting/slow"] == anew["greeting/slow"]
    assert len(anew["greeting/right"]) == 1 and sat["greeting/right"].isdisjoint(anew["greeting/right"])
    assert "greeting/right: its server ended while it rested, and is started again" in kills.told


def test_the_report_has_one_table_of_response_times(run: Run) -> None:
    page = markdown.render(document(run))
    lines = [line for line in page.splitlines() if line.startswith(("| right |", "| slow |", "| greeting/"))]
    assert page.count("## Response time") == 1
    assert any("| 75 % |" in line for line in lines) and any("| common |" in line for line in lines)
    console = Console(width=120)
    with console.capture() as capture:
        console.print(terminal.in_full(document(run)))
    assert "intended start" in " ".join(capture.get().split())
