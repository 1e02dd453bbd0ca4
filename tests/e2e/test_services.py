"""Private services: real ones, on ports of their own, gone without a trace."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import made_servers
import psutil
import pytest

from assay.core.errors import InputError, ServerFailed
from assay.servers import Contract, CoreSplit, check_all, read_contract, read_server
from assay.servers.contract import ServiceTable
from assay.servers.services import Services, ServiceSpec, requirements, requirements_of_all, upstreams_of_all

pytestmark = pytest.mark.beside

SPLIT = CoreSplit(client=(), server=tuple(sorted(os.sched_getaffinity(0)))[:1], cores=1)

Told = TypeVar("Told")


def lacking(name: str) -> str:
    return "; ".join(one.sentence for one in check_all(requirements(name)) if not one.fulfilled)


def contract(folder: Path) -> Contract:
    home = made_servers.write_server(folder).parent
    (home / "schema.sql").write_text("CREATE TABLE t (id serial PRIMARY KEY, word text);\n")
    (home / "data.sql").write_text("INSERT INTO t (word) VALUES ('one'), ('two');\n")
    return read_contract(home)


def services(folder: Path, name: str, url: str | None = None, **table: object) -> Services:
    if url is None and lacking(name):
        pytest.skip(lacking(name))
    made = contract(folder)
    asked = ServiceTable(**table)  # type: ignore[arg-type]
    spec = ServiceSpec(name=name, table=asked, contract=made, url=url, settings={})
    return Services([spec], made_servers.settings(folder), SPLIT, folder)


def gone(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() for process in processes)


def living(pids: Iterable[int]) -> list[psutil.Process]:
    """Those that have not ended meanwhile, as the process that set a database up may have."""
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(pid))
    return found


def of_living(tree: list[psutil.Process], ask: Callable[[psutil.Process], Told]) -> list[Told]:
    """What each says; the process that served a client may end at any moment."""
    said = []
    for process in tree:
        with contextlib.suppress(psutil.NoSuchProcess):
            said.append(ask(process))
    return said


def wait_until(condition: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)


def sql(env: dict[str, str], statement: str) -> str:
    command = ["psql", "--no-psqlrc", "-At", "-c", statement]
    return subprocess.run(
        command, env={**os.environ, **env}, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_private_postgres_holds_the_contracts_data(tmp_path: Path) -> None:
    with services(tmp_path, "postgres", setup=("schema.sql", "data.sql")) as made:
        made.ensure()
        begin_ns = made.cpu_ns()
        assert sql(made.env, "SELECT word FROM t ORDER BY id") == "one\ntwo"
        url = made.env["DATABASE_URL"]
        assert (
            sql(made.env, f"SELECT '{url}' LIKE '%:' || inet_server_port() || '/' || current_database()")
            == "t"
        )
        assert sql(made.env, "SHOW listen_addresses") == "127.0.0.1"
        (kept,) = (one.kept for one in made.running.values())
        tree, data = kept.tree(), kept.order.remove
        assert data is not None and data.is_dir()
        users = of_living(tree, psutil.Process.username)
        assert users and "root" not in users
        cores = of_living(tree, psutil.Process.cpu_affinity)
        assert cores and all(each == list(SPLIT.server) for each in cores)
        used_ns = {name: ns - begin_ns[name] for name, ns in made.cpu_ns().items()}
        (seen,) = made.used(made.observed(), used_ns, 10**9)
        assert seen.name == "postgres"
        assert seen.version.startswith("PostgreSQL 1")
        assert seen.memory_bytes > 1_000_000 and seen.pages_shared_out
        assert seen.memory_bytes < resident_bytes(tree)  # its processes share most of what they hold
        assert seen.cpu_ns == used_ns["postgres"] >= 0
        assert seen.cpu_share == seen.cpu_ns / 1e9
    assert gone(tree)
    assert not data.exists()


def test_a_private_redis_answers_on_its_own_port(tmp_path: Path) -> None:
    with services(tmp_path, "redis") as made:
        made.ensure()
        port = made.env["REDIS_URL"].rpartition(":")[2]
        ask = ["redis-cli", "-p", port, "config", "get", "save"]
        told = subprocess.run(ask, capture_output=True, text=True, check=True, env=os.environ | made.env)
        assert told.stdout.split() == ["save"]
        (tree,) = (one.kept.tree() for one in made.running.values())
    assert gone(tree)


def test_a_private_redis_is_for_those_who_have_its_password(tmp_path: Path) -> None:
    """Any user of the machine can reach its port, and read every process's command line."""
    with services(tmp_path, "redis") as made:
        made.ensure()
        ask = ["redis-cli", "-p", made.env["REDIS_URL"].rpartition(":")[2], "get", "a"]
        refused = subprocess.run(ask, capture_output=True, text=True, check=False)
        assert "NOAUTH" in refused.stdout + refused.stderr
        password = made.env["REDISCLI_AUTH"]
        assert len(password) == 32 and f"redis://default:{password}@" in made.env["REDIS_URL"]
        (one,) = made.running.values()
        assert not any(password in " ".join(process.cmdline()) for process in one.kept.tree())
        for path in Path(one.kept.tree()[0].cwd()).iterdir():
            assert path.stat().st_mode & 0o077 == 0


