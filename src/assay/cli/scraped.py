"""`--metrics HOST:PORT`: a load shown to Prometheus while it goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.core.errors import EnvironmentLacks, InputError, reason_of

if TYPE_CHECKING:
    from assay.report.metrics import Live

_WHERE = re.compile(r"(?:(?P<host>[^:\[\]]+|\[[0-9a-fA-F:]+\])?:)?(?P<port>\d{1,5})$")
_LOOPBACK = "127.0.0.1"


def place(word: str) -> tuple[str, int]:
    """Host and port of "9464", ":9464" or "HOST:9464"; without a host it is loopback."""
    found = _WHERE.match(word)
    port = int(found["port"]) if found else 0
    if found is None or not 0 < port < 65_536:
        raise InputError(f"--metrics: {word!r} is no HOST:PORT", "write it like 127.0.0.1:9464")
    return (found["host"] or _LOOPBACK).strip("[]"), port


@contextmanager
def scraped(word: str | None) -> Iterator[Live | None]:
    """Answer scrapers there until the end; each has a thread of its own, so that none holds the load up.

    InputError where that is no place, EnvironmentLacks where it is taken or the extra is not installed.
    """
    if word is None:
        yield None
        return
    host, port = place(word)
    from assay.core import extras  # it reads the metadata of packages: not for every load

    if (lacks := extras.not_installed("metrics")) is not None:
        raise lacks
    from prometheus_client import start_http_server

    from assay.report.metrics import Live

    live = Live()
    try:
        server, thread = start_http_server(port, host, live.registry())
    except OSError as problem:
        raise EnvironmentLacks(
            f"--metrics: cannot listen on {host}:{port}: {reason_of(problem)}", "choose another port"
        ) from None
    try:
        yield live
    finally:
        server.shutdown()
        thread.join()
        server.socket.close()
