"""Generators that are interleaved together, without a cluster: one course for all, and what leads away from
it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fake_ray
import hello_server
import msgspec
import pytest
from fake_ray import ADDRESS, FIRST, SECOND, FakeRay
from msgspec.structs import replace

from assay.cluster import session
from assay.cluster.agent import GeneratorAgent
from assay.cluster.calls import NodeFailed, NodeLost, Wrapped
from assay.cluster.generators_slices import AgreedCourse, GeneratorsSlices
from assay.cluster.server_agent import ServerAgent
from assay.engine.driver import AgreedSlices, PlanRefused
from assay.model.interleaving import (
    End,
    EndArm,
    GiveSlices,
    InterleavedMeasurement,
    InterleavedPlan,
    Measure,
    SetLengths,
)
from assay.model.plan import Closed, LoadPlan, Request, StopAfter
from assay.servers.cores import CoreSplit

MS = 1_000_000
HOUR_NS = 3_600_000 * MS
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def urls() -> Iterator[tuple[str, str]]:
    with hello_server.standing() as one, hello_server.standing() as other:
        yield one, other


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeRay]:
    with fake_ray.three_nodes(monkeypatch, tmp_path / "cache") as running:
        yield running


def arm(url: str, warmup_max_ns: int = HOUR_NS) -> LoadPlan:
    return LoadPlan(
        url=url,
        requests=(Request(target="/"),),
        load=Closed(connections=4),
        stop=StopAfter(ns=HOUR_NS),
        warmup_max_ns=warmup_max_ns,
    )


@contextmanager
def interleaved(
    urls: tuple[str, ...], *, slice_ns: int = 50 * MS, warms: bool = True
) -> Iterator[GeneratorsSlices]:
    """Two generators that load these interleaved."""
    with session.generators(ADDRESS, None, arm(urls[0])) as (made, whole):
        arms = tuple(
            replace(whole, url=url, warmup_max_ns=HOUR_NS if warms else 0, threads=2) for url in urls
        )
        slices = made.start_interleaved(
            InterleavedPlan(arms=arms, slice_ns=slice_ns, washout_ns=2 * MS, seed=3)
        )
        try:
            yield slices
        finally:
            slices.stop()


def finished(slices: GeneratorsSlices) -> InterleavedMeasurement:
    measured = slices.result()
    for place, arm in enumerate(measured.arms):
        seen = slices.generators(place)
        assert [one.node for one in seen] == [FIRST, SECOND]
        assert [one.first_worker for one in seen] == [0, 1]
        requests = [one.measurement.requests for one in seen]
        assert arm.measurement.requests.started == sum(one.started for one in requests)
        assert arm.measurement.connections.asked == 4
        assert sum(one.completed for one in arm.slices) >= arm.measurement.completed
    return measured


def test_generators_take_the_same_slices_and_their_slices_are_added(
    ray: FakeRay, urls: tuple[str, str]
) -> None:
    with interleaved(urls) as slices:
        begun = slices.wait_begin(0, PATIENCE_S)
        assert begun is not None
        assert time.monotonic_ns() >= slices.started_at_monotonic_ns() + begun.start_ns
        slices.change(SetLengths(slice_ns=20 * MS, washout_ns=3 * MS))
        measures = slices.change(Measure())
        ends = slices.change(End(), measures + 6)
        assert ends == measures + 6
        measured = finished(slices)
    assert not measured.interrupted
    for one in measured.arms:
        own = [each for each in one.slices if each.phase == "measured"]
        assert [each.round for each in own] == list(range(measures, ends))
        assert {(each.length_ns, each.washout_ns) for each in own} == {(20 * MS, 3 * MS)}
        assert one.measurement.measured_ns == 6 * 20 * MS
        assert one.measurement.completed > 0
    assert slices.plan.washout_ns >= slices.least_washout_ns > 0


def test_arms_lend_their_slices_on_all_generators_from_one_round_on(
    ray: FakeRay, urls: tuple[str, str]
) -> None:
    with interleaved(urls, slice_ns=20 * MS) as slices:
        lent = slices.change(GiveSlices(arms=(1,)))
        back = slices.change(GiveSlices(arms=(0, 1)), lent + 3)
        slices.change(EndArm(arm=1), back + 1)
        slices.change(End(), back + 2)
        measured = finished(slices)
    rounds = [[one.round for one in arm.slices] for arm in measured.arms]
    assert rounds[0] == [*range(lent), back, back + 1]
    assert rounds[1] == list(range(back + 1))
    assert [one.ended for one in measured.arms] == [None, "asked"]


def test_a_generator_that_is_lost_is_told_while_slices_are_waited_for(
    ray: FakeRay, urls: tuple[str, str]
) -> None:
    with interleaved(urls, slice_ns=HOUR_NS // 60) as slices:
        ray.kill(ray.of(SECOND))
        with pytest.raises(NodeLost, match=r"node 127\.0\.0\.2 is lost"):
            while True:
                slices.wait_end(0, 0.1)
        with pytest.raises(NodeLost):
            slices.result()


def test_a_change_that_one_hears_of_too_late_spoils_the_block(
    ray: FakeRay, urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = GeneratorAgent.change

    def late(self: GeneratorAgent, change_json: bytes, from_round: int) -> Wrapped:
        return heard(self, change_json, from_round + (self is ray.of(SECOND).agent))

    monkeypatch.setattr(GeneratorAgent, "change", late)
    said = r"node 127\.0\.0\.2 heard of a change of the slices after"
    with interleaved(urls) as slices, pytest.raises(NodeFailed, match=said):
        slices.change(Measure())


def until(holds: Callable[[], bool]) -> None:
    """Wait until that holds. Between two looks others have the interpreter: a thread that has to look into
    slices of 20 ms would come too late for each of them."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_arm_ends_where_no_generator_finds_anybody(ray: FakeRay, urls: tuple[str, str]) -> None:
    with hello_server.standing() as gone:
        pass
    with interleaved((urls[0], gone), slice_ns=20 * MS) as slices:
        until(lambda: slices.snapshot().arms[1].ended is not None)
        slices.change(End())
        measured = finished(slices)
    assert [one.ended for one in measured.arms] == [None, "unreachable"]


