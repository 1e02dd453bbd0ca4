"""`assay ab` beside Debian's ab: the same words, the same kind of server, the same lines."""

from __future__ import annotations

import os
import shutil
import signal
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ab_pair import ASSAY, PATIENCE_S, Told, both, closing, run
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from wire import Answer, Cut, Last, recording

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


def test_a_local_address_that_is_none_is_told_the_same() -> None:
    theirs, ours = both(("-B", "1.2.3.400"), url="http://127.0.0.1:1/")
    assert (ours.code, ours.err) == (theirs.code, theirs.err)


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


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x"]
    files = ["-keyout", str(folder / "key"), "-out", str(folder / "chain")]
    subprocess.run([*made, *files], check=True, capture_output=True)
    both_in_one = folder / "pem"
    both_in_one.write_text((folder / "chain").read_text() + (folder / "key").read_text())
    return both_in_one


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
@pytest.mark.parametrize(
    ("words", "host"),
    [
        (("-n4", "-k", "-f", "TLS1.2"), "localhost"),
        (("-n4", "-f", "tls1.3", "-k"), "127.0.0.1"),
        (("-n4", "-k", "-I", "-f", "TLS1.2"), "localhost"),
    ],
)
def test_tls_is_told_the_same(words: tuple[str, ...], host: str, pem: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pem)
    tls.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
    tls.set_ecdh_curve("prime256v1")
    theirs, ours = both(words, tls=tls, url=f"https://{host}:PORT/")
    alike(theirs, ours)

    def security(told: Told) -> list[str]:
        return [line for line in told.out.splitlines() if line.startswith(("SSL/", "Server Temp", "TLS "))]

    assert security(ours) == security(theirs)
    sent_alike(theirs, ours)


def test_what_our_tls_cannot_do_is_refused_in_a_line() -> None:
    with recording(closing()) as wire:
        url = "https://127.0.0.1:PORT/"
        old = run(ASSAY, ("-f", "TLS1"), wire, url=url)
        chosen = run(ASSAY, ("-Z", "AES128-SHA"), wire, url=url)
    assert (old.code, old.err) == (1, "ab: -f TLS1: only TLS1.2, TLS1.3 and ALL are spoken here\n")
    assert chosen.err == "ab: -Z AES128-SHA: cipher suites cannot be chosen here; leave -Z out\n"


def test_all_cookies_are_sent_unless_strict() -> None:
    words = ("-C", "a=1", "-C", "b=2")
    theirs, ours = both(words, strict=True)
    sent_alike(theirs, ours)
    _, ours = both(words)
    assert b"\r\nCookie: a=1; b=2\r\n" in ours.wire.requests[0]


def test_a_file_that_cannot_be_written_is_told_and_the_report_stands() -> None:
    for flag, kind in (("-e", "CSV"), ("-g", "gnuplot")):
        theirs, ours = both(("-n3", flag, "/missing/file"))
        assert (ours.code, theirs.code) == (1, 1)
        assert ours.err == theirs.err == f"Cannot open {kind} output file: No such file or directory\n"
        assert ours.masked == theirs.masked


def test_ctrl_c_reports_what_is_done() -> None:
    told = []
    for program in (("ab",), ASSAY):
        eleventh = threading.Event()
        number = iter(range(1_000_000))

        def answer(
            request: bytes, number: Iterator[int] = number, eleventh: threading.Event = eleventh
        ) -> bytes | None:
            if next(number) < 10:
                return closing()(request)
            eleventh.set()
            return b""

        with recording(answer) as wire:
            with subprocess.Popen(
                [*program, "-n", "100", wire.url()],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "ASSAY_QUIET": "1"},
            ) as running:
                assert eleventh.wait(PATIENCE_S)
                running.send_signal(signal.SIGINT)
                out, err = running.communicate(timeout=PATIENCE_S)
            port = str(wire.port)
            told.append(Told(running.returncode, out.replace(port, "PORT"), err, wire))
    theirs, ours = told
    assert (ours.code, ours.err) == (theirs.code, theirs.err) == (1, "")
    assert ours.counts == theirs.counts


arguments = st.one_of(
    st.integers(-2, 400).map(str), st.sampled_from(["", "x", "3x", " 4", "a:b", "A: b", "-"])
)
options = st.one_of(
    st.sampled_from("lrkVhwiIdSqQ0?").map(lambda letter: [f"-{letter}"]),
    st.sampled_from(["-kl", "-lQ", "-Qr", "-qd", "--", "-", "word", "-:"]).map(lambda word: [word]),
    st.tuples(st.sampled_from("nctsbTvxyzCHAPgemu"), arguments).map(lambda pair: [f"-{pair[0]}", pair[1]]),
    st.tuples(st.sampled_from("nctv"), arguments).map(lambda pair: [f"-{pair[0]}{pair[1]}"]),
)
urls = st.sampled_from(
    [
        "http://127.0.0.1:1/",
        "127.0.0.1:1/a?b",
        "127.0.0.1:1",
        "127.0.0.1:0/",
        "127.0.0.1:70000/",
        "80/",
        ":1/",
    ]
)


@settings(deadline=None, max_examples=40)
@given(st.lists(options, max_size=4), urls)
def test_generated_command_lines_are_taken_and_refused_alike(lines: list[list[str]], url: str) -> None:
    """Nobody listens at the URLs, so a line that is taken ends at once, where -r is not given."""
    words = [word for line in lines for word in line if word != "-r"]
    # Files would be written, and read, in the folder of the tests.
    assume(not {"-g", "-e", "-p", "-u"} & {word[:2] for word in words})
    theirs, ours = (
        subprocess.run(
            [*program, *words, url],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            env={**os.environ, "ASSAY_QUIET": "1"},
        )
        for program in (("ab",), ASSAY)
    )
    assert ours.returncode == theirs.returncode, (words, url, theirs.stderr, ours.stderr)
    assert ours.stderr.partition("Usage:")[0] == theirs.stderr.partition("Usage:")[0]


def test_surprises_are_told_on_standard_error() -> None:
    chunked = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    )
    with recording(lambda _: Last(chunked)) as wire:
        ended = subprocess.run(
            [*ASSAY, "-n2", wire.url()], capture_output=True, text=True, timeout=PATIENCE_S
        )
    assert "Document Length:        5 bytes\n" in ended.stdout
    assert "assay ab: note: Document Length is that of the decoded document" in ended.stderr
    assert ended.returncode == 0
