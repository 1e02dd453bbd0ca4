"""Nodes of a cluster that are lost, late or of another version, without a cluster."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import fake_ray
import hello_server
import pytest
from fake_ray import ADDRESS, FIRST, SECOND, THIRD, FakeRay
from msgspec import structs
from msgspec.structs import replace

from assay.cluster import agent, calls, session, site
from assay.cluster import session as survey
from assay.cluster.agent import GeneratorAgent, NodeAgent
from assay.cluster.calls import Agent, NodeFailed, NodeLost, Wrapped, wrapped
from assay.cluster.server_agent import ServerAgent
from assay.cluster.site import FarSampler, FarServer, FarSite, Program
from assay.core.errors import EnvironmentLacks, ServerFailed
from assay.core.settings import Settings
from assay.engine import driver
from assay.model.plan import LoadPlan, StopAfter
from assay.servers.build import Prepared
from assay.servers.contract import Contract, Route


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


def test_a_node_that_stays_away_is_waited_for_shortly_and_told_by_why_it_was_lost(
    ray: FakeRay, plan: LoadPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    get = ray.get

    def noted(reference: fake_ray.Answer, timeout: float) -> object:
        waited.append(timeout)
        return get(reference, timeout)

    with session.generators(ADDRESS, None, plan) as (made, whole):
        lost = ray.of(SECOND)
        lost.cut = True
        ray.away.add(SECOND)
        monkeypatch.setattr(sys.modules["ray"], "get", noted)
        for _ in range(2):
            waited.clear()
            with pytest.raises(NodeLost) as wrapped:
                made.start(whole)
            assert str(wrapped.value) == (
                "node 127.0.0.2 did not answer within 6 s, and it is not back; "
                "`assay nodes` looks at all of them"
            )
            assert max(waited) <= 8
        assert len(waited) == 2  # the first generator was asked, and a new agent waited for, nobody else
        ray.away.clear()
        assert made.start(whole).result().completed == 100
    assert lost.gone


def test_agents_that_came_are_dismissed_where_one_does_not(ray: FakeRay) -> None:
    nodes = calls.nodes()
    [taken] = calls.place(GeneratorAgent, "generator", nodes[1:2])
    with pytest.raises(NodeLost, match="another run uses it"):
        calls.place(GeneratorAgent, "generator", nodes[:2])
    assert [one.gone for one in ray.handles if one is not taken.handle] == [True, True]
    assert not taken.handle.gone
    calls.place(GeneratorAgent, "generator", nodes[:1])  # nobody holds it


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        (("9.9", "9.8"), "node 127.0.0.1 has Assay 9.9 (engine 9.8), this machine "),
        (None, "node 127.0.0.1 has another Assay, this machine "),  # of before agents told it so
    ],
)
def test_a_node_of_another_version_is_refused_before_anything_of_it_is_read(
    ray: FakeRay, theirs: object, said: str
) -> None:
    class Other(GeneratorAgent):
        def hello(self) -> Wrapped:
            return wrapped(lambda: theirs)

        def about(self) -> Wrapped:
            return wrapped(lambda: b'{"of another shape":1}')

    with pytest.raises(EnvironmentLacks) as refused, session.agents(Other, "generator", calls.nodes()[:2]):
        pass
    assert str(refused.value).startswith(said)
    assert str(refused.value).endswith("; install the same version on all machines")
    assert all(one.gone for one in ray.handles)


def far_server(agent: Agent, unended: set[int]) -> FarServer:
    """A server on a node, as far as ending it goes."""
    sampler, program = FarSampler(agent, 7), Program(1)
    prepared = cast(Prepared, None)
    return FarServer(agent, 7, prepared, 8080, (), program, sampler, 0, agent.node.address, "http", unended)


def test_a_server_that_ends_slowly_is_waited_for(ray: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as its node answers: another must not be started beside it."""
    asked = threading.Semaphore(0)
    ended: list[int] = []

    class Slow(NodeAgent):
        def hello(self) -> Wrapped:
            asked.release()
            return super().hello()

        def stop_server(self, number: int) -> Wrapped:
            for _ in range(5):
                assert asked.acquire(timeout=20)
            ended.append(number)
            return wrapped(lambda: None)

    monkeypatch.setattr(site, "_LOOK_S", 0.01)
    [placed] = calls.place(Slow, "server", calls.nodes()[2:])
    unended: set[int] = set()
    far_server(placed, unended).stop()
    assert (ended, unended) == ([7], set())


