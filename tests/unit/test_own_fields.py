"""What a header of the user means to the client: obeyed or refused in a line; drop-ins are as their tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from wire import HELLO, recording

from assay import dropin
from assay.cli import load_flags
from assay.cli.main import main
from assay.cli.parser import Parser
from assay.engine import target_policy
from assay.model.plan import Closed, LoadPlan, Request, StopAtCount
from assay.plan.words import address
from assay.plan.words.load_plan import drafted_load
from assay.verdict.load import encodings_asked


def plan_of(*words: str) -> LoadPlan:
    parser = Parser("assay load", "test")
    load_flags.add_to(parser)
    return drafted_load(words[0], load_flags.given(parser.read(list(words)))).plan


def test_connection_close_is_no_keep_alive(capfd: pytest.CaptureFixture[str]) -> None:
    with recording() as wire:
        words = ["load", wire.url(), "-n", "20", "-c", "2", "-q", "--json", "-H", "Connection: close"]
        main(words)
    said = json.loads(capfd.readouterr().out)
    assert said["measurement"]["completed"] == 20
    assert len(wire.peers) == 20
    # A server that did as it was asked closed nothing that was to be kept.
    assert not {"W5", "G8"} & {finding["code"] for finding in said["findings"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-H", "Content-Length: 9"), "Content-Length says 9, but the body has 0 bytes"),
        (("-b", "hello", "-H", "Content-Length: 9"), "Content-Length says 9, but the body has 5 bytes"),
        (("-b", "hello", "--chunked", "2", "-H", "Content-Length: 5"), "Content-Length and chunks"),
        (("-H", "Transfer-Encoding: chunked"), "Transfer-Encoding needs a body"),
        (("-H", "Expect: 100-continue", "-b", "x"), "Expect must not be there"),
        (("-H", "Host: a", "-H", "host: a"), "Host must be there once"),
        (("-m", "connect"), "--method: must not be CONNECT, after which no HTTP follows"),
        (("-H", "Connection: close", "--pipeline", "4"), "Connection: close and pipelining"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    words: tuple[str, ...], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["load", "http://127.0.0.1:1/", *words]) == 2
    shown = capfd.readouterr().err
    assert said in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("field", ["Connection: close", "Expect: x", "host: other"])
def test_wrk_sends_it_and_goes_on_as_wrk_does(field: str, capfd: pytest.CaptureFixture[str]) -> None:
    tool = dropin.find("wrk")
    assert tool
    with recording(lambda _: HELLO) as wire:
        assert tool.main(["-t1", "-c1", "-d1", "-H", field, wire.url()]) == 0
    assert wire.requests
    assert field.encode() in wire.requests[0]
    # One to see whether somebody listens, one for the load.
    assert len(wire.peers) == 2


def test_a_raw_head_says_what_answers_may_be() -> None:
    head = "GET / HTTP/1.1\r\nHost: x\r\naccept-encoding: gzip, br;q=0.5\r\n"
    load, stop = Closed(connections=1), StopAtCount(count=1)
    plan = LoadPlan(url="http://x/", load=load, stop=stop, requests=(Request(head=head),))
    assert encodings_asked(plan) == {"gzip", "br"}


def test_a_proxy_is_told_who_we_are() -> None:
    plan = plan_of("http://127.0.0.1/", "-x", "http://ada:s%40crt@127.0.0.1:3128")
    assert plan.proxy == "http://127.0.0.1:3128"
    assert plan.requests[0].headers == (("Proxy-Authorization", "Basic YWRhOnNAY3J0"),)
    assert plan_of("http://127.0.0.1/", "-x", "[::1]:3128").proxy == "http://[::1]:3128"
    assert plan_of("http://127.0.0.1/", "-x", "127.0.0.1:3128").requests[0].headers == ()


@pytest.mark.parametrize("word", ["127.0.0.1", "https://h:1", "http://:x@h:1", "http://h:1/path", "h:x"])
def test_what_is_no_proxy_is_refused(word: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["load", "http://127.0.0.1:1/", "-x", word]) == 2
    assert "Traceback" not in capfd.readouterr().err


def test_a_password_of_a_proxy_is_not_repeated(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["load", "http://127.0.0.1:1/", "-x", "https://ada:secret@h:1"]) == 2
    assert "secret" not in capfd.readouterr().err


@pytest.mark.parametrize("host", ["app.localhost", "a.b.LocalHost", "app.localhost."])
def test_names_below_localhost_are_this_machine(host: str) -> None:
    assert {endpoint.ip for endpoint in target_policy.look_up(host, 80)} == {"127.0.0.1", "::1"}
    with recording() as wire:
        plan = plan_of(f"http://{host}:{wire.port}/", "-n", "1")
        assert address.settled(plan, allowed=False).addresses == (f"127.0.0.1:{wire.port}",)


def _of_one_link() -> tuple[str, str, str] | None:
    """An address of one link of this machine, and the link's number and name."""
    known = Path("/proc/net/if_inet6")
    for line in known.read_text().splitlines() if known.exists() else ():
        digits, number, _, _, flags, link = line.split()
        if digits.startswith("fe80") and not int(flags, 16) & 0x40:  # tentative
            groups = ":".join(digits[at : at + 4] for at in range(0, 32, 4))
            return groups, str(int(number, 16)), link
    return None


def test_an_address_of_one_link_is_reached(capfd: pytest.CaptureFixture[str]) -> None:
    found = _of_one_link()
    if found is None:
        pytest.skip("no link of this machine has an address of its own")
    ip, number, link = found
    with recording(at=f"{ip}%{number}") as wire:
        for zone in (f"%25{link}", f"%{link}", f"%{number}"):
            assert main(["load", f"http://[{ip}{zone}]:{wire.port}/", "-n", "2", "-c", "1", "-q"]) == 0
        address = f"[{ip}%{link}]:{wire.port}"
        assert main(["load", "http://app.test/", "--address", address, "-n", "2", "-c", "1", "-q"]) == 0
    hosts = {line for request in wire.requests for line in request.split(b"\r\n") if b"Host:" in line}
    assert hosts == {f"Host: [{ip}]:{wire.port}".encode(), b"Host: app.test"}, capfd.readouterr()
