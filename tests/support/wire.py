"""A server that records the bytes it is sent, for tests of what goes over the wire."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"

Answer = Callable[[bytes], bytes | None]
"""The answer to a request; None closes the connection."""


class Last(bytes):
    """An answer after which the connection is closed."""


class Cut(bytes):
    """An answer after which the connection is reset."""


@dataclass
class Wire:
    """What arrived: each request whole, and for each connection where it came from."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    peers: list[str] = field(default_factory=list)

    def url(self, path: str = "/", scheme: str = "http") -> str:
        """The address of a path."""
        return f"{scheme}://127.0.0.1:{self.port}{path}"


@contextlib.contextmanager
def recording(
    answer: Answer = lambda _: HELLO,
    *,
    at: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
) -> Iterator[Wire]:
    """Serve on a port of the system's choice, or on a unix socket where `at` is a path."""
    is_unix = at.startswith("/")
    listener = socket.socket(socket.AF_UNIX if is_unix else socket.AF_INET6 if ":" in at else socket.AF_INET)
    listener.bind(at if is_unix else socket.getaddrinfo(at, 0)[0][4])
    listener.listen(256)
    wire = Wire(port=0 if is_unix else listener.getsockname()[1])
    accepting = threading.Thread(target=_accept, args=(listener, wire, answer, tls), daemon=True)
    accepting.start()
    try:
        yield wire
    finally:
        # Only shutting down wakes the thread that waits to accept.
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join()


def _accept(listener: socket.socket, wire: Wire, answer: Answer, tls: ssl.SSLContext | None) -> None:
    while True:
        try:
            stream, peer = listener.accept()
        except OSError:
            return
        wire.peers.append(str(peer[0]) if peer else "")
        threading.Thread(target=_serve, args=(stream, wire, answer, tls), daemon=True).start()


def _serve(stream: socket.socket, wire: Wire, answer: Answer, tls: ssl.SSLContext | None) -> None:
    with contextlib.suppress(OSError), stream:
        if stream.family != socket.AF_UNIX:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            stream = tls.wrap_socket(stream, server_side=True)
        waiting = b""
        while True:
            while (length := _length(waiting)) is None:
                more = stream.recv(65536)
                if not more:
                    return
                waiting += more
            request, waiting = waiting[:length], waiting[length:]
            wire.requests.append(request)
            answered = answer(request)
            if answered is None:
                return
            stream.sendall(answered)
            if isinstance(answered, Cut):
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if isinstance(answered, Last | Cut):
                return


def _length(waiting: bytes) -> int | None:
    """The length of the first request, once all of it is there."""
    head, end, body = waiting.partition(b"\r\n\r\n")
    if not end:
        return None
    if re.search(rb"(?mi)^transfer-encoding: chunked\r?$", head):
        last = body.find(b"0\r\n\r\n")
        return None if last < 0 else len(head) + 4 + last + 5
    found = re.search(rb"(?mi)^content-length: (\d+)", head)
    length = len(head) + 4 + (int(found[1]) if found else 0)
    return length if len(waiting) >= length else None
