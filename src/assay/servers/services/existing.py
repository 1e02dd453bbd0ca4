"""A service that stands already and that a study names by its URL: used as it is, not filled, not stopped.

It has to hold what the contract's set-up files would have put there, and runs on whatever cores it does:
its CPU and memory are not sampled.
"""

from __future__ import annotations

import socket
from urllib.parse import SplitResult, urlsplit

from assay.core import urls
from assay.core.errors import InputError, ServerFailed, reason_of
from assay.servers.services.manifest import UPSTREAM, ServiceSpec, fill, read_service

_CONNECT_TIMEOUT_S = 5.0
_USUAL_PORTS = {"postgres": 5432, "postgresql": 5432, "redis": 6379, "http": 80}


def existing_env(spec: ServiceSpec) -> dict[str, str]:
    """What servers are given to find it. InputError where its URL is none."""
    parts = _parts(spec)
    if spec.name == UPSTREAM:
        return {"UPSTREAM_URL": parts.geturl().rstrip("/")}
    values = {
        "url": parts.geturl(),
        "host": parts.hostname or "",
        "port": str(_port(parts) or ""),
        "user": parts.username or "",
        "password": parts.password or "",
        "database": parts.path.strip("/"),
    }
    return {name: fill(value, values) for name, value in read_service(spec.name).env.items()}


def check_listening(spec: ServiceSpec) -> None:
    """Make sure that somebody listens there. ServerFailed (stage "service") where nobody does."""
    parts = _parts(spec)
    where = (parts.hostname or "", _port(parts) or 0)
    try:
        socket.create_connection(where, _CONNECT_TIMEOUT_S).close()
    except OSError as error:
        reason = reason_of(error)
        said = f"{spec.name}: nobody answers at {where[0]}:{where[1]}, the url of the study: {reason}"
        raise ServerFailed("service", said) from error


def _parts(spec: ServiceSpec) -> SplitResult:
    url = spec.url or ""
    like = "http://127.0.0.1:8080" if spec.name == UPSTREAM else read_service(spec.name).url
    try:
        parts = urlsplit(url)
        urls.host_and_port(parts.netloc.rpartition("@")[2])  # what urlsplit passes over: [::1]8080
        right = bool(parts.scheme and parts.hostname and _port(parts))
    except ValueError:  # a port that is no number, brackets that do not close
        right = False
    if not right:
        raise InputError(f"service {spec.name!r}: {url!r} is not a URL such as {like}")
    return parts


def _port(parts: SplitResult) -> int | None:
    return parts.port or _USUAL_PORTS.get(parts.scheme)
