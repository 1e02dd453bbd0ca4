"""`--har` and `--curl`: recordings to requests, what is left out of them, and what is refused by its name."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import InputError
from assay.model.plan import LoadPlan, Open
from assay.plan.words import load_table, settle
from assay.plan.words.load_plan import DraftedLoad, drafted_load

SITE = "https://shop.test"


def asked(url: str, method: str = "GET", status: int = 200, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    headers = [{"name": "Accept", "value": "*/*"}, {"name": ":authority", "value": "shop.test"}]
    return {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "request": {"method": method, "url": url, "headers": headers, "bodySize": -1, "cookies": []} | more,
        "response": {"status": status, "content": {"size": 5, "text": "x", "encoding": "base64"}},
    }


def posted(text: str | None, kind: str = "text/plain", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"method": "POST", "bodySize": 9, "postData": {"mimeType": kind, "text": text} | more}


def har(folder: Path, *entries: dict[str, Any]) -> str:
    path = folder / "page.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "creator": {}, "entries": entries}}))
    return str(path)


def from_har(path: str, url: str = "") -> DraftedLoad:
    return drafted_load(url, {"har": path})


def from_curl(command: str, url: str = "", **given: object) -> LoadPlan:
    return drafted_load(url, {"curl": command, **given}).plan


# --- HAR ----------------------------------------------------------------------------------


def test_a_recording_is_sent_in_its_order_to_its_first_server(tmp_path: Path) -> None:
    path = har(
        tmp_path,
        asked(f"{SITE}/?a=b#top"),
        asked(f"{SITE}:443/cart", **posted('{"n": 1}', "application/json")),
        asked(f"{SITE}/form", **posted(None, params=[{"name": "a b", "value": "ä"}])),
        asked(f"{SITE}/coded", **posted(b64encode("tä".encode()).decode(), encoding="base64")),
    )
    load = from_har(path)
    assert load.plan.url == SITE and load.notes == ()
    assert [(one.method, one.target, one.body) for one in load.plan.requests] == [
        ("GET", "/?a=b", None),
        ("POST", "/cart", '{"n": 1}'),
        ("POST", "/form", "a+b=%C3%A4"),
        ("POST", "/coded", "tä"),
    ]
    assert load.plan.requests[0].headers == (("Accept", "*/*"),)
    assert load.plan.request_order == "sequential"


def test_what_cannot_be_sent_again_is_left_out_and_told(tmp_path: Path) -> None:
    path = har(
        tmp_path,
        asked(f"{SITE}/"),
        asked("wss://shop.test/live", status=101),
        asked(f"{SITE}/live", status=101),
        asked("https://cdn.test/a.js"),
        asked("data:image/png;base64,AAAA"),
        asked(f"{SITE}/upload", **posted("\x00\x01PNG\ufffd", "image/png")),
        asked(f"{SITE}/upload", **posted(b64encode(b"\xff\xfe").decode(), encoding="base64")),
        asked(f"{SITE}/upload", **posted(None, "multipart/form-data", params=[{"name": "f"}])),
        asked(f"{SITE}/lost", method="POST", bodySize=12),
    )
    load = from_har(path)
    assert [one.target for one in load.plan.requests] == ["/"]
    said = (
        "2 requests of WebSockets, 1 request to another server, 1 request to what is no URL of http, "
        "3 requests with a binary body, 1 request whose body was not recorded"
    )
    assert load.notes == (f"left out of {path}: {said}",)


def test_with_all_hosts_each_request_goes_to_its_own(tmp_path: Path) -> None:
    path = har(
        tmp_path, asked(f"{SITE}/"), asked("https://cdn.test:444/a.js"), asked("http://cdn.test/old.js")
    )
    load = drafted_load("", {"har": path, "all_hosts": True})
    assert [(one.host, one.target) for one in load.plan.requests] == [(0, "/"), (1, "/a.js")]
    assert [host.url for host in load.plan.hosts] == ["https://cdn.test:444"]
    assert load.notes == (f"left out of {path}: 1 request of another scheme",)
    with pytest.raises(InputError, match="--all-hosts needs a recording"):
        drafted_load(f"{SITE}/", {"all_hosts": True})


def test_a_url_says_where_a_recording_goes_instead(tmp_path: Path) -> None:
    path = har(tmp_path, asked(f"{SITE}/a"), asked("http://127.0.0.1:8080/b"))
    assert [one.target for one in from_har(path, "127.0.0.1:8080").plan.requests] == ["/b"]
    elsewhere = from_har(path, "http://127.0.0.1:9090/")
    assert [one.target for one in elsewhere.plan.requests] == ["/a"]
    assert elsewhere.plan.url == "http://127.0.0.1:9090"
    assert f"requests of {SITE} are sent to http://127.0.0.1:9090" in elsewhere.notes


def test_large_entries_and_many_of_them(tmp_path: Path) -> None:
    large = asked(f"{SITE}/large", **posted("a" * 5_000_000))
    large["response"]["content"]["text"] = "b" * 5_000_000
    plan = from_har(har(tmp_path, large, *(asked(f"{SITE}/{n}") for n in range(10_000)))).plan
    assert len(plan.requests) == 10_001
    assert len(plan.requests[0].body or "") == 5_000_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no", "is not a HAR"),
        ('{"log": {}}', "is not a HAR: Object missing required field `entries`"),
        ('{"log": {"entries": []}}', "holds no request that can be sent"),
        (json.dumps({"log": {"entries": [asked("ws://a/")]}}), "can be sent: 1 request of WebSockets"),
    ],
)
def test_a_file_that_is_no_recording(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "page.har").write_text(content)
    with pytest.raises(InputError, match=said):
        from_har(str(tmp_path / "page.har"))


def test_a_wrong_entry_is_named_by_its_number(tmp_path: Path) -> None:
    path = har(tmp_path, asked("ws://a/"), asked(f"{SITE}/"), asked(f"{SITE}/", method="G E T"))
    with pytest.raises(InputError, match=r"page\.har, entry 3, method"):
        settle.load("", {"har": path}, allowed=True)


# --- curl ---------------------------------------------------------------------------------


def test_a_command_of_a_browser() -> None:
    plan = from_curl(
        "curl 'https://shop.test/cart?x=1' \\\n  -X 'PUT' -H 'accept-encoding: gzip' -H 'cookie: a=b' \\\n"
        "  -H $'x-said: it\\'s' \\\n  --data-raw '{\"a\":\"b c\"}' --compressed --insecure"
    )
    [request] = plan.requests
    assert (plan.url, request.method, request.target) == ("https://shop.test/cart?x=1", "PUT", "/cart?x=1")
    assert request.headers == (
        ("accept-encoding", "gzip"),
        ("cookie", "a=b"),
        ("x-said", "it's"),
        ("Content-Type", "application/x-www-form-urlencoded"),
    )
    assert request.body == '{"a":"b c"}' and plan.tls.insecure


@pytest.mark.parametrize(
    ("words", "method", "target", "body"),
    [
        ("-d a=1 -d b=2", "POST", "/", "a=1&b=2"),
        ("-G -d a=1 --data-urlencode 'b=c d'", "GET", "/?a=1&b=c+d", None),
        ("-XDELETE", "DELETE", "/", None),
        ("-I", "HEAD", "/", None),
        ("""--json '{"a": 1}'""", "POST", "/", '{"a": 1}'),
        ("-sSLfo /dev/null -w '%{http_code}' --http1.1", "GET", "/", None),
    ],
)
def test_what_options_say(words: str, method: str, target: str, body: str | None) -> None:
    [request] = from_curl(f"curl {words} http://127.0.0.1/").requests
    assert (request.method, request.target, request.body) == (method, target, body)


def test_options_that_are_flags_of_a_load(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\xff\x00")
    plan = from_curl(
        f"curl --data-binary @{tmp_path}/b -u me:pw -m 2 -L -4 -A agent --url http://127.0.0.1:81/a"
    )
    [request] = plan.requests
    assert request.body_file == f"{tmp_path}/b" and plan.timeout_ns == 2 * 10**9
    assert plan.redirects == 50 and plan.address_family == "ipv4"
    assert ("Authorization", load_table.basic("me:pw")) in request.headers
    assert ("User-Agent", "agent") in request.headers
    assert from_curl("curl -F a=b --form-string c=@d http://127.0.0.1/").requests[0].form[1].text == "@d"


def test_flags_beside_a_command_replace_what_it_says() -> None:
    command = "curl -H 'A: 1' -H 'B: 2' -d x -u me:pw http://127.0.0.1/a"
    given = {"header": [("a", "9")], "body": "y", "bearer": "Bearer t", "rate": 5.0}
    plan = from_curl(command, "http://127.0.0.1:8080/b", **given)
    [request] = plan.requests
    assert plan.url == "http://127.0.0.1:8080/b" and request.target == "/b" and request.body == "y"
    assert [one for one in request.headers if one[0].lower() != "content-type"] == [
        ("a", "9"), ("B", "2"), ("Authorization", "Bearer t"),
    ]  # fmt: skip
    assert isinstance(plan.load, Open)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("curl --ntlm http://127.0.0.1/", "--curl: --ntlm is not understood"),
        ("curl -sZ http://127.0.0.1/", "--curl: -Z is not understood"),
        ("curl -T file http://127.0.0.1/", "--curl: -T is not understood"),
        ("curl -b jar http://127.0.0.1/", "--cookie names a file"),
        ("curl -H @file http://127.0.0.1/", "--header '@file' is not understood"),
        ("curl -d @/missing http://127.0.0.1/", "--curl: --data: /missing"),
        ("curl http://127.0.0.1/ -X", "--curl: -X has no value"),
        ("curl http://a/ http://b/", "the command has 2 URLs, not one"),
        ("curl -s", "the command has 0 URLs"),
        ("wget http://a/", "it does not begin with curl"),
        ("curl 'http://a/", "the command cannot be read: No closing quotation"),
    ],
)
def test_what_is_not_understood_is_named(command: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        from_curl(command)


def test_one_recording_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--curl and --har exclude each other"):
        drafted_load("", {"curl": "curl http://a/", "har": har(tmp_path, asked("http://a/"))})
    with pytest.raises(InputError, match="URL is missing"):
        drafted_load("", {})
