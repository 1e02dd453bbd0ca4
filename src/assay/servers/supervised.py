"""A program under a supervisor, seen from the harness: start, watch, stop.

The temporary folders of a process lie below one of its own, the mark: `assay-run-…` in the system's folder
for such. A file in it is locked for as long as the process lives, however that ends, and the supervisors of
its programs carry the mark on their command line. So the next run knows of each folder, and of each
supervisor, whether its owner is still there. Neither a process id that is used again nor a container with
process ids of its own can deceive it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import json
import os
import resource
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import psutil

from assay.core.errors import ServerFailed

if TYPE_CHECKING:
    import psutil


_PREFIX = "assay-run-"
_OWNER = "owner"
_POLL_S = 0.02
_PATIENCE_S = 15.0
"""How long a supervisor that was stopped may take to end its programs: their own grace is 10 s at most."""


@functools.cache
def mark() -> Path:
    """The folder of this process; it goes with it."""
    made = Path(tempfile.mkdtemp(prefix=_PREFIX))
    made.chmod(0o711)  # a service that runs as another user has its folder below
    # Locked before it has its name: a mark without its file is one that is being made.
    descriptor = os.open(made / "new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    (made / "new").rename(made / _OWNER)
    atexit.register(_remove, made, os.getpid())
    return made


def new_folder(name: str) -> Path:
    """A private temporary folder of this process; whoever makes it removes it."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=mark()))


@contextlib.contextmanager
def folder(name: str) -> Iterator[Path]:
    """The same for as long as a `with` block lasts."""
    made = new_folder(name)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def sweep() -> None:
    """End the supervisors, and remove the folders, of this user's processes that are gone."""
    for found in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with _ownerless(found) as left:
            if left:
                _end_supervisors(found)
                shutil.rmtree(found, ignore_errors=True)


