"""Several machines for real: network namespaces, a Ray cluster in them, load over the bridge between them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import made_studies
import pytest
import three_hosts
from three_hosts import BIN, Cluster, Host

from assay import store

pytest.importorskip("ray", reason="Ray is not installed: pip install 'assay-http[ray]'")
PROBLEM = three_hosts.why_not()
pytestmark = pytest.mark.skipif(bool(PROBLEM), reason=PROBLEM or "namespaces are allowed")

ASSAY = str(BIN / "assay")
PORT = 8099


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with three_hosts.ray_cluster() as made:
        yield made


@pytest.fixture(scope="module")
def url(cluster: Cluster) -> str:
    """A null server on the third host; it ends with the hosts."""
    host = cluster.hosts[2]
    words = ["-m", "assay.null_server", "--host", host.address, "--port", str(PORT)]
    server = host.popen(str(BIN / "python"), *words)
    assert server.stdout is not None
    server.stdout.readline()  # it says where it listens once it does
    return f"http://{host.address}:{PORT}/"


def assay(cluster: Cluster, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Assay on the first host."""
    head = cluster.hosts[0]
    changed = {name: value for name, value in (head.env | env).items() if value}
    return subprocess.run(
        head.command(ASSAY, *words), env=changed, capture_output=True, text=True, timeout=120, check=False
    )


def load(cluster: Cluster, url: str, *words: str) -> dict[str, Any]:
    done = assay(cluster, "load", url, "--ray", cluster.address, "--json", "-q", *words)
    assert done.returncode in (0, 1), done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_nodes_are_listed_with_roles_clocks_and_links(cluster: Cluster) -> None:
    done = assay(cluster, "nodes", "--ray", cluster.address, "--json")
    assert done.returncode == 0, done.stderr
    nodes = json.loads(done.stdout)["nodes"]
    assert [node["roles"] for node in nodes] == [["generator"], ["generator"], ["server"]]
    for node in nodes:
        assert node["about"]["assay_version"]
        # All three share this machine's clock: what was measured must be within what it says of itself.
        assert abs(node["clock"]["offset_ns"]) <= node["clock"]["uncertainty_ns"]
    for node in nodes[:2]:
        [link] = node["links"]
        assert link["bytes_per_s"] > 1e6


def test_two_generators_offer_one_load(cluster: Cluster, url: str) -> None:
    result = load(cluster, url, "-c", "10", "-n", "1003", "--threads", "4")
    measured, generators = result["measurement"], result["generators"]
    assert [one["node"] for one in generators] == [host.address for host in cluster.hosts[:2]]
    assert measured["completed"] + measured["failed"] == 1003
    assert [one["measurement"]["connections"]["asked"] for one in generators] == [6, 4]
    assert [one["first_worker"] for one in generators] == [0, 2]
    books = measured["books"]
    assert books["started"] == books["completed"] + books["failed"] + books["in_flight"]
    assert measured["service_time"]["count"] == sum(
        one["measurement"]["service_time"]["count"] for one in generators
    )


def test_an_open_loop_sends_what_one_machine_would(cluster: Cluster, url: str) -> None:
    result = load(cluster, url, "--rate", "400", "-d", "1s", "--pacer", "sleep", "--warm-up", "500ms")
    measured = result["measurement"]
    assert measured["started"] + measured["missed_starts"] == 400
    late = [one["started_late_ns"] for one in result["generators"]]
    unsure = [one["clock"]["uncertainty_ns"] for one in result["generators"]]
    # The clocks are one and the same, so each start is as late as it is, and no earlier than is known.
    assert all(-one <= much for much, one in zip(late, unsure, strict=True))
    phases = {one["measurement"]["warmup_ns"] for one in result["generators"]}
    assert len(phases) == 1


