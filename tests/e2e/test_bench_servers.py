"""The servers that `make bench` starts are what its tables say they are."""

from __future__ import annotations

import importlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from loading import Load

pytestmark = pytest.mark.beside

BENCHES = Path(__file__).parents[2] / "benches"


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Load:
    return Load(capsys)


@pytest.fixture
def core() -> int:
    return min(os.sched_getaffinity(0))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The benchmarks' module of servers, with the null server of this installation in place of a build."""
    monkeypatch.syspath_prepend(BENCHES)
    module = importlib.import_module("programs")
    null_server = tmp_path / "null-server"
    null_server.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m assay.servers.null_server "$@"\n'
    )
    null_server.chmod(0o755)
    monkeypatch.setattr(module, "null_server", lambda: null_server)
    yield module
    del sys.modules["programs"]


@pytest.mark.parametrize(
    ("serves", "asks", "spoken"), [((), (), "1.1"), (("--http3",), ("--http3", "--insecure"), "3")]
)
def test_the_null_server_is_found_where_it_listens(
    programs: ModuleType, load: Load, core: int, serves: tuple[str, ...], asks: tuple[str, ...], spoken: str
) -> None:
    with programs.serving_null(core, "--body", "hello", *serves) as server:
        measured = load.clean(server.url(), *asks)["measurement"]
    assert measured["http_versions"] == {spoken: 4}


Serving = Callable[[ModuleType, int], AbstractContextManager[Any]]


def nginx(programs: ModuleType, core: int) -> AbstractContextManager[Any]:
    serving: AbstractContextManager[Any] = programs.serving_nginx(core, tls=True, http2=True)
    return serving


def h2o(programs: ModuleType, core: int) -> AbstractContextManager[Any]:
    if shutil.which("h2o") is None:
        pytest.skip("h2o is missing; apt-get install h2o")
    serving: AbstractContextManager[Any] = programs.serving_h2o(core)
    return serving


@pytest.mark.parametrize("serving", [nginx, h2o])
def test_a_server_over_tls_sets_neither_streams_nor_the_cipher_apart(
    programs: ModuleType, load: Load, core: int, serving: Serving
) -> None:
    with serving(programs, core) as server:
        measured = load.clean(server.url(), "--http2", "--insecure", "--streams", "100", count=5_000)
        wants_another = ["-ciphersuites", "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"]
        told = subprocess.run(
            [
                "openssl",
                "s_client",
                "-brief",
                "-alpn",
                "h2",
                *wants_another,
                "-connect",
                f"127.0.0.1:{server.port}",
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",  # behind what it tells stand the server's frames, where they came in time
            timeout=60,
            check=False,
        )
    found = measured["measurement"]
    assert (found["connections"]["opened"], found["http2"]["stream_waits"]) == (1, 0)
    assert found["http2"]["streams_allowed"] >= 100
    assert found["http_versions"] == {"2": 5_000}
    assert list(found["handshakes"]) == ["TLS 1.3, TLS13_AES_256_GCM_SHA384, h2"]
    assert "TLS_AES_256_GCM_SHA384" in told.stderr


Floor = Callable[..., SimpleNamespace]


@pytest.fixture
def floor(programs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Floor:
    """Runs the floor of HTTP/2, built for this test."""
    monkeypatch.setattr(programs, "TARGET", tmp_path)

    def run(server: SimpleNamespace, core: int, *words: str) -> SimpleNamespace:
        try:
            program = programs.bare_client("bare_http2.c", tls=server.scheme == "https")
        except programs.Unavailable as problem:
            pytest.skip(str(problem))
        done: SimpleNamespace = programs.run([str(program), str(server.port), "/", *words], core)
        return done

    return run


def null(programs: ModuleType, core: int) -> AbstractContextManager[Any]:
    serving: AbstractContextManager[Any] = programs.serving_null(core, "--body", "hello")
    return serving


@pytest.mark.parametrize("serving", [null, nginx, h2o])
@pytest.mark.parametrize("shape", [("1", "1", "100"), ("8", "10", "5003"), ("3", "100", "2")])
def test_a_floor_ends_with_the_last_answer_that_it_was_asked_for(
    programs: ModuleType, floor: Floor, core: int, serving: Serving, shape: tuple[str, ...]
) -> None:
    with serving(programs, core) as server:
        done = floor(server, core, *shape)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.split()[0] == shape[-1]


def test_a_floor_over_tls_takes_nothing_but_http2(programs: ModuleType, floor: Floor, core: int) -> None:
    with programs.serving_nginx(core, tls=True) as server:
        done = floor(server, core, "1", "1", "100")
    assert done.code == 2 and done.stderr.startswith("bare-http2: ") and done.stderr.count("\n") == 1


def test_a_server_that_does_not_start_is_told_in_a_line(
    programs: ModuleType, core: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refuses = tmp_path / "h2o"
    refuses.write_text("#!/bin/sh\necho 'no such directive' >&2\nexit 1\n")
    refuses.chmod(0o755)
    monkeypatch.setattr(
        programs, "need", lambda command, package: {"h2o": str(refuses)}.get(command, command)
    )
    with pytest.raises(programs.Unavailable) as why, programs.serving_h2o(core):
        pass
    assert str(why.value) == "h2o did not start: no such directive"