def _remove(made: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a child that inherited what is to be done at the end
        shutil.rmtree(made, ignore_errors=True)


@contextlib.contextmanager
def _ownerless(found: Path) -> Iterator[bool]:
    """Whether it is a mark of this user's whose process is gone; nobody else sweeps it meanwhile."""
    try:
        seen = found.lstat()
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid():
            raise PermissionError
        descriptor = os.open(found / _OWNER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _end_supervisors(found: Path) -> None:
    """Let those that were stopped go on: their input has ended, so they end all that they stand over."""
    import psutil

    supervisors = [
        process
        for process in psutil.process_iter(["cmdline", "uids"])
        if str(found) in (process.info["cmdline"] or ())
        and process.info["uids"] is not None
        and process.info["uids"].real == os.geteuid()
    ]
    for supervisor in supervisors:
        with contextlib.suppress(psutil.Error):
            supervisor.resume()
    deadline = time.monotonic() + _PATIENCE_S
    while any(map(is_alive, supervisors)) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    for supervisor in filter(is_alive, supervisors):
        with contextlib.suppress(psutil.Error):
            for process in [*supervisor.children(recursive=True), supervisor]:
                process.kill()


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs: one that has ended, and that nobody has asked after yet, does not."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_START_TIMEOUT_S = 30.0
_KILL_TIMEOUT_S = 20.0
_TAIL_LINES = 12
_TAIL_BYTES = 16_384


class StartOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What to run: `command` in `cwd`, its output appended to `log`, on `cpus` (empty: any).

    `stop_signal` asks it to end; what is left after `grace_s` is killed. `user` are the user and group
    ids to run as, if not ours; `remove` is a folder that goes when the program has gone.
    """

    command: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    log: Path
    cpus: tuple[int, ...] = ()
    grace_s: float = 5.0
    stop_signal: int = signal.SIGTERM
    user: tuple[int, int] | None = None
    remove: Path | None = None


class Kept:
    """A running program and everything that it has started; none of it outlives this process."""

    def __init__(self, order: StartOrder) -> None:
        """Start it. ServerFailed (stage "start") where the command cannot be run."""
        self.order = order
        self._log_begin = order.log.stat().st_size if order.log.exists() else 0
        self._ended: int | None = None
        self._stopped: int | None = None
        self._unread = b""
        self._silent = False
        self.supervisor_pid = 0
        """The process that is the parent of the tree; 0 until it is there."""
        self._supervisor = _waiting_supervisor() or _new_supervisor()
        _live.add(self)
        try:
            self._send(_order_json(order))
            report = self._first_report()
        except BaseException:
            self.stop()
            raise
        self.pid: int = report["pid"]
        self.started_ns: int = report["started_ns"]
        self.supervisor_pid = report["supervisor"]

    def _send(self, line: str) -> None:
        assert self._supervisor.stdin is not None  # asked for above
        with contextlib.suppress(BrokenPipeError):  # a supervisor that is gone is told below
            self._supervisor.stdin.write(line.encode() + b"\n")

    def _first_report(self) -> dict[str, int]:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            for report in self._reports(0.5):
                if "pid" in report:
                    return report
                program = self.order.command[0]
                raise ServerFailed("start", f"cannot run {program}: {str(report.get('error')).lower()}")
            if self._supervisor.poll() is not None:
                break
        raise ServerFailed("start", f"the process that watches over {self.order.command[0]} did not start")

    def _reports(self, wait_s: float) -> list[dict[str, int]]:
        """What the supervisor has said since; waits at most `wait_s` for it."""
        pipe = self._supervisor.stdout
        assert pipe is not None  # asked for above
        if pipe.closed or not select.select([pipe], [], [], wait_s)[0]:
            return []
        said = os.read(pipe.fileno(), 65_536)
        *lines, self._unread = (self._unread + said).split(b"\n")
        reports: list[dict[str, int]] = [json.loads(line) for line in lines]
        for report in reports:
            self._ended = report.get("exit", self._ended)
            self._stopped = report.get("stopped", self._stopped)
        if not said:
            self._silent = True
            time.sleep(min(wait_s, 0.01))  # the end of the pipe is always readable
        return reports

    def exit(self, wait_s: float = 0.0) -> int | None:
        """The program's exit code (negative: the signal that ended it), or None while it runs."""
        if self._ended is None:
            self._reports(wait_s)
        if self._ended is None and (self._silent or self._supervisor.poll() is not None):
            self._reports(0)
            if self._ended is None:
                self._ended = -signal.SIGKILL  # the supervisor was killed, and the program with it
        return self._ended

    def wait(self, timeout_s: float) -> int | None:
        """Wait for the program's end; None where it still runs after `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        while self.exit(wait_s=min(0.5, max(0.0, deadline - time.monotonic()))) is None:
            if time.monotonic() >= deadline:
                return None
        return self._ended

    def stop(self) -> int:
        """End the program and all that it started; how many processes had to be killed.

        ServerFailed (stage "stop") should anything survive that.
        """
        supervisor = self._supervisor
        _live.discard(self)
        with contextlib.suppress(OSError):
            if supervisor.stdin is not None:
                supervisor.stdin.close()
        deadline = time.monotonic() + self.order.grace_s + _KILL_TIMEOUT_S
        while supervisor.poll() is None and time.monotonic() < deadline:
            self._reports(0.2)
        if supervisor.poll() is None:
            left = ", ".join(str(process.pid) for process in self.tree())
            raise ServerFailed("stop", f"processes that cannot be ended: {left}")
        self._reports(0)
        if supervisor.stdout is not None:
            supervisor.stdout.close()
        return _end_session(supervisor.pid) if self._stopped is None else self._stopped

    def tree(self) -> list[psutil.Process]:
        """The live processes of the program, without its supervisor."""
        try:
            return psutil.Process(self.supervisor_pid or self._supervisor.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def log_tail(self) -> str:
        """The last lines that this program wrote."""
        return tail(self.order.log, self._log_begin)


def _new_supervisor() -> subprocess.Popen[bytes]:
    """One that waits for its order."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_SUPERVISOR), str(mark())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,  # the terminal's Ctrl-C is for the harness alone
    )


class _WithoutOrder(NamedTuple):
    """A supervisor without an order, and the network of the thread that started it, which will be its
    program's."""

    supervisor: subprocess.Popen[bytes]
    network: int


_waiting: list[_WithoutOrder] = []


def make_ready(programs: int) -> None:
    """Start the supervisors of so many programs to come: they need longer to start than many a program.
    Those that none has come for go with `stop_all`."""
    while len(_waiting) < programs:
        _waiting.append(_WithoutOrder(_new_supervisor(), _network()))


def _waiting_supervisor() -> subprocess.Popen[bytes] | None:
    """One that was made ready in this thread's network, and lives."""
    here = _network()
    for one in [*_waiting]:
        if one.network == here and one.supervisor.poll() is None:
            with contextlib.suppress(ValueError):  # another thread was faster
                _waiting.remove(one)
                return one.supervisor
    return None


def _network() -> int:
    """What tells the network namespace of this thread from others; 0 where there are none."""
    try:
        return os.stat("/proc/thread-self/ns/net").st_ino  # noqa: PTH116
    except OSError:
        return 0


def _let_go(supervisor: subprocess.Popen[bytes]) -> None:
    """End one that has had no order: nothing is below it."""
    supervisor.kill()
    for pipe in (supervisor.stdin, supervisor.stdout):
        if pipe is not None:
            pipe.close()
    supervisor.wait()


def _end_session(of: int) -> int:
    """Kill what is left of a supervisor that was killed: its own child went with it, but not that one's
    children. How many there were."""
    killed = 0
    for pid in psutil.pids():
        with contextlib.suppress(OSError):
            if pid != of and os.getsid(pid) == of:
                os.kill(pid, signal.SIGKILL)
                killed += 1
    return killed


_live: set[Kept] = set()
"""Every program that has not been stopped yet."""


def stop_all() -> None:
    """End every program that is still kept: what Ctrl-C in the midst of anything may have left."""
    while _waiting:
        _let_go(_waiting.pop().supervisor)
    for kept in list(_live):
        kept.stop()


def tail(log: Path, begin: int = 0) -> str:
    """The last lines of a log from byte `begin` on; empty where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(begin, log.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join([line.rstrip() for line in lines if line.strip()][-_TAIL_LINES:])


def exit_in_words(code: int) -> str:
    """An exit code as a person says it."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _order_json(order: StartOrder) -> str:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return json.dumps(
        {
            "command": list(order.command),
            "env": dict(order.env),
            "cwd": str(order.cwd),
            "log": str(order.log),
            "cpus": list(order.cpus),
            "own_cpus": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [],
            "grace_s": order.grace_s,
            "stop_signal": int(order.stop_signal),
            # Whatever a server needs and may have; how many connections it is offered is the study's affair.
            "nofile": hard,
            "user": order.user,
            "remove": str(order.remove) if order.remove else "",
        }
    )
