"""A service that servers use: what it is and needs; a private one from its preparation to its end."""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

import msgspec

from assay.core import toml, urls
from assay.core.errors import InputError, ServerFailed, reason_of
from assay.core.settings import Settings
from assay.model.plan import Value
from assay.servers import requires
from assay.servers.contract import Contract, ServiceTable, read_contract
from assay.servers.manifest import Command, Requirement, ServerSpec, find_server
from assay.servers.requires import Checked
from assay.servers.sampler import Sampler
from assay.servers.server import HOST, free_port
from assay.servers.supervised import Kept, StartOrder, exit_in_words, new_folder, tail

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


class ServiceSpec(msgspec.Struct, frozen=True, kw_only=True):
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


_COMMAND_TIMEOUT_S = 120
_POLL_S = 0.05


@dataclass
class RunningService:
    """A running service. `env` is what servers are given to find it."""

    name: str
    version: str
    cpus: tuple[int, ...]
    env: dict[str, str]
    kept: Kept
    sampler: Sampler

    def died(self) -> str:
        """Why it is no longer there; empty while it is."""
        code = self.kept.exit()
        return "" if code is None else f"{self.name} {exit_in_words(code)}"

    def stop(self) -> None:
        """End it; its folder goes with it."""
        self.kept.stop()


def start_own(
    spec: ServiceSpec, manifest: ServiceManifest, cpus: tuple[int, ...], log: Path
) -> RunningService:
    """Start a private service on a free port. ServerFailed (stage "service") with the end of its log."""
    checked = requires.check_all(manifest.requires)
    lacking = [one for one in checked if not one.fulfilled]
    if lacking:
        raise ServerFailed("service", f"{spec.name}: {'; '.join(one.sentence for one in lacking)}")
    data = new_folder(spec.name)
    try:
        return _Start(spec, manifest, cpus, log, checked, data).run()
    except BaseException:
        shutil.rmtree(data, ignore_errors=True)
        raise


@dataclass
class _Start:
    """The steps of a start, which share their placeholders, their environment and their user."""

    spec: ServiceSpec
    manifest: ServiceManifest
    cpus: tuple[int, ...]
    log: Path
    checked: Sequence[Checked]
    data: Path

    def __post_init__(self) -> None:
        self.user = _other_user() if self.manifest.unprivileged and os.geteuid() == 0 else None
        path = self.checked[0].path
        values = {
            "bin": str(path.resolve().parent) if path else "",
            "data": str(self.data),
            "host": HOST,
            "port": str(free_port()),
            "user": "assay",
            "password": secrets.token_hex(16),
            "database": self.manifest.database,
        }
        self.values = values | {"url": fill(self.manifest.url, values)}
        self.env = {name: fill(value, self.values) for name, value in self.manifest.env.items()}

    def run(self) -> RunningService:
        self._make_folder()
        if self.manifest.prepare is not None:
            self._do(self.manifest.prepare.command)
        kept = Kept(self._order())
        try:
            self._wait(kept)
            for step in self.manifest.then:
                self._do(step.command)
            for file in self.spec.table.setup:
                self._load(self.spec.contract.folder / file)
            sampler = Sampler(kept.supervisor_pid)
        except BaseException:
            kept.stop()
            raise
        version = f"{self.manifest.title} {self.checked[0].version}"
        return RunningService(self.spec.name, version, self.cpus, self.env, kept, sampler)

    def _make_folder(self) -> None:
        password = self.data / "password"
        password.write_text(self.values["password"])
        password.chmod(0o600)
        if self.user is not None:
            for path in (self.data, password):
                os.chown(path, self.user.pw_uid, self.user.pw_gid)

    def _order(self) -> StartOrder:
        command = [fill(word, self.values) for word in self.manifest.run.command]
        for name, value in (self.manifest.settings | dict(self.spec.settings)).items():
            command += [fill(word, {"name": name, "value": value}) for word in self.manifest.run.setting]
        return StartOrder(
            command=command,
            env={**os.environ, **self.env},
            cwd=self.data,
            log=self.log,
            cpus=self.cpus,
            grace_s=self.manifest.stop_timeout_s,
            stop_signal=self.manifest.stop_number,
            user=None if self.user is None else (self.user.pw_uid, self.user.pw_gid),
            remove=self.data,
        )

    def _wait(self, kept: Kept) -> None:
        deadline = time.monotonic() + self.manifest.ready_timeout_s
        while True:
            done = self._call(self.manifest.ready.command)
            if done.returncode == 0 and self.manifest.ready.prints in done.stdout.decode(errors="replace"):
                return
            code = kept.exit(wait_s=_POLL_S)
            if code is not None:
                raise ServerFailed("service", f"{self.spec.name} {exit_in_words(code)}", kept.log_tail())
            if time.monotonic() > deadline:
                waited = f"{self.spec.name} was not ready within {self.manifest.ready_timeout_s:g} s"
                raise ServerFailed("service", waited, kept.log_tail())

    def _load(self, file: Path) -> None:
        if self.manifest.load is None:
            raise ServerFailed("service", f"{self.spec.name} cannot load {file}")
        # Read by us and handed over: the service's user may not be allowed to see the checkout.
        copy = self.data / file.name
        shutil.copyfile(file, copy)
        copy.chmod(0o644)
        self._do([fill(word, {"file": str(copy)}) for word in self.manifest.load.command])

    def _do(self, command: Sequence[str]) -> None:
        done = self._call(command)
        with self.log.open("ab") as log:
            log.write(done.stdout + done.stderr)
        if done.returncode != 0:
            said = f"{self.spec.name}: {Path(command[0]).name} {exit_in_words(done.returncode)}"
            raise ServerFailed("service", said, tail(self.log))

    def _call(self, command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        words = [fill(word, self.values) for word in command]
        try:
            return subprocess.run(
                words,
                env={**os.environ, **self.env},
                cwd=self.data,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_COMMAND_TIMEOUT_S,
                check=False,
                user=None if self.user is None else self.user.pw_uid,
                group=None if self.user is None else self.user.pw_gid,
                extra_groups=None if self.user is None else [],
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ServerFailed("service", f"{self.spec.name}: cannot run {words[0]}: {error}") from error


def _other_user() -> pwd.struct_passwd:
    """Whom a service runs as that must not run as root."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise ServerFailed("service", "there is no user to run as who is not root")
