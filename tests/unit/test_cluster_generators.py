"""Generators of a cluster as one, without a cluster: faults at a known moment, and what is refused."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import fake_ray
import hello_server
import pytest
from fake_ray import ADDRESS, FIRST, SECOND, THIRD, FakeRay
from msgspec import structs
from msgspec.structs import replace

from assay.cli.main import main
from assay.cluster import calls, generators, session, versions
from assay.cluster import session as survey
from assay.cluster.agent import GeneratorAgent, NodeAgent
from assay.cluster.calls import Agent, NodeFailed, NodeLost, Wrapped, wrapped
from assay.core.errors import EnvironmentLacks, InputError
from assay.core.settings import Settings, version
from assay.engine import driver
from assay.engine.merge import NotOneLoad
from assay.model.plan import Closed, LoadPlan, StopAfter
from assay.model.trial import ClockSeen

MINUTE_NS = 60_000_000_000


@pytest.fixture(scope="module")
def plan() -> Iterator[LoadPlan]:
    """A hundred requests to a server that stands here."""
    with hello_server.asked_a_hundred_times(connections=4) as made:
        yield made


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeRay]:
    with fake_ray.three_nodes(monkeypatch, tmp_path / "cache") as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return structs.replace(Settings.resolve(here=tmp_path, environ={}), server_folders=())


def test_two_generators_are_one_load(ray: FakeRay, plan: LoadPlan) -> None:
    with session.generators(ADDRESS, None, plan) as (made, whole):
        load = made.start(whole)
        assert load.result().completed == 100
        assert [one.node for one in load.generators()] == [FIRST, SECOND]


def test_a_load_that_cannot_be_dealt_out_is_refused(ray: FakeRay, plan: LoadPlan) -> None:
    alone = replace(plan, load=Closed(connections=1))
    with (
        pytest.raises(InputError, match="1 connection cannot be dealt to 2 generators; ask for more"),
        session.generators(ADDRESS, None, alone),
    ):
        pass


def test_one_that_was_cut_off_gives_its_node_to_the_next(ray: FakeRay, plan: LoadPlan) -> None:
    with session.generators(ADDRESS, None, plan) as (made, whole):
        lost = ray.of(SECOND)
        lost.cut = True  # its process lives on, and holds the node's resource
        assert made.start(whole).result().completed == 100
    assert lost.gone
    assert ray.of(SECOND) is not lost


def test_a_lost_one_ends_the_load_and_the_next_is_whole(ray: FakeRay, plan: LoadPlan) -> None:
    with session.generators(ADDRESS, None, plan) as (made, whole):
        load = made.start(replace(whole, stop=StopAfter(ns=MINUTE_NS)))
        ray.kill(ray.of(SECOND))
        with pytest.raises(NodeLost, match=r"node 127\.0\.0\.2 is lost: Assay's process there is gone"):
            load.result()
        assert made.start(whole).result().completed == 100


def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What agents are asked from now on, one by one."""
    asked: list[str] = []
    begin = calls.begin

    def noting(one: Agent, what: str, *given: object) -> calls.Reference:
        asked.append(what)
        return begin(one, what, *given)

    monkeypatch.setattr(calls, "begin", noting)
    return asked


