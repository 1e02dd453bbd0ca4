"""Which generators of a cluster take part in a load, with how many workers, and on which cores."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import fake_ray
import hello_server
import msgspec
import pytest
from fake_ray import ADDRESS, FIRST, SECOND, THIRD, FakeRay
from msgspec import structs
from msgspec.structs import replace

from assay.cli import before_run
from assay.cli.main import main
from assay.cluster import agent, generators, session
from assay.cluster.calls import Agent
from assay.core.settings import Settings
from assay.engine.generator import generators_of
from assay.model.plan import Closed, LoadPlan
from assay.model.run import About, Role
from assay.plan.resolved import ResolvedRun


@pytest.fixture(scope="module")
def plan() -> Iterator[LoadPlan]:
    """A hundred requests to a server that stands here."""
    with hello_server.asked_a_hundred_times(connections=12) as made:
        yield made


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeRay]:
    with fake_ray.three_nodes(monkeypatch, tmp_path / "cache") as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return structs.replace(Settings.resolve(here=tmp_path, environ={}), server_folders=())


def test_a_load_of_a_run_with_fewer_connections_comes_from_fewer_generators(
    ray: FakeRay, plan: LoadPlan, settings: Settings
) -> None:
    """One of many loads of a study: nobody asked for all generators in each of them."""
    alone = replace(plan, load=Closed(connections=1))
    with session.whereabouts(ADDRESS, None, settings) as (where, _):
        whole = where.generator.planned(alone)
        assert whole.threads == 1
        load = where.generator.start(whole)
        assert load.result().completed == 100
        assert [one.node for one in generators_of(load)] == [FIRST]


def member(cores: int, cpus: tuple[int, ...] = (), client_cpus: tuple[int, ...] = ()) -> generators.Member:
    """A generator of that many cores that nobody asks."""
    said = dict.fromkeys(
        ("hostname", "os", "kernel", "cpu_model", "kernel_id", "assay_version", "engine_version", "python"),
        "",
    )
    about = About(cores=cores, cpus=cpus, client_cpus=client_cpus, server_cpus=(), **said)
    return generators.Member(cast(Agent, None), about)


@pytest.mark.parametrize(
    ("members", "threads", "workers"),
    [
        ([member(4, (0, 1, 2, 3)), member(2, (0, 1)), member(8, tuple(range(8)))], None, 6),
        ([member(4), member(2, (1,))], None, 2),
        ([member(4), member(3)], None, 6),
        ([member(4), member(3)], 5, 5),
        ([member(64), member(64)], None, 12),
        ([member(64), member(64)], 13, 12),
        ([structs.replace(member(4, (0, 1, 2, 3)), chosen_cpus=(2,)), member(4)], None, 2),
        ([structs.replace(member(4, (0, 1, 2, 3), (2, 3)), server_too=True), member(4)], None, 4),
    ],
)
def test_each_generator_has_as_many_workers_as_the_smallest_has_cores(
    plan: LoadPlan, members: list[generators.Member], threads: int | None, workers: int
) -> None:
    whole = generators.dealt_out(replace(plan, cpus=(0,)), members, threads)
    assert (whole.threads, whole.cpus) == (workers, ())


@pytest.mark.parametrize(
    ("members", "measuring", "seconds"),
    [(2, False, 0.25), (2, True, 1.0), (600, False, 0.6), (600, True, 1.0), (3_000, True, 3.0)],
)
def test_generators_are_asked_once_a_second_while_they_measure(
    members: int, measuring: bool, seconds: float
) -> None:
    assert generators.asked_every_s(members, measuring=measuring) == seconds


def loaded(plan: LoadPlan, *words: str) -> list[str]:
    """The words of such a load of a command line."""
    return ["load", plan.url, "--ray", ADDRESS, "-n", "100", "--json", "-q", *words]


def test_threads_are_those_of_all_generators(
    ray: FakeRay, plan: LoadPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(loaded(plan, "-c", "10", "--threads", "3")) in (0, 1)
    told = json.loads(capsys.readouterr().out)
    assert [one["first_worker"] for one in told["generators"]] == [0, 2]
    assert [one["measurement"]["connections"]["asked"] for one in told["generators"]] == [7, 3]


def test_cores_are_those_of_each_generator(
    ray: FakeRay, plan: LoadPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    core = min(os.sched_getaffinity(0))
    assert main(loaded(plan, "-c", "10", "--cpus", str(core))) in (0, 1)
    told = json.loads(capsys.readouterr().out)
    assert [one["cpus"] for one in told["generators"]] == [[core], [core]]
    workers = [[one["cpu"] for one in each["measurement"]["workers"]] for each in told["generators"]]
    assert workers == [[core], [core]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["-c", "10", "--threads", "1"],
            "1 thread cannot be dealt to 2 generators; ask for more threads, or fewer generators",
        ),
        (
            ["-c", "10", "--cpus", "4095"],
            "generator 127.0.0.1 has no core 4095; --cpus names cores that each generator has",
        ),
    ],
)
def test_what_cannot_be_dealt_is_refused(
    ray: FakeRay, plan: LoadPlan, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(loaded(plan, *words)) == 2
    assert capsys.readouterr().err == f"assay: {said}\n"


class Search(msgspec.Struct, frozen=True):
    """As much of a run as its place is chosen by."""

    cases: tuple[()] = ()
    split: object = None


def test_threads_of_a_search_are_those_of_all_generators(
    ray: FakeRay, plan: LoadPlan, settings: Settings
) -> None:
    args = argparse.Namespace(ray=ADDRESS, generators=None, threads=3)
    with before_run.somewhere(args, cast(ResolvedRun, Search()), settings) as (_, where):
        assert where.generator.planned(plan).threads == 3
        assert where.generator.planned(replace(plan, load=Closed(connections=2))).threads == 2


def test_nodes_of_one_role_come_first(ray: FakeRay, settings: Settings) -> None:
    both: tuple[Role, ...] = ("generator", "server")
    ray.roles = {FIRST: both, SECOND: ("generator",), THIRD: ("server",)}
    with session.whereabouts(ADDRESS, 1, settings) as (where, _):
        assert where.nodes == (THIRD, SECOND)
    ray.roles = {FIRST: both, SECOND: both}
    with session.whereabouts(ADDRESS, 1, settings) as (where, _):
        assert where.nodes == (FIRST, SECOND)  # and not where the servers are


def test_a_generator_that_loads_its_own_machine_is_told(
    ray: FakeRay, plan: LoadPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    cores = os.cpu_count() or 1
    assert main(loaded(plan, "-c", str(4 * cores))) in (0, 1)
    told = json.loads(capsys.readouterr().out)
    assert [one["same_machine"] for one in told["generators"]] == [True, True]
    [found] = [one["evidence"] for one in told["findings"] if one["code"] == "H1"]
    assert found.startswith("generator 127.0.0.")
    assert found.endswith(" that serves too")


def test_a_generator_on_a_machine_of_its_own_keeps_its_cores(
    ray: FakeRay, plan: LoadPlan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(agent, "is_this_machine", lambda hosts: False)  # noqa: ARG005
    assert main(loaded(plan, "-c", "10")) in (0, 1)
    told = json.loads(capsys.readouterr().out)
    for one in told["generators"]:
        assert (one["same_machine"], one["cpus"]) == (False, sorted(os.sched_getaffinity(0)))
    assert "H1" not in {one["code"] for one in told["findings"]}
