"""`assay view`: the stored runs in a browser, on this machine only."""

from __future__ import annotations

import argparse
import contextlib
import logging
import secrets
import socket
import webbrowser
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import EXIT_OK, EnvironmentLacks, reason_of

if TYPE_CHECKING:
    from assay.cli.parser import Parser

HOST = "127.0.0.1"
_BACKLOG = 32
"""Connections that may wait to be taken: a browser opens six."""


def configure(parser: Parser) -> None:
    """Add the flags."""
    parser.add_argument("--results", metavar="DIR", help="the folder of runs [./results]")
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="port on 127.0.0.1 [any free one]")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    parser.examples(
        ("assay view --open", "browse the runs in ./results"),
        ("assay view --results ci --port 8000", "at a port that stays the same"),
    )


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    import uvicorn

    from assay.core.settings import Settings
    from assay.report.view import make_app
    from assay.servers import host

    settings = Settings.resolve(results=args.results)
    token = secrets.token_urlsafe(16)
    with _listen(args.port) as listener:
        url = f"http://{HOST}:{listener.getsockname()[1]}/{token}/"
        console.write(url)
        console.note("read-only, for this machine; Ctrl-C ends it")
        if args.open:
            webbrowser.open(url)
        host.raise_descriptor_limit()
        logging.getLogger("asyncio").addFilter(_Full())
        config = uvicorn.Config(
            make_app(settings.results, token),
            log_level="error",
            access_log=False,
            lifespan="off",
            backlog=_BACKLOG,
        )
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it
            uvicorn.Server(config).run(sockets=[listener])
    return EXIT_OK


class _Full(logging.Filter):
    """Says in one line that no more connections can be taken; asyncio would write a traceback for each try,
    and tries as often as the queue of connections is long."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        super().__init__()
        self._said = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether asyncio may say it itself."""
        full = isinstance(record.exc_info, tuple) and isinstance(record.exc_info[1], OSError)
        if full and not self._said:
            self._said = True
            reason = reason_of(record.exc_info[1])  # type: ignore[index,arg-type]  # it is as `full` says
            console.note(f"assay: more connections cannot be taken now: {reason}; close pages, or ulimit -n")
        return not full


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # who follows the link before the server runs waits for it
    except OSError as problem:
        listener.close()
        reason = reason_of(problem)
        raise EnvironmentLacks(f"cannot listen on {HOST}:{port}: {reason}", "leave out --port") from None
    return listener


def _port(word: str) -> int:
    if not (word.isdigit() and 0 <= int(word) <= 65535):
        raise argparse.ArgumentTypeError(f"{word!r} is not a port")
    return int(word)
