"""`--requests FILE`: lines of JSON to requests, and mistakes to the line they are on."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from assay.core.errors import InputError
from assay.plan.words import load_requests

COMMON = {"headers": [("Accept", "a"), ("X-All", "1")], "expect": {"status": (200,)}}


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "mix.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(folder: Path, text: str | bytes, *, templated: bool = False) -> load_requests.RequestFile:
    path = str(written(folder, text))
    return load_requests.read(path, COMMON, templated=templated, url="http://127.0.0.1/")


def test_a_line_says_no_more_than_it_has_to(tmp_path: Path) -> None:
    found = read(
        tmp_path, '{"path": "/a"}\r\n\n  \n{"path": "/b", "weight": 3, "template": false}\n', templated=True
    )
    first, second = found.requests
    assert (first["method"], first["target"], first["weight"]) == ("GET", "/a", 1)
    assert (first["headers"], first["expect"]) == (COMMON["headers"], COMMON["expect"])
    assert (first["templated"], second["templated"]) == (True, False)
    assert found.weighted


def test_a_line_takes_precedence_over_the_flags(tmp_path: Path) -> None:
    line = '{"path": "/", "headers": {"accept": "b"}, "expect": {"matches": "x", "check_every": 9}}'
    request = read(tmp_path, line).requests[0]
    assert request["headers"] == [("accept", "b"), ("X-All", "1")]
    assert request["expect"]["status"] == (200,)
    assert request["expect"]["body"] == {"kind": "matches", "pattern": "x"}
    assert request["expect"]["check_every"] == 9


@pytest.mark.parametrize(
    ("said", "meant"), [("201", (201,)), ("[200, 204]", (200, 204)), ('"any"', ()), ('"204,201"', (201, 204))]
)
def test_the_status_may_be_said_in_several_ways(tmp_path: Path, said: str, meant: tuple[int, ...]) -> None:
    request = read(tmp_path, f'{{"path": "/", "expect": {{"status": {said}}}}}').requests[0]
    assert request["expect"]["status"] == meant


def test_a_list_of_paths_and_urls_is_a_file_of_requests(tmp_path: Path) -> None:
    text = "/a?b=c\n\n# later\nhttp://127.0.0.1:80/d\nDELETE /e\nOPTIONS *\nhttp://127.0.0.1\n"
    found = load_requests.read(str(written(tmp_path, text)), COMMON, templated=True, url="http://127.0.0.1/")
    assert [(one["method"], one["target"]) for one in found.requests] == [
        ("GET", "/a?b=c"), ("GET", "/d"), ("DELETE", "/e"), ("OPTIONS", "*"), ("GET", "/"),
    ]  # fmt: skip
    assert found.lines == [1, 4, 5, 6, 7]
    assert all(one["headers"] == COMMON["headers"] and one["templated"] for one in found.requests)


@pytest.mark.parametrize(
    ("line", "target"),
    [("users/7", "/users/7"), ("?q=1", "/?q=1"), ("/", "/"), ("http://127.0.0.1:80/a?b", "/a?b")],
)
def test_a_path_of_a_mix_may_be_relative_or_a_url(tmp_path: Path, line: str, target: str) -> None:
    path = written(tmp_path, f'{{"path": "{line}"}}')
    found = load_requests.read(str(path), COMMON, templated=False, url="http://127.0.0.1/")
    assert found.requests[0]["target"] == target


def test_urls_may_be_of_several_servers(tmp_path: Path) -> None:
    text = (
        '/a\nhttp://[::1]:80/b\n{"path": "http://other.test:81/c"}\nhttp://127.0.0.1/d\nhttp://OTHER.test:81'
    )
    secret = [("Accept", "text/html"), ("Authorization", "Bearer s3cr3t")]
    path, common = str(written(tmp_path, text)), COMMON | {"headers": secret}
    found = load_requests.read(path, common, templated=False, url="http://127.0.0.1:80/")
    assert [(one.get("host", 0), one["target"]) for one in found.requests] == [
        (0, "/a"), (1, "/b"), (2, "/c"), (0, "/d"), (2, "/"),
    ]  # fmt: skip
    assert found.hosts == [{"url": "http://[::1]"}, {"url": "http://other.test:81"}]
    assert [len(one["headers"]) for one in found.requests] == [2, 1, 1, 2, 1], "credentials go to one host"


def test_the_server_of_the_url_is_one_of_them(tmp_path: Path) -> None:
    path = str(written(tmp_path, "http://a.test/\nhttp://b.test/"))
    with pytest.raises(InputError, match="holds no request to http://127.0.0.1"):
        load_requests.read(path, COMMON, templated=False, url="http://127.0.0.1/")


def test_drawing_evenly_takes_the_weights_away(tmp_path: Path) -> None:
    text = '{"path": "/a", "weight": 5}\n{"path": "/b"}'
    assert read(tmp_path, text).order(None) == "random"
    assert read(tmp_path, '{"path": "/a"}').order(None) == "sequential"
    found = read(tmp_path, text)
    assert found.order("random") == "random"
    assert [request["weight"] for request in found.requests] == [1, 1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"path": "/a"', "line 2: "),
        ('{"pth": "/a"}', "line 2: "),
        ('{"path": 7}', "line 2: "),
        ("[]", "line 2: "),
        ("GET /a HTTP/1.1", "line 2: it is neither JSON nor a path or a URL"),
        ("users", "line 2: it is neither JSON nor a path or a URL"),
        ('{"path": "/", "body": "x", "json": 1}', "line 2: body and json exclude each other"),
        ('{"path": "/", "body_file": "none"}', "no such file or directory"),
        ('{"path": "/", "weight": -1}', "line 2: weight must be 0 or more"),
        ('{"path": "/", "expect": {"status": "6xx"}}', "line 2: '6xx' is not status codes"),
        ('{"path": "/", "expect": {"body": "a", "length": 1}}', "only one can be expected"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InputError, match=r"mix\.jsonl") as refusal:
        read(tmp_path, '{"path": "/"}\n' + line)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_without_requests_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no request"):
        read(tmp_path, "\n \n")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@example(b"\x1c")  # whitespace of text, not of bytes
@given(st.binary(max_size=200) | st.text('{}[]":,\\path body01e- ', max_size=60))
def test_whatever_a_file_holds_it_is_requests_or_a_line_of_error(tmp_path: Path, text: bytes | str) -> None:
    try:
        assert read(tmp_path, text).requests
    except InputError as refusal:
        assert "\n" not in refusal.message
