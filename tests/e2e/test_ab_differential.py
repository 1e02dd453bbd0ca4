"""`assay ab` beside Debian's ab: the same words, the same kind of server, the same lines."""

from __future__ import annotations

import os
import shutil
import signal
import ssl
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import tool_pair
from ab_pair import ASSAY, PATIENCE_S, Told, both, closing, run
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from wire import Last, recording

pytestmark = [
    pytest.mark.beside,
    pytest.mark.skipif(not shutil.which("ab"), reason="the original ab is not installed"),
]


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


@pytest.mark.parametrize("url", ["[::1]:1/", "http://a:1x/"])
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


def test_broken_connections_are_tried_again_at_once() -> None:
    with recording(lambda _: None) as wire:
        # With ten attempts a second it would take 100 s: far more than is waited here.
        ours = run(ASSAY, ("-r", "-n", "1000"), wire, url=wire.url())
    assert "Complete requests:      1000\n" in ours.out


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

    def security(told: Told) -> list[str]:
        return [line for line in told.out.splitlines() if line.startswith(("SSL/", "Server Temp", "TLS "))]

    assert security(ours) == security(theirs)


def test_a_certificate_that_is_not_printed_is_told(pem: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pem)
    with recording(closing(), tls=tls) as wire:
        command = [*ASSAY, "-n1", "-v2", f"https://127.0.0.1:{wire.port}/"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert "LOG: header received:" in ended.stdout and "Peer certificate" not in ended.stdout
    assert "assay ab: note: -v 2 does not print the server's certificate; `openssl s_client" in ended.stderr


def test_what_our_tls_cannot_do_is_refused_in_a_line() -> None:
    with recording(closing()) as wire:
        url = "https://127.0.0.1:PORT/"
        old = run(ASSAY, ("-f", "TLS1"), wire, url=url)
        chosen = run(ASSAY, ("-Z", "AES128-SHA"), wire, url=url)
    assert (old.code, old.err) == (1, "ab: -f TLS1: only TLS1.2, TLS1.3 and ALL are spoken here\n")
    assert chosen.err == "ab: -Z AES128-SHA: cipher suites cannot be chosen here; leave -Z out\n"


def test_a_file_that_cannot_be_written_is_told_before_the_load() -> None:
    for flag, kind in (("-e", "CSV"), ("-g", "gnuplot")):
        theirs, ours = both(("-n3", flag, "/missing/file"))
        assert (ours.code, theirs.code) == (1, 1)
        assert ours.err == theirs.err == f"Cannot open {kind} output file: No such file or directory\n"
        assert ours.wire.requests == []


@pytest.mark.parametrize("limit", ["-1", "-99999999999"])
def test_a_time_limit_below_0_is_over_at_once(limit: str) -> None:
    for more in ((), ("-n5",), ("-n9", "-c3", "-k")):
        theirs, ours = both(("-t", limit, *more))
        assert (ours.code, ours.err) == (theirs.code, theirs.err)
        assert (ours.masked, ours.counts) == (theirs.masked, theirs.counts)


@pytest.mark.parametrize("words", [("-n", "100"), ("-n", "1000"), ("-n", "100", "-w")], ids=" ".join)
def test_ctrl_c_reports_what_is_done(words: Sequence[str]) -> None:
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
                [*program, *words, wire.url()],
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
    assert ours.masked == theirs.masked


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
    theirs, ours = (tool_pair.ran([*program, *words, url], PATIENCE_S) for program in (("ab",), ASSAY))
    assert ours.returncode == theirs.returncode, (words, url, theirs.stderr, ours.stderr)
    assert ours.stderr.partition(b"Usage:")[0] == theirs.stderr.partition(b"Usage:")[0]


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
