"""What a cluster refuses before anything is sent, without a cluster: roles, dealing, leave."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import plan
from msgspec.structs import replace

from assay.cli.main import main
from assay.cluster import calls, session
from assay.cluster.agent import GeneratorAgent, Sink, link_bytes_per_s
from assay.cluster.calls import Node
from assay.cluster.generators import dealt
from assay.core.errors import EnvironmentLacks
from assay.model.interleaving import InterleavedPlan

GENERATORS = (Node("a", "10.0.0.1", ("generator",)), Node("b", "10.0.0.2", ("generator",)))


def test_a_role_that_nobody_plays_is_named_with_what_starts_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "nodes", lambda: GENERATORS)
    with pytest.raises(EnvironmentLacks) as told:
        session.with_role("10.0.0.1:6379", "server", 1)
    assert str(told.value) == (
        "no node of the cluster at 10.0.0.1:6379 is a server; "
        "start one: ray start --address=10.0.0.1:6379 --resources='{\"assay_server\": 1}'"
    )
    with pytest.raises(EnvironmentLacks, match="has 2 generators, 3 were asked for"):
        session.with_role("10.0.0.1:6379", "generator", 3)
    assert session.with_role("10.0.0.1:6379", "generator", None) == GENERATORS


def test_an_agent_sends_nothing_to_strangers_without_the_drivers_word() -> None:
    agent = GeneratorAgent("10.0.0.1")
    beyond = replace(plan(), url="http://192.0.2.1/")
    kind, (said, _) = agent.start(msgspec.json.encode(beyond), False)
    assert kind == "input"
    assert said == "192.0.2.1 is neither loopback nor private, and the driver has no leave to load it"
    assert agent.live_view()[0] == "input"  # nothing goes on


def test_an_agent_sends_nothing_to_strangers_in_slices_either() -> None:
    agent = GeneratorAgent("10.0.0.1")
    ours, beyond = plan(), replace(plan(), url="http://192.0.2.1/")
    interleaved = InterleavedPlan(arms=(ours, beyond), slice_ns=20_000_000, washout_ns=2_000_000)
    kind, (said, _) = agent.start_slices(msgspec.json.encode(interleaved), False)
    assert kind == "input"
    assert said == "192.0.2.1 is neither loopback nor private, and the driver has no leave to load it"
    assert agent.look_at_slices()[0] == "input"


def test_what_a_node_lacks_is_told_as_a_line() -> None:
    def full() -> None:
        raise OSError(28, "No space left on device", "/srv/log")

    assert calls.wrapped(full) == ("system", ("No space left on device", "/srv/log"))


@given(st.integers(1, 400), st.integers(1, 40))
def test_every_worker_runs_on_one_generator(threads: int, members: int) -> None:
    """In their order, as evenly as can be: what a worker does follows from its number in the whole."""
    parts = dealt(threads, members)
    numbers = [part.first_worker + one for part in parts for one in range(part.workers)]
    assert numbers == list(range(threads))
    assert len(parts) == min(threads, members)
    assert max(part.workers for part in parts) - min(part.workers for part in parts) <= 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["run", "--resume", "latest", "--ray", "10.0.0.1:6379"],
            "--resume goes on where the run was, and on a cluster not yet: '--ray' cannot be added; "
            "leave it out, or make a new run",
        ),
        (
            ["run", "--all", "--generators", "2"],
            "--generators are those of a cluster; add --ray HOST:PORT",
        ),
        (
            ["run", "franklin", "--ray", "10.0.0.1:6379", "--wait-quiet", "5m"],
            "--wait-quiet looks at this machine alone; leave it out with --ray",
        ),
        (
            ["run", "franklin", "heroes", "--ray", "10.0.0.1:6379"],
            "--ray takes one study under one profile; run them one after the other",
        ),
    ],
)
def test_what_a_run_has_no_cluster_for_is_told(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err == f"assay: {said}\n"


def test_a_sink_that_is_closed_waits_for_nobody() -> None:
    sink = Sink()
    assert link_bytes_per_s("127.0.0.1", sink.port, 0.01) > 0
    sink.close()
    sink.serving.join(20)
    assert not sink.serving.is_alive()
