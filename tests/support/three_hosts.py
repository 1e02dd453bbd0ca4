"""Three hosts on one machine: network namespaces on a bridge, and a Ray cluster in them.

Each host has an address of its own and sees the others only through the bridge. The first is Ray's head,
where the driver runs too; it and the second offer load, the third has the servers, whose Ray node
has the last core to itself. Needs root, `ip` and `taskset`.

As a program it runs a command on the first host: `python three_hosts.py COMMAND…`, with `{ray}` for the
cluster's address.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

BIN = Path(sys.executable).parent
GCS_PORT = 6379
GENERATOR = {"assay_generator": 1}
SERVER = {"assay_server": 1}
ROLES: Sequence[Mapping[str, int]] = (GENERATOR, GENERATOR, SERVER)
_PATIENCE_S = 60.0
_COUNT = """
import sys, time
from ray._raylet import GcsClient
from ray.core.generated.gcs_pb2 import GcsNodeInfo
head = GcsClient(address=sys.argv[1])
while sum(n.state == GcsNodeInfo.ALIVE for n in head.get_all_node_info().values()) != int(sys.argv[2]):
    time.sleep(0.1)
"""
"""Asks the head alone: a driver would have a node start a process for it, and would be slower."""
_DISK = "size=1g,nr_inodes=8192"


def why_not() -> str:
    """Why there can be no namespaces here; empty where there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"assay{os.getpid()}try"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        return f"network namespaces are not allowed here: {tried.stderr.strip()}"
    _ip("netns", "delete", name)
    return ""


def cpus_of(number: int) -> tuple[int, ...]:
    """The cores of a host: the third has the last, the others share the rest; all have the only one."""
    usable = sorted(os.sched_getaffinity(0))
    return tuple(usable[-1:] if number == 2 else usable[:-1] or usable)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@dataclass
