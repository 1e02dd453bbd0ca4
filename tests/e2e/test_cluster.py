"""Several machines for real: network namespaces, a Ray cluster in them, load over the bridge between them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import made_servers
import msgspec
import pytest
import three_hosts
from on_cluster import agents, assay, load, small_study, until
from three_hosts import BIN, Cluster

from assay import store
from assay.core.settings import Settings
from assay.model.account import TimeAccount
from assay.model.plan import Open
from assay.servers import check_all, find_server
from assay.stats import rate_per_s

pytest.importorskip("ray", reason="Ray is not installed: pip install 'assay-http[ray]'")
PROBLEM = three_hosts.why_not()
OTHERS = "198.51.100.9"
"""An address that is on no private network (RFC 5737): the third host's, for those that are told the way."""
pytestmark = [
    pytest.mark.beside,
    pytest.mark.skipif(bool(PROBLEM), reason=PROBLEM or "namespaces are allowed"),
]


def test_nodes_are_listed_with_roles_clocks_and_links(cluster: Cluster) -> None:
    done = assay(cluster, "nodes", "--ray", cluster.address, "--json")
    told = json.loads(done.stdout)
    # Where the machine is busy the clocks are known less well, and that is a problem.
    problems = [one for one in told["problems"] if " only: its network is slow or busy" not in one]
    assert (done.returncode == 0) == (told["problems"] == []) and problems == [], done.stderr
    nodes = told["nodes"]
    assert [node["roles"] for node in nodes] == [["generator"], ["generator"], ["server"]]
    for node in nodes:
        assert node["about"]["assay_version"]
        # All three share this machine's clock: what was measured must be within what it says of itself.
        assert abs(node["clock"]["offset_ns"]) <= node["clock"]["uncertainty_ns"]
    for node in nodes[:2]:
        [link] = node["links"]
        assert link["bytes_per_s"] > 1e6


def check_account(account: TimeAccount | None, *, server: bool = True) -> None:
    """The cores of every host that took part are there, each divided once."""
    if three_hosts.cpus_of(0) == three_hosts.cpus_of(2):
        assert account is None  # nobody knows whose time was whose on the only core
        return
    assert account is not None
    generators = [("generator", f"10.231.7.{number + 1}", three_hosts.cpus_of(number)) for number in (0, 1)]
    served = [("server", "10.231.7.3", three_hosts.cpus_of(2))] if server else []
    assert [(one.role, one.host, one.cpus) for one in account.cores] == [*served, *generators]
    for one in account.cores:
        parts = [ns for ns in one.parts.values() if ns is not None]
        assert sum(parts) == pytest.approx(one.time_ns, rel=0.01)
        own_ns = one.server_ns if one.role == "server" else one.generator_ns
        assert own_ns is not None and own_ns > 0
        assert (one.generator_ns is None) == (one.role == "server")
    assert account.generator is not None and account.generator.ran_ns > 0
    assert account.requests is not None and account.requests.requests > 0
    assert (account.server is not None and account.idle_cpu_share is not None) == server
    assert account.unseen == (() if server else ("nobody looked at the server's cores",))


def test_two_generators_offer_one_load(cluster: Cluster, url: str) -> None:
    result = load(cluster, url, "-c", "10", "-n", "1003", "--threads", "3")
    check_account(msgspec.convert(result["account"], TimeAccount | None), server=False)
    measured, generators = result["measurement"], result["generators"]
    assert [one["node"] for one in generators] == [host.address for host in cluster.hosts[:2]]
    assert measured["completed"] + measured["failed"] == 1003
    assert [one["measurement"]["connections"]["asked"] for one in generators] == [7, 3]
    assert [one["first_worker"] for one in generators] == [0, 2]
    requests = measured["requests"]
    assert requests["started"] == requests["completed"] + requests["failed"] + requests["in_flight"]
    assert measured["service_time"]["count"] == sum(
        one["measurement"]["service_time"]["count"] for one in generators
    )


