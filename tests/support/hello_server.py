"""A small server that stands, within this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from assay.model.plan import Closed, LoadPlan, Request, StopAtCount


class Hello(BaseHTTPRequestHandler):
    """Says hello to whatever it is asked."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def standing() -> Iterator[str]:
    """Its URL, without a path."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Hello) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@contextmanager
def asked_a_hundred_times(connections: int) -> Iterator[LoadPlan]:
    """A load of a hundred requests to it."""
    with standing() as url:
        yield LoadPlan(
            url=url,
            requests=(Request(target="/"),),
            load=Closed(connections=connections),
            stop=StopAtCount(count=100),
        )
