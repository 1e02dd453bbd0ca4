"""A small server of HTTP/2 alone, by prior knowledge or behind TLS by ALPN: one request after the other.

http2_server.py [CERTIFICATE KEY]    on PORT; DELAY_S before each answer, STREAMS at once on a connection
"""

from __future__ import annotations

import os
import socket
import ssl
import sys
import threading
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
LAST, ACK, WHOLE_HEAD = 1, 1, 4
MOST_STREAMS = 3
"""The setting's number (RFC 9113, 6.5.2)."""
BODY = b"hello\n"
HEAD = b"\x88" + b"\x0f\x10\x0atext/plain"
""":status 200 of the static table, and its name of content-type with a value in full."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A frame's bytes."""
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def serve(connection: socket.socket, context: ssl.SSLContext | None, streams: int, delay_s: float) -> None:
    """Answer the requests of a connection until the client leaves."""
    try:
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        with connection, connection.makefile("rb") as said:
            if said.read(len(PREFACE)) != PREFACE:
                return
            setting = MOST_STREAMS.to_bytes(2, "big") + streams.to_bytes(4, "big") if streams else b""
            connection.sendall(frame(SETTINGS, 0, 0, setting))
            while head := said.read(9):
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                payload = said.read(int.from_bytes(head[:3], "big"))
                if kind == SETTINGS and not flags & ACK:
                    connection.sendall(frame(SETTINGS, ACK, 0))
                if kind == PING and not flags & ACK:
                    connection.sendall(frame(PING, ACK, 0, payload))
                if kind in (HEADERS, DATA) and flags & LAST:
                    time.sleep(delay_s)
                    answer = frame(HEADERS, WHOLE_HEAD, stream, HEAD) + frame(DATA, LAST, stream, BODY)
                    connection.sendall(answer)
    except OSError:
        return


def run(streams: int = 0, delay_s: float = 0.0, context: ssl.SSLContext | None = None) -> None:
    """Accept for ever. With `streams` no more than so many are allowed at once on a connection."""
    where = (os.environ.get("HOST", "127.0.0.1"), int(os.environ["PORT"]))
    with socket.create_server(where, backlog=512) as listener:
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            of_it = (connection, context, streams, delay_s)
            threading.Thread(target=serve, args=of_it, daemon=True).start()


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
