"""The clinic's Lua application: one code base, the same pages from nginx and from (a stand-in of) redbean."""

from __future__ import annotations

import contextlib
import http.client
import re
import shlex
import socket
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
from msgspec.structs import replace
from serving import SPLIT

from assay.core.errors import ServerFailed
from assay.core.settings import Settings
from assay.servers import Contract, find_server, prepare, probe, read_contract, requires, server

pytestmark = pytest.mark.contract

STANDIN = Path(__file__).parent / "redbean" / "redbean_program.py"
ROOT = Path(__file__).resolve().parents[2]
CONTRACT = read_contract(ROOT / "servers" / "petclinic")
PAGES = [
    route.name
    for route in CONTRACT.file.routes
    if route.method == "GET" and not route.target.startswith("/assets/")
]
FORM = {"content-type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Clinic:
    """A running clinic and the folder that it may keep temporary files in."""

    running: server.RunningServer
    folder: Path
    log: Path

    def ask(
        self, method: str, path: str, form: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], str]:
        """One request on a connection of its own: status, headers, text."""
        connection = http.client.HTTPConnection(server.HOST, self.running.port, timeout=60)
        with contextlib.closing(connection):
            body = None if form is None else urlencode(form)
            connection.request(method, path, body, FORM if form is not None else {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()


def make_redbean(folder: Path) -> Path:
    """A program that is a zip file too, as redbean is: a shell script in front of an archive."""
    program = folder / "redbean.com"
    command = shlex.join([sys.executable, str(STANDIN)])
    program.write_text(f'#!/bin/sh\nexec {command} "$0" "$@"\nexit\n')
    with zipfile.ZipFile(program, "a") as archive:
        archive.writestr("LICENSE", "a stand-in")
    return program


@contextlib.contextmanager
def running_clinic(stack: str, settings: Settings, folder: Path) -> Iterator[Clinic]:
    """The stack's own manifest, built and run by the harness."""
    spec = find_server(f"petclinic/{stack}", settings).variant("fair")
    lacking = [one for one in requires.check_all(spec.requires) if not one.fulfilled]
    if lacking:
        pytest.skip("; ".join(f"{one.problem}: {one.install}" for one in lacking))
    temporary = folder / "tmp"
    temporary.mkdir()
    log = folder / "log"
    running = server.start(
        prepare(spec, settings, cores=1),
        CONTRACT,
        CONTRACT.file.routes[0],
        cpus=SPLIT.server,
        log=log,
        env={"TMPDIR": str(temporary)},
    )
    try:
        yield Clinic(running, temporary, log)
    finally:
        running.stop()


def lua_settings(cache: Path) -> Settings:
    """The checkout's servers; a cache of our own, for what is built around the stand-in."""
    return replace(Settings.resolve(here=ROOT), cache=cache)


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    folder = tmp_path_factory.mktemp("nginx")
    with running_clinic("nginx-lua", lua_settings(folder / "cache"), folder) as clinic:
        yield clinic


@pytest.fixture(scope="module")
def redbean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    folder = tmp_path_factory.mktemp("redbean")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_REDBEAN", str(make_redbean(folder)))
        with running_clinic("redbean", lua_settings(folder / "cache"), folder) as clinic:
            yield clinic


@pytest.fixture(params=["nginx", "redbean"])
def clinic(request: pytest.FixtureRequest) -> Clinic:
    found: Clinic = request.getfixturevalue(request.param)
    return found


def asked(clinic: Clinic, contract: Contract, name: str) -> probe.Response:
    """The answer to a route of the contract."""
    return probe.ask(contract, contract.route(name), server.HOST, clinic.running.port)


def test_the_contract_is_kept_twice_over(clinic: Clinic) -> None:
    for _ in range(2):
        asked_routes, problems = probe.test(CONTRACT, CONTRACT.file.routes, server.HOST, clinic.running.port)
        assert (asked_routes, problems) == (len(CONTRACT.file.routes), ())


@pytest.mark.parametrize("name", PAGES)
def test_both_hosts_send_the_same_page(nginx: Clinic, redbean: Clinic, name: str) -> None:
    ours, theirs = asked(nginx, CONTRACT, name), asked(redbean, CONTRACT, name)
    assert ours.status == theirs.status
    assert ours.body == theirs.body
    assert ours.headers.get("content-type") == theirs.headers.get("content-type")


def test_a_pet_is_added_once_and_shown(clinic: Clinic) -> None:
    pet = {"name": "Nibbles", "birthDate": "2023-03-01", "type": "4"}
    status, headers, _ = clinic.ask("POST", "/owners/9/pets/new", pet)
    assert (status, headers["Location"]) == (303, "/owners/9")
    _, _, page = clinic.ask("GET", "/owners/9")
    assert "<h3>Nibbles</h3>" in page
    assert "hamster, born 2023-03-01" in page

    status, _, page = clinic.ask("POST", "/owners/9/pets/new", pet | {"name": " nibbles "})
    assert status == 422
    assert "This owner already has a pet of that name" in page
    assert 'value="nibbles"' in page


def test_a_new_owner_is_listed_under_its_name_and_can_be_changed(clinic: Clinic) -> None:
    owner = {"firstName": "Zoë", "lastName": "Žižka & Søn", "address": "<b>1</b>", "city": "Å"}
    status, headers, _ = clinic.ask("POST", "/owners/new", owner | {"telephone": "0123456789"})
    assert status == 303
    status, found, _ = clinic.ask("GET", "/owners?" + urlencode({"lastName": "Žiž"}))
    assert (status, found["Location"]) == (303, headers["Location"])
    _, _, page = clinic.ask("GET", headers["Location"])
    assert "<h1>Zoë Žižka &amp; Søn</h1>" in page
    assert "<dd>&lt;b&gt;1&lt;/b&gt;</dd>" in page

    changed = owner | {"address": "1", "telephone": "9876543210"}
    assert clinic.ask("POST", headers["Location"] + "/edit", changed)[0] == 303
    assert "<dd>9876543210</dd>" in clinic.ask("GET", headers["Location"])[2]


def test_a_visit_is_added_and_changed(clinic: Clinic) -> None:
    visit = {"date": "2025-02-03", "description": "weighed"}
    assert clinic.ask("POST", "/owners/4/pets/5/visits/new", visit)[0] == 303
    _, _, page = clinic.ask("GET", "/owners/4")
    edit = re.search(r"/owners/4/pets/5/visits/\d+/edit", page)
    assert edit is not None
    assert "<td>weighed</td>" in page
    assert clinic.ask("POST", edit[0], visit | {"description": "weighed twice"})[0] == 303
    assert "<td>weighed twice</td>" in clinic.ask("GET", "/owners/4")[2]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("firstName", "x" * 65, "At most 64 characters"),
        ("firstName", " ", "Required"),
        ("telephone", "12345678901", "10 digits, nothing else"),
        ("telephone", "123456789x", "10 digits, nothing else"),
        ("telephone", "", "10 digits, nothing else"),
    ],
)
def test_a_wrong_field_comes_back_with_its_message(
    clinic: Clinic, field: str, value: str, message: str
) -> None:
    right = {"firstName": "A", "lastName": "B", "address": "C", "city": "D", "telephone": "0123456789"}
    status, _, page = clinic.ask("POST", "/owners/new", right | {field: value})
    assert status == 422
    assert page.count('class="problem"') == 1
    assert f'<p class="problem">{message}</p>' in page
    assert 'value="B"' in page


