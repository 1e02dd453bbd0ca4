"""Every flag of h2load beside Debian's h2load, and each difference beside its row in docs/drop-ins.md."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import differential
import pytest
from h2load_pair import Told, both
from wire import HELLO, Answer, Cut, Last

pytestmark = [
    pytest.mark.beside,
    pytest.mark.skipif(not shutil.which("h2load"), reason="the original h2load is not installed"),
]
ALL = ("exit code", "standard error", "lines", "counts", "requests", "connections")


@dataclass(frozen=True)
class Case:
    """Words, the server's manner, and what differs. FILE is a file of a few bytes, URIS one of URIs."""

    words: tuple[str, ...]
    answer: Callable[[], Answer] = lambda: lambda _: HELLO
    row: str = ""
    differs: tuple[str, ...] = ()
    url: str = "http://127.0.0.1:PORT/"
    tls: bool = False
    http2: bool = False
    """Whether it is the null server that is asked, which speaks HTTP/2."""


def numbered(answer: Callable[[int], bytes | None]) -> Callable[[], Answer]:
    """Servers whose answers depend on how many requests came before."""

    def make() -> Answer:
        number = iter(range(1_000_000))
        return lambda _: answer(next(number))

    return make


def always(answer: bytes | None) -> Callable[[], Answer]:
    return lambda: lambda _: answer


def refused(*words: str, row: str) -> Case:
    return Case((*words, "--h1"), row=row, differs=ALL)


def sized(size: int) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
EARLY = b"HTTP/1.1 103 Early\r\nA: b\r\n\r\n" + HELLO
CLOSING = Last(HELLO.replace(b"Content-Type", b"Connection: close\r\nContent-Type"))
SAVINGS = "`space savings` of HTTP/2"
SIZES = "`-w`, `-W`, `-f` and table sizes over HTTP/2"
BROKEN = "a connection that breaks"
SHARED = "`req/s` of clients that share a thread"
PSEUDO = "`-H` of a pseudo-field over HTTP/2"
PATHS = "http://127.0.0.1:PORT/1 /2 /3"
CIPHERS = "`--ciphers`, `--tls13-ciphers`, `--groups`, `--ktls`"

