"""Open loops at shares of each server's own capacity, found in the same run."""

from __future__ import annotations

from pathlib import Path

import made_studies
import msgspec
import pytest
from rich.console import Console

from assay import engine
from assay.report import markdown, terminal
from assay.stats import rate_per_s
from assay.values.plan import Closed, LoadPlan, Open
from assay.values.run import Run
from assay.values.trial import Trial
from assay.verdict import judge

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


@pytest.mark.parametrize("woven", [False, True])
def test_each_is_warmed_by_its_closed_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, woven: bool
) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=1, connections=2, woven=woven)
    with (tmp_path / "studies" / "small.toml").open("a") as file:
        file.write("latency = true\n")
    started: list[LoadPlan] = []
    start = engine.start

    def noted(plan: LoadPlan) -> engine.EngineRun:
        started.append(plan)
        return start(plan)

    monkeypatch.setattr(engine, "start", noted)
    made = made_studies.run(tmp_path)
    later = [trial for trial in made.trials if "@" in trial.case]
    loads = [plan.load for plan in started[-2 * len(later) :]]
    assert len(later) == 2 * 5 and all(trial.warm_up is not None for trial in later)
    assert loads[::2] == [Closed(connections=2)] * len(later)
    assert loads[1::2] == [trial.plan.load for trial in later]


def test_the_report_has_one_table_of_response_times(run: Run) -> None:
    page = markdown.render(run)
    lines = [line for line in page.splitlines() if line.startswith(("| right |", "| slow |", "| greeting/"))]
    assert page.count("## Response time") == 1
    assert any("| 75 % |" in line for line in lines) and any("| common |" in line for line in lines)
    console = Console(width=120)
    with console.capture() as capture:
        console.print(terminal.summary(run))
    assert "intended start" in " ".join(capture.get().split())
