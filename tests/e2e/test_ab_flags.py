"""Every flag of ab beside Debian's ab, and each difference beside its row in docs/drop-ins.md."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import differential
import pytest
from ab_pair import both, closing
from wire import Answer, Cut, Last

pytestmark = [
    pytest.mark.beside,
    pytest.mark.skipif(not shutil.which("ab"), reason="the original ab is not installed"),
]


@dataclass(frozen=True)
class Case:
    """Words, the server's manner, and what differs. FILE is a file of a few bytes, PEM a certificate."""

    words: tuple[str, ...]
    answer: Callable[[], Answer] = closing
    row: str = ""
    differs: tuple[str, ...] = ()
    url: str = "http://127.0.0.1:PORT/"
    tls: tuple[str, str] | None = None
    """The oldest and the newest version that the server speaks, where it speaks TLS."""


def numbered(answer: Callable[[int], bytes | None]) -> Callable[[], Answer]:
    """Servers whose answers depend on how many requests came before."""

    def make() -> Answer:
        number = iter(range(1_000_000))
        return lambda _: answer(next(number))

    return make


def last(text: str, status: str = "200 OK", head: str = "") -> Last:
    """An answer, and the end of its connection."""
    return Last(f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(text)}\r\n\r\n{text}".encode())


KEPT = b"HTTP/1.1 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nab"
CHUNKED = Last(
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
)
SHORT = Last(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")

OK = last("ab")
SAME = (
    Case(("-n1",)),
    Case(("-n", "20", "-c", "3")),
    Case(("-k", "-n", "40", "-c2")),
    Case(("-kn30", "-c2", "-S")),
    Case(("-d", "-n10")),
    Case(("-n", "200")),
    Case(("-n", "1500", "-k", "-c5")),
    Case(("-q", "-n200", "-k")),
    Case(("-w", "-n", "200", "-k")),
    Case(("-x", "border=1", "-y", "align=left", "-z", "class=c", "-n10", "-k")),
    Case(("-i", "-n10")),
    Case(("-t", "9", "-n", "30")),
    Case(("-b", "8192", "-s", "5", "-n10")),
    Case(("-B", "127.0.0.1", "-n10")),
    Case(("-v", "2", "-n2")),
    Case(("-v", "4", "-n1", "-k")),
    Case(("-m", "DELETE", "-n2")),
    Case(("-X", "127.0.0.1:PORT", "-n3")),
    Case(("-J",)),
    Case(("-h",)),
    *(Case(words) for words in (("--help",), ("--version",), ("-n2", "--"), ("-c0",), ("-n", "2147483648"))),
    *(Case(words, url="") for words in (("--help",), ("--version",), ("-",), ("-n",), ("--n", "5"))),
    *(Case((flag, "a" * size)) for flag in ("-A", "-P") for size in (765, 766)),
    *(Case((flag, where)) for flag in ("-p", "-u") for where in ("/no/such/file", "FOLDER")),
    Case(("-e", "/dev/null", "-g", "/dev/null", "-n3")),
    Case(("-p", "FILE", "-T", "application/json", "-n", "10", "-c", "2")),
    Case(("-u", "FILE", "-n", "3")),
    Case(("-p", "FILE", "-m", "PATCH", "-n", "3")),
    Case(("-p", "FILE", "-k", "-w", "-n", "3")),
    Case(("-p", "FILE", "-v", "2", "-n", "1")),
    Case(
        ("-C", "a=b", "-H", "X-One: 1", "-A", " user:pass word", "-P", "p:q", "-k"),
        url="http://127.0.0.1:PORT/a?b=c#d",
    ),
    Case(("-H", "host: other", "-H", "Accept: none", "-H", "User-Agent: me", "-H", "no colon")),
    Case(("-T", "text/x", "-H", "A:b")),
    Case(("-A", "a:1", "-A", "b:2")),
    Case(("-n20",), numbered(lambda n: last("x" * (n % 3 + 1)))),
    Case(("-n20", "-l"), numbered(lambda n: last("x" * (n % 3 + 1)))),
    Case(("-n20",), numbered(lambda n: last("none", "404 Not Found" if n % 3 else "301 Moved"))),
    Case(("-n2", "-v3"), numbered(lambda _: last("none", "500 Not"))),
    Case(("-n5",), numbered(lambda _: Last(b"HTTP/1.0 200 OK\r\nServer: a b\r\n\r\nuntil the end"))),
    Case(("-n5", "-w"), numbered(lambda n: last("x" * n, head="Server: late\r\n" if n else ""))),
    Case(("-n50",), numbered(lambda n: OK if n < 7 else Cut(b""))),
    Case(("-n50",), numbered(lambda _: Cut(b""))),
    Case(("-n5", "-k"), numbered(lambda _: OK)),
    Case(("-n12", "-k"), numbered(lambda n: None if n % 4 == 3 else KEPT)),
    Case(("-r", "-n5")),
    Case(("-n5",), url="http://127.0.0.1:1/"),
    Case(("-n5",), url="no-such-host.invalid/"),
    Case(("-n5", "-X", "no-such-host.invalid:80"), url="127.0.0.1/"),
    Case(("-n4", "-k", "-f", "TLS1.2", "-E", "PEM"), url="https://localhost:PORT/", tls=("1.2", "1.2")),
    Case(("-n4", "-f", "tls1.3", "-k"), url="https://127.0.0.1:PORT/", tls=("1.2", "1.3")),
    Case(("-n4", "-k", "-I", "-f", "TLS1.2"), url="https://localhost:PORT/", tls=("1.2", "1.2")),
)
DIFFERENT = (
    Case(("-C", "a=1", "-C", "b=2"), row="`-C` more than once", differs=("requests",)),
    Case(
        ("-r", "-n12"),
        numbered(lambda n: Cut(b"") if n % 3 == 2 else OK),
        row="`-r`, a reset",
        differs=("counts",),
    ),
    Case(
        ("-r", "-n12"),
        numbered(lambda n: OK if n % 3 else Cut(b"")),
        row="`-r`, a reset",
        differs=("counts",),
    ),
    Case(
        ("-r", "-l", "-n12"),
        numbered(lambda n: Cut(b"") if n % 3 == 2 else OK),
        row="`-r`, a reset",
        differs=("counts",),
    ),
    Case(
        ("-r", "-k", "-n12"),
        numbered(lambda n: Cut(b"") if n % 4 == 3 else KEPT),
        row="`-r`, a reset",
        differs=("counts",),
    ),
    Case(("-r", "-n6"), url="http://127.0.0.1:1/", row="`-r`, nobody listens", differs=("counts",)),
    Case(("-n4",), numbered(lambda _: CHUNKED), row="an answer in chunks", differs=("counts",)),
    Case(
        ("-n4",),
        numbered(lambda n: SHORT if n else last("hello")),
        row="an answer cut short",
        differs=("lines", "counts"),
    ),
    Case(("-n4",), numbered(lambda _: None), row="an answer cut short", differs=("lines", "counts")),
    Case(("-n6",), numbered(lambda n: OK if n % 2 else None), row="an answer cut short", differs=("counts",)),
    *(
        Case(
            ("-n2", flag, "/no/such/file"),
            row="`-e` and `-g` that cannot be written",
            differs=("lines", "counts", "requests"),
        )
        for flag in ("-e", "-g")
    ),
    *(
        Case(("-E", file), url=url, row="`-E` that cannot be read", differs=("standard error",))
        for file in ("/no/such/file", "FILE")
        for url in ("http://127.0.0.1:PORT/", "https://127.0.0.1:PORT/")
    ),
    Case(
        ("-H", "", "-n1"),
        row="`-H` without a letter",
        differs=("exit code", "standard error", "lines", "counts", "requests"),
    ),
    Case(("-V",), row="`-V` and the banner", differs=("lines",)),
    Case(
        ("-n2", "-k", "-v", "2"),
        url="https://localhost:PORT/",
        tls=("1.2", "1.3"),
        row="`-v 2` over TLS",
        differs=("standard error", "lines"),
    ),
    Case(
        ("-n3", "-f", "TLS1.2"),
        url="https://127.0.0.1:PORT/",
        tls=("1.3", "1.3"),
        row="a TLS handshake that fails",
        differs=("standard error", "lines", "counts"),
    ),
    Case(
        ("-n3",),
        url="https://127.0.0.1:1/",
        row="over TLS, nobody listens",
        differs=("standard error", "counts"),
    ),
    Case(
        ("-n3",),
        url="https://127.0.0.1:PORT/",
        tls=("1.2", "1.3"),
        row="TLS that ends without a farewell",
        differs=("standard error", "lines", "counts"),
    ),
    Case(
        ("-Z", "ECDHE-RSA-AES128-GCM-SHA256", "-n1", "-k", "-f", "TLS1.2"),
        url="https://127.0.0.1:PORT/",
        tls=("1.2", "1.2"),
        row="`-Z`",
        differs=("exit code", "standard error", "lines", "counts", "requests"),
    ),
    Case(
        ("-f", "TLS1", "-n1", "-k"),
        url="https://127.0.0.1:PORT/",
        tls=("1.2", "1.2"),
        row="`-f` with SSL 3, TLS 1 or TLS 1.1",
        differs=("exit code", "standard error", "lines", "counts"),
    ),
)
CASES = (*SAME, *DIFFERENT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the words name."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "FILE").write_bytes(b"a=b&c=d")
    (folder / "FOLDER").mkdir()
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj"]
    files = ["-keyout", str(folder / "key"), "-out", str(folder / "chain")]
    subprocess.run([*made, "/CN=x", *files], check=True, capture_output=True)
    (folder / "PEM").write_text((folder / "chain").read_text() + (folder / "key").read_text())
    return folder


def server_side(case: Case, folder: Path) -> ssl.SSLContext | None:
    if case.tls is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "PEM")
    oldest, newest = (ssl.TLSVersion[f"TLSv{version.replace('.', '_')}"] for version in case.tls)
    context.minimum_version, context.maximum_version = oldest, newest
    context.set_ecdh_curve("prime256v1")
    return context


def differences(case: Case, folder: Path, strict: bool) -> dict[str, str]:
    """In what the two differ: what they say, their exit codes, and what they send."""
    words = [str(folder / word) if word in ("FILE", "PEM", "FOLDER") else word for word in case.words]
    theirs, ours = both(words, case.answer, url=case.url, strict=strict, tls=server_side(case, folder))
    respects = {
        "exit code": (theirs.code, ours.code),
        "standard error": tuple(told.err.partition("Usage:")[0] for told in (theirs, ours)),
        "lines": (theirs.masked, ours.masked),
        "counts": (theirs.counts, ours.counts),
        "requests": tuple(
            [request.replace(b"%d" % told.wire.port, b"PORT") for request in told.wire.requests]
            for told in (theirs, ours)
        ),
    }
    return {
        what: f"{what}:\n  ab {one!r}\n  here {other!r}"
        for what, (one, other) in respects.items()
        if one != other
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case.words))
def test_a_case_is_alike_or_told(case: Case, folder: Path) -> None:
    differential.check("ab", case, lambda strict: differences(case, folder, strict))


def test_every_flag_and_every_row_has_a_case() -> None:
    usage = subprocess.run(["ab", "-h"], capture_output=True, text=True).stderr
    flags = re.findall(r"(?m)^    (-\w) ", usage)
    assert len(flags) > 30
    assert differential.without_case(flags, CASES) == []
    assert differential.rows_without_case("ab", CASES) == []