def test_head_has_the_head_of_get_and_no_body(clinic: Clinic) -> None:
    status, headers, text = clinic.ask("HEAD", "/vets")
    _, expected, page = clinic.ask("GET", "/vets")
    assert (status, text) == (200, "")
    assert headers["Content-Type"] == expected["Content-Type"]
    assert page


def test_one_connection_carries_many_requests(clinic: Clinic) -> None:
    connection = http.client.HTTPConnection(server.HOST, clinic.running.port, timeout=60)
    with contextlib.closing(connection):
        connection.connect()
        first = connection.sock
        for _ in range(300):
            connection.request("GET", "/vets")
            answer = connection.getresponse()
            assert answer.status == 200
            assert b"Mei Tanaka" in answer.read()
        assert connection.sock is first


def test_connections_see_each_others_changes(clinic: Clinic) -> None:
    """Each of redbean's connections is a process; a page must not come from a copy of the records."""
    one, other = (http.client.HTTPConnection(server.HOST, clinic.running.port, timeout=60) for _ in range(2))
    with contextlib.closing(one), contextlib.closing(other):
        for number, (writer, reader) in enumerate([(one, other), (other, one)]):
            reader.request("GET", "/owners/2")
            reader.getresponse().read()
            form = {"firstName": "Bruno", "lastName": "Bellweather", "address": f"{number} New Road"}
            body = urlencode(form | {"city": "Fernhill", "telephone": "5550140026"})
            writer.request("POST", "/owners/2/edit", body, FORM)
            assert writer.getresponse().read() == b""
            reader.request("GET", "/owners/2")
            assert f"{number} New Road" in reader.getresponse().read().decode()