def test_what_one_generator_alone_does_not_reach_goes_on(
    ray: FakeRay, urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = GeneratorAgent.look_at_slices

    def blind(self: GeneratorAgent) -> Wrapped:
        kind, told = heard(self)
        if self is not ray.of(SECOND).agent:
            return kind, told
        seen = msgspec.json.decode(told)
        seen["arms"][1]["ended_here"] = "unreachable"
        return kind, msgspec.json.encode(seen)

    monkeypatch.setattr(GeneratorAgent, "look_at_slices", blind)
    with interleaved(urls, slice_ns=20 * MS) as slices:
        for _ in range(3):
            assert slices.snapshot().arms[1].ended is None
        slices.change(End())
        assert finished(slices).arms[1].ended is None


def test_a_failure_that_one_generator_sees_ends_the_arm_on_all(
    ray: FakeRay, urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = GeneratorAgent.look_at_slices

    def failing(self: GeneratorAgent) -> Wrapped:
        kind, told = heard(self)
        seen = msgspec.json.decode(told)
        if self is ray.of(SECOND).agent:
            seen["arms"][0]["ended_here"] = "failure"
        return kind, msgspec.json.encode(seen)

    monkeypatch.setattr(GeneratorAgent, "look_at_slices", failing)
    with interleaved(urls, slice_ns=20 * MS) as slices:
        slices.snapshot()
        slices.change(End())
        assert [one.ended for one in finished(slices).arms] == ["failure", None]


def test_a_stop_is_one_instant_for_all(ray: FakeRay, urls: tuple[str, str]) -> None:
    with interleaved(urls, slice_ns=HOUR_NS // 60) as slices:
        slices.wait_begin(0, PATIENCE_S)
        slices.stop()
        measured = finished(slices)
    assert measured.interrupted
    assert sum(len(one.slices) for one in measured.arms) == 1


def test_a_plan_that_is_wrong_starts_nothing(ray: FakeRay, urls: tuple[str, str]) -> None:
    with pytest.raises(PlanRefused, match="slice_ns: must be between"), interleaved(urls, slice_ns=1):
        pass


def course(starts_in_ns: int, urls: tuple[str, str]) -> AgreedCourse:
    plan = InterleavedPlan(arms=tuple(map(arm, urls)), slice_ns=20 * MS, washout_ns=2 * MS)
    return AgreedCourse(plan, time.time_ns() + starts_in_ns)


def test_a_course_is_waited_for_by_the_clock(urls: tuple[str, str]) -> None:
    slices = course(30 * MS, urls)
    assert slices.wait_begin(0, 0.0) is None
    begun = slices.wait_begin(0, PATIENCE_S)
    assert begun is not None and slices.now_ns() >= begun.start_ns
    assert slices.wait_end(0, PATIENCE_S) == begun and slices.now_ns() >= begun.end_ns
    ends = slices.agreed.change(End(), 0)
    assert not slices.wait(0.0)
    last = slices.wait_end(2 * ends - 1, PATIENCE_S)
    assert last is not None and last.round == ends - 1
    assert slices.wait_begin(2 * ends, PATIENCE_S) is None
    assert slices.wait(0.0)


def test_nobody_waits_for_a_course_that_was_ended(urls: tuple[str, str]) -> None:
    slices = course(HOUR_NS, urls)
    threading.Timer(0.05, slices.end).start()
    assert slices.wait_begin(0, PATIENCE_S) is None
    assert slices.wait(0.0)


def test_agreed_slices_are_those_of_the_plan_and_its_changes(urls: tuple[str, str]) -> None:
    plan = InterleavedPlan(arms=tuple(map(arm, urls)), slice_ns=20 * MS, washout_ns=2 * MS)
    slices = AgreedSlices(plan)
    assert slices.slice(2, 0) is None  # its round has not begun
    assert slices.next_round(0) == 1
    assert slices.change(End(), 3) == 3
    assert slices.change(Measure(), 0) == 1
    assert slices.next_round(HOUR_NS) == 3
    assert slices.is_over() and slices.slice(6, HOUR_NS) is None
    last = slices.slice(5, HOUR_NS)
    assert last is not None and (last.round, last.phase, last.end_ns) == (2, "measured", 6 * 22 * MS)
    assert slices.change(Measure(), 1) == 3  # too late for that round
    with pytest.raises(PlanRefused, match="slice_ns"):
        slices.change(SetLengths(slice_ns=0, washout_ns=0))


def test_a_node_looks_at_slices_by_its_own_clock(ray: FakeRay, urls: tuple[str, str]) -> None:
    """Of servers that stand elsewhere it sees nothing, and knows no less of the host."""
    agent = ServerAgent("127.0.0.1")
    plan = InterleavedPlan(
        arms=tuple(arm(url, warmup_max_ns=0) for url in urls), slice_ns=20 * MS, washout_ns=5 * MS
    )
    assert agent.follow(plan, time.time_ns(), (None, None), CoreSplit((), (), 1))[0] == "ok"
    how, changed = agent.change(msgspec.json.encode(GiveSlices(arms=(1,))), 2)
    assert how == "ok" and changed >= 2  # a later round, where the machine was busy

    def seen_so_far() -> list[Any]:
        found: list[Any] = msgspec.json.decode(agent.slices_seen(0)[1][0])
        return found

    until(lambda: any(one["number"] >= 2 * changed + 5 for one in seen_so_far()))
    seen = seen_so_far()
    assert {tuple(one["cpu_ns"]) for one in seen} == {(None, None)}
    assert [one["number"] for one in seen] == sorted({one["number"] for one in seen})
    assert seen[-1]["arm"] == 1  # it heard of the change
    assert agent.slices_seen(len(seen))[1][1] == ()
    hosts, accounts = map(msgspec.json.decode, agent.followed()[1])
    kept = {one["arm"] for one in seen}  # a busy machine may have looked at the first one's too late
    assert [host["busy_cores"] is not None for host in hosts] == [arm in kept for arm in (0, 1)]
    assert accounts == [None, None]
    assert msgspec.json.decode(agent.slices_seen(0)[1][0]) == []
