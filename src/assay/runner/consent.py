"""Leave to run commands that somebody else wrote: of a folder's servers and studies, or of a record.

Trusted are the servers and studies of the checkout or bundle that this program belongs to, and records
that this user's Assay wrote itself. Of all others the commands are shown and asked for once. A yes is
remembered in the user's state folder, by a hash of all that it was given for.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from assay.core import console
from assay.core import settings as state
from assay.core.credentials import hidden_by_name
from assay.core.errors import InputError, reason_of
from assay.core.settings import Settings
from assay.core.units import safe
from assay.model.design import AnyDesign, CandidatesDesign, Commands, StudyDesign
from assay.model.run import Header
from assay.plan.resolved import ResolvedRun
from assay.servers.build import content_hash
from assay.servers.contract import FILE as CONTRACT
from assay.servers.manifest import FILE, ServerSpec, read_server
from assay.servers.services import upstreams_of_all
from assay.servers.services.own import ServiceSpec

FLAG = "--yes"
_TRUST = "ASSAY_TRUST"
"""Another variable than ASSAY_YES: leave to load a machine is none to run what somebody wrote."""
_LONGEST = 500
"""Characters of the commands in an error, which is one line."""
_MOST = 1_000
"""What is remembered of a user's leaves, the newest: each changed source and each own run adds one."""


class _Wanted(msgspec.Struct, frozen=True):
    """Commands that would run: whose they are, the file they stand in, and the hash of all that counts."""

    name: str
    commands: tuple[str, ...]
    file: str
    digest: str

    @property
    def in_one_line(self) -> str:
        """In one line, with all that would run: for the screen of who is asked."""
        return safe(f"{self.name}: {'; '.join(self.commands)} ({self.file})", longest=10_000)

    @property
    def logged(self) -> str:
        """In one line, without what may be a credential: it ends in the log of a script."""
        hide = partial(re.compile(r"`(.*)`", re.DOTALL).sub, lambda found: f"`{hidden_by_name(found[1])}`")
        return safe(f"{self.name}: {'; '.join(map(hide, self.commands))} ({self.file})", longest=_LONGEST)


def ask(
    runs: Iterable[ResolvedRun],
    settings: Settings,
    *,
    yes: bool,
    servers: Iterable[ServerSpec] = (),
    record: Header | None = None,
) -> None:
    """Ask before commands are run: of these runs, of `servers` as their manifests say, and of the `record`
    that a run goes on with.

    InputError where leave is not given. `yes` gives it, as ASSAY_TRUST=1 does.
    """
    try:
        wanted = [one for run in runs for one in _of_run(run, settings)]
        wanted += _of_servers(servers, settings, ours=True)
    except OSError as problem:
        raise InputError(f"cannot read {problem.filename}: {reason_of(problem)}") from None
    if record is not None:
        wanted += _of_record(record.run_id, record.design)
    known = _known()
    new = list({one.digest: one for one in wanted if one.digest not in known}.values())
    if new and not (yes or os.environ.get(_TRUST, "0") not in ("", "0")):
        _ask(new)
    _remember(one.digest for one in wanted)


def remember(runs: Iterable[ResolvedRun], settings: Settings) -> None:
    """Leave for runs whose files Assay itself has just written."""
    _remember(one.digest for run in runs for one in _of_run(run, settings))


def remember_record(run_id: str, design: AnyDesign) -> None:
    """Leave to go on with a run that this user has just begun."""
    _remember(one.digest for one in _of_record(run_id, design))


def _ask(new: Sequence[_Wanted]) -> None:
    """InputError where nobody says yes."""
    if console.can_ask():
        console.note("these commands are not Assay's own, and would run as you:")
        for one in new:
            console.note(f"  {one.in_one_line}")
        if not console.confirm("run them?", FLAG):
            raise InputError("nothing was run")
        return
    more = f", and {len(new) - 1} more" if len(new) > 1 else ""
    said = f"commands that are not Assay's own would run: {new[0].logged}{more}"
    raise InputError(said, f"read them, and pass {FLAG} if you mean it")


# --- what would run -----------------------------------------------------------------------


def _of_run(run: ResolvedRun, settings: Settings) -> Iterator[_Wanted]:
    """Of a command line's own servers nothing: they were typed, or stand in a record."""
    ours = not isinstance(run.design, StudyDesign) or _is_ours(Path(run.design.path), settings)
    entries = [case.server for case in run.cases if case.ready is None]
    servers = [one for place, one in enumerate(entries) if one not in entries[:place]]
    yield from _of_servers([*servers, *upstreams_of_all(servers, settings)], settings, ours=ours)
    for service in run.services:
        yield from _of_service(service, settings, ours=ours)


