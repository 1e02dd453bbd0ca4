"""Whose machine an address is."""

from __future__ import annotations

import pytest

from assay.cli import address
from assay.errors import InputError
from assay.values.plan import Closed, LoadPlan, StopAtCount


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
    assert address.outsiders((ours,)) == ()


@pytest.mark.parametrize("other", ["8.8.8.8", "172.32.0.1", "2001:db8::1", "::ffff:8.8.8.8", "203.0.113.7"])
def test_all_others_are_not(other: str) -> None:
    assert address.outsiders(("127.0.0.1", other)) == (other,)


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
        (plan("http://8.8.8.8/", proxy="http://127.0.0.1:3128"), ("127.0.0.1", "8.8.8.8")),
    ],
)
def test_where_a_plan_leads(plan: LoadPlan, hops: tuple[str, ...]) -> None:
    assert address.reached(plan) == hops


def test_a_unix_socket_is_on_this_machine_and_ours() -> None:
    assert address.is_this_machine(("unix:/s",))
    assert address.outsiders(("unix:/s",)) == ()


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(InputError, match="--user") as refusal:
        address.resolve("http://ada:secret@127.0.0.1/")
    assert "secret" not in str(refusal.value)


def test_a_literal_resolves_to_itself() -> None:
    assert address.resolve("http://127.0.0.1:80/") == ("127.0.0.1",)
    assert address.resolve("http://[::1]:80/") == ("::1",)


def test_loopback_is_this_machine_and_a_documentation_address_is_not() -> None:
    assert address.is_this_machine(("127.0.0.1",))
    assert not address.is_this_machine(("203.0.113.7",))


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
