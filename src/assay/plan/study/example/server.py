"""A greeting over HTTP: an example of a server that Assay can measure."""

from __future__ import annotations

import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GREETING = b"hello\n"
PADDING = "x" * int(os.environ.get("PADDING", "0"))


class Greeter(BaseHTTPRequestHandler):
    """Answers /hello; connections are kept."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet

    def do_GET(self) -> None:  # noqa: N802 - the library's name
        """Answer one request."""
        found = self.path == "/hello"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(GREETING) if found else 0))
        if PADDING:
            self.send_header("X-Padding", PADDING)
        self.end_headers()
        if found:
            self.wfile.write(GREETING)

    def log_message(self, format: str, *args: object) -> None:
        """Keep no request log: it would be measured too."""


class Server(ThreadingHTTPServer):
    """A thread for each connection, and room for many that come at once."""

    daemon_threads = True
    request_queue_size = 1024


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Server((os.environ["HOST"], int(os.environ["PORT"])), Greeter).serve_forever()
