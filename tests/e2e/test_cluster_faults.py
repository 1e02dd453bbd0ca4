"""What breaks on a cluster: processes and nodes that are killed, links cut, slow or far, a full disk."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

import pytest
import three_hosts
from on_cluster import (
    ASSAY,
    agents,
    drivers,
    findings_of,
    going,
    interleaved,
    load,
    small_study,
    studied,
    until,
)
from three_hosts import Cluster, Host

from assay import store

pytest.importorskip("ray", reason="Ray is not installed: pip install 'assay-http[ray]'")
PROBLEM = three_hosts.why_not()
pytestmark = pytest.mark.skipif(bool(PROBLEM), reason=PROBLEM or "namespaces are allowed")


def test_a_generator_that_is_killed_ends_the_load(cluster: Cluster, url: str) -> None:
    begun = going(cluster, url)
    [victim] = cluster.hosts[1].processes("GeneratorAgent")
    os.kill(victim, 9)
    out, err = begun.communicate(timeout=10)
    assert begun.returncode == 2
    assert out == ""  # nothing is merged from a part
    assert err.startswith("assay: node 10.231.7.2 is lost: Assay's process there is gone")
    until(lambda: not agents(cluster))


def test_a_driver_that_is_killed_leaves_nothing(cluster: Cluster, tmp_path: Path) -> None:
    env = small_study(tmp_path, ["right"], blocks=2, measure_s=30)
    begun = studied(cluster, env)
    until(lambda: cluster.hosts[1].processes("GeneratorAgent.finish"))
    for driver in drivers(cluster, "small"):
        os.kill(driver, 9)
    begun.communicate(timeout=10)
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("supervisor.py"), within_s=10)
    assert not cluster.hosts[2].processes("greeting")


def test_a_study_goes_on_after_a_lost_generator_and_a_cut_link_and_tells_of_a_full_disk(
    cluster: Cluster, tmp_path: Path
) -> None:
    env = small_study(tmp_path, ["right"], blocks=5, measure_s=1.5)
    begun = studied(cluster, env)
    far, server = cluster.hosts[1:]
    loading = partial(far.processes, "GeneratorAgent.finish")
    [victim] = until(loading)
    os.kill(victim, 9)
    until(lambda: set(loading()) - {victim})
    until(lambda: finished(tmp_path) == 2 and loading())
    far.link("down")
    try:
        until(lambda: finished(tmp_path) == 3, within_s=12)  # in mid-trial: told within ten seconds
    finally:
        far.link("up")
    until(lambda: finished(tmp_path) == 3 and loading())
    with server.full():  # the server's log is open; that of the next one cannot be
        _, err = begun.communicate(timeout=60)
    killed, whole, cut, again, full = store.load(next((tmp_path / "results").glob("*/run.jsonl"))).trials
    assert "node 10.231.7.2 is lost" in str(killed.failure), err
    assert "node 10.231.7.2 did not answer within" in str(cut.failure), err
    for one in (whole, again):
        assert one.failure is None
        assert len(one.generators) == 2
    assert full.failure is not None
    assert full.failure.stage == "start"
    assert full.failure.reason.startswith("node 10.231.7.3: ")
    assert "no space left on device" in full.failure.reason
    until(lambda: not agents(cluster) and not server.processes("supervisor.py"))


def finished(folder: Path, what: str = "trial") -> int:
    """How many trials, or blocks, the record of the run has."""
    return sum(
        path.read_text().count(f'"record":"{what}"') for path in (folder / "results").glob("*/run.jsonl")
    )


def test_a_generator_killed_in_mid_block_fails_it_within_ten_seconds_and_the_next_is_whole(
    cluster: Cluster, tmp_path: Path
) -> None:
    begun = studied(
        cluster, small_study(tmp_path, ["right", "slow"], blocks=2, measure_s=4, interleaved=True)
    )
    slices = partial(interleaved, cluster.hosts[1])
    [victim] = until(slices)
    os.kill(victim, 9)
    until(lambda: finished(tmp_path, "block") == 1, within_s=10)
    assert not set(slices()) & {victim}
    _, err = begun.communicate(timeout=60)
    run = store.load(next((tmp_path / "results").glob("*/run.jsonl")))
    lost, whole = run.blocks
    for one in lost.trials:
        assert one.measurement is None and "node 10.231.7.2 is lost" in str(one.failure), err
    assert all(one.measurement and len(one.generators) == 2 for one in whole.trials), err
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("supervisor.py"))


def test_a_driver_killed_in_mid_block_leaves_nothing(cluster: Cluster, tmp_path: Path) -> None:
    begun = studied(
        cluster, small_study(tmp_path, ["right", "slow"], blocks=2, measure_s=30, interleaved=True)
    )
    until(lambda: interleaved(cluster.hosts[1]))
    for driver in drivers(cluster, "small"):
        os.kill(driver, 9)
    begun.communicate(timeout=10)
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("supervisor.py"), within_s=10)
    assert not cluster.hosts[2].processes("greeting")


def test_servers_of_forking_shells_end_with_a_driver_that_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    program = tmp_path / "forked.py"
    program.write_text("import runpy; runpy.run_module('assay.servers.null_server', run_name='__main__')")
    server = f"{sys.executable} {program} --host {{host}} --port {{port}} & sleep 1 & wait"
    words = ("versus", server, f"{server} && true", "--ray", cluster.address, "-d", "5s", "--no-control")
    begun = cluster.hosts[0].popen(ASSAY, *words, "--results", str(tmp_path / "results"))
    node = cluster.hosts[2]
    until(lambda: interleaved(cluster.hosts[1]) and node.processes("forked.py"))
    for driver in drivers(cluster, "versus"):
        os.kill(driver, 9)
    begun.communicate(timeout=10)
    until(lambda: not agents(cluster) and not node.processes("supervisor.py"), within_s=20)
    until(lambda: not node.processes("forked.py"), within_s=20)


def test_a_lost_server_agent_fails_its_trial_and_the_record_stands(cluster: Cluster, tmp_path: Path) -> None:
    env = small_study(tmp_path, ["right"], blocks=2, measure_s=30)
    begun = studied(cluster, env)
    until(lambda: cluster.hosts[1].processes("GeneratorAgent.finish"))
    [victim] = cluster.hosts[2].processes("ray::ServerAgent")
    os.kill(victim, 9)
    _, err = begun.communicate(timeout=40)
    assert begun.returncode == 1, err
    run = store.load(next((tmp_path / "results").glob("*/run.jsonl")))
    assert [trial.failure is not None for trial in run.trials] == [True, True]
    assert "10.231.7.3" in str(run.trials[0].failure)
    assert run.judgement is not None
    assert "G9" in {finding.code for finding in run.judgement.findings}
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("supervisor.py"))


def shaped(host: Host, *discipline: str) -> bool:
    """Shape what a host sends; False where this kernel cannot."""
    done = host.run("tc", "qdisc", "add", "dev", host.device, "root", *discipline)
    return done.returncode == 0


def test_a_generator_behind_a_slow_link_is_found_out(cluster: Cluster, url: str) -> None:
    far = cluster.hosts[1]
    assert shaped(far, "tbf", "rate", "1mbit", "burst", "10kb", "latency", "400ms")
    try:
        result = load(cluster, url, "-c", "8", "-d", "1s")
    finally:
        far.tc("qdisc", "del", "dev", far.device, "root")
    assert findings_of(result)["G10"].startswith("generator 10.231.7.2 had ")


def test_a_generator_that_is_far_away_all_of_a_sudden_is_found_out(cluster: Cluster, url: str) -> None:
    begun = going(cluster, url, "-d", "2s")
    with cluster.delayed(cluster.hosts[1], 0.015):
        out, err = begun.communicate(timeout=30)
    assert begun.returncode == 1, err
    assert findings_of(json.loads(out))["G11"].startswith("generator 10.231.7.2 began ")


def test_ctrl_c_keeps_what_was_measured_and_a_late_node_takes_part_in_the_next_run(
    cluster: Cluster, url: str
) -> None:
    """Two before the last of all files: from here on there is a generator more."""
    begun = going(cluster, url)
    cluster.start_node(2, three_hosts.GENERATOR, ports=21_000)
    cluster.wait_for(4)
    [driver] = drivers(cluster, "211")
    os.kill(driver, 2)
    out, _ = begun.communicate(timeout=20)
    assert begun.returncode == 130
    told = json.loads(out)
    assert told["measurement"]["interrupted"]
    assert len(told["generators"]) == 2
    until(lambda: not agents(cluster))
    assert len(load(cluster, url, "-c", "6", "-n", "100")["generators"]) == 3


def test_a_server_node_that_is_killed_fails_its_trials_and_leaves_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    """One before the last of all files: it takes away what serves, and the generator that came late."""
    env = small_study(tmp_path, ["right"], blocks=2, measure_s=30)
    begun = studied(cluster, env, "--generators", "2")
    until(lambda: cluster.hosts[1].processes("GeneratorAgent.finish"))
    for raylet in cluster.hosts[2].processes("raylet/raylet"):
        os.kill(raylet, 9)
    until(lambda: finished(tmp_path) == 1, within_s=10)
    _, err = begun.communicate(timeout=40)
    assert begun.returncode == 1, err
    run = store.load(next((tmp_path / "results").glob("*/run.jsonl")))
    assert len(run.trials) == 2
    for one in run.trials:
        assert one.measurement is None and one.failure is not None
        assert (one.failure.stage, "10.231.7.3" in one.failure.reason) == ("cluster", True), one.failure
    assert run.judgement is not None
    assert "G9" in {finding.code for finding in run.judgement.findings}
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("supervisor.py"))
    assert not cluster.hosts[2].processes("greeting")


def test_a_node_that_is_killed_is_told(cluster: Cluster, url: str) -> None:
    """The last of all files that share the cluster: it takes a node away."""
    begun = going(cluster, url, "--generators", "2")
    [raylet] = cluster.hosts[1].processes("raylet/raylet")
    os.kill(raylet, 9)
    out, err = begun.communicate(timeout=12)
    assert (begun.returncode, out) == (2, "")
    assert "node 10.231.7.2 " in err
    until(lambda: not agents(cluster))