@pytest.mark.parametrize(
    ("words", "env", "said"),
    [
        (["--ray", "10.231.7.1:6378"], {}, "no Ray cluster answers at 10.231.7.1:6378: connection refused"),
        (["--ray", "10.231.7.1"], {}, "--ray '10.231.7.1' is no HOST:PORT"),
        (["--ray", "{ray}", "--generators", "3"], {}, "has 2 generators, 3 were asked for"),
        (["--ray", "{ray}", "-c", "1"], {}, "1 connections cannot be dealt to 2 generators"),
        (["--generators", "3"], {}, "--generators are those of a cluster; add --ray HOST:PORT"),
        (["--ray", "{ray}"], {"RAY_AUTH_TOKEN_PATH": "{folder}/wrong"}, "does not take our token"),
        (["--ray", "{ray}"], {"RAY_AUTH_TOKEN_PATH": ""}, "does not take our token"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    cluster: Cluster, url: str, words: list[str], env: dict[str, str], said: str
) -> None:
    (cluster.folder / "wrong").write_text("a-token-of-another-cluster-altogether")
    filled = [word.replace("{ray}", cluster.address) for word in words]
    env = {name: value.replace("{folder}", str(cluster.folder)) for name, value in env.items()}
    done = assay(cluster, "load", url, *filled, **env)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_a_server_that_the_driver_alone_reaches_is_told(cluster: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)):
        done = assay(cluster, "load", "http://127.0.0.1:9/", "--ray", cluster.address)
    assert done.returncode == 2
    assert "generator 10.231.7.1 cannot reach 127.0.0.1:9" in done.stderr
    assert "write the server's address" in done.stderr


def test_another_ray_is_told(cluster: Cluster) -> None:
    code = "import ray, sys\nray.__version__ = '2.1.0'\nfrom assay.cli.main import main\n"
    code += "sys.exit(main(['load', 'http://10.231.7.3:1/', '--ray', sys.argv[1]]))"
    done = cluster.hosts[0].run(str(BIN / "python"), "-c", code, cluster.address)
    assert done.returncode == 2
    assert f"the cluster at {cluster.address} has another Ray or Python: " in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_node_with_another_assay_is_refused(cluster: Cluster, url: str) -> None:
    other = cluster.hosts[1].packages / "assay_http-0.0.1.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-http\nVersion: 0.0.1\n")
    try:
        done = assay(cluster, "load", url, "--ray", cluster.address)
    finally:
        shutil.rmtree(other)
    assert done.returncode == 2
    assert "node 10.231.7.2 has Assay 0.0.1 (engine " in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_addresses_of_others_need_leave(cluster: Cluster) -> None:
    done = assay(cluster, "load", "http://192.0.2.1/", "--ray", cluster.address)
    assert done.returncode == 2
    assert "neither loopback nor private" in done.stderr


def going(cluster: Cluster, url: str, *more: str) -> subprocess.Popen[str]:
    """A load that goes on from both generators."""
    words = ["load", url, "--ray", cluster.address, "--rate", "211", "-d", "60s", "--json", "-q", *more]
    begun = cluster.hosts[0].popen(ASSAY, *words)
    until(lambda: all(host.processes("GeneratorAgent.finish") for host in cluster.hosts[:2]))
    return begun


def until(condition: Callable[[], object], within_s: float = 40) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def agents(cluster: Cluster) -> list[int]:
    kinds = ("GeneratorAgent", "ServerAgent", "NodeAgent")
    return [pid for host in cluster.hosts for kind in kinds for pid in host.processes(f"ray::{kind}")]


def test_a_generator_that_is_killed_ends_the_load(cluster: Cluster, url: str) -> None:
    begun = going(cluster, url)
    [victim] = cluster.hosts[1].processes("GeneratorAgent")
    os.kill(victim, 9)
    out, err = begun.communicate(timeout=10)
    assert begun.returncode == 2
    assert out == ""  # nothing is merged from a part
    assert err.startswith("assay: node 10.231.7.2 is lost: Assay's process there is gone")
    until(lambda: not agents(cluster))