def test_a_service_tells_the_memory_of_each_trial(tmp_path: Path) -> None:
    """It lives on between them, and what one trial made it take is not the next one's."""
    with services(tmp_path, "redis") as made:
        made.ensure()
        ask = ["redis-cli", "--no-auth-warning", "-u", made.env["REDIS_URL"]]
        fill = "for i = 1, 100000 do redis.call('set', i, string.rep('x', 500)) end"
        subprocess.run([*ask, "eval", fill, "0"], capture_output=True, check=True)
        full = memory_of_a_trial(made)
        subprocess.run([*ask, "flushall"], capture_output=True, check=True)
        subprocess.run([*ask, "memory", "purge"], capture_output=True, check=True)
        empty = memory_of_a_trial(made)
    assert full > 50_000_000
    assert empty < full / 2


def memory_of_a_trial(made: Services) -> int:
    (seen,) = made.observed()
    return seen.memory_bytes


def resident_bytes(tree: list[psutil.Process]) -> int:
    return sum(of_living(tree, lambda process: int(process.memory_info().rss)))


def test_an_upstream_is_a_server_of_another_contract(tmp_path: Path) -> None:
    with services(tmp_path, "upstream", server="greeting/small") as made:
        made.ensure()
        assert made.env["UPSTREAM_URL"].startswith("http://127.0.0.1:")
        assert not made.env["UPSTREAM_URL"].endswith("/")
        (tree,) = (one.kept.tree() for one in made.running.values())
    assert gone(tree)


def test_a_service_that_died_is_told_and_started_again(tmp_path: Path) -> None:
    with services(tmp_path, "upstream", server="greeting/small") as made:
        made.ensure()
        assert made.died() == ""
        first = made.running["upstream"].kept.pid
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: made.died() != "")
        assert made.died() == "upstream was ended by SIGKILL"
        made.ensure()
        assert made.died() == ""
        assert made.running["upstream"].kept.pid != first


def test_data_that_cannot_be_loaded_is_told(tmp_path: Path) -> None:
    with services(tmp_path, "postgres", setup=("data.sql",)) as made:
        with pytest.raises(ServerFailed, match="postgres: psql ended with exit code 3") as caught:
            made.ensure()
        assert 'relation "t" does not exist' in caught.value.log_tail
        assert made.running == {}


def test_an_existing_service_is_used_as_it_is(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        made = services(tmp_path, "postgres", url=f"postgres://u:p@127.0.0.1:{port}/things")
        made.ensure()
    assert made.running == {}
    assert made.env == {
        "DATABASE_URL": f"postgres://u:p@127.0.0.1:{port}/things",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(port),
        "PGUSER": "u",
        "PGPASSWORD": "p",
        "PGDATABASE": "things",
    }


def test_an_existing_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ServerFailed, match=f"redis: nobody answers at 127.0.0.1:{port}, the url of the"):
        services(tmp_path, "redis", url=f"redis://127.0.0.1:{port}").ensure()


@pytest.mark.parametrize("url", ["nonsense", "postgres://", "postgres://h:x/", "postgres://h:99999/"])
def test_a_url_that_is_none_is_told(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match="is not a URL such as"):
        services(tmp_path, "postgres", url=url).ensure()


HARNESS = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_services import services
made = services(Path(sys.argv[1]), "postgres")
made.ensure()
(one,) = made.running.values()
data = one.kept.order.remove
print(data, one.kept.supervisor_pid, *[p.pid for p in one.kept.tree()], flush=True)
time.sleep(600)
"""


def test_nothing_of_a_service_outlives_a_killed_harness(tmp_path: Path) -> None:
    if lacking("postgres"):
        pytest.skip(lacking("postgres"))
    arguments = [sys.executable, "-c", HARNESS, str(tmp_path), str(Path(__file__).parent)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as harness:
        try:
            assert harness.stdout is not None
            data, *pids = harness.stdout.readline().split()
            processes = living(map(int, pids))
            assert len(processes) > 1  # the supervisor, and what it keeps
            assert Path(data).is_dir()
        finally:
            harness.kill()
    wait_until(lambda: gone(processes))
    assert not Path(data).exists()


def test_what_services_need_is_known_before_a_run(tmp_path: Path) -> None:
    home = made_servers.write_server(tmp_path)
    contract_file = home.parent / "contract.toml"
    added = '[services.redis]\n[services.upstream]\nserver = "greeting/small"\n'
    contract_file.write_text(contract_file.read_text() + added)
    settings = made_servers.settings(tmp_path)
    spec = read_server(home, settings).variant("fair")
    assert "redis-server" in [one.name for one in requirements_of_all([spec, spec])]
    assert len(requirements_of_all([spec, spec])) == len(requirements("redis"))
    assert [one.id for one in upstreams_of_all([spec, spec], settings)] == ["greeting/small"]
