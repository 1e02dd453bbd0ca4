"""Contracts: what a right answer is, in full and for the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import InputError
from assay.model.plan import BodyEquals, BodyLength, BodyMatches, BodyOneOf
from assay.servers import Contract, read_contract
from assay.servers.probe import Response, wrong

HEAD = 'format = 1\nname = "c"\ntitle = "C"\n[[routes]]\nname = "r"\ntarget = "/r"\n[routes.answer]\n'


def contract(tmp_path: Path, answer: str) -> Contract:
    folder = tmp_path / "c"
    folder.mkdir(exist_ok=True)
    (folder / "lines.txt").write_text("one\ntwo\n")
    (folder / "contract.toml").write_text(HEAD + answer)
    return read_contract(folder)


def told(tmp_path: Path, answer: str, status: int, headers: dict[str, str], body: str) -> str:
    made = contract(tmp_path, answer)
    return wrong(made, made.route("r"), Response(status, headers, body.encode()))


@pytest.mark.parametrize(
    ("answer", "status", "headers", "body", "said"),
    [
        ("", 200, {}, "x", ""),
        ("", 404, {}, "x", "status 404 instead of 200"),
        ("status = [201, 303]", 200, {}, "", "status 200 instead of 201 or 303"),
        ('headers = { X-Y = "^a" }', 200, {}, "", "header X-Y is missing"),
        ('headers = { X-Y = "^a" }', 200, {"x-y": "ab"}, "", ""),
        ('headers = { X-Y = "^a" }', 200, {"x-y": "b"}, "", "header X-Y is 'b', which does not match '^a'"),
        ('body = { equals = "a" }', 200, {}, "a\n", "body 'a\\n' instead of 'a'"),
        ('body = { one_of_lines = "lines.txt" }', 200, {}, "two\n", ""),
        ('body = { one_of_lines = "lines.txt" }', 200, {}, "two", ""),
        ('body = { one_of_lines = "lines.txt" }', 200, {}, "tw", "body 'tw' is no line of lines.txt"),
        (
            'body = { one_of_lines = "lines.txt" }',
            200,
            {},
            "two\n\n",
            "body 'two\\n\\n' is no line of lines.txt",
        ),
        ('body = { matches = ["a", "b"] }', 200, {}, "ab", ""),
        ('body = { matches = ["a", "b"] }', 200, {}, "ac", "'b' is not found in body 'ac'"),
        ("body = { min_bytes = 3 }", 200, {}, "ab", "body of 2 bytes; at least 3 are right"),
        ("body = { max_bytes = 1 }", 200, {}, "ab", "body of 2 bytes; at most 1 are right"),
        ('body = { json = { a = 1, b = "~^x" } }', 200, {}, '{"a": 1, "b": "xy", "c": 3}', ""),
        ("body = { json = { a = 1 } }", 200, {}, "{}", "JSON.a is missing"),
        ("body = { json = { a = 1 } }", 200, {}, '{"a": true}', "JSON.a is true instead of 1"),
        ("body = { json = { a = { b = 1 } } }", 200, {}, '{"a": [1]}', "JSON.a is [1], not an object"),
        ("body = { json = { a = [1, 2] } }", 200, {}, '{"a": [1]}', "JSON.a is [1], not a list of 2"),
        ("body = { json = { a = [1, 2] } }", 200, {}, '{"a": [1, 3]}', "JSON.a[1] is 3 instead of 2"),
        (
            'body = { json = { a = "~^x" } }',
            200,
            {},
            '{"a": "yx"}',
            "JSON.a is 'yx', which does not match '^x'",
        ),
        ("body = { json = { a = 1 } }", 200, {}, "a", "body 'a' is not JSON"),
    ],
)
def test_an_answer_is_right_or_told_what_is_wrong(
    tmp_path: Path, answer: str, status: int, headers: dict[str, str], body: str, said: str
) -> None:
    assert told(tmp_path, answer, status, headers, body) == said


def test_the_engine_verifies_the_same_answer(tmp_path: Path) -> None:
    made = contract(tmp_path, 'status = 201\nheaders = { a = "b" }\nbody = { one_of_lines = "lines.txt" }')
    expect = made.request(made.route("r")).expect
    assert expect is not None
    assert expect.status == (201,)
    assert [(header.name, header.pattern) for header in expect.headers] == [("a", "b")]
    assert isinstance(expect.body, BodyOneOf)
    assert set(expect.body.texts) == {"one", "one\n", "two", "two\n"}
    assert expect.check_every == 1


def test_under_load_the_cheaper_test_counts(tmp_path: Path) -> None:
    made = contract(tmp_path, 'body = { equals = "a" }\nduring = { matches = "^a", check_every = 3 }')
    expect = made.expect(made.route("r"))
    assert expect.body == BodyMatches(pattern="^a")
    assert expect.check_every == 3
    made = contract(tmp_path, 'body = { matches = "a" }\nduring = { bytes = 7 }')
    assert made.expect(made.route("r")).body == BodyLength(bytes=7)
    assert made.expect(made.route("r")).check_every == 1
    made = contract(tmp_path, 'body = { equals = "a" }')
    assert made.expect(made.route("r")).body == BodyEquals(text="a")


def test_optional_routes_are_those_that_a_server_names(tmp_path: Path) -> None:
    more = '[[routes]]\nname = "s"\ntarget = "/s"\noptional = true\n[routes.answer]\n'
    made = contract(tmp_path, more)
    assert [route.name for route in made.routes_of(())] == ["r"]
    assert [route.name for route in made.routes_of(("s",))] == ["r", "s"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('headers = { a = "(" }', ":8: routes[0].answer.headers.a: '(' is no regular expression"),
        ('body = { matches = ["["] }', ":8: routes[0].answer.body.matches: '[' is no regular expression"),
        ('body = { one_of_lines = "none.txt" }', "none.txt"),
        ("statuss = 3", ":8: routes[0].answer.statuss: unknown key; did you mean 'status'?"),
        ('[[routes]]\nname = "r"\ntarget = "/"\n[routes.answer]', ":9: routes[1].name: there is a route 'r'"),
        (
            '[[routes]]\nname = "s"\ntarget = "/"\nbody = "a"\nbody_file = "b"\n[routes.answer]',
            "either body or",
        ),
    ],
)
def test_a_wrong_contract_is_told_with_line_and_key(tmp_path: Path, answer: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        contract(tmp_path, answer)
    assert said in str(caught.value)


def test_a_contract_is_called_as_its_folder(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "contract.toml").write_text(HEAD)
    with pytest.raises(InputError, match=":2: name: the folder is called 'd'"):
        read_contract(tmp_path / "d")


def test_services_are_a_list_or_tables(tmp_path: Path) -> None:
    made = contract(tmp_path, '[services.postgres]\nsetup = ["lines.txt"]')
    assert made.services["postgres"].setup == ("lines.txt",)
    with pytest.raises(InputError, match=r"services.postgres.setup: there is no file .*none.sql"):
        contract(tmp_path, '[services.postgres]\nsetup = ["none.sql"]')