def test_a_body_that_comes_late_and_in_pieces_is_read_whole(clinic: Clinic) -> None:
    body = b"date=2025-02-03&description=brushed"
    head = (
        "POST /owners/1/pets/1/visits/new HTTP/1.1\r\nHost: clinic\r\nConnection: close\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.create_connection((server.HOST, clinic.running.port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in (head[:20], head[20:], body[:7], body[7:]):
            connection.sendall(piece)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 303 ")
    assert "<td>brushed</td>" in clinic.ask("GET", "/owners/1")[2]


def test_what_was_thrown_is_in_the_log_and_not_on_the_page(clinic: Clinic) -> None:
    status, _, page = clinic.ask("GET", "/oops")
    assert status == 500
    assert "thrown on purpose" not in page
    assert "thrown on purpose, to show what the clinic does then" in clinic.log.read_text()


@pytest.mark.parametrize(
    "path", ["/assets/../schema.sql", "/assets/%2e%2e/data.sql", "/schema.sql", "/assets/"]
)
def test_nothing_but_assets_is_served_as_a_file(clinic: Clinic, path: str) -> None:
    status, _, text = clinic.ask("GET", path)
    assert "CREATE TABLE" not in text
    assert "INSERT INTO" not in text
    assert status != 500


@pytest.mark.parametrize("stack", ["nginx-lua", "redbean"])
def test_a_stop_leaves_nothing_behind(stack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_REDBEAN", str(make_redbean(tmp_path)))
    with running_clinic(stack, lua_settings(tmp_path / "cache"), tmp_path) as clinic:
        assert list(clinic.folder.iterdir()) != []
        # A connection that stays open must not hold the end up.
        idle = socket.create_connection((server.HOST, clinic.running.port))
    idle.close()
    assert list(clinic.folder.iterdir()) == []


def test_redbeans_row_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_REDBEAN", raising=False)
    settings = lua_settings(tmp_path)
    spec = find_server("petclinic/redbean", settings).variant("fair")
    with pytest.raises(ServerFailed, match="^redbean not found: set ASSAY_REDBEAN$"):
        prepare(spec, settings, cores=1)


def test_another_redbean_is_another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = lua_settings(tmp_path / "cache")
    spec = find_server("petclinic/redbean", settings).variant("fair")
    program = make_redbean(tmp_path)
    monkeypatch.setenv("ASSAY_REDBEAN", str(program))
    first = prepare(spec, settings, cores=1)
    assert first.version == "redbean 2.2.0, Lua 5.4"
    assert prepare(spec, settings, cores=1).built_s is None
    with zipfile.ZipFile(program, "a") as archive:
        archive.writestr("NEWER", "a newer one")
    assert prepare(spec, settings, cores=1).places.out != first.places.out