def test_an_open_loop_sends_what_one_machine_would(cluster: Cluster, url: str) -> None:
    result = load(cluster, url, "--rate", "400", "-d", "500ms", "--pacer", "sleep", "--warm-up", "300ms")
    measured = result["measurement"]
    assert measured["started"] + measured["missed_starts"] == 200
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
        (["--generators", "3"], {}, "--generators are those of a cluster; add --ray HOST:PORT"),
        (["--ray", "{ray}"], {"RAY_AUTH_TOKEN_PATH": "{folder}/wrong"}, "does not take our token"),
        # Nobody has said that there are tokens: a cluster is joined with one unless somebody says that not.
        (["--ray", "{ray}"], {"RAY_AUTH_TOKEN_PATH": "", "RAY_AUTH_MODE": ""}, "does not take our token"),
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
    """The first generator is on the driver's machine, the second is not."""
    head = cluster.hosts[0]
    server = head.popen(str(BIN / "python"), "-m", "assay.servers.null_server", "--port", "8097")
    try:
        assert server.stdout is not None
        server.stdout.readline()
        done = assay(cluster, "load", "http://127.0.0.1:8097/", "--ray", cluster.address)
    finally:
        server.kill()
        server.communicate()
    assert done.returncode == 2
    assert done.stderr == (
        "assay: generator 10.231.7.2 cannot reach 127.0.0.1:8097: connection refused; "
        "there it is that machine itself: write the server's address\n"
    )


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


def test_addresses_of_others_need_leave_and_the_drivers_is_the_generators(cluster: Cluster, url: str) -> None:
    cluster.hosts[2].ip("addr", "add", f"{OTHERS}/32", "dev", cluster.hosts[2].device)
    for host in cluster.hosts[:2]:
        host.ip("route", "add", OTHERS, "via", cluster.hosts[2].address)
    theirs = url.replace(cluster.hosts[2].address, OTHERS)
    refused = assay(cluster, "load", theirs, "--ray", cluster.address)
    assert refused.returncode == 2
    assert "neither loopback nor private" in refused.stderr
    assert load(cluster, theirs, "--yes", "-c", "4", "-n", "50")["completed"] == 50


def test_a_search_goes_over_the_cluster(cluster: Cluster, url: str, tmp_path: Path) -> None:
    words = ["capacity", url, "--slo", "p99<2s", "--from", "100", "--to", "400", "--ray", cluster.address]
    more = ["--budget", "1s", "-d", "200ms", "--warm-up", "100ms", "--resolution", "50%", "--json"]
    done = assay(cluster, *words, *more, ASSAY_RESULTS=str(tmp_path))
    assert done.returncode in (0, 1), done.stderr
    trials = json.loads(done.stdout)["trials"]
    assert trials
    for one in trials:
        assert [part["node"] for part in one["generators"]] == [host.address for host in cluster.hosts[:2]]


def test_a_study_runs_on_the_server_node(cluster: Cluster, tmp_path: Path) -> None:
    env = small_study(tmp_path, ["right", "dies", "slow"], blocks=1, measure_s=0.5)
    made_servers.write_server(tmp_path, name="behind", contract="behind")
    with (tmp_path / "servers/greeting/contract.toml").open("a") as contract:
        contract.write('[services.upstream]\nserver = "behind/behind"\n')  # which the server node has to find
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
    assert whole.server.cpu_ns
    assert whole.server.peak_rss_bytes > 0
    [upstream] = whole.services
    assert (upstream.name, upstream.memory_bytes > 0) == ("upstream", True)
    assert whole.link is not None
    assert whole.link.bytes_per_s
    assert whole.measurement is not None
    check_account(whole.account)
    parts = [one.measurement for one in whole.generators]
    assert sum(part.requests.started for part in parts) == whole.measurement.requests.started
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
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("supervisor.py"))
    again = assay(cluster, "run", "--resume", "latest", **env)
    assert again.returncode == 2
    assert "was made on the nodes 10.231.7.3, 10.231.7.1, 10.231.7.2; a run on a cluster" in again.stderr


def test_open_loops_follow_closed_ones_and_are_warmed_by_them(cluster: Cluster, tmp_path: Path) -> None:
    env = small_study(tmp_path, ["right"], blocks=1, measure_s=0.5)
    with (tmp_path / "studies/small.toml").open("a") as of_load:
        of_load.write("latency = true\n")
    done = assay(cluster, "run", "small", "--ray", cluster.address, "--no-control", **env)
    assert done.returncode in (0, 1), done.stderr
    closed, *later = store.load(next((tmp_path / "results").glob("*/run.jsonl"))).trials
    assert closed.measurement is not None and len(later) == 5
    for one in later:
        assert one.failure is None and one.measurement is not None, one.failure
        assert isinstance(one.plan.load, Open)
        assert one.plan.load.stages[0].from_per_s <= rate_per_s(closed.measurement)
        assert one.warm_up is not None and one.warm_up.bound_ns > 0
        assert [seen.node for seen in one.generators] == [host.address for host in cluster.hosts[:2]]
        assert one.measurement.response_time is not None
        assert one.measurement.response_time.count == one.measurement.completed > 0