def test_generators_that_measure_are_asked_less_often_than_those_that_warm_up(
    ray: FakeRay, plan: LoadPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answer takes time of a core that one of their workers may need."""
    asked = noted(monkeypatch)
    monkeypatch.setattr(generators, "_LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(generators, "_KEEP_S", 3600.0)
    with session.generators(ADDRESS, None, plan) as (made, whole):
        load = made.start(replace(whole, stop=StopAfter(ns=MINUTE_NS), warmup_max_ns=MINUTE_NS))
        for _ in range(3):
            assert not load.wait(0.01)
        assert asked.count("live_view") == 3 * 2
        load.begin_measuring()
        while load.snapshot().phase != "measured":
            load.wait(0.01)
        looks = asked.count("live_view")
        for _ in range(3):
            load.wait(0.01)
        assert asked.count("live_view") == looks
        monkeypatch.setattr(generators, "_KEEP_S", 0.0)
        load.wait(0.01)
        assert asked.count("live_view") == looks + 2


def test_nobody_waits_for_a_silent_generator_to_stop(
    ray: FakeRay, plan: LoadPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[list[str]] = []
    wait = ray.wait

    def noting(
        references: Sequence[fake_ray.Answer], num_returns: int, timeout: float
    ) -> tuple[list[fake_ray.Answer], list[fake_ray.Answer]]:
        waited.append([one.handle.node for one in references])
        return wait(references, num_returns, timeout)

    with session.generators(ADDRESS, None, plan) as (made, whole):
        load = made.start(replace(whole, stop=StopAfter(ns=MINUTE_NS)))
        ray.of(SECOND).cut = True
        monkeypatch.setattr(sys.modules["ray"], "wait", noting)
        with pytest.raises(NodeLost, match=r"node 127\.0\.0\.2 did not answer"):
            load.wait(0.1)
    assert waited[-1] == [FIRST]


@pytest.mark.parametrize("seen_by", ["wait", "snapshot", "begin_measuring"])
def test_a_load_that_lost_one_asks_nobody_any_more(
    ray: FakeRay, plan: LoadPlan, monkeypatch: pytest.MonkeyPatch, seen_by: str
) -> None:
    """Its trial stops it and waits for its end: each silent node would take six seconds of that."""
    given = (0.1,) if seen_by == "wait" else ()
    with session.generators(ADDRESS, None, plan) as (made, whole):
        load = made.start(replace(whole, stop=StopAfter(ns=MINUTE_NS), warmup_max_ns=MINUTE_NS))
        ray.of(SECOND).cut = True
        with pytest.raises(NodeLost, match=r"node 127\.0\.0\.2 did not answer"):
            getattr(load, seen_by)(*given)
        asked = noted(monkeypatch)
        load.stop()
        with pytest.raises(NodeLost, match=r"node 127\.0\.0\.2 did not answer"):
            load.wait(0.1)
        assert asked == []


def test_no_two_loads_go_on_at_one_generator(
    ray: FakeRay, plan: LoadPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[driver.EngineRun] = []
    start = driver.start

    def noted(plan: LoadPlan) -> driver.EngineRun:
        begun.append(start(plan))
        return begun[-1]

    monkeypatch.setattr(driver, "start", noted)
    with session.generators(ADDRESS, 1, plan) as (made, whole):
        made.start(replace(whole, stop=StopAfter(ns=MINUTE_NS)))
        load = made.start(whole)  # by a driver that has given the first up
        assert begun[0].wait(0)
        assert load.result().completed == 100


def test_parts_that_are_no_one_load_are_nothing_that_the_server_did(
    ray: FakeRay, plan: LoadPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def apart(parts: object) -> None:
        raise NotOneLoad("the generators' warm-ups ended 5 ms apart")

    monkeypatch.setattr(generators, "merged", apart)
    with (
        session.generators(ADDRESS, None, plan) as (made, whole),
        pytest.raises(NodeFailed, match="5 ms apart") as failed,
    ):
        made.start(whole).result()
    assert failed.value.stage == "cluster"


class Full(NodeAgent):
    def hello(self) -> Wrapped:
        def full() -> None:
            raise OSError(28, "No space left on device", "/srv/log")

        return wrapped(full)


def test_what_a_node_says_bears_its_name(ray: FakeRay) -> None:
    nodes = calls.nodes()
    with pytest.raises(NodeFailed) as failed:
        calls.place(Full, None, nodes[:1])
    assert str(failed.value) == "node 127.0.0.1: no space left on device (/srv/log); see to it there"
    assert failed.value.stage == "cluster"  # to a search, no answer of the server
    [idle] = calls.place(GeneratorAgent, "generator", nodes[1:2])
    with pytest.raises(InputError, match=r"node 127\.0\.0\.2: no load goes on here"):
        calls.ask(idle, "live_view")
    with pytest.raises(NodeFailed, match=r"node 127\.0\.0\.2: .* cannot be reached from here"):
        calls.ask(idle, "link_to", FIRST, closed_port(), 0.1)
    with pytest.raises(NodeLost, match="another run uses it"):
        calls.place(GeneratorAgent, "generator", nodes[1:2])


def closed_port() -> int:
    with socket.create_server((FIRST, 0)) as nobody:
        port: int = nobody.getsockname()[1]
    return port


def test_a_server_that_stands_out_of_reach_is_told_before_a_search(ray: FakeRay, settings: Settings) -> None:
    port = closed_port()
    with (
        pytest.raises(EnvironmentLacks) as refused,
        session.whereabouts(ADDRESS, None, settings, [(FIRST, port)]),
    ):
        pass
    assert str(refused.value) == (
        f"generator 127.0.0.1 cannot reach 127.0.0.1:{port}: connection refused; "
        "there it is that machine itself: write the server's address"
    )


def test_a_search_does_not_begin_at_a_server_that_a_generator_does_not_reach(
    ray: FakeRay,
    plan: LoadPlan,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(GeneratorAgent, "knock", lambda self, address, port: wrapped(lambda: "timed out"))
    monkeypatch.setenv("ASSAY_LOCK", str(tmp_path / "lock"))
    monkeypatch.setenv("ASSAY_SERVERS", str(tmp_path))
    words = ["capacity", plan.url, "--slo", "p99<1s", "--ray", ADDRESS, "--results", str(tmp_path)]
    assert main(words) == 2
    assert f"generator 127.0.0.1 cannot reach {plan.url[7:]}: timed out" in capsys.readouterr().err


def test_a_node_of_both_roles_has_half_of_its_cores_for_each(
    monkeypatch: pytest.MonkeyPatch, ray: FakeRay, settings: Settings
) -> None:
    ray.roles = {FIRST: ("generator", "server"), SECOND: ("generator",)}
    with session.whereabouts(ADDRESS, None, settings) as (where, split):
        assert isinstance(where.generator, generators.Generators)
        other, both = where.generator.members
        assert (both.cpus, split.server) == (both.about.client_cpus, both.about.server_cpus)
        assert other.cpus == other.about.cpus
        assert where.nodes == (FIRST, SECOND, FIRST)
    ray.roles = {FIRST: ("generator", "server"), SECOND: ("generator", "server")}
    with session.whereabouts(ADDRESS, None, settings) as (where, _):  # the second could serve, and does not
        assert isinstance(where.generator, generators.Generators)
        other, both = where.generator.members
        assert (both.cpus, other.cpus) == (both.about.client_cpus, other.about.cpus)
        assert where.nodes == (FIRST, SECOND, FIRST)


def test_nobody_waits_for_a_node_that_was_silent_to_stop_its_server(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial whose server's link is cut would otherwise end long after it is known to have failed."""
    waited: list[float] = []
    [placed] = calls.place(NodeAgent, "server", calls.nodes()[2:])
    get = ray.get

    def noted(reference: fake_ray.Answer, timeout: float) -> object:
        waited.append(timeout)
        return get(reference, timeout)

    monkeypatch.setattr(sys.modules["ray"], "get", noted)
    ray.of(THIRD).cut = True
    with pytest.raises(NodeLost):
        calls.ask(placed, "hello")
    calls.ask_to_end(placed, "hello", within_s=20.0)
    ray.of(THIRD).cut = False
    calls.ask(placed, "hello")
    calls.ask_to_end(placed, "hello", within_s=20.0)
    assert waited == [calls.ANSWER_S, 0, calls.ANSWER_S, 20.0]


def test_an_agent_is_asked_while_the_driver_is_busy_elsewhere(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = threading.Semaphore(0)

    class Heard(NodeAgent):
        def hello(self) -> Wrapped:
            heard.release()
            return super().hello()

    [placed] = calls.place(Heard, None, calls.nodes()[:1])
    monkeypatch.setattr(session, "HEARTBEAT_S", 0.001)
    with session.kept_in_mind(placed):
        for _ in range(5):
            assert heard.acquire(timeout=20)
    while heard.acquire(blocking=False):
        pass
    assert not heard.acquire(blocking=False)  # the block is over


def test_what_is_wrong_with_a_cluster_is_a_line_each(ray: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    ray.roles = {FIRST: ("generator",), SECOND: ("generator",), THIRD: ("generator",)}
    calls.place(NodeAgent, "generator", calls.nodes()[1:2])  # another run's

    class Other(NodeAgent):
        def hello(self) -> Wrapped:
            return wrapped(lambda: ("9.9", "9.8")) if self._address == THIRD else super().hello()

        def about(self) -> Wrapped:
            return wrapped(lambda: b'{"of another shape":1}') if self._address == THIRD else super().about()

    moved = ClockSeen(offset_ns=0, uncertainty_ns=12_300_000, round_trip_ns=24_600_000)
    monkeypatch.setattr(survey, "read_clocks", lambda agents: [moved for _ in agents])
    monkeypatch.setattr(survey, "NodeAgent", Other)
    assert survey.survey(ADDRESS).problems == (
        "the clock of 127.0.0.1 is known to 12.3 ms only: its network is slow or busy",
        "node 127.0.0.2 did not answer within 30 s: another run uses it, or Ray cannot start a process; "
        "`assay nodes` looks at all of them",
        f"node 127.0.0.3 has Assay 9.9 (engine 9.8), this machine {version()} "
        f"(engine {versions.here()[1]}); install the same version on all machines",
        "no node is a server: ray start --resources='{\"assay_server\": 1}' makes one",
    )