def _of_servers(specs: Iterable[ServerSpec], settings: Settings, *, ours: bool) -> Iterator[_Wanted]:
    """Of each server that is not ours, or that a study which is not `ours` gives settings of its own."""
    for spec in specs:
        own = _is_ours(spec.folder, settings) and _is_ours(spec.contract_folder, settings)
        if not (own and (ours or _is_as_written(spec, settings))):
            yield _of_server(spec, settings)


def _is_as_written(spec: ServerSpec, settings: Settings) -> bool:
    """Whether a server is run as its manifest says, without arguments and variables of a study."""
    written = read_server(spec.folder, settings).variant(spec.variant)
    return (spec.command, spec.env) == (written.command, written.env)


def _of_server(spec: ServerSpec, settings: Settings) -> _Wanted:
    words = [("build", spec.build.command)] if spec.build else []
    words += [("version", spec.version), ("run", spec.command)]
    words += [("look for", one.version) for one in spec.requires if one.version]
    commands = [f"{name} `{shlex.join(command)}`" for name, command in words]
    commands += [f"with `{name}={shlex.quote(value)}`" for name, value in spec.env.items()]
    beside = sorted(path for path in spec.contract_folder.iterdir() if path.is_file())
    contract = [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in beside]
    digest = _digest("server", str(spec.folder.resolve()), commands, content_hash(spec, settings), contract)
    return _Wanted(spec.name, tuple(commands), str(spec.folder / FILE), digest)


def _of_service(service: ServiceSpec, settings: Settings, *, ours: bool) -> Iterator[_Wanted]:
    """A database runs what its settings and SQL files say: both can name commands."""
    folder, files = service.contract.folder, service.table.setup
    own = _is_ours(folder, settings) and (ours or not service.settings)
    if own or not (files or service.settings):
        return
    said = [f"set `{name}={value}`" for name, value in sorted(service.settings.items())]
    commands = (*said, *(f"load `{name}`" for name in files))
    content = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files]
    digest = _digest("service", str(folder.resolve()), service.name, commands, content)
    yield _Wanted(f"service {service.name}", commands, str(folder / CONTRACT), digest)


def _of_record(run_id: str, design: AnyDesign) -> Iterator[_Wanted]:
    """The commands that a record keeps: a study's stand in its file, a load has none."""
    if not isinstance(design, CandidatesDesign):
        return
    commands = [f"run `{candidate.command}`" for candidate in design.candidates if candidate.command]
    around = {name: getattr(design.commands, name) for name in Commands.__struct_fields__}
    commands += [f"{name} `{command}`" for name, command in around.items() if command]
    if commands:
        folder = design.terms.folder if design.terms else ""
        digest = _digest("record", run_id, folder, design.candidates, design.commands)
        yield _Wanted(run_id, tuple(commands), f"its record, in {folder}", digest)


def _digest(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


def _is_ours(path: Path, settings: Settings) -> bool:
    """Whether it lies with the servers and studies of this very program, links followed."""
    homes = ((settings.root / name).resolve() for name in ("servers", "studies"))
    return any(path.resolve().is_relative_to(home) for home in homes)


# --- what leave was given for -------------------------------------------------------------


def _known() -> tuple[str, ...]:
    """What leave was given for, the oldest first."""
    with contextlib.suppress(OSError, RuntimeError, UnicodeDecodeError):
        return tuple(dict.fromkeys(_file().read_text(encoding="ascii").split()))
    return ()


def _remember(digests: Iterable[str]) -> None:
    """Where nothing can be kept, the run goes on, and a later one asks again."""
    used = dict.fromkeys(digests)
    if used.keys() <= set(_known()[-_MOST // 2 :]):
        return
    with contextlib.suppress(OSError, RuntimeError):
        _file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone():
            others = [one for one in _known() if one not in used]
            _write([*others, *used][-_MOST:])


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """No other process of this user writes meanwhile: what it adds would be lost."""
    descriptor = os.open(_file().with_name("consent.lock"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(digests: Iterable[str]) -> None:
    """Whole or not at all, whatever ends this process."""
    beside = _file().with_name(f"consent-{os.getpid()}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.writelines(f"{one}\n" for one in digests)
        beside.replace(_file())
    finally:
        beside.unlink(missing_ok=True)


def _file() -> Path:
    return state.folder() / "consent"