@pytest.mark.contract
def test_franklin_runs_over_it(cluster: Cluster, tmp_path: Path) -> None:
    """The study as it is, but shorter: built on the server node, where its servers are interleaved."""
    servers, checkout = ("quotes/go", "quotes/ruby-sinatra"), Settings.resolve(environ={})
    wanted = [one for name in servers for one in find_server(name, checkout).variant("fair").requires]
    lacking = [one.sentence for one in check_all(wanted) if not one.fulfilled]
    if lacking:
        pytest.skip("; ".join(lacking))
    whole = (checkout.root / "studies" / "franklin.toml").read_text()
    shorter = re.sub(r"\b(measure_s|ceiling_s|warm_up_min_s|warm_up_max_s) = [\d.]+", r"\1 = 0.5", whole)
    (tmp_path / "franklin.toml").write_text(shorter)
    words = ["run", str(tmp_path / "franklin.toml"), "--ray", cluster.address, "--blocks", "1"]
    named = [word for name in servers for word in ("--server", name)]
    done = assay(cluster, *words, "--no-control", *named, ASSAY_RESULTS=str(tmp_path / "results"))
    assert done.returncode in (0, 1), done.stderr
    run = store.load(next((tmp_path / "results").glob("*/run.jsonl")))
    assert "one after the other" not in done.stderr
    of = {case.id: case.server for case in run.header.cases}
    assert {of[one.case] for one in run.trials} >= set(servers)
    for one in run.trials:
        assert one.failure is None, f"{one.case}: {one.failure}"
        assert one.plan.url.startswith("http://10.231.7.3:")
        assert len(one.generators) == 2
        assert one.measurement is not None and one.measurement.completed > 0
        assert one.contract is not None
        assert (one.contract.during_wrong, one.contract.after_wrong) == (0, 0), one.contract.examples
        assert one.arm is not None
    until(lambda: not agents(cluster) and not cluster.hosts[2].processes("supervisor.py"))


def test_candidates_are_compared_on_the_server_node(cluster: Cluster, tmp_path: Path) -> None:
    server = f"{sys.executable} -m assay.servers.null_server --host {{host}} --port {{port}}"
    words = ["versus", server, f"{server} --threads 1", "--ray", cluster.address]
    more = ["--budget", "3s", "-d", "200ms", "--warm-up", "150ms", "--no-control", "--json"]
    done = assay(cluster, *words, *more, ASSAY_RESULTS=str(tmp_path))
    assert done.returncode in (0, 1), done.stderr
    assert "one after the other" not in done.stderr
    trials = json.loads(done.stdout)["trials"]
    assert trials
    for one in trials:
        assert one["plan"]["url"].startswith("http://10.231.7.3:")
        assert len(one["generators"]) == 2
        if one["arm"]:
            check_account(msgspec.convert(one["account"], TimeAccount | None))
        taken = [[part["start_ns"] for part in seen["measurement"]["windows"]] for seen in one["generators"]]
        assert taken[0] == taken[1] == [part["start_ns"] for part in one["arm"]["slices"]]


def test_without_ray_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['ray'] = None\nfrom assay.cli.main import main\n"
    code += "sys.exit(main(['load', 'http://127.0.0.1:9/', '--ray', '127.0.0.1:9']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the package ray is not installed; pip install 'ray>=" in done.stderr


def test_a_load_on_one_machine_does_not_import_ray() -> None:
    code = "import sys\nfrom assay.cli.main import main\nmain(['load', '--help'])\n"
    code += "import assay.cli.load, assay.cli.before_run\n"
    code += "assert not {'ray', 'assay.cluster'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_a_cluster_of_others_is_not_asked_without_leave() -> None:
    words = [sys.executable, "-m", "assay.cli.main", "nodes", "--ray", "192.0.2.1:6379"]  # RFC 5737
    done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "--ray 192.0.2.1:6379 leads to 192.0.2.1, neither loopback nor private" in done.stderr
    assert done.stderr.count("\n") == 1