class Host:
    """A namespace with an address."""

    number: int
    name: str
    address: str
    device: str
    disk: Path
    """Its temporary folder: a small disk of its own."""
    cpus: tuple[int, ...]
    """The cores of its Ray node."""
    env: dict[str, str] = field(default_factory=dict)

    def command(self, *words: str) -> list[str]:
        """The command line that runs there."""
        return ["ip", "netns", "exec", self.name, *words]

    def run(self, *words: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command there to its end."""
        return subprocess.run(
            self.command(*words),
            env=self.env,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def popen(self, *words: str) -> subprocess.Popen[str]:
        """Start a command there."""
        pipe = subprocess.PIPE
        return subprocess.Popen(self.command(*words), env=self.env, stdout=pipe, stderr=pipe, text=True)

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """Leave no room for another file on its disk."""
        made: list[Path] = []
        try:
            with contextlib.suppress(OSError):
                while True:
                    made.append(self.disk / f"full-{len(made)}")
                    made[-1].touch()
            yield
        finally:
            for one in made:
                one.unlink(missing_ok=True)

    @property
    def packages(self) -> Path:
        """Where its Python looks before everywhere else."""
        return Path(self.env["PYTHONPATH"])

    @property
    def port(self) -> str:
        """The switch's end of its link."""
        return f"p{self.number}"

    def tc(self, *words: str) -> None:
        """Shape what it sends: `qdisc add dev DEVICE root tbf rate 1mbit …`, say."""
        subprocess.run(self.command("tc", *words), check=True, capture_output=True)

    def ip(self, *words: str) -> None:
        """Change its network: `addr add ADDRESS dev DEVICE`, say."""
        _ip("-n", self.name, *words)

    def link(self, state: str) -> None:
        """Take its link `up` or `down`."""
        self.ip("link", "set", self.device, state)

    def pids(self) -> list[int]:
        """Every process that runs there."""
        found = []
        with contextlib.suppress(FileNotFoundError):  # the host is not made yet, or no more
            space = Path("/run/netns", self.name).stat().st_ino
            for process in Path("/proc").iterdir():
                with contextlib.suppress(OSError):
                    if process.name.isdecimal() and (process / "ns" / "net").stat().st_ino == space:
                        found.append(int(process.name))
        return found

    def processes(self, word: str) -> list[int]:
        """Those with this word on their command line."""
        found = []
        for pid in self.pids():
            with contextlib.suppress(OSError):
                if word in Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace"):
                    found.append(pid)
        return found


@dataclass
class Cluster:
    """The hosts, and the Ray nodes in them."""

    hosts: tuple[Host, ...]
    switch: str
    """The namespace of the bridge between them."""
    folder: Path
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Ray's."""
        return f"{self.hosts[0].address}:{GCS_PORT}"

    def start_node(self, number: int, roles: Mapping[str, int], ports: int = 20_000) -> None:
        """Start a Ray node on a host, which takes 200 ports; the head on the first."""
        host = self.hosts[number]
        role = ["--head", f"--port={GCS_PORT}", "--include-dashboard=false"]
        words = [
            *("taskset", "--cpu-list", ",".join(map(str, host.cpus))),
            str(BIN / "ray"),
            "start",
            *(role if number == 0 else [f"--address={self.address}"]),
            f"--node-ip-address={host.address}",
            f"--node-manager-port={ports + 1}",
            f"--object-manager-port={ports + 2}",
            f"--metrics-export-port={ports + 3}",
            f"--runtime-env-agent-port={ports + 4}",
            f"--dashboard-agent-listen-port={ports + 5}",
            f"--dashboard-agent-grpc-port={ports + 6}",
            f"--min-worker-port={ports + 100}",
            f"--max-worker-port={ports + 199}",
            "--num-cpus=1",
            f"--object-store-memory={80 * 1024 * 1024}",
            f"--resources={json.dumps(roles)}",
            "--include-log-monitor=false",
            "--disable-usage-stats",
            f"--temp-dir={self.folder / f'r{number}-{ports}'}",
            "--block",
        ]
        with (self.folder / f"node-{number}.log").open("ab") as log:
            started = subprocess.Popen(
                host.command(*words), env=host.env, stdout=log, stderr=log, start_new_session=True
            )
        self.nodes.append(started)

    @contextlib.contextmanager
    def delayed(self, host: Host, seconds: float) -> Iterator[None]:
        """Delay what a host sends and gets, each way; not by `netem`, which not every kernel has."""
        ip = ["-n", self.switch, "link"]
        _ip(*ip, "add", "far", "type", "veth", "peer", "name", "near")
        _ip(*ip, "set", "near", "up")
        _ip(*ip, "set", "far", "master", "bridge", "up")
        program = [sys.executable, str(Path(__file__).with_name("slow_wire.py"))]
        command = ["ip", "netns", "exec", self.switch, *program, host.port, "near", str(seconds)]
        wire = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert wire.stdout is not None
            wire.stdout.readline()  # it is ready
            _ip(*ip, "set", host.port, "nomaster")
            yield
        finally:
            _ip(*ip, "set", host.port, "master", "bridge")
            wire.kill()
            wire.communicate()
            _ip(*ip, "delete", "far")

    @functools.cached_property
    def url(self) -> str:
        """A null server on the third host, on all of its addresses; it ends with the host."""
        host, port = self.hosts[2], 8099
        words = ["-m", "assay.servers.null_server", "--host", "0.0.0.0", "--port", str(port)]
        server = host.popen(str(BIN / "python"), *words)
        assert server.stdout is not None
        server.stdout.readline()  # it says where it listens once it does
        return f"http://{host.address}:{port}/"

    def wait_for(self, nodes: int) -> None:
        """Wait until so many nodes are there."""
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            words = [str(BIN / "python"), "-c", _COUNT, self.address, str(nodes)]
            tried = self.hosts[0].run(*words, timeout_s=_PATIENCE_S)
            if tried.returncode == 0:
                return
        raise RuntimeError(f"the cluster did not come up: {tried.stderr[-2000:]}")

    def wait_for_head(self) -> None:
        """Wait until the head listens: a node that finds none tries again much later."""
        deadline, listening = time.monotonic() + _PATIENCE_S, f":{GCS_PORT:04X} 00000000:0000 0A"
        wide = f":{GCS_PORT:04X} {'0' * 32}:0000 0A"
        while time.monotonic() < deadline and self.nodes[0].poll() is None:
            tables = [Path(f"/proc/{self.nodes[0].pid}/net/{name}").read_text() for name in ("tcp", "tcp6")]
            if listening in tables[0] or wide in tables[1]:
                return
            time.sleep(0.02)
        said = (self.folder / "node-0.log").read_text(errors="replace")
        raise RuntimeError(f"the cluster's head did not come up: {said[-2000:]}")


@contextlib.contextmanager
def three_hosts() -> Iterator[Cluster]:
    """The hosts; no Ray yet. Everything in them ends with the block."""
    mark = f"assay{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="ah-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        token = folder / "token"
        token.write_text("a-token-for-the-tests-of-assay-on-ray", encoding="ascii")
        token.chmod(0o600)
        hosts = tuple(
            Host(
                number,
                f"{mark}h{number}",
                f"10.231.7.{number + 1}",
                f"v{number}",
                folder / f"disk-{number}",
                cpus_of(number),
            )
            for number in range(3)
        )
        switch = f"{mark}sw"
        try:
            _ip("netns", "add", switch)
            _ip("-n", switch, "link", "add", "bridge", "type", "bridge")
            _ip("-n", switch, "link", "set", "bridge", "up")
            for host in hosts:
                _ip("netns", "add", host.name)
                peer = host.port
                ends = ["link", "add", host.device, "netns", host.name, "type", "veth"]
                _ip(*ends, "peer", "name", peer, "netns", switch)
                _ip("-n", switch, "link", "set", peer, "master", "bridge", "up")
                _ip("-n", host.name, "addr", "add", f"{host.address}/24", "dev", host.device)
                _ip("-n", host.name, "link", "set", host.device, "up")
                _ip("-n", host.name, "link", "set", "lo", "up")
                host.env = _env(host, folder, token)
                host.disk.mkdir()
                subprocess.run(["mount", "-t", "tmpfs", "-o", _DISK, "tmpfs", host.disk], check=True)
            yield Cluster(hosts, switch, folder)
        finally:
            _end_all(hosts)
            for name in (*(host.name for host in hosts), switch):
                subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
            for host in hosts:
                subprocess.run(["umount", host.disk], capture_output=True, check=False)


def _env(host: Host, folder: Path, token: Path) -> dict[str, str]:
    home = folder / f"home-{host.number}"
    packages = home / "packages"
    packages.mkdir(parents=True)
    return {
        **{name: os.environ[name] for name in ("PATH", "LC_ALL") if name in os.environ},
        "HOME": str(home),
        "PYTHONPATH": str(packages),
        "TMPDIR": str(host.disk),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        # A compiler that finds nothing there would make all of its language's libraries anew.
        "GOCACHE": os.environ.get("GOCACHE") or str(Path.home() / ".cache" / "go-build"),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
        "ASSAY_LOCK": str(folder / f"lock-{host.number}"),
    }


def _end_all(hosts: Sequence[Host]) -> None:
    """Every process that was started there: what one of them starts meanwhile, too."""
    while pids := [pid for host in hosts for pid in host.pids()]:
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


@contextlib.contextmanager
def ray_cluster(roles: Sequence[Mapping[str, int]] = ROLES) -> Iterator[Cluster]:
    """The hosts with a Ray node in each that has a role."""
    with three_hosts() as cluster:
        for number, role in enumerate(roles):
            cluster.start_node(number, role)
            if number == 0:
                cluster.wait_for_head()
        cluster.wait_for(len(roles))
        yield cluster


class Shared:
    """One cluster for all files of tests that need one: it takes seconds to come up."""

    def __init__(self) -> None:
        """None yet."""
        self._open = contextlib.ExitStack()
        self._made: Cluster | None = None

    def cluster(self) -> Cluster:
        """The cluster. Whoever takes a node away comes last."""
        if self._made is None:
            self._made = self._open.enter_context(ray_cluster())
        return self._made

    def end(self) -> None:
        """End it, if there is one."""
        self._open.close()
        self._made = None


SHARED = Shared()


def main(words: Sequence[str]) -> int:
    """Run a command on the first host of a cluster."""
    problem = why_not()
    if problem:
        sys.stderr.write(problem + "\n")
        return 2
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # the hosts go then too
    with ray_cluster() as cluster:
        head = cluster.hosts[0]
        command = [word.replace("{ray}", cluster.address) for word in words]
        return subprocess.run(head.command(*command), env=head.env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
