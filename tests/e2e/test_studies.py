"""Each study of this checkout, short, from the command line: real servers, databases and caches."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay import store
from assay.core.settings import Settings
from assay.model.run import Run
from assay.servers import check_all, find_server, read_contract, split_cores
from assay.servers.services import Services, ServiceSpec, requirements_of_all

pytestmark = [pytest.mark.beside, pytest.mark.contract]

ASSAY = [sys.executable, "-m", "assay.cli.main"]
CHECKOUT = Settings.resolve(environ={})
PATIENCE_S = 280
REQUESTS = 60


@dataclass(frozen=True)
class Short:
    """A study, the few servers that it is tried with, and the service that they share."""

    name: str
    servers: tuple[str, ...]
    service: str = ""


STUDIES = (
    Short("franklin", ("quotes/go", "quotes/ruby-sinatra")),
    Short("frameworks", ("hello/netty", "hello/spring-webflux-armeria")),
    Short("delay", ("delay/armeria", "delay/reference-rust"), "upstream"),
    Short("heroes", ("heroes/go-pgx", "heroes/spring-jdbc"), "postgres"),
    Short("petclinic", ("petclinic/nginx-lua", "petclinic/reference-rust")),
    Short("protocols", ("protocols/go", "protocols/nginx")),
    Short("workflow", ("workflow/quarkus", "workflow/reference-rust"), "redis"),
)


def shortened(name: str, folder: Path, more: str = "") -> Path:
    """The study with loads of a few requests, no warm-up and no open loops, all else as it is.

    Counted, not timed: a cold server on a busy machine may need seconds for its first answer.
    """
    text = (CHECKOUT.root / "studies" / f"{name}.toml").read_text()
    text = re.sub(r"^(quick|latency|objective) = .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\bmeasure_s = [\d.]+", f"requests = {REQUESTS}", text)
    text = re.sub(r"\b(warm_up_min_s|warm_up_max_s) = [\d.]+", r"\1 = 0", text)
    path = folder / f"{name}.toml"
    path.write_text(text + more)
    return path


def lacking(short: Short) -> str:
    """What this machine lacks for it; empty where it has all."""
    specs = [find_server(server, CHECKOUT).variant("fair") for server in short.servers]
    wanted = [one for spec in specs for one in spec.requires]
    checked = check_all([*wanted, *requirements_of_all(specs)])
    return "; ".join(one.sentence for one in checked if not one.fulfilled)


def run(path: Path, folder: Path, servers: tuple[str, ...]) -> tuple[subprocess.CompletedProcess[str], Run]:
    """Run the study in one block; its record."""
    (folder / "runtime").mkdir()
    own = {"ASSAY_CACHE": str(CHECKOUT.cache), "ASSAY_LOCK": str(folder / "lock"), "CI": "1"}
    named = [word for server in servers for word in ("--server", server)]
    ended = subprocess.run(
        [*ASSAY, "run", str(path), "--blocks", "1", *named],
        cwd=folder,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )
    assert ended.returncode in (0, 1), ended.stderr
    return ended, store.load(store.find(folder / "results", "latest"))


@pytest.mark.parametrize("short", STUDIES, ids=lambda short: short.name)
def test_a_short_run_of_the_study(short: Short, tmp_path: Path) -> None:
    if lacking(short):
        pytest.skip(lacking(short))
    path = shortened(short.name, tmp_path)
    ended, made = run(path, tmp_path, short.servers)
    assert "Traceback" not in ended.stderr
    assert {case.server for case in made.header.cases} >= set(short.servers)
    assert len(made.trials) == len(made.header.cases)
    for trial in made.trials:
        assert trial.failure is None, f"{trial.case}: {trial.failure}"
        assert trial.measurement is not None
        assert trial.measurement.completed > 0, trial.case
        assert trial.contract is not None
        assert (trial.contract.before_wrong, trial.contract.during_wrong) == (0, 0), trial.contract.examples
        assert trial.contract.after_wrong == 0, trial.contract.examples
        assert trial.server is not None
        assert trial.server.start_ns > 0
        served = [service.name for service in trial.services]
        assert served == ([short.service] if short.service else [])
    assert made.judgement is not None
    claims = tomllib.loads(path.read_text()).get("claims", [])
    assert [claim.claim for claim in made.judgement.claims] == [claim["id"] for claim in claims]
    assert made.header.run_id in " ".join(ended.stdout.split())  # where its report lies
    report = (tmp_path / "results" / made.header.run_id / "report.md").read_text()
    assert ("## Services" in report) == bool(short.service)


def test_a_study_uses_the_database_that_it_names(tmp_path: Path) -> None:
    """Not one of its own: queries are counted where the study's url points to."""
    short = Short("heroes", ("heroes/go-pgx",), "postgres")
    if lacking(short):
        pytest.skip(lacking(short))
    server = find_server("heroes/go-pgx", CHECKOUT)
    contract = read_contract(server.contract_folder)
    table = contract.services["postgres"]
    spec = ServiceSpec(name="postgres", table=table, contract=contract, settings={})
    with Services([spec], CHECKOUT, split_cores(), tmp_path) as services:
        services.ensure()
        env = services.env
        path = shortened("heroes", tmp_path, f'\n[services.postgres]\nurl = "{env["DATABASE_URL"]}"\n')
        _, made = run(path, tmp_path, short.servers)
        reads = int(asked(env, "SELECT idx_scan FROM pg_stat_user_tables WHERE relname = 'heroes'"))
    mine = [trial for trial in made.trials if trial.case.startswith("heroes/go-pgx")]
    assert mine
    assert all(trial.measurement and trial.measurement.completed for trial in mine)
    assert all(trial.services == () for trial in made.trials)
    assert reads >= sum(trial.measurement.completed for trial in mine if trial.measurement)


def asked(env: dict[str, str], statement: str) -> str:
    command = ["psql", "--no-psqlrc", "-At", "-c", "SELECT pg_stat_clear_snapshot()", "-c", statement]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]
