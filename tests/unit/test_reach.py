"""Where a load goes: whose machine an address is, and that a name is looked up once."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from msgspec.structs import replace
from wire import recording

from assay import dropin
from assay.cli.main import main
from assay.core.errors import InputError
from assay.engine import target_policy
from assay.model.plan import Closed, Host, LoadPlan, StopAtCount
from assay.plan.words import address


@pytest.mark.parametrize(
    "ours",
    [
        "127.0.0.1",
        "127.8.8.8",
        "::1",
        "10.1.2.3",
        "172.31.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "fd00::1",
        "fe80::1%eth0",
    ]
    + ["0.0.0.0", "::ffff:127.0.0.1"],
)
def test_loopback_and_private_addresses_are_ours(ours: str) -> None:
    assert target_policy.outsiders((ours,)) == ()


@pytest.mark.parametrize("other", ["8.8.8.8", "172.32.0.1", "2001:db8::1", "::ffff:8.8.8.8", "203.0.113.7"])
def test_all_others_are_not(other: str) -> None:
    assert target_policy.outsiders(("127.0.0.1", other)) == (other,)


def plan(
    url: str = "http://127.0.0.1/", addresses: tuple[str, ...] = (), proxy: str | None = None
) -> LoadPlan:
    load, stop = Closed(connections=1), StopAtCount(count=1)
    return LoadPlan(url=url, load=load, stop=stop, addresses=addresses, proxy=proxy)


@pytest.mark.parametrize(
    ("plan", "hops"),
    [
        (plan(), ("127.0.0.1",)),
        (
            plan(addresses=("10.0.0.1", "10.0.0.2:81", "[::1]", "[::1]:82")),
            ("10.0.0.1", "10.0.0.2", "::1", "::1"),
        ),
        (plan(addresses=("unix:/s",)), ("unix:/s",)),
        (plan("http://8.8.8.8/", proxy="http://127.0.0.1:3128"), ("127.0.0.1",)),
    ],
)
def test_a_plan_without_names_stays_as_it_is(plan: LoadPlan, hops: tuple[str, ...]) -> None:
    assert address.settled(plan, allowed=True) == plan
    assert target_policy.first_hops(plan) == hops


def test_each_host_is_asked_about_and_has_an_address_of_its_own() -> None:
    hosts = (Host(url="http://[::1]:81"), Host(url="http://b.localhost:82"))
    ours = replace(plan(), hosts=hosts)
    settled = address.settled(ours, allowed=False)
    assert [host.address for host in settled.hosts] == [None, "127.0.0.1:82"]
    assert target_policy.first_hops(settled) == ("127.0.0.1", "::1", "127.0.0.1")
    others = replace(plan(), hosts=(*hosts, Host(url="http://8.8.8.8/")))
    with pytest.raises(InputError, match=r"8\.8\.8\.8.* leads to 8\.8\.8\.8.*"):
        address.settled(others, allowed=False)
    with pytest.raises(InputError, match=r"8\.8\.8\.8"):
        address.settled(replace(others, proxy="http://127.0.0.1:3128"), allowed=False)


def test_what_is_behind_a_proxy_is_asked_about() -> None:
    with pytest.raises(InputError, match=r"leads to 8\.8\.8\.8.*--yes"):
        address.settled(plan("http://8.8.8.8/", proxy="http://127.0.0.1:3128"), allowed=False)


class Resolver:
    """A resolver of names that leads each look-up of one elsewhere: first to us, then to somebody else."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int | str, *_: object, **__: object) -> list[tuple[object, ...]]:
        try:
            ip = str(socket.inet_ntoa(socket.inet_aton(host)))
        except OSError:
            self.asked.append(host)
            ip = self.answers.pop(0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, int(port)))]


THEIRS = "203.0.113.7"
"""Of the addresses for documentation (RFC 5737): nobody's, and not ours."""
COMMANDS = pytest.mark.parametrize(
    "words",
    [
        ("load", "-n", "5", "-q"),
        ("load", "-n", "5", "-q", "--proxy"),
        ("wrk", "-t1", "-c1", "-d1"),
        ("wrk", "-t1", "-c1", "-d1", "-s", "SCRIPT"),
        ("ab", "-n", "5"),
        ("bombardier", "-c", "1", "-n", "5"),
        ("h2load", "--h1", "-n", "5"),
    ],
)


