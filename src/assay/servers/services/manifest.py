"""What a service is, what it needs, and whether one that somebody else runs is there."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from assay.core import toml, urls
from assay.core.errors import InputError, ServerFailed, reason_of
from assay.core.settings import Settings
from assay.model.plan import Value
from assay.servers.contract import Contract, ServiceTable, read_contract
from assay.servers.manifest import Command, Requirement, ServerSpec, find_server

UPSTREAM = "upstream"
"""The service that is itself a server of a contract: the contract names it."""


class RunCommand(Value, frozen=True, kw_only=True):
    """The program in the foreground; `setting` is appended for each of the settings."""

    command: tuple[str, ...]
    setting: tuple[str, ...] = ()


class Ready(Value, frozen=True, kw_only=True):
    """A command that succeeds, and prints `prints`, once the service can be used."""

    command: tuple[str, ...]
    prints: str = ""


class ServiceManifest(Value, frozen=True, kw_only=True):
    """A service. The commands know {bin} (the folder of its first requirement), {data} (a private folder,
    with the file `password` in it), {host}, {port}, {user}, {password}, {database} and {url}.

    `prepare` runs before the start, `then` after it is ready, `load` for each {file} of the contract.
    `env` is what the servers are given. `unprivileged`: run by root it runs as another user.
    """

    format: Literal[1] = 1
    title: str
    unprivileged: bool = False
    stop_signal: Literal["SIGTERM", "SIGINT"] = "SIGTERM"
    stop_timeout_s: float = 5.0
    ready_timeout_s: float = 60.0
    database: str = ""
    url: str
    requires: tuple[Requirement, ...]
    prepare: Command | None = None
    run: RunCommand
    settings: dict[str, str] = {}
    ready: Ready
    then: tuple[Command, ...] = ()
    load: Command | None = None
    env: dict[str, str]

    @property
    def stop_number(self) -> int:
        """The signal that asks it to end."""
        return int(signal.Signals[self.stop_signal])


@dataclass(frozen=True, kw_only=True)
class ServiceSpec:
    """A service of a study: what the contract asks of it (`table`), and whether it is an existing one
    (`url`) or our own with these `settings`."""

    name: str
    table: ServiceTable
    contract: Contract
    url: str | None = None
    settings: Mapping[str, str]


def names() -> tuple[str, ...]:
    """The services that there are."""
    return (*sorted(path.stem for path in Path(__file__).parent.glob("*.toml")), UPSTREAM)


def read_service(name: str) -> ServiceManifest:
    """The manifest of a service that is no server. InputError for an unknown one."""
    path = Path(__file__).with_name(f"{name}.toml")
    if not path.is_file():
        raise InputError(f"there is no service {name!r}", toml.nearest(name, names()))
    return toml.read(path, ServiceManifest, "service manifest").value


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with the placeholders of `values` filled in."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), text)


def requirements(name: str) -> tuple[Requirement, ...]:
    """What a private service of that name needs of the machine."""
    return () if name == UPSTREAM else read_service(name).requires


def requirements_of_all(specs: Iterable[ServerSpec]) -> tuple[Requirement, ...]:
    """What the services of these servers need of the machine, each once."""
    names = dict.fromkeys(name for spec in specs for name in services_of(spec))
    return tuple(dict.fromkeys(one for name in names for one in requirements(name)))


def upstreams_of_all(specs: Sequence[ServerSpec], settings: Settings) -> tuple[ServerSpec, ...]:
    """The servers that these servers use as their upstream: they are to be built too."""
    tables = [services_of(spec).get(UPSTREAM) for spec in specs]
    ids = dict.fromkeys(table.server for table in tables if table is not None and table.server is not None)
    return tuple(find_server(name, settings).variant("") for name in ids)


def services_of(spec: ServerSpec) -> dict[str, ServiceTable]:
    """The services of one server: its contract's, and those that its manifest adds."""
    of_contract = read_contract(spec.contract_folder).services
    return of_contract | {name: of_contract.get(name, ServiceTable()) for name in spec.services}


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
