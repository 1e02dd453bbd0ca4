"""URLs: what they are taken apart into, and that every entrance refuses what is none in a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import dropin
from assay.cli.main import main
from assay.cluster import calls
from assay.core import urls
from assay.core.errors import InputError
from assay.servers.contract import Contract, ContractFile, ServiceTable
from assay.servers.services import own
from assay.servers.services.own import ServiceSpec

WRONG = pytest.mark.parametrize(
    "authority",
    [
        "[::1]8080",
        "[::1",
        "[::1]x:8080",
        "[]:8080",
        "[1.2.3.4]:80",
        "[127.0.0.1]:80",
        "::1",
        "[fe80::1%]",
        "a]b",
        "h:x",
        "h:0",
    ]
    + ["h:65536", "h:80:80", "h:+80", "h:٣"],
)


@pytest.mark.parametrize(
    ("text", "scheme", "host", "port", "authority", "target"),
    [
        ("http://h", "http", "h", None, "h", "/"),
        ("HTTPS://H:8443/a?b#c", "https", "h", 8443, "H:8443", "/a?b"),
        ("http://h?b=c", "http", "h", None, "h", "/?b=c"),
        ("http://h:/x", "http", "h", None, "h:", "/x"),
        ("http://[::1]:8080/", "http", "::1", 8080, "[::1]:8080", "/"),
        ("http://[fe80::1%25eth0]:80/", "http", "fe80::1%eth0", 80, "[fe80::1]:80", "/"),
        ("http://[fe80::1%eth0]/", "http", "fe80::1%eth0", None, "[fe80::1]", "/"),
    ],
)
def test_a_url_is_taken_apart(
    text: str, scheme: str, host: str, port: int | None, authority: str, target: str
) -> None:
    assert urls.parse(text) == urls.Url(scheme, host, port, authority, target, "")


@pytest.mark.parametrize(
    "text", ["", "h", "/p", "ftp://h/", "http://", "http:///p", "http://a b/", "http://h\t/"]
)
def test_what_is_no_url_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a"):
        urls.parse(text)


def test_what_stands_before_the_at_is_not_repeated() -> None:
    assert urls.parse("http://ada:secret@h/").user == "ada:secret"
    with pytest.raises(InputError) as refusal:
        urls.parse("http://ada:secret@[::1/")
    assert "secret" not in str(refusal.value)


@WRONG
@pytest.mark.parametrize(
    "words",
    [
        ("load", "-n", "1", "-q", "URL"),
        ("load", "-n", "1", "-q", "-x", "URL", "http://127.0.0.1:1/"),
        ("capacity", "--slo", "p99<50ms", "URL"),
        ("versus", "URL", "http://127.0.0.1:1/"),
        ("versus", "sleep 1", "sleep 2", "--url", "URL"),
    ],
)
def test_every_verb_refuses_it_in_a_line(
    words: tuple[str, ...], authority: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([f"http://{authority}/" if word == "URL" else word for word in words]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    assert authority.split(":")[0] in said.err, said.err


@WRONG
@pytest.mark.parametrize("words", [("wrk", "-d1"), ("ab",), ("bombardier", "-n1"), ("h2load", "--h1")])
def test_every_drop_in_refuses_it(
    words: tuple[str, ...], authority: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if words[0] == "bombardier" and authority in ("h:0", "h:65536"):
        pytest.skip("there it is dialled, and fails in a report")
    tool = dropin.find(words[0])
    assert tool
    assert tool.main([*words[1:], f"http://{authority}/"]) != 0
    said = "".join(capfd.readouterr())
    assert "Traceback" not in said
    assert "requests" not in said.lower() or "usage" in said.lower() or "Usage" in said, said


def _service(url: str) -> ServiceSpec:
    return ServiceSpec(
        name="upstream",
        table=ServiceTable(),
        contract=Contract(Path(), ContractFile(name="t", title="t", routes=())),
        settings={},
        url=url,
    )


@WRONG
def test_a_study_and_a_cluster_refuse_it(authority: str) -> None:
    with pytest.raises(InputError, match="is not a URL"):
        own.existing_env(_service(f"http://{authority}/"))
    with pytest.raises(InputError, match="is no HOST:PORT"), calls.joined(authority):
        pytest.fail("it was joined")
