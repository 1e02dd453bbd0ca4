"""What services there are and how each is had, run and told ready: `<name>.toml` beside this file."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.core import toml
from assay.core.errors import InputError
from assay.model.plan import Value
from assay.servers.contract import Contract, ServiceTable
from assay.servers.manifest import Command, Requirement

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
