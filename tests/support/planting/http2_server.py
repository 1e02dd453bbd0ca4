"""A small server of HTTP/2 alone, by prior knowledge or behind TLS by ALPN: one request after the other.

http2_server.py [CERTIFICATE KEY]    on PORT; DELAY_S before each answer, STREAMS at once on a connection

`run` may give it one flaw: it "slices clients away", "ends connections after five" requests, "hangs" at one
request in ten, "says more" than hello, or "has small windows" for bodies.
"""

from __future__ import annotations

import itertools
import os
import socket
import ssl
import sys
import threading
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 4, 6, 7, 8
LAST, ACK, WHOLE_HEAD = 1, 1, 4
MOST_STREAMS, FIRST_WINDOW = 3, 4
"""The settings' numbers (RFC 9113, 6.5.2)."""
SMALL = 100
"""Bytes of a body that a small window takes at a time."""
BODY = b"hello\n"
MORE = b"hello, and a good day to all of you\n"
CLIENTS = 6
"""How many connections are served where more are turned away. The first ask whether it is ready and right."""
HEAD = b"\x88" + b"\x0f\x10\x0atext/plain"
""":status 200 of the static table, and its name of content-type with a value in full."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A frame's bytes."""
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


class Server:
    """What all connections share."""

    def __init__(self, streams: int, delay_s: float, context: ssl.SSLContext | None, flaw: str) -> None:
        self.streams = streams
        self.delay_s = delay_s
        self.context = context
        self.flaw = flaw
        self.asked = itertools.count(1)

    def answer(self, stream: int, here: int) -> bytes:
        """The frames to send to a request, the connection's so-and-so-many."""
        asked = next(self.asked)
        if self.flaw == "hangs" and asked % 10 == 0:
            return b""
        body = MORE if self.flaw == "says more" else BODY
        answer = frame(HEADERS, WHOLE_HEAD, stream, HEAD) + frame(DATA, LAST, stream, body)
        if self.flaw != "ends connections after five" or here < 5:
            return answer
        # What came behind the fifth is not served; the client closes once it has read this.
        told = frame(GOAWAY, 0, 0, stream.to_bytes(4, "big") + bytes(4))
        return told + answer if here == 5 else b""

    def settings(self) -> bytes:
        """The frame that says what a client may do."""
        small = self.flaw == "has small windows"
        asked = {MOST_STREAMS: self.streams, FIRST_WINDOW: SMALL if small else 0}
        said = [name.to_bytes(2, "big") + value.to_bytes(4, "big") for name, value in asked.items() if value]
        return frame(SETTINGS, 0, 0, b"".join(said))

    def room(self, stream: int, size: int, is_last: bool) -> bytes:
        """The frames that give back what a piece of a body took."""
        if self.flaw == "has small windows":
            time.sleep(0.002)
        more = size.to_bytes(4, "big")
        return frame(WINDOW, 0, 0, more) + (b"" if is_last else frame(WINDOW, 0, stream, more))

    def serve(self, connection: socket.socket) -> None:
        """Answer the requests of a connection until the client leaves."""
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as said:
                if said.read(len(PREFACE)) != PREFACE:
                    return
                connection.sendall(self.settings())
                here = 0
                while head := said.read(9):
                    kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                    payload = said.read(int.from_bytes(head[:3], "big"))
                    if kind == SETTINGS and not flags & ACK:
                        connection.sendall(frame(SETTINGS, ACK, 0))
                    if kind == PING and not flags & ACK:
                        connection.sendall(frame(PING, ACK, 0, payload))
                    if kind == DATA and payload:
                        connection.sendall(self.room(stream, len(payload), bool(flags & LAST)))
                    if kind in (HEADERS, DATA) and flags & LAST:
                        here += 1
                        time.sleep(self.delay_s)
                        connection.sendall(self.answer(stream, here))
        except OSError:
            return

    def run(self) -> None:
        """Accept for ever."""
        where = (os.environ.get("HOST", "127.0.0.1"), int(os.environ["PORT"]))
        with socket.create_server(where, backlog=512) as listener:
            for accepted in itertools.count(1):
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self.flaw == "slices clients away" and accepted > CLIENTS:
                    connection.close()
                    continue
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()


def run(
    streams: int = 0, delay_s: float = 0.0, context: ssl.SSLContext | None = None, flaw: str = ""
) -> None:
    """Accept for ever. With `streams` no more than so many are allowed at once on a connection."""
    Server(streams, delay_s, context, flaw).run()


def main() -> None:
    """Serve as the words and the environment say."""
    context = None
    if len(sys.argv) > 1:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.set_alpn_protocols(["h2"])
    run(int(os.environ.get("STREAMS", "0")), float(os.environ.get("DELAY_S", "0")), context)


if __name__ == "__main__":
    main()
