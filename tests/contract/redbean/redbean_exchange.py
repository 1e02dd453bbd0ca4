"""One request and its response, as redbean's Lua functions see them."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import BinaryIO
from urllib.parse import parse_qsl, unquote_to_bytes

GZIP_LEVEL = 4
GZIP_LEAST_BYTES = 100
TYPES = {"css": "text/css; charset=utf-8", "svg": "image/svg+xml", "html": "text/html; charset=utf-8"}
ABSTRACTED = {
    "content-length",
    "transfer-encoding",
    "content-range",
    "date",
    "connection",
    "content-encoding",
}
"""Headers that redbean's transport keeps to itself: SetHeader refuses them."""


@dataclass(frozen=True)
class Request:
    """A request as it was read; `headers` by lower-case name."""

    method: str
    path: str
    query: str
    version: str
    headers: dict[str, str]
    payload: bytes


def read_request(stream: BinaryIO) -> Request | None:
    """The next request of a connection, or None at its end."""
    line = stream.readline()
    if not line.strip():
        return None
    method, target, version = line.decode("latin-1").split()
    headers: dict[str, str] = {}
    while (line := stream.readline()) not in (b"\r\n", b"\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    payload = stream.read(int(headers.get("content-length", "0")))
    path, _, query = target.partition("?")
    # "It is guaranteed that no // or /. exists in the path."
    path = unquote_to_bytes(path).decode("latin-1")
    if not path.startswith("/") or "//" in path or "/." in path:
        path = "/"
    return Request(method.upper(), path, query, version, headers, payload)


@dataclass
class Exchange:
    """What a handler asks about its request, and the response it builds."""

    request: Request
    assets: dict[str, bytes]
    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    @property
    def keep_alive(self) -> bool:
        """Whether the connection goes on after this response."""
        wish = self.request.headers.get("connection", "").lower()
        return wish != "close" and (self.request.version == "HTTP/1.1" or wish == "keep-alive")

    def call(self, name: str, *arguments: object) -> object:
        """Call the redbean function `name`."""
        method = "_" + re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
        return getattr(self, method)(*arguments)

    def _get_method(self) -> str:
        return self.request.method

    def _get_path(self) -> str:
        return self.request.path

    def _get_header(self, name: str) -> str | None:
        return self.request.headers.get(name.lower())

    def _get_payload(self) -> str:
        return self.request.payload.decode("latin-1")

    def _params(self) -> list[tuple[str, str]]:
        texts = [self.request.query]
        if self.request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            texts.append(self._get_payload())
        return [
            pair for text in texts for pair in parse_qsl(text, keep_blank_values=True, encoding="latin-1")
        ]

    def _get_param(self, name: str) -> str | None:
        return next((value for key, value in self._params() if key == name), None)

    def _has_param(self, name: str) -> bool:
        return self._get_param(name) is not None

    def _set_status(self, code: int, _reason: str = "") -> None:
        # "This method will reset the response."
        self.status, self.headers = code, []

    def _set_header(self, name: str, value: str) -> None:
        if name.lower() in ABSTRACTED or not re.fullmatch(r"[!-9;-~]+", name):
            raise ValueError(f"redbean's SetHeader refuses {name}")
        if not isinstance(value, str) or re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value):
            raise ValueError(f"redbean's SetHeader refuses that value of {name}")
        self.headers.append((name, value.strip()))

    def _write(self, data: str) -> None:
        self.body += data.encode("latin-1")

    def _serve_asset(self, path: str) -> None:
        if path not in self.assets:
            self.fail(404)
            return
        kind = TYPES.get(path.rpartition(".")[2], "application/octet-stream")
        self.status, self.headers, self.body = 200, [("Content-Type", kind)], self.assets[path]

    def fail(self, code: int) -> None:
        """Redbean's own error page."""
        page = f"<!doctype html>\r\n<title>{code} {HTTPStatus(code).phrase}</title>\r\n"
        self.status, self.headers = code, [("Content-Type", "text/html; charset=ISO-8859-1")]
        self.body = page.encode()

    def response(self) -> bytes:
        """The bytes to send: redbean adds Date, Server, Content-Length and the compression."""
        headers, body = list(self.headers), self.body
        kind = next((value for name, value in headers if name.lower() == "content-type"), None)
        if kind is None and body:
            kind = "text/html; charset=utf-8"
            headers.append(("Content-Type", kind))
        if kind is not None and re.match(r"text/|image/svg", kind) and len(body) >= GZIP_LEAST_BYTES:
            headers.append(("Vary", "Accept-Encoding"))
            if "gzip" in self.request.headers.get("accept-encoding", ""):
                headers.append(("Content-Encoding", "gzip"))
                body = gzip.compress(body, GZIP_LEVEL)
        headers += [
            ("Date", formatdate(usegmt=True)),
            ("Server", "redbean/2.2.0"),
            ("Content-Length", str(len(body))),
        ]
        if not self.keep_alive:
            headers.append(("Connection", "close"))
        head = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
        return head.encode("latin-1") + (b"" if self.request.method == "HEAD" else body)