def test_a_link_that_is_cut_ends_the_load(cluster: Cluster, url: str) -> None:
    begun = going(cluster, url)
    cluster.hosts[1].link("down")
    try:
        out, err = begun.communicate(timeout=10)
    finally:
        cluster.hosts[1].link("up")
    assert (begun.returncode, out) == (2, "")
    assert "node 10.231.7.2 did not answer within" in err
    until(lambda: not agents(cluster))


def small_study(tmp_path: Path, modes: list[str], *, blocks: int, measure_s: float) -> dict[str, str]:
    """A study of small servers, and the environment in which Assay finds it and keeps its record."""
    made_studies.write(tmp_path, modes, blocks=blocks, measure_s=measure_s)
    return {
        "ASSAY_STUDIES": str(tmp_path / "studies"),
        "ASSAY_SERVERS": str(tmp_path / "servers"),
        "ASSAY_RESULTS": str(tmp_path / "results"),
    }


def studied(cluster: Cluster, env: dict[str, str]) -> subprocess.Popen[str]:
    """A run of the small study that goes on."""
    head = cluster.hosts[0]
    return subprocess.Popen(
        head.command(ASSAY, "run", "small", "--ray", cluster.address, "--no-control"),
        env=head.env | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_study_runs_on_the_server_node(cluster: Cluster, tmp_path: Path) -> None:
    env = small_study(tmp_path, ["right", "dies", "slow"], blocks=1, measure_s=0.5)
    with (tmp_path / "servers/greeting/slow/server.toml").open("a") as manifest:
        manifest.write('[[requires]]\nenv = "ASSAY_TOOLS"\n')
    env["ASSAY_TOOLS"] = str(tmp_path)  # the driver has what the server node lacks
    done = assay(cluster, "run", "small", "--ray", cluster.address, "--no-control", **env)
    assert done.returncode in (0, 1), done.stderr
    run = store.load(next((tmp_path / "results").glob("*/run.jsonl")))
    assert run.header.nodes == ("10.231.7.3", "10.231.7.1", "10.231.7.2")
    whole = next(trial for trial in run.trials if trial.case.endswith("right"))
    failed = next(trial for trial in run.trials if trial.case.endswith("dies"))
    assert whole.plan.url.startswith("http://10.231.7.3:")
    assert whole.warm_up is not None  # it was ended by what was seen, not by the engine's own bound
    assert whole.server is not None
    assert whole.server.cpu_ns > 0
    assert whole.server.peak_rss_bytes > 0
    assert whole.link is not None
    assert whole.link.bytes_per_s
    assert whole.measurement is not None
    parts = [one.measurement for one in whole.generators]
    assert sum(part.books.started for part in parts) == whole.measurement.books.started
    assert failed.failure is not None
    assert "ended with exit code 3" in failed.failure.reason
    assert "a fatal mistake" in failed.failure.log_tail
    lacking = next(trial for trial in run.trials if trial.case.endswith("slow"))
    assert "node 10.231.7.3: " in str(lacking.failure)
    assert "ASSAY_TOOLS is not set" in str(lacking.failure)
    looked = assay(cluster, "doctor", "small", "--ray", cluster.address, **env)
    assert looked.returncode == 1
    assert "Node 10.231.7.3" in looked.stdout
    assert "ASSAY_TOOLS is not set" in looked.stdout
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("keeper.py"))


def test_a_driver_that_is_killed_leaves_nothing(cluster: Cluster, tmp_path: Path) -> None:
    env = small_study(tmp_path, ["right"], blocks=2, measure_s=30)
    begun = studied(cluster, env)
    until(lambda: cluster.hosts[1].processes("GeneratorAgent.finish"))
    drivers = [pid for pid in cluster.hosts[0].processes("small") if pid in cluster.hosts[0].processes(ASSAY)]
    for driver in drivers:
        os.kill(driver, 9)
    begun.communicate(timeout=10)
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("keeper.py"), within_s=10)
    assert not cluster.hosts[2].processes("greeting")


