"""Builds, named by the content that they are made from: nothing is rebuilt when nothing changed.

A build lives in `<cache>/builds/<contract>/<stack>/<hash>/`: `source/` is a copy of the inputs, all
else is the build's own. Build tools write absolute paths into what they make, so it is built where it
stays; the file `complete`, written last, makes it valid, and a folder without it is thrown away.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import structs
from msgspec.structs import replace

from assay.core import git
from assay.core.errors import ServerFailed, reason_of
from assay.core.settings import Settings
from assay.servers import requires, supervised
from assay.servers.manifest import Build, Placeholders, ServerSpec
from assay.servers.requires import Checked
from assay.servers.supervised import Kept, StartOrder, exit_in_words

_COMPLETE = "complete"
_KEPT_BUILDS = 8
"""The newest builds of a server that are kept: variants that are built apart,
and going back to a branch, rebuild nothing."""

_VERSION_TIMEOUT_S = 60
_LOOK_S = 0.5

Say = Callable[[str], None]


class Digest(Protocol):
    """A hash that takes content in pieces."""

    def update(self, content: bytes, /) -> None:
        """Take the next piece."""


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A server that can be started. `built_s` is None where nothing had to be built; `only_port` is the
    one port that it can be started on, where it cannot be told another."""

    spec: ServerSpec
    places: Placeholders
    version: str
    requirements: tuple[Checked, ...]
    built_s: float | None
    only_port: int | None = None


def prepare(
    spec: ServerSpec,
    settings: Settings,
    cores: int,
    say: Say = lambda step: None,
    cancel: threading.Event | None = None,
) -> Prepared:
    """Check what a server needs, build it if its content is new, and ask its version.

    `say` is told in a word or two what goes on; `cancel` ends a build under way. ServerFailed with
    stage "requires", "build" or "version" where that does not work out.
    """
    say("checking")
    checked = requires.check_all(spec.requires)
    lacking = [one for one in checked if not one.fulfilled]
    if lacking:
        raise ServerFailed("requires", "; ".join(one.sentence for one in lacking))
    places = _places(spec, settings, cores, checked)
    built_s = None
    if spec.build is not None:
        with _locked(settings, spec, say):
            built_s = _build(spec, settings, places, say, cancel)
    try:
        version = _ask_version(spec, places)
    except ServerFailed:
        if spec.build is None or built_s is not None:
            raise
        # A build that was whole once and no longer tells its version was damaged: make it anew.
        with _locked(settings, spec, say):
            (places.out / _COMPLETE).unlink(missing_ok=True)
            built_s = _build(spec, settings, places, say, cancel)
        version = _ask_version(spec, places)
    return Prepared(spec=spec, places=places, version=version, requirements=checked, built_s=built_s)


def is_built(spec: ServerSpec, settings: Settings, cores: int, checked: Sequence[Checked]) -> bool:
    """Whether there is a whole build of what the server's folder holds now."""
    return (_places(spec, settings, cores, checked).out / _COMPLETE).exists()