def command(words: tuple[str, ...], url: str, tmp_path: Path) -> int:
    script = tmp_path / "script.lua"
    script.write_text("function setup(thread) assert(#wrk.lookup(wrk.host, wrk.port) == 1) end")
    name, *rest = (str(script) if word == "SCRIPT" else word for word in words)
    tool = dropin.find(name)
    if tool is not None:
        return tool.main([*rest, url])
    return main([name, *rest, url, "http://127.0.0.1/"] if "--proxy" in rest else [name, *rest, url])


@COMMANDS
def test_a_name_is_looked_up_once_and_that_address_is_loaded(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    resolver = Resolver("127.0.0.1", THEIRS, THEIRS, THEIRS)
    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    with recording() as wire:
        assert command(words, f"http://rebinding.test:{wire.port}/", tmp_path) in (0, 1)
    # No other resolver knows the name: whoever asked one did not get here.
    assert resolver.asked == ["rebinding.test"], capfd.readouterr()
    assert len(wire.requests) >= 5


@COMMANDS
def test_a_machine_of_others_is_not_loaded_without_leave(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver(THEIRS))
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("it was knocked at"))
    assert command(words, "http://theirs.test:81/", tmp_path) in (1, 2)
    said = "".join(capfd.readouterr())
    assert f"leads to {THEIRS}, neither loopback nor private" in said
    assert ("--yes" if words[0] == "load" else "pass ASSAY_YES=1") in said


def test_the_environment_gives_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_YES", "1")
    target_policy.ask_leave("http://theirs.test/", [THEIRS])
    monkeypatch.setenv("ASSAY_YES", "0")
    with pytest.raises(InputError):
        target_policy.ask_leave("http://theirs.test/", [THEIRS])


def test_a_script_that_leads_elsewhere_is_asked_about(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "elsewhere.lua"
    script.write_text(f"function setup(thread) thread.addr = wrk.lookup('{THEIRS}', '80')[1] end")
    tool = dropin.find("wrk")
    assert tool
    with recording() as wire:
        assert tool.main(["-t1", "-c1", "-d1", "-s", str(script), wire.url()]) == 1
    assert f"{script} leads to {THEIRS}, neither loopback nor private" in capfd.readouterr().err
    assert wire.requests == []


def test_a_unix_socket_is_on_this_machine_and_ours() -> None:
    assert target_policy.is_this_machine(("unix:/s",))
    assert target_policy.outsiders(("unix:/s",)) == ()


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(InputError, match="--user") as refusal:
        address.resolve("http://ada:secret@127.0.0.1/")
    assert "secret" not in str(refusal.value)


def test_a_literal_resolves_to_itself() -> None:
    assert [str(at) for at in address.resolve("http://127.0.0.1:80/")] == ["127.0.0.1:80"]
    assert [str(at) for at in address.resolve("http://[::1]:80/")] == ["[::1]:80"]


def test_loopback_is_this_machine_and_a_documentation_address_is_not() -> None:
    assert target_policy.is_this_machine(("127.0.0.1",))
    assert not target_policy.is_this_machine(("203.0.113.7",))


@pytest.mark.parametrize("url", ["ftp://host/", "http://", "http://[::1", "http://host:port/", "/path"])
def test_what_is_no_http_url_is_refused(url: str) -> None:
    with pytest.raises(InputError):
        address.resolve(url)


def test_a_name_without_an_address_is_refused() -> None:
    with pytest.raises(InputError, match="cannot resolve"):
        address.resolve("http://no-such-host.invalid/")


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://h", "/"),
        ("http://h/", "/"),
        ("http://h/a?b", "/a?b"),
        ("http://h?b=c", "/?b=c"),
        ("http://h/a#f", "/a"),
    ],
)
def test_the_target_is_path_and_query(url: str, target: str) -> None:
    assert address.target_of(url) == target


def test_a_host_alone_is_short_for_http() -> None:
    assert address.full_url("localhost:8080/x") == "http://localhost:8080/x"
    assert address.full_url("https://h/") == "https://h/"
