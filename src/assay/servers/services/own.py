"""A private service: prepared in a temporary folder, started, waited for, loaded, sampled, stopped."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import ServerFailed
from assay.servers import requires
from assay.servers.leftovers import new_folder
from assay.servers.requires import Checked
from assay.servers.sampler import Sampler
from assay.servers.server import HOST, free_port
from assay.servers.services.manifest import ServiceManifest, ServiceSpec, fill
from assay.servers.supervised import Kept, StartOrder, exit_in_words, tail

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