def program_env(spec: ServerSpec, places: Placeholders, extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server's programs: ours, the contract of the brief, the manifest's own."""
    env = dict(os.environ)
    env |= {"HOST": places.host, "PORT": str(places.port), "CORES": str(places.cores)}
    env["CONTRACT_DIR"] = str(places.contract)
    if places.java_home is not None:
        env["JAVA_HOME"] = str(places.java_home)
    env |= extra
    return env | {name: places.fill(value) for name, value in spec.env.items()}


def _places(spec: ServerSpec, settings: Settings, cores: int, checked: Sequence[Checked]) -> Placeholders:
    home = requires.java_home(spec.requires)  # of several JDKs asked for, the newest
    bare = Placeholders(
        out=Path(),
        source=spec.folder,
        root=settings.root,
        contract=spec.contract_folder,
        cores=cores,
        java_home=home,
    )
    out = settings.cache / "builds" / spec.id / _content_hash(spec, bare, checked)
    return structs.replace(bare, out=out, source=out / "source" if spec.build is not None else spec.folder)


# --- what a build is made from ------------------------------------------------------------


def _content_hash(spec: ServerSpec, places: Placeholders, checked: Sequence[Checked]) -> str:
    """Of the inputs' names, modes and content, the build's table, and the tools' versions."""
    digest = hashlib.sha256()
    if spec.build is not None:
        digest.update(msgspec.json.encode(spec.build, order="sorted"))
        _add_inputs(digest, spec, places)
    digest.update(json.dumps([[one.requirement.name, one.line] for one in checked]).encode())
    digest.update(str(places.contract).encode())
    return digest.hexdigest()[:16]


def content_hash(spec: ServerSpec, settings: Settings) -> str:
    """Of the names, modes and content of what the server is made from; where nothing is built, of its
    folder. Nothing is run for it but git."""
    whole = spec if spec.build is not None else replace(spec, build=Build(command=()))
    digest = hashlib.sha256()
    bare = Placeholders(
        out=Path(), source=spec.folder, root=settings.root, contract=spec.contract_folder, cores=1
    )
    _add_inputs(digest, whole, bare)
    return digest.hexdigest()


def _add_inputs(digest: Digest, spec: ServerSpec, places: Placeholders) -> None:
    for name, path in _inputs(spec, places):
        digest.update(f"\0{name}\0{path.stat().st_mode & 0o111:o}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())


def _inputs(spec: ServerSpec, places: Placeholders) -> list[tuple[str, Path]]:
    """The inputs by name, each once, sorted. What git ignores (an IDE's files, a tool's output) is none."""
    assert spec.build is not None  # asked by the caller
    found: dict[str, Path] = {}
    for pattern in spec.build.inputs:
        base, below = _base_of(pattern, spec, places)
        known = tracked(base)
        for path in sorted(base.glob(below)):
            if path.is_file() and (known is None or path in known):
                inside = path.is_relative_to(spec.folder)
                found[str(path.relative_to(spec.folder)) if inside else f"/{path.relative_to(base)}"] = path
    return sorted(found.items())


def _base_of(pattern: str, spec: ServerSpec, places: Placeholders) -> tuple[Path, str]:
    base = spec.folder
    for prefix, folder in (("{root}/", places.root), ("{contract}/", places.contract)):
        if pattern.startswith(prefix):
            return folder, pattern.removeprefix(prefix)
    while pattern.startswith("../"):
        base, pattern = base.parent, pattern.removeprefix("../")
    return base, pattern


def tracked(folder: Path) -> frozenset[Path] | None:
    """The files below `folder` that git tracks or would track; None where there is no git to ask."""
    listed = git.ask(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", ".")
    if listed is None:
        return None
    names = [name for name in listed.decode(errors="surrogateescape").split("\0") if name]
    return frozenset(folder / name for name in names) or None


# --- building -----------------------------------------------------------------------------


@contextlib.contextmanager
def _locked(settings: Settings, spec: ServerSpec, say: Say) -> Iterator[None]:
    """Against a second builder of the same server; waits for it, and says so."""
    folder = settings.cache / "builds" / spec.id
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ServerFailed("build", f"cannot write {folder}: {reason_of(error)}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another build")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _build(
    spec: ServerSpec, settings: Settings, places: Placeholders, say: Say, cancel: threading.Event | None
) -> float | None:
    """Build into `places.out` unless that is complete; the seconds it took."""
    assert spec.build is not None  # asked by the caller
    if (places.out / _COMPLETE).exists():
        os.utime(places.out / _COMPLETE)
        return None
    say("building")
    started = time.monotonic()
    log = settings.cache / "logs" / f"build-{spec.id.replace('/', '-')}-{places.out.name}.log"
    try:
        shutil.rmtree(places.out, ignore_errors=True)
        _copy(spec, places)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
    except OSError as error:
        raise ServerFailed("build", f"cannot write {places.out}: {reason_of(error)}") from error
    _run_build(spec, places, log, cancel)
    _complete(places.out)
    _prune(places.out)
    return time.monotonic() - started


def _copy(spec: ServerSpec, places: Placeholders) -> None:
    places.source.mkdir(parents=True)
    for name, path in _inputs(spec, places):
        if not name.startswith("/"):
            (places.source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, places.source / name)


def _run_build(spec: ServerSpec, places: Placeholders, log: Path, cancel: threading.Event | None) -> None:
    assert spec.build is not None  # asked by the caller
    temporary = supervised.new_folder("build")
    order = StartOrder(
        command=places.fill_all(spec.build.command),
        env=program_env(spec, places, {"TMPDIR": str(temporary)}),
        cwd=places.source,
        remove=temporary,  # what a compiler that is broken off leaves there
        log=log,
    )
    try:
        kept = Kept(order)
    except ServerFailed as failed:
        raise ServerFailed("build", str(failed)) from failed
    try:
        code, deadline = None, time.monotonic() + spec.build.timeout_s
        while code is None and time.monotonic() < deadline and not (cancel and cancel.is_set()):
            code = kept.wait(_LOOK_S)
    finally:
        kept.stop()
    if cancel and cancel.is_set():
        raise ServerFailed("build", "the build was broken off")
    if code is None:
        problem = f"the build took longer than {spec.build.timeout_s:g} s; its log is {log}"
        raise ServerFailed("build", problem, kept.log_tail())
    if code != 0:
        problem = f"the build {exit_in_words(code)}; its log is {log}"
        raise ServerFailed("build", problem, kept.log_tail())


def _complete(out: Path) -> None:
    with (out / _COMPLETE).open("wb") as mark:
        os.fsync(mark.fileno())


def _prune(newest: Path) -> None:
    """Drop the oldest builds of the same server."""
    builds = [path for path in newest.parent.iterdir() if path.is_dir() and path != newest]
    builds.sort(key=lambda path: (path / _COMPLETE).stat().st_mtime if (path / _COMPLETE).exists() else 0.0)
    for old in builds[: max(0, len(builds) - (_KEPT_BUILDS - 1))]:
        shutil.rmtree(old, ignore_errors=True)


def _ask_version(spec: ServerSpec, places: Placeholders) -> str:
    """The first line that the version command prints. No version, no measurement."""
    command = places.fill_all(spec.version)
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            cwd=places.source,
            env=program_env(spec, places, {}),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerFailed("version", f"cannot ask for the version: {error}") from error
    said = (done.stdout + b"\n" + done.stderr).decode(errors="replace")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if done.returncode != 0:
        raise ServerFailed(
            "version", f"`{' '.join(command)}` {exit_in_words(done.returncode)}", "\n".join(lines[-12:])
        )
    if not lines:
        raise ServerFailed("version", f"`{' '.join(command)}` names no version: no version, no measurement")
    return lines[0][:200]