def test_without_ray_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['ray'] = None\nfrom assay.cli.main import main\n"
    code += "sys.exit(main(['load', 'http://127.0.0.1:9/', '--ray', '127.0.0.1:9']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the package ray is not installed; pip install 'assay-http[ray]'" in done.stderr


def test_a_load_on_one_machine_does_not_import_ray() -> None:
    code = "import sys\nfrom assay.cli.main import main\nmain(['load', '--help'])\n"
    code += "import assay.cli.load, assay.cli.ray_flags\n"
    code += "assert not {'ray', 'assay.cluster'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_a_study_goes_on_after_a_generator_was_lost_and_tells_of_a_full_disk(
    cluster: Cluster, tmp_path: Path
) -> None:
    env = small_study(tmp_path, ["right"], blocks=3, measure_s=2)
    begun = studied(cluster, env)
    loading = partial(cluster.hosts[1].processes, "GeneratorAgent.finish")
    until(loading)
    [victim] = loading()
    os.kill(victim, 9)
    until(lambda: set(loading()) - {victim})
    with cluster.hosts[2].full():  # the server's log is open; that of the next one cannot be
        _, err = begun.communicate(timeout=60)
    run = store.load(next((tmp_path / "results").glob("*/run.jsonl")))
    lost, whole, full = run.trials
    assert "node 10.231.7.2 is lost" in str(lost.failure), err
    assert whole.failure is None
    assert len(whole.generators) == 2
    assert "node 10.231.7.3: " in str(full.failure)
    assert "no space left on device" in str(full.failure)


def test_rivals_are_compared_on_the_server_node(cluster: Cluster, tmp_path: Path) -> None:
    server = f"{sys.executable} -m assay.null_server --host {{host}} --port {{port}}"
    words = ["versus", server, f"{server} --threads 1", "--ray", cluster.address]
    more = ["--budget", "5s", "-d", "300ms", "--warm-up", "300ms", "--no-control", "--json"]
    done = assay(cluster, *words, *more, ASSAY_RESULTS=str(tmp_path))
    assert done.returncode in (0, 1), done.stderr
    assert "one after the other: on a cluster servers take no turns" in done.stderr
    trials = json.loads(done.stdout)["trials"]
    assert trials
    for one in trials:
        assert one["plan"]["url"].startswith("http://10.231.7.3:")
        assert len(one["generators"]) == 2


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
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("keeper.py"))


def shaped(host: Host, *discipline: str) -> bool:
    """Shape what a host sends; False where this kernel cannot."""
    done = host.run("tc", "qdisc", "add", "dev", host.device, "root", *discipline)
    return done.returncode == 0


def findings_of(result: dict[str, Any]) -> dict[str, str]:
    return {one["code"]: one["evidence"] for one in result["findings"]}


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
    """One before the last: from here on there is a generator more."""
    begun = going(cluster, url)
    cluster.start_node(2, three_hosts.GENERATOR, ports=21_000)
    cluster.wait_for(4)
    [driver] = [pid for pid in cluster.hosts[0].processes("211") if pid in cluster.hosts[0].processes(ASSAY)]
    os.kill(driver, 2)
    out, _ = begun.communicate(timeout=20)
    assert begun.returncode == 130
    told = json.loads(out)
    assert told["measurement"]["interrupted"]
    assert len(told["generators"]) == 2
    until(lambda: not agents(cluster))
    assert len(load(cluster, url, "-c", "6", "-n", "100")["generators"]) == 3


def test_a_node_that_is_killed_is_told(cluster: Cluster, url: str) -> None:
    """The last test of this file: it takes a node away."""
    begun = going(cluster, url, "--generators", "2")
    [raylet] = cluster.hosts[1].processes("raylet/raylet")
    os.kill(raylet, 9)
    out, err = begun.communicate(timeout=12)
    assert (begun.returncode, out) == (2, "")
    assert "node 10.231.7.2 " in err
    until(lambda: not agents(cluster))
