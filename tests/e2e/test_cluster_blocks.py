"""Blocks, and loads one after the other, over generators and a server node, all of them in this process:
real servers, real turns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import fake_ray
import made_servers
import made_studies
import msgspec
import psutil
import pytest
from fake_ray import ADDRESS, FIRST, SECOND, THIRD, FakeRay
from msgspec import structs

from assay import runner, store
from assay.cluster import calls, session
from assay.cluster.calls import Agent
from assay.core.errors import EnvironmentLacks, InputError
from assay.model.block import Block
from assay.model.interleaving import InterleavedSnapshot
from assay.model.measurement import Snapshot
from assay.model.plan import Closed, LoadPlan, Open
from assay.model.run import Run, TrialDone
from assay.plan.next import Slot
from assay.runner import Silent, one_trial
from assay.runner.bench import Warm, WarmPool
from assay.runner.block import used_ns
from assay.servers import requires
from assay.servers.manifest import Requirement
from assay.servers.requires import Checked
from assay.store import RunFile

pytestmark = pytest.mark.beside


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeRay]:
    with fake_ray.three_nodes(monkeypatch, tmp_path / "cache") as running:
        yield running


def begun_since(before: set[int]) -> list[psutil.Process]:
    """The processes below this one that were not there then: a cluster of other tests may still be ending."""
    return [one for one in psutil.Process().children(recursive=True) if one.pid not in before]


@pytest.fixture
def before() -> set[int]:
    return {one.pid for one in psutil.Process().children(recursive=True)}


class Told(Silent):
    """What was noted; and what is done the first time that arms measure, or that an open loop's server is
    `warmed`."""

    def __init__(self, once: Callable[[], None] = lambda: None, *, warmed: bool = False) -> None:
        self.notes: list[str] = []
        self._once: Callable[[], None] | None = once
        self._warmed = warmed

    def note(self, text: str) -> None:
        self.notes.append(text)

    def slices(self, slots: Sequence[Slot], snapshot: InterleavedSnapshot) -> None:
        self.snapshot(slots[0], snapshot.arms[0].snapshot)

    def snapshot(self, slot: Slot, snapshot: Snapshot) -> None:
        now = "@" in slot.case if self._warmed else snapshot.phase == "measured"
        if self._once is not None and now:
            once, self._once = self._once, None
            once()


def sat(folder: Path, observer: Told) -> Run:
    """The study of the folder, over the generators, to its end."""
    settings, made = made_servers.settings(folder), made_studies.study(folder)
    with runner.machine_lock(settings), session.whereabouts(ADDRESS, None, settings) as (where, split):
        return runner.begin(
            structs.replace(made, split=split), settings, observer, command=["test"], where=where
        )


def check(block: Block) -> None:
    whole = [one for one in block.trials if one.measurement]
    assert {one.case for one in whole} == {"greeting/right", "greeting/slow"}
    for place, one in enumerate(block.trials):
        if one not in whole:
            continue
        assert one.arm and one.measurement and one.server and one.host
        assert one.plan.url.startswith(f"http://{THIRD}:")
        assert [seen.node for seen in one.generators] == [FIRST, SECOND]
        parts = [seen.measurement for seen in one.generators]
        assert one.measurement.requests.started == sum(part.requests.started for part in parts)
        assert one.measurement.completed == sum(part.completed for part in parts) > 0
        measured = [part for part in one.arm.slices if part.phase == "measured"]
        assert sum(part.completed for part in measured) == one.measurement.completed
        assert {part.washout_ns for part in measured} == {block.lengths.washout_ns}
        assert one.server.cpu_ns
        assert one.server.cpu_ns == used_ns(block.server_slices, place, one.measurement.measured_ns)
        assert one.contract and one.contract.after == 1
        assert one.warm_up is not None
    rounds = [set(one.arm.rounds) for one in whole if one.arm]
    assert rounds[0] == rounds[1] and len(rounds[0]) % 2 == 0
    [died] = [one for one in block.trials if one not in whole]
    assert died.failure is not None and "exit code 3" in died.failure.reason
    assert died.arm is not None and died.arm.slices


def test_servers_on_the_node_take_slices_under_all_generators(
    ray: FakeRay, before: set[int], tmp_path: Path
) -> None:
    made_studies.write(tmp_path, ["right", "slow", "dies"], blocks=2, interleaved=True, measure_s=0.6)
    told = Told()
    run = sat(tmp_path, told)
    assert [note for note in told.notes if "the least here: 25 service times of" not in note] == []
    assert run.header.design.interleave is not None and run.header.design.sequential == ""
    assert len(run.blocks) == 2
    for block in run.blocks:
        check(block)
    assert run.judgement is not None and run.judgement.comparisons[0].ratio is not None
    ratio = run.judgement.comparisons[0].ratio
    assert "neighbouring slices" in ratio.method or ratio.n == 1  # one, where a block was preempted
    assert begun_since(before) == []


@pytest.mark.parametrize("interleaved", [True, False])
def test_the_account_of_a_trial_is_of_the_server_s_node_and_of_each_generator_s(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, interleaved: bool
) -> None:
    # All nodes are this machine here, which has no cores that are a server's alone.
    monkeypatch.setattr(session, "_shares_cores", lambda member, server: False)  # noqa: ARG005
    made_studies.write(tmp_path, ["right", "slow"], blocks=1, interleaved=interleaved, measure_s=0.6)
    for one in sat(tmp_path, Told()).trials:
        account = one.account
        assert account is not None and one.measurement is not None
        hosts = [(core.role, core.host) for core in account.cores]
        assert hosts == [("server", THIRD), ("generator", FIRST), ("generator", SECOND)]
        for core in account.cores:
            assert sum(filter(None, core.parts.values())) == pytest.approx(core.time_ns, rel=0.01)
            assert (core.generator_ns is None) == (core.server_ns is not None) == (core.role == "server")
        assert account.server is not None and account.generator is not None
        assert account.idle_cpu_share is not None
        assert account.generator.ran_ns == sum(worker.cpu_ns for worker in one.measurement.workers)
        assert account.requests is not None and account.requests.requests == one.measurement.completed
        assert account.unseen == ()


def test_whose_time_was_whose_is_not_known_where_a_generator_has_the_server_s_cores(
    ray: FakeRay, tmp_path: Path
) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1, measure_s=0.3)
    assert [one.account for one in sat(tmp_path, Told()).trials] == [None]


def test_the_node_tells_what_its_services_used_in_each_server_s_slices(
    ray: FakeRay, before: set[int], tmp_path: Path
) -> None:
    made_studies.write(tmp_path, ["right", "asks upstream"], blocks=1, interleaved=True, measure_s=0.6)
    made_studies.add_upstream(tmp_path)
    (block,) = sat(tmp_path, Told()).blocks
    made_studies.check_upstream(block)


def test_a_generator_lost_in_mid_block_fails_its_arms_and_the_study_goes_on(
    ray: FakeRay, before: set[int], tmp_path: Path
) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=2, interleaved=True, measure_s=0.4)
    run = sat(tmp_path, Told(lambda: ray.kill(ray.of(SECOND))))
    lost, whole = run.blocks
    for one in lost.trials:
        assert one.measurement is None and one.failure is not None  # nothing is merged from a part
        assert one.failure.stage == "cluster"
        assert "node 127.0.0.2 is lost: Assay's process there is gone" in one.failure.reason
    assert all(one.measurement and len(one.generators) == 2 for one in whole.trials)
    assert run.judgement is not None
    assert "G9" in {finding.code for finding in run.judgement.findings}
    assert begun_since(before) == []


def with_open_loops(folder: Path, *modes: str, interleaved: bool = False) -> None:
    made_studies.write(folder, modes or ["right"], blocks=1, measure_s=0.3, interleaved=interleaved)
    with (folder / "studies/small.toml").open("a") as of_load:
        of_load.write("latency = true\n")


def test_an_open_loop_s_server_is_warmed_by_all_generators_and_its_node_is_left_alone_meanwhile(
    ray: FakeRay, before: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_open_loops(tmp_path)
    asked: list[str] = []
    loads: list[tuple[str, Closed | Open]] = []
    begin = calls.begin

    def noting(agent: Agent, what: str, *given: object) -> calls.Reference:
        asked.append(what)
        if what == "start" and isinstance(given[0], bytes):
            loads.append((agent.node.address, msgspec.json.decode(given[0], type=LoadPlan).load))
        return begin(agent, what, *given)

    monkeypatch.setattr(calls, "begin", noting)
    monkeypatch.setattr(one_trial, "_SAMPLE_EVERY_S", 3600.0)
    run = sat(tmp_path, Told())
    later = [one for one in run.trials if "@" in one.case]
    assert len(later) == 5 and len(run.trials) == 6
    for one in later:
        assert one.failure is None and one.measurement is not None and one.warm_up is not None
        assert one.warm_up.bound_ns == 200_000_000  # that of the closed loop
        assert [seen.node for seen in one.generators] == [FIRST, SECOND]
        assert one.measurement.completed == sum(part.measurement.completed for part in one.generators) > 0
        assert one.measurement.response_time is not None
    each = [load for _, load in loads[2:]]
    assert [node for node, _ in loads] == [FIRST, SECOND] * 11  # a closed loop alone, then two for each
    assert [load for load in each if isinstance(load, Closed)] == [Closed(connections=4)] * 10
    assert each[2::4] == each[3::4] == [one.plan.load for one in later]
    assert asked.count("state") == 2 * len(run.trials)  # at the end of what is measured, and of the trial
    assert begun_since(before) == []


def test_a_generator_lost_while_a_server_is_warmed_for_an_open_loop_fails_that_trial_alone(
    ray: FakeRay, before: set[int], tmp_path: Path
) -> None:
    with_open_loops(tmp_path)
    run = sat(tmp_path, Told(lambda: ray.kill(ray.of(SECOND)), warmed=True))
    first, lost, *rest = run.trials
    assert first.failure is None
    assert lost.failure is not None and lost.failure.stage == "cluster" and lost.warm_up is None
    assert "node 127.0.0.2 is lost: Assay's process there is gone" in lost.failure.reason
    assert len(rest) == 4 and all(one.measurement and len(one.generators) == 2 for one in rest)
    assert begun_since(before) == []


def test_what_follows_a_block_is_asked_of_its_servers_on_their_node(
    ray: FakeRay, before: set[int], tmp_path: Path
) -> None:
    with_open_loops(tmp_path, "right", "slow", interleaved=True)
    told = Told()
    run = sat(tmp_path, told)
    [block] = run.blocks
    stood = {one.case: one.server.pid for one in block.trials if one.server}
    later = [one for one in run.trials if "@" in one.case]
    assert len(stood) == 2 and len(later) == 2 * 5
    for one in later:
        assert one.failure is None and one.measurement is not None and one.measurement.completed > 0
        assert one.server is not None and one.server.pid == stood[one.case.partition("@")[0]]
        assert [seen.node for seen in one.generators] == [FIRST, SECOND]
    assert not [note for note in told.notes if "started again" in note]
    assert begun_since(before) == []


def test_a_server_that_stands_on_a_node_that_falls_silent_is_ended_before_another_starts(
    ray: FakeRay, before: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_open_loops(tmp_path, "right", "slow", interleaved=True)
    asked: list[tuple[str, object]] = []
    silent: list[object] = []
    begin, take = calls.begin, WarmPool.take

    def noting(agent: Agent, what: str, *given: object) -> calls.Reference:
        if agent.node.address == THIRD and what in ("start", "stop_server"):
            asked.append((what, given[0]))
        return begin(agent, what, *given)

    def silent_once(self: WarmPool, case: str) -> Warm | None:
        if silent:
            return take(self, case)
        silent.append(getattr(self._warm[case].running, "number", None))
        ray.of(THIRD).cut = True
        try:
            return take(self, case)
        finally:
            ray.of(THIRD).cut = False

    monkeypatch.setattr(calls, "begin", noting)
    monkeypatch.setattr(WarmPool, "take", silent_once)
    run = sat(tmp_path, Told())
    [lost] = [one for one in run.trials if one.failure is not None]
    assert lost.failure is not None and lost.failure.stage == "cluster"
    started = [place for place, (what, _) in enumerate(asked) if what == "start"]
    assert len(started) == 3  # those of the block, and one in place of the silent one
    assert ("stop_server", silent[0]) in asked[: started[2]]
    assert begun_since(before) == []


@pytest.mark.parametrize("interleaved", [True, False])
def test_a_study_of_one_connection_runs_from_one_generator(
    ray: FakeRay, tmp_path: Path, interleaved: bool
) -> None:
    modes = ["right", "slow"] if interleaved else ["right"]
    made_studies.write(tmp_path, modes, blocks=1, interleaved=interleaved, measure_s=0.3, connections=1)
    run = sat(tmp_path, Told())
    assert len(run.trials) == len(modes)
    for one in run.trials:
        assert one.failure is None and one.measurement is not None and one.measurement.completed > 0
        assert [seen.node for seen in one.generators] == [FIRST]


def test_what_is_said_after_ctrl_c_can_be_done(ray: FakeRay, before: set[int], tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=2, interleaved=True, measure_s=0.4)

    def ctrl_c() -> None:
        raise KeyboardInterrupt

    with pytest.raises(runner.Interrupted) as cut:
        sat(tmp_path, Told(ctrl_c))
    assert cut.value.remedy == (
        "what was measured is kept; a run on a cluster cannot be gone on with: make a new one"
    )
    settings = made_servers.settings(tmp_path)
    with pytest.raises(InputError, match="a run on a cluster cannot be gone on with"):
        runner.resume(store.find(settings.results, "latest"), settings)
    assert begun_since(before) == []


def test_what_is_said_where_a_trial_cannot_be_stored_can_be_done(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1, measure_s=0.3)

    append = RunFile.append

    def full(self: RunFile, record: object, *more: object) -> None:
        if isinstance(record, TrialDone):
            raise EnvironmentLacks("cannot write run.jsonl: no space left on device", "make room")
        append(self, record, *more)  # type: ignore[arg-type]  # as it was given

    monkeypatch.setattr(RunFile, "append", full)
    with pytest.raises(runner.CutShort) as cut:
        sat(tmp_path, Told())
    assert cut.value.remedy == (
        "make room; what is stored stands; a run on a cluster cannot be gone on with: make a new one"
    )


def test_the_record_has_the_tools_of_the_server_node(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1, measure_s=0.3)
    with (tmp_path / "servers/greeting/right/server.toml").open("a") as manifest:
        manifest.write('[[requires]]\ncommand = "tool"\n')
    driver = threading.current_thread()

    def looked_up(requirement: Requirement, environ: object = None) -> Checked:
        here = threading.current_thread() is driver
        return Checked(requirement, version="1.0" if here else "2.0")

    monkeypatch.setattr(requires, "check", looked_up)
    assert sat(tmp_path, Told()).header.environment.tool_versions["tool"] == "2.0"


@pytest.mark.parametrize("interleaved", [True, False])
def test_servers_that_their_node_ended_for_want_of_a_driver_did_not_fail(
    ray: FakeRay, before: set[int], tmp_path: Path, interleaved: bool
) -> None:
    modes = ["right", "slow"] if interleaved else ["right"]
    made_studies.write(tmp_path, modes, blocks=1, interleaved=interleaved, measure_s=5)

    def forget() -> None:
        placed = ray.of(THIRD).agent
        assert placed is not None
        placed.forgotten()

    run = sat(tmp_path, Told(forget))
    assert len(run.trials) == len(modes)
    for one in run.trials:
        assert one.failure is not None and one.failure.stage == "cluster"
        said = "node 127.0.0.3: it heard nothing of the driver for 8 s and ended its servers"
        assert said in one.failure.reason
    assert begun_since(before) == []


def test_threads_of_a_study_are_those_of_all_generators(ray: FakeRay, tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1, measure_s=0.3)
    with (tmp_path / "studies/small.toml").open("a") as of_load:
        of_load.write("threads = 3\n")
    [one] = sat(tmp_path, Told()).trials
    assert one.failure is None and one.plan.threads == 3
    assert [seen.first_worker for seen in one.generators] == [0, 2]
