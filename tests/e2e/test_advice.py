"""Each cause of failure staged for real, and the advice that the user must see for it.

The remedy fits the cause that was seen; advice on connections and queues is for connections alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from wire import HELLO, Cut, recording

from assay.cli.main import main

pytestmark = pytest.mark.beside

SOON = ("-c", "2", "-n", "12")
BRIEFLY = ("-c", "2", "-d", "300ms")
QUEUES = "somaxconn"


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of their own: of an address, of a name, and one that is an authority, too."""
    folder = tmp_path_factory.mktemp("pki")
    new = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    leaf = ("-addext", "basicConstraints=critical,CA:FALSE")
    for name, names, more in (
        ("own", "IP:127.0.0.1", leaf),
        ("authority", "IP:127.0.0.1", ()),
        ("other", "DNS:other.test", leaf),
    ):
        files = ("-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
        words = ("openssl", *new, *files, "-addext", f"subjectAltName={names}", *more)
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder


def tls(pki: Path, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki / f"{name}.pem", pki / f"{name}.key")
    return context


Handler = Callable[[socket.socket], None]


@contextlib.contextmanager
def speaking(handler: Handler) -> Iterator[int]:
    """A server that does with each connection what the handler does, on the yielded port."""
    ended = threading.Event()

    def one(stream: socket.socket) -> None:
        with contextlib.suppress(OSError), stream:
            stream.recv(65536)
            handler(stream)
            if handler not in (closes, half, alerts):
                ended.wait(20)

    def accept() -> None:
        while True:
            try:
                stream, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(stream,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield listener.getsockname()[1]
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()


def silent(stream: socket.socket) -> None:
    """Takes the request and says nothing."""


def closes(stream: socket.socket) -> None:
    """Ends the connection without an answer."""


def half(stream: socket.socket) -> None:
    """Ends the connection within the head."""
    stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")


def streams_events(stream: socket.socket) -> None:
    """Begins an answer that has no end."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    stream.sendall(head + b"9\r\ndata: x\n\n\r\n")


def alerts(stream: socket.socket) -> None:
    """Answers as a server of TLS does that reads no handshake."""
    stream.sendall(b"\x15\x03\x01\x00\x02\x02\x46")


class Told:
    """Runs `assay load` here and gives back all that it said, its line breaks taken out."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str) -> str:
        code = main(["load", *words, "--quiet"])
        told = self._capsys.readouterr()
        assert code in (0, 1), told.err
        return " ".join(told.out.split())


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    return Told(capsys)


def status(line: str, *fields: str) -> bytes:
    return "\r\n".join((f"HTTP/1.1 {line}", *fields, "Content-Length: 1", "", "x")).encode()


@dataclass(frozen=True)
class Answering:
    """A server's answer to everything, how it is asked, and the advice that follows."""

    answer: bytes
    words: tuple[str, ...]
    advice: tuple[str, ...]


ANSWERS = {
    "401 without a challenge": Answering(
        status("401 Unauthorized"), SOON, ("--bearer TOKEN, -u NAME:PASSWORD",)
    ),
    "401 basic": Answering(
        status("401 Unauthorized", 'WWW-Authenticate: Basic realm="x"'), SOON, ("-u NAME:PASSWORD",)
    ),
    "401 bearer": Answering(
        status("401 Unauthorized", "WWW-Authenticate: Bearer"), SOON, ("--bearer TOKEN",)
    ),
    "401 with a token": Answering(
        status("401 Unauthorized"), (*SOON, "--bearer", "t"), ("credentials that the server accepts",)
    ),
    "403": Answering(status("403 Forbidden"), SOON, ("--bearer TOKEN, -u NAME:PASSWORD",)),
    "404": Answering(status("404 Not Found"), SOON, ("correct the path of the URL",)),
    "405": Answering(status("405 Method Not Allowed"), SOON, ("--method",)),
    "413": Answering(status("413 Content Too Large"), (*SOON, "-b", "x"), ("send a smaller body",)),
    "415": Answering(status("415 Unsupported"), (*SOON, "-b", "x"), ("Content-Type",)),
    "429": Answering(status("429 Too Many Requests"), SOON, ("limit of requests",)),
    "500": Answering(status("500 Internal Server Error"), SOON, ("the server's log",)),
    "redirects": Answering(
        status("302 Found", "Location: /login"),
        SOON,
        ("every answer was a redirect (302)", "--follow N"),
    ),
    "a loop of redirects": Answering(
        status("302 Found", "Location: /", "Set-Cookie: seen=1"), (*SOON, "--follow", "3"), ("--cookies",)
    ),
    "redirects to elsewhere": Answering(
        status("301 Moved", "Location: https://127.0.0.1/"),
        (*SOON, "--follow", "3"),
        ("leave --follow out", "https://127.0.0.1/"),
    ),
    "resets": Answering(Cut(b""), SOON, ("the server's log", "write https://")),
    "no HTTP/2": Answering(HELLO, (*SOON, "--http2"), ("--http auto",)),
}


@pytest.mark.parametrize("cause", ANSWERS)
def test_advice_on_answers(told: Told, cause: str) -> None:
    staged = ANSWERS[cause]
    with recording(lambda _: staged.answer) as wire:
        said = told(wire.url(), *staged.words)
    assert [part for part in staged.advice if part not in said] == [], said
    assert QUEUES not in said, said


def test_what_was_asked_for_in_particular_is_no_surprise(told: Told) -> None:
    with recording(lambda _: status("302 Found", "Location: /login")) as wire:
        assert "every answer was a redirect" not in told(wire.url(), *SOON, "--expect-status", "302")
    with recording() as wire:
        assert "redirect" not in told(wire.url(), *SOON)


@pytest.mark.parametrize(
    ("handler", "words", "advice"),
    [
        (silent, BRIEFLY, "measure for longer than its slowest answer takes (--duration)"),
        (silent, ("-c", "2", "-n", "4", "--timeout", "100ms"), "raise --timeout above 100 ms"),
        (streams_events, BRIEFLY, "answers began and did not end"),
        (streams_events, BRIEFLY, "a stream of events has no end"),
        (streams_events, ("-c", "2", "-n", "4", "--timeout", "100ms"), "a stream of events has no end"),
        (closes, SOON, "ended each connection without an answer"),
        (closes, SOON, "find the cause in the server's log; where the port speaks TLS, write https://"),
        (half, SOON, "no answer was whole when its connection ended"),
        (alerts, SOON, "in the protocol that it speaks (https://, --http2)"),
    ],
)  # fmt: skip
def test_advice_on_connections(told: Told, handler: Handler, words: tuple[str, ...], advice: str) -> None:
    with speaking(handler) as port:
        said = told(f"http://127.0.0.1:{port}/", *words)
    assert advice in said
    assert QUEUES not in said, said


@pytest.mark.parametrize(
    ("certificate", "trusted", "advice"),
    [
        ("own", "", ("--cacert PATH", "--insecure (-k)")),
        ("authority", "", ("--cacert PATH", "--insecure (-k)")),
        ("other", "other", ("--sni NAME", "not for the name '127.0.0.1'")),
    ],
)
def test_advice_on_certificates(
    told: Told, pki: Path, certificate: str, trusted: str, advice: tuple[str, ...]
) -> None:
    with recording(tls=tls(pki, certificate)) as wire:
        words = ("--cacert", str(pki / f"{trusted}.pem")) if trusted else ()
        said = told(wire.url(scheme="https"), *SOON, *words)
    assert [part for part in advice if part not in said] == [], said
    assert QUEUES not in said, said


def test_advice_where_a_name_is_missing(told: Told, pki: Path) -> None:
    context = tls(pki, "own")

    def chosen(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
        return None if name == "app.test" else ssl.ALERT_DESCRIPTION_INTERNAL_ERROR

    context.sni_callback = chosen
    with recording(tls=context) as wire:
        assert "--sni NAME" in told(wire.url(scheme="https"), *SOON, "-k")
        assert "--sni NAME" in told(wire.url(scheme="https"), *SOON, "-k", "--sni", "wrong.test")
        assert "0 of 12 failed" in told(wire.url(scheme="https"), *SOON, "-k", "--sni", "app.test")


def test_advice_where_the_client_needs_a_certificate(told: Told, pki: Path) -> None:
    context = tls(pki, "own")
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(pki / "authority.pem")
    with recording(tls=context) as wire:
        assert "--cert PATH and --key PATH" in told(wire.url(scheme="https"), *SOON, "-k")


NGINX = """\
daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1; events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  server {{ listen unix:{folder}/plain; location / {{ return 200 hi; }} }}
  server {{
    listen unix:{folder}/tls ssl;
    ssl_certificate {pki}/own.pem; ssl_certificate_key {pki}/own.key;
    location / {{ return 200 hi; }}
  }}
  server {{ listen unix:{folder}/named ssl default_server; ssl_reject_handshake on; }}
}}
"""


@pytest.fixture(scope="module")
def nginx(pki: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """nginx on three sockets of the yielded folder."""
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "conf").write_text(NGINX.format(folder=folder, pki=pki))
    serving = subprocess.Popen(["nginx", "-e", folder / "errors", "-c", folder / "conf"])
    try:
        for name in ("plain", "tls", "named"):
            _answers(folder / name, serving)
        yield folder
    finally:
        os.kill(serving.pid, signal.SIGTERM)
        serving.wait()


def _answers(path: Path, serving: subprocess.Popen[bytes]) -> None:
    """Wait until connections to that socket are taken."""
    while True:
        assert serving.poll() is None, "nginx ended"
        with socket.socket(socket.AF_UNIX) as stream, contextlib.suppress(OSError):
            stream.connect(str(path))
            return


@pytest.mark.parametrize(
    ("url", "server", "advice"),
    [
        ("http://app.test/", "tls", "where the port speaks TLS, write https://"),
        ("https://app.test/", "plain", "write http:// in the URL"),
        ("https://app.test/", "named", "--sni NAME"),
    ],
)
def test_advice_on_schemes(told: Told, nginx: Path, url: str, server: str, advice: str) -> None:
    words = ("-k",) if url.startswith("https") else ()
    said = told(url, "--unix-socket", str(nginx / server), *SOON, *words)
    assert advice in said
    assert QUEUES not in said, said