def test_a_server_that_does_not_end_is_told(ray: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    enough = threading.Event()

    class Never(NodeAgent):
        def stop_server(self, number: int) -> Wrapped:
            enough.wait(60)
            return wrapped(lambda: None)

    monkeypatch.setattr(site, "_END_S", 0.05)
    monkeypatch.setattr(site, "_LOOK_S", 0.01)
    [placed] = calls.place(Never, "server", calls.nodes()[2:])
    unended: set[int] = set()
    with pytest.raises(ServerFailed) as failed:
        far_server(placed, unended).stop()
    enough.set()
    assert (failed.value.stage, unended) == ("stop", {7})
    assert str(failed.value) == "node 127.0.0.3: the server has not ended within 0.05 s"


def test_a_server_that_may_still_run_is_ended_before_another_starts(ray: FakeRay) -> None:
    done: list[str] = []

    class Back(NodeAgent):
        def stop_server(self, number: int) -> Wrapped:
            done.append(f"stop {number}")
            return wrapped(lambda: None)

        def start(self, *given: object) -> Wrapped:
            done.append("start")
            return wrapped(lambda: (8, 8081, 1, 0))

    [placed] = calls.place(Back, "server", calls.nodes()[2:])
    there = FarSite(placed)
    ray.of(THIRD).cut = True
    far_server(placed, there.unended).stop()  # nobody hears of it
    assert there.unended == {7}
    ray.of(THIRD).cut = False
    contract = cast(Contract, SimpleNamespace(spoken=SimpleNamespace(scheme="http")))
    there.start(
        cast(Prepared, None), contract, cast(Route, None), cpus=(), log=Path("a.log"), env={}
    )  # fmt: skip
    assert done[-2:] == ["stop 7", "start"]
    assert there.unended == set()


def test_a_doctor_who_asks_many_tools_is_waited_for(
    ray: FakeRay, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Semaphore(0)
    hello = ServerAgent.hello

    def heard(self: ServerAgent) -> Wrapped:
        asked.release()
        return hello(self)

    def slow(self: ServerAgent, study: object) -> Wrapped:
        for _ in range(4):
            assert asked.acquire(timeout=20)
        return wrapped(lambda: ((), ()))

    monkeypatch.setattr(ServerAgent, "hello", heard)
    monkeypatch.setattr(ServerAgent, "examine", slow)
    monkeypatch.setattr(site, "_LOOK_S", 0.01)
    assert session.examined(ADDRESS, settings, None) == {THIRD: ((), ())}


def generator_at(ray: FakeRay, node: str) -> GeneratorAgent:
    placed = ray.of(node).agent
    assert isinstance(placed, GeneratorAgent)
    return placed


def engine_of(ray: FakeRay, node: str) -> driver.EngineRun:
    load = generator_at(ray, node)._load
    assert load is not None
    return load


def test_a_load_that_its_driver_forgot_is_no_measurement(ray: FakeRay, plan: LoadPlan) -> None:
    """A driver that stands still (Ctrl-Z) comes back to parts that ended at their own times."""
    with session.generators(ADDRESS, None, plan) as (made, whole):
        load = made.start(replace(whole, stop=StopAfter(ns=60_000_000_000)))
        for _ in range(2):  # the next time there is nothing left to end
            generator_at(ray, SECOND).forgotten()
            assert engine_of(ray, SECOND).wait(60)
        with pytest.raises(NodeFailed) as failed:
            load.result()
        assert str(failed.value) == (
            "node 127.0.0.2: it heard nothing of the driver for 8 s and ended its load; "
            "keep the driver running (no Ctrl-Z) and in reach of all nodes"
        )
        assert failed.value.stage == "cluster"
        assert made.start(whole).result().completed == 100


def test_an_agent_that_could_not_end_what_it_runs_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = threading.Semaphore(0)

    class Failing(NodeAgent):
        times = 0

        def forgotten(self) -> None:
            self.times += 1
            tried.release()
            if self.times == 1:
                raise ServerFailed("stop", "processes that cannot be ended: 1")

    monkeypatch.setattr(agent, "FORGOTTEN_S", 0.0)
    monkeypatch.setattr(agent, "_LOOK_S", 0.001)
    Failing(FIRST)
    for _ in range(2):
        assert tried.acquire(timeout=20)


def test_an_end_comes_soon_whatever_the_calendar_is_set_to(
    ray: FakeRay, plan: LoadPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session.generators(ADDRESS, None, plan) as (made, whole):
        load = made.start(replace(whole, stop=StopAfter(ns=3_600_000_000_000)))
        calendar = time.time_ns
        with monkeypatch.context() as changed:
            changed.setattr(time, "time_ns", lambda: calendar() + 1_800_000_000_000)
            load.stop()
        assert engine_of(ray, FIRST).wait(20) and engine_of(ray, SECOND).wait(20)


def test_a_generator_without_a_way_is_told_and_the_others_are_measured(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Near(NodeAgent):
        def link_to(self, address: str, port: int, seconds: float) -> Wrapped:
            if self._address == FIRST:
                return wrapped(lambda: self._lost(address))
            return super().link_to(address, port, 0.01)

        def _lost(self, address: str) -> None:
            raise EnvironmentLacks(f"{address} cannot be reached from here")

        def close_sinks(self) -> Wrapped:
            closed.append(self._address)
            return super().close_sinks()

    closed: list[str] = []
    monkeypatch.setattr(survey, "NodeAgent", Near)
    first, second, server = survey.survey(ADDRESS).nodes
    [lost], [whole] = first.links, second.links
    assert lost.problem == "node 127.0.0.1: 127.0.0.3 cannot be reached from here"
    assert whole.bytes_per_s and not whole.problem
    assert (server.links, closed) == ((), [THIRD])