SAME = (
    Case(("--h1",)),
    Case(("--h1", "-n", "25", "-m4"), url="http://127.0.0.1:PORT/a/b?c=d#e"),
    Case(
        ("-p", "http/1.1", "-n9"), numbered(lambda n: HELLO.replace(b"200", (b"200", b"301", b"404")[n % 3]))
    ),
    Case(("--h1", "-n9"), numbered(lambda n: HELLO.replace(b"200 OK", b"500 No") if n % 3 else HELLO)),
    Case(("--h1", "-n3"), always(CHUNKED)),
    Case(("--h1", "-n2"), always(EARLY)),
    Case(
        (
            "--h1",
            "-H",
            "A: b",
            "-H",
            "a:  c ",
            "-H",
            "User-Agent: me",
            "-H",
            ":authority: x",
            "-H",
            ":method: PUT",
        )
    ),
    Case(("--h1", "-n3", "-d", "FILE", "-H", "Content-Type: text/x", "-m2")),
    Case(("--h1", "-n5"), url="http://127.0.0.1:PORT/1 /2?a http://else:1/3"),
    Case(("--h1", "-n3", "-i", "URIS", "-B", "http://127.0.0.1:PORT"), url=""),
    Case(("--h1", "--connect-to=127.0.0.1:PORT"), url="http://example.test/x"),
    Case(("--h1", "-D", "300ms", "--warm-up-time=100ms", "-N1m")),
    Case(
        (
            "--h1",
            "-w",
            "16",
            "-W16",
            "-f",
            "32K",
            "--header-table-size=8K",
            "--encoder-header-table-size",
            "0",
        )
    ),
    Case(
        (
            "--h1",
            "--qlog-file-base",
            "x",
            "--no-udp-gso",
            "--max-udp-payload-size=1400",
            "--rate-period",
            "1s",
        )
    ),
    Case(("--npn-list", "http/1.1", "-n4"), url="https://localhost:PORT/", tls=True),
    Case(("--h1", "-n4", "--rps", "100")),
    Case(("--h1",), url="http://127.0.0.1:1/"),
    Case(("--h1",), url="http://no-such-host.invalid/"),
    Case(("--h1", "-n", "2", "-c3")),
    Case(("--h1", "-n4", "-c2", "-t2"), url=PATHS),
    Case(("--h1", "-n4", "-c2", "-t2", "--rps", "10"), url=PATHS),
    Case(("--npn-list", "http/1.1", "-D", "400ms"), url="https://localhost:PORT/", tls=True),
    Case(("--npn-list", "http/1.1", "-n9", "--rps", "20"), url="https://localhost:PORT/", tls=True),
    Case(("--npn-list=h2", "-n4"), url="https://localhost:PORT/", tls=True),
    Case(("--h1", "-n2", "-B", "unix:/no/such/socket")),
    Case(("--h1", "-n2", "-d", "EMPTY")),
    Case(("--h1", "-d", "FOLDER")),
    Case(("--h1", "-n2"), url="ftp://127.0.0.1:PORT/x"),
    Case(("-n3",), url="gopher://127.0.0.1:1/"),
    Case(("--h1",), url="ftp://127.0.0.1/"),
    *(
        Case(("--h1", "-n1", "-H", f"X-Size: {size}"), always(sized(size)))
        for size in (1023, 1024, 1029, 1030, 1152, 5171, 1048575)
    ),
    Case(("--h1", "-H", ":path: /p", "-H", ":x: y", "-H", ":scheme: ftp")),
    Case(("--h1", "-D1", "-r1")),
)
DIFFERENT = (
    Case(("--h1", "-n12", "-c3", "-t2"), row=SHARED, differs=("lines",)),
    Case(("--h1", "-n20", "-c5"), url=PATHS, row=SHARED, differs=("lines",)),
    Case(("--h1", "-n2", "-c2", "-B", "unix:/no/such/socket"), row=SHARED, differs=("lines",)),
    Case(
        ("--h1", "-n10", "-c5", "--rps", "20", "-i", "URIS", "-B", "http://127.0.0.1:PORT"),
        row=SHARED,
        differs=("lines",),
    ),
    Case(("--h1", "-H", "Host: a", "-H", "host: b"), row="`-H 'Host: …'`", differs=("requests",)),
    *(Case(("-n2", "-H", f"{name}: x"), row=PSEUDO, differs=ALL[:4], http2=True) for name in (":path", ":x")),
    Case(("-n2", "-H", ":scheme: ftp"), row=PSEUDO, differs=ALL[:4], http2=True),
    Case(
        ("--h1", "-n9"),
        numbered(lambda n: HELLO if n < 5 else Cut(b"")),
        row=BROKEN,
        differs=("counts", "requests", "connections"),
    ),
    Case(("--h1", "-n2", "-N", "1"), always(b""), row=BROKEN, differs=("counts", "requests", "connections")),
    Case(
        ("--h1", "-n2"),
        always(Last(b"HTXP what\r\n\r\n")),
        row="an answer that is none",
        differs=("standard error", "counts", "requests", "connections"),
    ),
    Case(
        ("--h1", "-n2"),
        always(Last(b"HTTP/1.1 200 OK\r\n\r\nhello")),
        row="an answer that only the close ends",
        differs=("lines", "counts", "requests", "connections"),
    ),
    Case(("--h1", "-n4"), always(CLOSING), row="`Connection: close`", differs=("counts",)),
    Case(("-n", "25", "-c2", "-t2", "-m", "4"), row=SAVINGS, differs=("lines",), http2=True),
    Case(("-n5", "-d", "FILE", "-m3", "-H", "a: b"), row=SAVINGS, differs=("lines",), http2=True),
    Case(("-D", "300ms", "-m9", "-p", "h2c"), row=SAVINGS, differs=("lines",), http2=True),
    Case(("-n1", "-w16"), row=SIZES, differs=ALL[:4], http2=True),
    Case(("-n1", "--header-table-size=8K"), row=SIZES, differs=ALL[:4], http2=True),
    refused("-T", "9", row="`-T`"),
    refused("-r", "1", row="`-r`"),
    Case(("--timing-script-file", "SCRIPT", "--h1"), row="`--timing-script-file`", differs=ALL[:4]),
    refused("-v", row="`-v`"),
    refused("--ciphers", "ECDHE-RSA-AES128-GCM-SHA256", row=CIPHERS),
    refused("--tls13-ciphers=TLS_AES_128_GCM_SHA256", row=CIPHERS),
    refused("--groups=X25519", row=CIPHERS),
    refused("--ktls", row=CIPHERS),
    Case(
        ("--h1", "-D", "300ms", "--log-file=/dev/null"),
        row="`--log-file` with `-D`",
        differs=("exit code", "standard error", "lines", "requests", "connections"),
    ),
    Case(("--nosuch",), row="a flag that there is not", differs=("standard error",)),
    Case(("--help",), row="`--help` and `--version`", differs=("lines",)),
    Case(("--version",), row="`--help` and `--version`", differs=("lines",)),
)
CASES = (*SAME, *DIFFERENT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the words name."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "FILE").write_bytes(b"a=b&c=d")
    (folder / "EMPTY").touch()
    (folder / "FOLDER").mkdir()
    (folder / "URIS").write_text("/x\nhttp://other/y?z\n")
    (folder / "SCRIPT").write_text("0\thttp://127.0.0.1:1/\n")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x"]
    files = ["-keyout", str(folder / "key"), "-out", str(folder / "chain")]
    subprocess.run([*made, *files], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def http2_port() -> Iterator[int]:
    words = [sys.executable, "-m", "assay.servers.null_server", "--port", "0", "--body", "hello"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        yield int(server.stdout.readline().rstrip("/\n").rpartition(":")[2])
        server.terminate()


def server_side(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "chain", folder / "key")
    context.set_alpn_protocols(["http/1.1"])
    return context


def sent(told: Told) -> list[bytes]:
    """What was asked; how often only where a count says so."""
    requests = [request.replace(b"%d" % told.wire.port, b"PORT") for request in told.wire.requests]
    if "Timing-based" in told.out:
        return sorted(set(requests))
    return sorted(requests) if len(told.wire.peers) > 1 else requests


def differences(case: Case, folder: Path, http2_port: int, strict: bool) -> dict[str, str]:
    """In what the two differ: what they say, their exit codes, and what they send."""
    files = ("FILE", "URIS", "SCRIPT", "EMPTY", "FOLDER")
    words = [str(folder / word) if word in files else word for word in case.words]
    theirs, ours = both(
        words,
        case.answer,
        url=case.url,
        tls=server_side(folder) if case.tls else None,
        http2_port=http2_port if case.http2 else None,
        strict=strict,
    )
    respects = {
        "exit code": (theirs.code, ours.code),
        "standard error": (theirs.err, ours.err),
        "lines": (theirs.masked, ours.masked),
        # Over HTTP/2 the two frame what they say in ways of their own.
        "counts": tuple(told.counts[:2] if case.http2 else told.counts for told in (theirs, ours)),
        "requests": (sent(theirs), sent(ours)),
        # A name has two addresses, which are knocked at.
        "connections": tuple(
            len(told.wire.peers) if "localhost" not in case.url else 0 for told in (theirs, ours)
        ),
    }
    return {
        what: f"{what}:\n  h2load {one!r}\n  here {other!r}"
        for what, (one, other) in respects.items()
        if one != other
    }


def test_deviations_are_those_of_the_sample() -> None:
    us = {"us": 1.0, "ms": 1e3, "s": 1e6}
    for told in both(("--h1", "-n2")):
        cells = re.findall(r"([\d.]+)(us|ms|s)\b", re.findall(r"time for request: .*", told.out)[0])
        low, high, _, deviation = (float(number) * us[unit] for number, unit in cells)
        # Times of milliseconds are written to 10 µs.
        assert deviation == pytest.approx((high - low) / 2**0.5, rel=0.02, abs=20)


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case.words))
def test_a_case_is_alike_or_told(case: Case, folder: Path, http2_port: int) -> None:
    differential.check("h2load", case, lambda strict: differences(case, folder, http2_port, strict))


def test_every_flag_and_every_row_has_a_case() -> None:
    usage = subprocess.run(["h2load", "--help"], capture_output=True, text=True).stdout
    flags = re.findall(r"(?m)^  (?:(-\w), )?(--[\w-]+)", usage)
    assert len(flags) > 30
    missing = [
        names
        for names in flags
        if len(differential.without_case(filter(None, names), CASES)) == len([*filter(None, names)])
    ]
    # --log-file without -D is in test_the_log_has_a_line_a_request, -h is --help.
    assert missing == []
    assert differential.rows_without_case("h2load", CASES) == []


def test_the_log_has_a_line_a_request(tmp_path: Path) -> None:
    log = tmp_path / "log"
    make = numbered(lambda n: HELLO if n % 2 else HELLO.replace(b"200 OK", b"404 No"))
    assert [told.code for told in both(("--h1", "-n4", "--log-file", str(log)), make)] == [0, 0]
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    assert [row[1] for row in rows] == ["404", "200", "404", "200"] * 2
    assert all(len(row[0]) == 16 and 0 < int(row[2]) < 60_000_000 for row in rows)
