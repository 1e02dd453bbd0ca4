"""The same clinic from every stack: pages alike to the byte where measured, and to the eye elsewhere."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import QUICK, SPLIT

from assay.core.settings import Settings
from assay.servers import find_server, prepare, probe, read_contract, requires, server

pytestmark = [pytest.mark.contract, pytest.mark.timeout(1800)]

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = Settings.resolve(here=ROOT)
CONTRACT = read_contract(ROOT / "servers" / "petclinic")
MEASURED = ("/", "/owners", "/vets")
OTHERS = (
    "/owners/find",
    "/owners?lastName=%25",
    "/owners?lastName=Bell",
    "/owners/5",
    "/owners/9",
    "/owners/new",
    "/owners/8/edit",
    "/owners/6/pets/new",
    "/owners/10/pets/13/edit",
    "/owners/10/pets/12/visits/new",
    "/owners/8/pets/10/visits/3/edit",
    "/owners/4711",
    "/nowhere",
    "/oops",
)
NEARLY = 0.02
"""How far the bytes of compared answers may lie apart: the limit of rule W3."""


@contextlib.contextmanager
def started(stack: str, variant: str, log: Path) -> Iterator[int]:
    """The port of a stack, built and run as its manifest says."""
    spec = find_server(f"petclinic/{stack}", SETTINGS).variant(variant)
    lacking = [one for one in requires.check_all(spec.requires) if not one.fulfilled]
    if lacking:
        pytest.skip("; ".join(f"{one.problem}: {one.install}" for one in lacking))
    route = CONTRACT.file.routes[0]
    prepared = prepare(spec, SETTINGS, cores=1)
    running = server.start(prepared, CONTRACT, route, cpus=SPLIT.server, log=log, env=QUICK)
    try:
        yield running.port
    finally:
        running.stop()


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with started("nginx-lua", "fair", tmp_path_factory.mktemp("nginx") / "log") as port:
        yield port


@pytest.fixture(scope="module", params=["spring", "reference-rust"])
def other(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with started(request.param, "fair", tmp_path_factory.mktemp(request.param) / "log") as port:
        yield port


def get(port: int, path: str, *, gzipped: bool = False) -> tuple[int, int, bytes]:
    """Status, bytes of the body as sent, and the body."""
    connection = http.client.HTTPConnection(server.HOST, port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"} if gzipped else {})
        answer = connection.getresponse()
        sent = answer.read()
        assert answer.getheader("Content-Encoding") == ("gzip" if gzipped else None)
        return answer.status, len(sent), gzip.decompress(sent) if gzipped else sent


def without_layout(page: bytes) -> str:
    """A page without the white space between its lines: what a browser sees of it."""
    return re.sub(r"\s*\n\s*", "", page.decode())


@pytest.mark.parametrize("path", MEASURED)
def test_a_measured_page_is_the_same_to_the_byte(nginx: int, other: int, path: str) -> None:
    assert get(nginx, path) == get(other, path)


@pytest.mark.parametrize("path", MEASURED)
def test_a_measured_page_is_compressed_to_nearly_the_same_size(nginx: int, other: int, path: str) -> None:
    _, ours, page = get(nginx, path, gzipped=True)
    _, theirs, same = get(other, path, gzipped=True)
    assert page == same
    assert abs(ours - theirs) <= NEARLY * max(ours, theirs)


@pytest.mark.parametrize("path", OTHERS)
def test_every_other_page_reads_the_same(nginx: int, other: int, path: str) -> None:
    (status, ours, page), (other_status, theirs, same) = get(nginx, path), get(other, path)
    assert (status, without_layout(page)) == (other_status, without_layout(same))
    assert abs(ours - theirs) <= NEARLY * max(ours, theirs)


def test_the_contract_is_kept_twice_over(other: int) -> None:
    for _ in range(2):
        assert probe.test(CONTRACT, CONTRACT.file.routes, server.HOST, other)[1] == ()


def test_the_null_server_sends_the_front_page(nginx: int, tmp_path: Path) -> None:
    with started("null", "fair", tmp_path / "log") as port:
        assert get(port, "/", gzipped=True)[2] == get(nginx, "/")[2]
