"""Who may look: this machine's user, from a page of ours, with the token.

The server listens on loopback only, but every program and every web page in a browser on this
machine can reach loopback too. So each path begins with a secret token; the Host header must
name the loopback address (a name that an attacker's DNS points here does not); and a browser
that says that another origin asks is refused.
"""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Lets through only reads of paths below `/<token>/` that a page of ours, or a person, asks for."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Stand before `app`, which sees its paths without the token."""
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await PlainTextResponse(refusal[1], refusal[0], _HEADERS)(scope, receive, send)
            return
        prefix = f"/{self._token.decode()}"
        inner = dict(scope, root_path=scope.get("root_path", "") + prefix)
        await self._app(inner, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "this page only shows"
        host, _, port = headers.get("host", "").rpartition(":")
        if host not in ("127.0.0.1", "localhost") or port != str(scope["server"][1]):
            return 421, "this page is served on 127.0.0.1 only"
        origin = headers.get("origin")
        if origin not in (None, f"http://{headers['host']}"):
            return 403, "another origin asked"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "another site asked"
        _, _, below = scope["path"].partition("/")  # "*" names no path, and has no "/"
        first = below.partition("/")[0]
        if not secrets.compare_digest(first.encode(), self._token):
            return 403, "this address needs its token: open the one that `assay view` printed"
        return None


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message = dict(message, headers=[*message.get("headers", []), *added])
        await send(message)

    return sending
