"""Each flag of `assay load` against a real server: what goes over the wire, and what comes of it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from loading import QUIET, Load
from wire import HELLO, recording

from assay.cli.main import main

pytestmark = pytest.mark.beside


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Load:
    return Load(capsys)


def fields(request: bytes) -> dict[str, str]:
    """The header fields of a request, names in lower case."""
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


def answering(*headers: str, status: str = "200 OK", body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


# --- what is sent -----------------------------------------------------------------------


def test_credentials_and_encodings_are_sent_as_headers(load: Load) -> None:
    with recording() as wire:
        load.clean(wire.url(), "--user", "ada:pass word", "--accept-encoding", "gzip, br")
        load.clean(wire.url(), "--bearer", "t0ken")
    assert fields(wire.requests[0])["authorization"] == "Basic YWRhOnBhc3Mgd29yZA=="
    assert fields(wire.requests[0])["accept-encoding"] == "gzip, br"
    assert fields(wire.requests[-1])["authorization"] == "Bearer t0ken"


def test_credentials_are_not_in_the_output(load: Load) -> None:
    with recording() as wire:
        said = load.clean(wire.url(), "--bearer", "t0ken", "-H", "Proxy-Authorization: secret")
    assert "t0ken" not in json.dumps(said)
    assert "secret" not in json.dumps(said)


def test_a_form_is_sent_in_parts(load: Load, tmp_path: Path) -> None:
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"\x89PNG\r\n\x00\xff")
    with recording() as wire:
        load.clean(wire.url(), "-F", "who=Ada", "-F", f"picture=@{picture};type=image/png", count=1)
    head, _, body = wire.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST / HTTP/1.1\r\n")
    kind = fields(wire.requests[0])["content-type"]
    boundary = kind.removeprefix("multipart/form-data; boundary=").encode()
    parts = body.split(b"--" + boundary)
    assert parts[1] == b'\r\nContent-Disposition: form-data; name="who"\r\n\r\nAda\r\n'
    assert parts[2] == (
        b'\r\nContent-Disposition: form-data; name="picture"; filename="cat.png"\r\n'
        b"Content-Type: image/png\r\n\r\n\x89PNG\r\n\x00\xff\r\n"
    )
    assert parts[3] == b"--\r\n"


def test_a_body_is_streamed_in_chunks(load: Load, tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_bytes(b"x" * 10)
    with recording() as wire:
        load.clean(wire.url(), "--body-file", str(body), "--chunked", "4", count=2)
    head, _, sent = wire.requests[1].partition(b"\r\n\r\n")
    assert b"Transfer-Encoding: chunked" in head
    assert b"Content-Length" not in head
    assert sent == b"4\r\nxxxx\r\n4\r\nxxxx\r\n2\r\nxx\r\n0\r\n\r\n"


def test_templates_are_filled_in_anew(load: Load) -> None:
    with recording() as wire:
        load.clean(wire.url("/item/{counter}?r={random:5-5}"), "--template", count=3)
        load.clean(wire.url("/{counter}"), count=1)
    targets = [request.split(b" ")[1].decode() for request in wire.requests]
    assert targets == ["/item/0?r=5", "/item/1?r=5", "/item/2?r=5", "/{counter}"]


def test_http_1_0_and_a_limit_of_requests_a_connection(load: Load) -> None:
    with recording() as wire:
        load.clean(wire.url(), "--http1.0")
    assert wire.requests[0].startswith(b"GET / HTTP/1.0\r\n")
    assert fields(wire.requests[0])["connection"] == "Keep-Alive"
    with recording() as wire:
        load.clean(wire.url(), "--requests-per-connection", "2", count=6)
    assert len(wire.peers) == 3


def test_a_file_of_requests_in_its_order(load: Load, tmp_path: Path) -> None:
    (tmp_path / "body.txt").write_text("from a file")
    mix = tmp_path / "mix.jsonl"
    mix.write_text(
        '{"path": "/a", "headers": {"X-Mark": "1", "Accept": ["x", "y"]}}\n\n'
        '{"path": "/b", "json": {"n": 1}, "expect": {"status": 201}}\n'
        '{"path": "/c", "method": "put", "body_file": "body.txt"}\n'
    )

    def answer(request: bytes) -> bytes:
        return answering(status="201 Created") if b" /b " in request else HELLO

    with recording(answer) as wire:
        load.clean(wire.url(), "--requests", str(mix), "-H", "X-Mark: all", count=6)
    assert wire.requests[0] == (
        b"GET /a HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Mark: 1\r\nAccept: x\r\nAccept: y\r\n\r\n" % wire.port
    )
    assert fields(wire.requests[1]) | {"host": ""} == {
        "host": "",
        "x-mark": "all",
        "content-type": "application/json",
        "content-length": "7",
    }
    assert wire.requests[1].endswith(b'\r\n\r\n{"n":1}')
    assert wire.requests[2].startswith(b"PUT /c ")
    assert wire.requests[2].endswith(b"\r\n\r\nfrom a file")
    assert wire.requests[3:] == wire.requests[:3]


def test_requests_of_several_names_have_their_own_figures(load: Load, tmp_path: Path) -> None:
    mix = tmp_path / "mix.jsonl"
    mix.write_text('{"path": "/a?b=c", "weight": 2}\n{"path": "/b", "name": "a \\"b\\""}\n')
    with recording() as wire:
        told = load.clean(wire.url(), "--requests", str(mix), "--order", "sequential", count=6)
    found = {one["name"]: one for one in told["by_request"]}
    assert {name: one["completed"] for name, one in found.items()} == {"GET /a": 4, 'a "b"': 2}
    assert found["GET /a"]["statuses"] == {"200": 4}


def test_urls_of_several_hosts_go_to_each_of_them(load: Load, tmp_path: Path) -> None:
    mix = tmp_path / "mix.jsonl"
    with recording() as first, recording() as other:
        there = f"b.localhost:{other.port}"
        mix.write_text(f'{{"path": "/a", "weight": 3}}\nPOST http://{there}/b\n')
        words = ("--requests", str(mix), "-u", "ada:secret")
        told = load.clean(first.url(), *words, count=40, connections=4)
    assert len(first.peers) == 3, "connections are dealt by weight"
    assert {fields(one)["host"] for one in other.requests} == {there}
    assert {one.split(b" ")[1] for one in other.requests} == {b"/b"}
    assert "authorization" in fields(first.requests[0]) and "authorization" not in fields(other.requests[0])
    names = {one["name"]: one["completed"] for one in told["by_request"]}
    assert names == {
        f"GET 127.0.0.1:{first.port}/a": len(first.requests), f"POST {there}/b": len(other.requests),
    }  # fmt: skip
    assert told["plan"]["hosts"] == [{"url": f"http://{there}", "address": f"127.0.0.1:{other.port}"}]


def test_what_goes_to_one_host_only_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mix = tmp_path / "mix.jsonl"
    mix.write_text("/\nhttp://127.0.0.1:2/\n")
    for flags, said in (
        (["--rate", "5"], "--rate: must be none where requests go to several hosts"),
        (["--http", "auto"], "--http: must be 1 or 2 where requests go to several hosts"),
        (["--follow", "1"], "--follow: cannot be followed where requests go to several hosts"),
        (["-c", "1"], "--connections: must be at least as many as hosts"),
    ):
        assert main(["load", "http://127.0.0.1:1/", "--requests", str(mix), "-n", "4", *flags]) == 2
        told = capsys.readouterr().err
        assert said in told and len(told.splitlines()) == 1


def test_a_file_of_requests_by_weight_and_evenly(load: Load, tmp_path: Path) -> None:
    mix = tmp_path / "mix.jsonl"
    mix.write_text('{"path": "/often", "weight": 99}\n{"path": "/seldom", "weight": 1}\n')
    share = {}
    for order in ("weighted", "random", "sequential"):
        with recording() as wire:
            load.clean(wire.url(), "--requests", str(mix), "--order", order, count=400)
        share[order] = Counter(request.split(b" ")[1] for request in wire.requests)[b"/seldom"]
    # 4, 200 and 4 are expected of the three; the bounds are ten standard deviations wide.
    assert 0 <= share["weighted"] <= 24
    assert 100 <= share["random"] <= 300
    assert share["sequential"] == 4


# --- what a right answer is ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "wrong", "kind"),
    [
        (("--expect-header", "Content-Type: ^text/"), ("--expect-header", "X-None"), "unexpected_header"),
        (("--expect-body", "hello"), ("--expect-body", "hell"), "unexpected_body"),
        (("--expect-match", "^h.*o$"), ("--expect-match", "^o"), "unexpected_body"),
        (("--expect-length", "5"), ("--expect-length", "6"), "unexpected_body"),
        (("--expect-status", "2xx"), ("--expect-status", "204,3xx"), "unexpected_status"),
    ],
)
def test_answers_are_held_to_what_is_expected(
    load: Load, right: tuple[str, ...], wrong: tuple[str, ...], kind: str
) -> None:
    with recording() as wire:
        load.clean(wire.url(), *right)
        assert load.outcomes(wire.url(), *wrong) == {f"plan/{kind}": 4}


def test_a_sample_of_the_answers_is_checked(load: Load) -> None:
    with recording() as wire:
        told = load(wire.url(), "--expect-body", "other", "--check-every", "5", count=20)
    assert (told["failed"], told["measurement"]["checked"]) == (4, 4)


def test_a_coded_body_is_decoded_before_it_is_checked(load: Load) -> None:
    def answer(request: bytes) -> bytes:
        assert fields(request)["accept-encoding"] == "gzip"
        return answering("Content-Encoding: gzip", body=gzip.compress(b"hello"))

    with recording(answer) as wire:
        told = load.clean(wire.url(), "--accept-encoding", "gzip", "--expect-body", "hello")
    assert told["measurement"]["encodings"] == {"gzip": 4}


# --- connections --------------------------------------------------------------------------


def test_cookies_are_kept_for_each_connection(load: Load) -> None:
    with recording(lambda _: answering("Set-Cookie: id=7; Path=/")) as wire:
        load.clean(wire.url(), "--cookies", count=2)
        load.clean(wire.url(), count=2)
    assert [fields(request).get("cookie") for request in wire.requests] == [None, "id=7", None, None]


def test_redirects_are_followed_when_asked(load: Load) -> None:
    def answer(request: bytes) -> bytes:
        moved = request.startswith(b"GET /old ")
        return answering("Location: /new", status="302 Found") if moved else HELLO

    with recording(answer) as wire:
        told = load.clean(wire.url("/old"), "--follow", "2", "--expect-status", "200")
        assert told["measurement"]["statuses"] == {"200": 4, "302": 4}
        load.clean(wire.url("/old"))
    assert Counter(request.split(b" ")[1] for request in wire.requests) == {b"/old": 8, b"/new": 4}


def test_a_redirect_to_another_host_is_not_followed(load: Load) -> None:
    elsewhere = answering("Location: http://127.0.0.1:1/", status="302 Found")
    with recording(lambda _: elsewhere) as wire:
        assert load.outcomes(wire.url(), "--follow", "2") == {"plan/redirect_elsewhere": 4}


def test_connections_are_opened_at_a_rate(load: Load) -> None:
    with recording() as wire:
        main(["load", wire.url(), "-c", "500", "-d", "400ms", "--connect-rate", "50", *QUIET])
    assert 1 <= len(wire.peers) <= 21


# --- where it goes ------------------------------------------------------------------------


def test_a_unix_socket(load: Load, tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    with recording(at=path) as wire:
        load.clean("http://app.test/x", "--unix-socket", path)
    assert wire.requests[0] == b"GET /x HTTP/1.1\r\nHost: app.test\r\n\r\n"


def test_addresses_are_used_in_turn(load: Load) -> None:
    with recording() as one, recording() as two:
        where = ("--address", f"127.0.0.1:{one.port}", "--address", f"127.0.0.1:{two.port}")
        load.clean("http://app.test/", *where, count=40, connections=4)
    assert (len(one.peers), len(two.peers)) == (2, 2)
    assert fields(one.requests[0])["host"] == "app.test"


def test_a_name_is_resolved_as_told(load: Load) -> None:
    with recording() as wire:
        load.clean(f"http://app.test:{wire.port}/", "--resolve", f"app.test:{wire.port}:127.0.0.1")
    assert fields(wire.requests[0])["host"] == f"app.test:{wire.port}"


def test_loads_come_from_the_source_addresses(load: Load) -> None:
    with recording() as wire:
        load.clean(wire.url(), "--source", "127.0.0.2", "--source", "127.0.0.3", count=20, connections=2)
    assert sorted(wire.peers) == ["127.0.0.2", "127.0.0.3"]


def test_the_family_of_the_address(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    with recording() as wire:
        load.clean(f"http://localhost:{wire.port}/", "-4")
        assert main(["load", wire.url(), "-6", "-n", "1"]) == 2
    assert "cannot resolve '127.0.0.1'" in capsys.readouterr().err
    with recording(at="::1") as wire:
        load.clean(f"http://[::1]:{wire.port}/", "-6")
    assert wire.peers == ["::1"]


def test_a_proxy_is_sent_the_whole_url(load: Load) -> None:
    with recording() as proxy:
        load.clean("http://127.0.0.1:1/a", "--proxy", f"127.0.0.1:{proxy.port}")
    assert proxy.requests[0].startswith(b"GET http://127.0.0.1:1/a HTTP/1.1\r\nHost: 127.0.0.1:1\r\n")


def test_a_tunnel_is_asked_for_by_connect(load: Load) -> None:
    with recording(lambda _: b"HTTP/1.1 403 Forbidden\r\n\r\n") as proxy:
        where = ("https://127.0.0.1:1/", "-k", "--proxy", f"http://127.0.0.1:{proxy.port}")
        assert load.outcomes(*where) == {"peer/proxy_refused": 1}  # nothing is reached, so it ends at once
    assert proxy.requests[0] == b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n"


@pytest.mark.parametrize(
    "words",
    [
        ("http://127.0.0.1/", "--proxy", "203.0.113.7:3128"),
        ("http://203.0.113.7/", "--proxy", "127.0.0.1:9"),
        ("http://no-such-host.invalid/", "--proxy", "127.0.0.1:9"),
        ("http://127.0.0.1/", "--address", "203.0.113.7:80"),
        ("http://127.0.0.1:80/", "--resolve", "127.0.0.1:80:203.0.113.7"),
    ],
)
def test_no_way_leads_to_a_strangers_machine_without_asking(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["load", *words, "-n", "1"]) == 2
    told = capsys.readouterr().err
    assert "neither loopback nor private" in told
    assert "--yes" in told
