"""What is hidden, by kind, and what is left readable; every hidden text comes back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import vault
from assay.core.credentials import (
    check_names,
    hidden,
    hidden_by_name,
    hidden_header,
    hidden_plan,
    hidden_url,
    hidden_value,
    holds,
)
from assay.core.errors import InputError
from assay.model.plan import BodyEquals, Closed, Expect, HeaderExpected, LoadPlan, Request, StopAtCount

READABLE = [
    "PORT={port} WORKERS=4 NODE_ENV=production node app.js --port {port} --workers 8",
    "./server --port {port} --log off --timeout 30s --cache 64MB --bind 127.0.0.1:{port}",
    "cd build && ./server -p $PORT; exit 1",
    "http://127.0.0.1:8080/db?queries=20&page=3&format=json",
    "API_KEY=$KEY TOKEN=${TOKEN} ./server",
    "docker run --rm -p 8080:80 -e PORT=80 nginx:1.27",
    "java -XX:+UseZGC -jar app.jar server config.yml",
    "git@example.test:a/b",
]
HEADERS_LEFT = {"Accept": "*/*", "content-type": "application/json", "Host": "a.test", "X-Trace": "{uuid}"}
HEADERS_HIDDEN = {
    "Cookie": "a=b; c=d",
    "X-Api-Key": "k",
    "Authorization": "AWS4 x",
    "X-Pin": "1234",
    "Via": "x",
}


@pytest.mark.parametrize("text", READABLE)
def test_what_holds_no_credential_is_left_as_it_is(text: str) -> None:
    assert hidden(text) == text


def test_what_would_run_is_readable_but_for_what_is_named_a_secret() -> None:
    left = "GOFLAGS=-toolexec=x LD_PRELOAD=./a.so sh -c 'A=\"curl b\"; eval $A' --page 3"
    assert hidden_by_name(left) == left
    told = hidden_by_name(
        "API_TOKEN=zzz1 run --password zzz2 --api-key 'zzz3 4' --dbPass=zzz5 http://me:zzz6@db/"
    )
    assert "zzz" not in told and told.count("hidden-") == 5


def test_headers_are_hidden_but_for_those_that_hold_none() -> None:
    for name, value in HEADERS_LEFT.items():
        assert hidden_header(name, value) == value
    for name, value in HEADERS_HIDDEN.items():
        made = hidden_header(name, value)
        assert holds(made) and value not in made and vault.revealed(made) == value
    assert hidden_header("Authorization", "Bearer abc").startswith("Bearer hidden-")


def test_the_file_of_a_key_is_named_and_what_is_no_file_is_hidden(tmp_path: Path) -> None:
    key = tmp_path / "server.key"
    key.touch()
    assert hidden(f"./server --key {key}") == f"./server --key {key}"
    assert holds(hidden(f"./server --key {key}x"))


def test_a_name_that_would_hold_a_credential_is_asked_for() -> None:
    check_names(["node a.js", "127.0.0.1:8080"])
    for name in ("PGPASSWORD=x server", "http://a/?sig=abc", hidden("server --password abc")):
        with pytest.raises(InputError, match="--name"):
            check_names([name])


@given(st.text(st.sampled_from("ab =:/?&@'\"{}$;|\\-._1#\n") | st.characters(codec="utf-8"), max_size=60))
def test_any_text_comes_back_as_it_was_and_is_hidden_once(text: str) -> None:
    for hide in (hidden, hidden_url):
        made = hide(f"TOKEN=zzz {text}")
        assert vault.revealed(made) == f"TOKEN=zzz {text}"
        assert vault.revealed(hide(made)) == f"TOKEN=zzz {text}"
    assert vault.revealed(hidden_value("password", text)) == text


def test_a_plan_is_hidden_once_and_what_a_right_body_is_stays() -> None:
    request = Request(
        target="/a?sig=zzz1&page=2",
        headers=(("X-Api-Key", "zzz2"), ("Accept", "*/*")),
        body="zzz3",
        expect=Expect(body=BodyEquals(text="ok"), headers=(HeaderExpected(name="Location", pattern="^/a$"),)),
    )
    plan = LoadPlan(
        url="http://me:zzz4@h/", requests=(request,), load=Closed(connections=1), stop=StopAtCount(count=1)
    )
    made = hidden_plan(plan)
    assert "zzz" not in str(made) and hidden_plan(made) == made
    assert made.requests[0].expect == request.expect


def test_json_gets_its_secrets_back_with_their_escapes() -> None:
    made = vault.token('a "quoted"\nline')
    assert vault.revealed_json(f'{{"x": "<{made}>"}}'.encode()) == b'{"x": "<a \\"quoted\\"\\nline>"}'
