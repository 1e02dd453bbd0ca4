"""`assay ab` beside Debian's ab: the same words, the same kind of server, the same lines."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from ab_pair import Told, both, closing
from wire import Answer, Cut, Last

pytestmark = pytest.mark.skipif(not shutil.which("ab"), reason="the original ab is not installed")


def alike(theirs: Told, ours: Told) -> None:
    assert (ours.code, ours.err) == (theirs.code, theirs.err)
    assert ours.masked == theirs.masked
    assert ours.counts == theirs.counts


def sent_alike(theirs: Told, ours: Told) -> None:
    def requests(told: Told) -> list[bytes]:
        return [request.replace(b"%d" % told.wire.port, b"PORT") for request in told.wire.requests]

    assert requests(ours) == requests(theirs)


@pytest.fixture
def body(tmp_path: Path) -> str:
    file = tmp_path / "body"
    file.write_bytes(b"a=b&c=d")
    return str(file)


@pytest.mark.parametrize(
    "words",
    [
        ("-n1",),
        ("-n", "20", "-c", "3"),
        ("-k", "-n", "40", "-c2"),
        ("-kn30", "-c2", "-S"),
        ("-d", "-n10"),
        ("-l", "-n10"),
        ("-n", "200"),
        ("-n", "1500", "-k", "-c5"),
        ("-q", "-n200", "-k"),
        ("-w", "-n10"),
        ("-w", "-n", "200", "-k"),
        ("-x", "border=1", "-y", "align=left", "-z", "class=c", "-n10", "-k"),
        ("-i", "-n10"),
        ("-t", "9", "-n", "30"),
        ("-b", "8192", "-s", "5", "-n10"),
        ("-B", "127.0.0.1", "-n10"),
        ("-v", "2", "-n2"),
        ("-v", "4", "-n1", "-k"),
        ("-m", "DELETE", "-n2"),
        ("-X", "127.0.0.1:PORT", "-n3"),
        ("-r", "-n5"),
        ("-J",),
    ],
)
def test_the_report_is_the_same(words: tuple[str, ...]) -> None:
    theirs, ours = both(words)
    alike(theirs, ours)
    sent_alike(theirs, ours)


@pytest.mark.parametrize(
    "words",
    [
        ("-p", "BODY", "-T", "application/json", "-n", "10", "-c", "2"),
        ("-u", "BODY", "-n", "3"),
        ("-p", "BODY", "-m", "PATCH", "-n", "3"),
        ("-p", "BODY", "-k", "-w", "-n", "3"),
        ("-p", "BODY", "-v", "2", "-n", "1"),
        ("-C", "a=b", "-H", "X-One: 1", "-A", " user:pass word", "-P", "p:q", "-k"),
        ("-H", "host: other", "-H", "Accept: none", "-H", "User-Agent: me", "-H", "no colon"),
        ("-T", "text/x", "-H", "A:b"),
        ("-A", "a:1", "-A", "b:2"),
    ],
)
def test_the_request_is_the_same_byte_for_byte(words: tuple[str, ...], body: str) -> None:
    theirs, ours = both([body if word == "BODY" else word for word in words], path="/a?b=c#d")
    sent_alike(theirs, ours)
    alike(theirs, ours)


def counting(answer: Callable[[int], bytes | None]) -> Callable[[], Answer]:
    """Servers whose answer depends on how many they have answered."""

    def make() -> Answer:
        number = iter(range(1_000_000))
        return lambda _: answer(next(number))

    return make


def last(status: str, text: str, head: str = "") -> Last:
    return Last(f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(text)}\r\n\r\n{text}".encode())


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("-n20",), lambda n: last("200 OK", "x" * (n % 3 + 1))),
        (("-n20", "-l"), lambda n: last("200 OK", "x" * (n % 3 + 1))),
        (("-n20",), lambda n: last("404 Not Found" if n % 3 else "301 Moved", "none")),
        (("-n2", "-v3"), lambda n: last("500 Not", "none")),
        (("-n5",), lambda _: Last(b"HTTP/1.0 200 OK\r\nServer: a b\r\n\r\nuntil the end")),
        (("-n5", "-w"), lambda n: last("200 OK", "x" * n, "Server: late\r\n" if n else "")),
        (("-n50",), lambda n: last("200 OK", "ab") if n < 7 else Cut(b"")),
        (("-n50",), lambda _: Cut(b"")),
        (("-n5", "-k"), lambda _: last("200 OK", "ab")),
    ],
)
def test_answers_are_counted_the_same(words: tuple[str, ...], answer: Callable[[int], bytes]) -> None:
    alike(*both(words, counting(answer)))


@pytest.mark.parametrize(
    "words",
    [
        (), ("-h",), ("-n",), ("-n0",), ("-n", "x"), ("-c", "5", "-n", "2"), ("-c", "-1"), ("-c", "200001"),
        ("-c0",), ("-i", "-p", "/dev/null"), ("-p", "/dev/null", "-i"), ("-p", "/missing/file"),
        ("-m", "X", "-i"), ("-Q", "-n5"), ("-kQ",), ("-Qk",), ("extra",), ("--", "-n"), ("-t5", "-c60000"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("url", ["http://127.0.0.1:PORT/", "127.0.0.1:PORT", "http://127.0.0.1:99999/"])
def test_refusals_are_the_same(words: tuple[str, ...], url: str) -> None:
    theirs, ours = both(words, url=url)
    assert ours.code == theirs.code

    def said(told: Told) -> str:
        return told.err.partition("Usage:")[0]

    assert said(ours) == said(theirs)
    assert ("Usage:" in ours.err) == ("Usage:" in theirs.err)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "no-such-host.invalid/", "[::1]:1/", "http://a:1x/"])
def test_a_server_that_is_not_there_is_told_the_same(url: str) -> None:
    theirs, ours = both(("-n5",), url=url)
    assert (ours.code, ours.err) == (theirs.code, theirs.err)
    assert ours.masked == theirs.masked


def test_a_timeout_is_told_the_same() -> None:
    theirs, ours = both(("-s1", "-n5"), lambda: lambda _: b"")
    assert (ours.code, ours.err) == (theirs.code, theirs.err) == (119, theirs.err)
    assert ours.masked == theirs.masked


def test_strict_counts_a_broken_connection_twice() -> None:
    theirs, ours = both(("-r", "-n5"), lambda: lambda _: Cut(b""), strict=True)
    alike(theirs, ours)
    _, true = both(("-r", "-n5"), lambda: lambda _: Cut(b""))
    assert "   (Connect: 0, Receive: 5, Length: 0, Exceptions: 0)" in true.out


def test_files_are_laid_out_the_same(tmp_path: Path) -> None:
    kept = {}
    for name in ("theirs", "ours"):
        csv, rows = tmp_path / f"{name}.csv", tmp_path / f"{name}.tsv"
        pair = both(("-n30", "-c2", "-e", str(csv), "-g", str(rows)), closing)
        assert pair[name == "ours"].code == 0
        kept[name] = (csv.read_text(), rows.read_text())
    for theirs, ours in zip(kept["theirs"], kept["ours"], strict=True):
        assert len(ours.splitlines()) == len(theirs.splitlines())
        assert ours.splitlines()[0] == theirs.splitlines()[0]
