"""Server manifests, `servers/<contract>/<stack>/server.toml`: how a server is had, run and told apart.

A manifest is read once and laid together with one of its variants into a `ServerSpec`; the
placeholders in its commands are filled in when a port and cores are known (`Placeholders`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay.core import toml
from assay.core.errors import InputError, Unknown
from assay.core.settings import Settings
from assay.model.plan import Value

Fact = str | int | float | bool
Scheme = Literal["http", "https"]

FILE = "server.toml"


class Requirement(Value, frozen=True, kw_only=True):
    """One thing the machine must have: a command, a file, a JDK, or a variable that names a path.

    A command is looked for on the PATH, then in `folders` (globs; of several the last by name).
    `version` is the command that prints the version (its first dotted number counts; one that fails
    means that the thing is missing), `debian` the package that installs it, `missing` the line that
    says what to do where it is not there, `label` what a screen calls it.
    """

    label: str = ""
    command: str | None = None
    folders: tuple[str, ...] = ()
    file: str | None = None
    env: str | None = None
    jdk: int | None = None
    version: tuple[str, ...] = ()
    at_least: str = ""
    debian: str = ""
    missing: str = ""

    def __post_init__(self) -> None:
        """Exactly one kind."""
        kinds = [kind for kind in (self.command, self.file, self.env, self.jdk) if kind is not None]
        if len(kinds) != 1:
            raise ValueError("give exactly one of command, file, env and jdk")
        if self.at_least and not self.version:
            raise ValueError("at_least needs version, the command that prints the version")

    @property
    def name(self) -> str:
        """What it is called on a screen."""
        return self.label or (f"JDK {self.jdk}" if self.jdk else str(self.command or self.file or self.env))


class Build(Value, frozen=True, kw_only=True):
    """How the program is made. `inputs` are globs below the folder; one that begins with `../` or
    `{root}/` counts for the hash and is not copied."""

    command: tuple[str, ...]
    inputs: tuple[str, ...] = ("**/*",)
    timeout_s: float = 1800.0


class Command(Value, frozen=True, kw_only=True):
    """A command that prints one line."""

    command: tuple[str, ...]


class RunTable(Value, frozen=True, kw_only=True):
    """How the program is run: in the foreground, until SIGTERM.

    `scheme` is how it is asked on its port; behind https any certificate of its own is taken. `start_s` is
    the usual time to its first right answer on one core, for estimates of how long a run takes.
    """

    command: tuple[str, ...]
    scheme: Scheme = "http"
    env: dict[str, str] = {}
    start_s: float = 0.5
    ready_timeout_s: float = 30.0
    stop_timeout_s: float = 5.0
    services: tuple[str, ...] = ()


class Variant(Value, frozen=True, kw_only=True):
    """What differs: `env`, `facts` and `requires` are added, `args` appended, the rest replaces."""

    env: dict[str, str] = {}
    args: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None
    facts: dict[str, Fact] = {}
    requires: tuple[Requirement, ...] = ()
    build: Build | None = None
    version: Command | None = None
    scheme: Scheme | None = None
    start_s: float | None = None
    ready_timeout_s: float | None = None


class Manifest(Value, frozen=True, kw_only=True):
    """A server manifest as written."""

    format: Literal[1] = 1
    title: str
    language: str
    framework: str
    published: str = ""
    role: Literal["candidate", "ceiling", "reference"] = "candidate"
    routes: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    build: Build | None = None
    version: Command
    run: RunTable
    facts: dict[str, Fact] = {}
    variants: dict[str, Variant] = {}


class Server(msgspec.Struct, frozen=True):
    """A server folder: its manifest and where it lies. `id` is "<contract>/<stack>"."""

    id: str
    folder: Path
    contract_folder: Path
    manifest: Manifest

    @property
    def contract(self) -> str:
        """The contract's name."""
        return self.id.partition("/")[0]

    def variant(self, name: str) -> ServerSpec:
        """The server with a variant laid over it. InputError for one the manifest does not have;
        the profiles' own names, `fair` and `published`, are always there."""
        chosen = self.manifest.variants.get(name)
        if chosen is None:
            if name not in ("", "fair", "published"):
                near = toml.nearest(name, self.manifest.variants)
                raise Unknown(f"server {self.id} has no variant {name!r}", near, str(self.folder / FILE))
            chosen = Variant()
        manifest, run = self.manifest, self.manifest.run
        return ServerSpec(
            id=self.id,
            variant=name,
            title=manifest.title,
            role=manifest.role,
            folder=self.folder,
            contract_folder=self.contract_folder,
            routes=manifest.routes,
            requires=(*manifest.requires, *chosen.requires),
            build=chosen.build or manifest.build,
            version=(chosen.version or manifest.version).command,
            command=(*(chosen.command or run.command), *chosen.args),
            scheme=chosen.scheme or run.scheme,
            env={**run.env, **chosen.env},
            facts={**manifest.facts, **chosen.facts},
            services=run.services,
            start_s=run.start_s if chosen.start_s is None else chosen.start_s,
            ready_timeout_s=chosen.ready_timeout_s or run.ready_timeout_s,
            stop_timeout_s=run.stop_timeout_s,
        )


class ServerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One server in one variant, with nothing left to choose but the port and the cores."""

    id: str
    variant: str
    title: str
    role: str
    folder: Path
    contract_folder: Path
    routes: tuple[str, ...]
    requires: tuple[Requirement, ...]
    build: Build | None
    version: tuple[str, ...]
    command: tuple[str, ...]
    scheme: Scheme = "http"
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    facts: Mapping[str, Fact] = msgspec.field(default_factory=dict)
    services: tuple[str, ...] = ()
    start_s: float = 0.5
    ready_timeout_s: float = 30.0
    stop_timeout_s: float = 5.0

    @property
    def name(self) -> str:
        """Server and variant."""
        return f"{self.id} ({self.variant})" if self.variant else self.id

    def overlaid(
        self, env: Mapping[str, str], args: Sequence[str], facts: Mapping[str, Fact], services: Sequence[str]
    ) -> ServerSpec:
        """The same with a study's own settings on top."""
        return replace(
            self,
            command=(*self.command, *args),
            env={**self.env, **env},
            facts={**self.facts, **facts},
            services=tuple(dict.fromkeys((*services, *self.services))),
        )


class Placeholders(msgspec.Struct, frozen=True, kw_only=True):
    """What the placeholders of a manifest stand for; `python` is the one that Assay itself runs in."""

    out: Path
    source: Path
    root: Path
    contract: Path
    cores: int
    host: str = "127.0.0.1"
    port: int = 0
    java_home: Path | None = None
    python: str = sys.executable

    def fill(self, text: str) -> str:
        """`text` with its placeholders filled in; other braces stay as they are."""
        return _PLACEHOLDER.sub(lambda found: str(getattr(self, found[1]) or ""), text)

    def fill_all(self, words: Sequence[str]) -> list[str]:
        """A command with its placeholders filled in."""
        return [self.fill(word) for word in words]

    def fill_facts(self, facts: Mapping[str, Fact]) -> dict[str, Fact]:
        """Facts with placeholders filled in; text that is a whole number becomes one."""
        filled = {name: self.fill(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
        return {
            name: int(fact) if isinstance(fact, str) and fact.isdecimal() else fact
            for name, fact in filled.items()
        }


_PLACEHOLDER = re.compile(r"\{(out|source|root|contract|cores|host|port|java_home|python)\}")


def find_server(name: str, settings: Settings) -> Server:
    """The server called "<contract>/<stack>". InputError names the nearest ones."""
    for folder in settings.server_folders:
        if (folder / name / FILE).is_file() and name.count("/") == 1:
            return read_server(folder / name, settings)
    known = [f"{path.parent.parent.name}/{path.parent.name}" for path in _manifests(settings)]
    searched = ", ".join(str(folder) for folder in settings.server_folders)
    raise Unknown(f"there is no server {name!r} in {searched}", toml.nearest(name, known))


def list_servers(settings: Settings) -> tuple[Server, ...]:
    """Every server of every folder, by name; of two with one name the first folder's counts."""
    found: dict[str, Server] = {}
    for path in _manifests(settings):
        server = read_server(path.parent, settings)
        found.setdefault(server.id, server)
    return tuple(found[name] for name in sorted(found))


def read_server(folder: Path, settings: Settings) -> Server:
    """The server of one folder. Its contract lies above it or under its name in another folder."""
    manifest = toml.read(folder / FILE, Manifest, "server manifest").value
    contract = folder.parent.name
    places = [folder.parent, *(other / contract for other in settings.server_folders)]
    home = next((place for place in places if (place / "contract.toml").is_file()), None)
    if home is None:
        raise InputError(
            f"{folder / FILE}: there is no contract {contract!r}", f"write {folder.parent / 'contract.toml'}"
        )
    return Server(f"{contract}/{folder.name}", folder, home, manifest)


def json_schema() -> dict[str, object]:
    """The JSON Schema of a server manifest."""
    return msgspec.json.schema(Manifest)


def _manifests(settings: Settings) -> list[Path]:
    return [path for folder in settings.server_folders for path in sorted(folder.glob(f"*/*/{FILE}"))]
