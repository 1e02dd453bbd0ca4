"""The process that stands over a program: starts it, watches it, and ends all of it.

Run by path as a script of its own (`python -I -S supervisor.py MARK`, so that it starts in milliseconds; the
mark says whose it is, see supervised.py) and therefore imports nothing but light parts of the standard
library. It

- has a session of its own (the terminal's Ctrl-C does not reach it or the program),
- becomes the child subreaper, so that a descendant that detaches itself (double fork, setsid) comes
  back to it instead of to init,
- takes the cores that it is told to take, and with it all that it starts,
- reports in JSON lines on standard output: {"pid": …, "started_ns": …, "supervisor": …} or {"error": …}, then
  {"exit": status} when the program itself has ended, and {"stopped": killed} at the very end,
- ends everything when its standard input ends or says anything: SIGTERM to the program, as soon as that is
  gone SIGTERM to what is left, after the grace SIGKILL to all, until no descendant is left.

Standard input ends when the harness dies, however it dies: also on SIGKILL. Who is killed first may be the
supervisor itself (a process of Ray's kills its children before it goes), so it is two processes: a guard,
which the harness starts and which only waits, and its child, which does all of the above. Where the child is
killed, all that it stood over comes back to the guard (it is a child subreaper, too), which kills it; where
the guard is, the child gets SIGTERM from the kernel (PR_SET_PDEATHSIG) and ends everything in order.

The order is the first line of standard input, not an argument: environments may hold what others should
not see. JSON: {"command", "env", "cwd", "log", "cpus", "own_cpus", "grace_s", "stop_signal", "nofile",
"user", "remove"}. It may come long after the start: until then the supervisor waits, on any core.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_POLL_S = 0.02


def main() -> int:
    """Stand over the program until all of it is gone."""
    prctl = _prctl()  # what there is to import is imported before there is an order
    order = _order()
    if order is None:
        return 1
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if order["own_cpus"]:
        os.sched_setaffinity(0, order["own_cpus"])
    guard, supervisor = os.getpid(), os.fork()
    if supervisor:
        return _guard(supervisor, order["remove"])
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if order["cpus"] and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, order["cpus"])
    wakeup, wake = os.pipe()
    os.set_blocking(wakeup, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDONLY)
    signal.signal(signal.SIGTERM, lambda *_: os.dup2(nothing, 0) and None)  # as if the harness were gone
    prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != guard:
        return 1
    try:
        pid = _start(order, prctl)
    except OSError as error:
        _report({"error": error.strerror or str(error), "errno": error.errno})
        return 1
    return _watch(pid, order, wakeup)


def _guard(supervisor: int, remove: str) -> int:
    """Wait for the supervisor's end, and kill what it has left where it was killed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1):  # they end with the supervisor
        os.dup2(nothing, pipe)
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _send(supervisor, signal.SIGTERM))
    status = 0
    ended = 0
    while ended != supervisor:
        ended, status = os.waitpid(-1, 0)
    left = _descendants()
    while left:
        for one in left:
            _send(one, signal.SIGKILL)
        _reap(supervisor)
        time.sleep(_POLL_S / 4)
        left = _descendants()
    if remove:
        _remove(remove)
    return abs(os.waitstatus_to_exitcode(status))


def _order() -> dict[str, Any] | None:
    """The first line of standard input; None where that ended before it was whole."""
    read = b""
    while not read.endswith(b"\n"):
        more = os.read(0, 65_536)
        if not more:
            return None
        read += more
    order: dict[str, Any] = json.loads(read)
    return order


def _watch(pid: int, order: dict[str, Any], wakeup: int) -> int:
    """Report the program's end; when told to, or left alone, end everything."""
    gone = False
    while True:
        ready, _, _ = select.select([0, wakeup], [], [])
        with contextlib.suppress(BlockingIOError):
            os.read(wakeup, 512)
        gone = _reap(pid) or gone
        if 0 in ready:
            killed = _end(pid, gone, order["grace_s"], order["stop_signal"], wakeup)
            if order["remove"]:
                _remove(order["remove"])
            _report({"stopped": killed})
            return 0


def _start(order: dict[str, Any], prctl: Callable[[int, int], int]) -> int:
    """Fork and exec; an exec that fails is an OSError here, handed over through a pipe."""
    failed, fail = os.pipe()
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    started_ns = time.monotonic_ns()
    pid = os.fork()
    if pid == 0:
        try:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            for default in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGTERM, signal.SIGCHLD):
                signal.signal(default, signal.SIG_DFL)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.dup2(log, 1)
            os.dup2(log, 2)
            resource.setrlimit(resource.RLIMIT_NOFILE, (order["nofile"], order["nofile"]))
            os.chdir(order["cwd"])
            if order["user"] is not None:
                uid, gid = order["user"]
                os.setgroups([])
                os.setgid(gid)
                os.setuid(uid)
                prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user forgets it
            os.execvpe(order["command"][0], order["command"], order["env"])
        except OSError as error:
            os.write(fail, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(fail)
    os.close(log)
    reason = os.read(failed, 16)
    os.close(failed)
    if reason:
        os.waitpid(pid, 0)
        raise OSError(int(reason), os.strerror(int(reason)))
    _report({"pid": pid, "started_ns": started_ns, "supervisor": os.getpid()})
    return pid


def _reap(pid: int) -> bool:
    """Collect every child that has ended; true if the program was among them."""
    gone = False
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return gone
        if ended == 0:
            return gone
        if ended == pid:
            gone = True
            _report({"exit": os.waitstatus_to_exitcode(status)})


def _end(pid: int, gone: bool, grace_s: float, stop_signal: int, wakeup: int) -> int:
    """End every descendant; how many had to be killed. `wakeup` tells when a child has ended."""
    deadline = time.monotonic() + grace_s
    told: set[int] = set()
    killed: set[int] = set()
    if not gone:
        _send(pid, stop_signal)
        told.add(pid)
    while True:
        gone = _reap(pid) or gone
        left = _descendants()
        if not left:
            return len(killed)
        if time.monotonic() >= deadline:
            for other in left:
                _send(other, signal.SIGKILL)
            killed |= left
        elif gone:
            for other in left - told:
                _send(other, signal.SIGTERM)
            told |= left
        select.select([wakeup], [], [], _POLL_S if time.monotonic() < deadline else _POLL_S / 4)
        with contextlib.suppress(BlockingIOError):
            os.read(wakeup, 512)


def _remove(folder: str) -> None:
    """Remove the program's private folder: nobody else is left to do it. Mostly it is empty, or gone."""
    try:
        os.rmdir(folder)  # noqa: PTH106 - `pathlib` takes as long to import as all else here
    except FileNotFoundError:
        return
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _descendants() -> set[int]:
    """All live processes below this one, from their parents in /proc. Ours alone can be among them: a
    descendant that lost its parent has this process as its parent (child subreaper)."""
    try:
        names = [entry.name for entry in os.scandir("/proc") if entry.name.isdigit()]
    except FileNotFoundError:
        return _children_by_ps()
    parents: dict[int, int] = {}
    for name in names:
        with contextlib.suppress(OSError, IndexError):
            stat = os.open(f"/proc/{name}/stat", os.O_RDONLY)
            try:
                # "pid (name) state ppid …": the name may hold anything, so count from its last bracket
                parents[int(name)] = int(os.read(stat, 4096).rpartition(b")")[2].split()[1])
            finally:
                os.close(stat)
    return _below(os.getpid(), parents)


def _children_by_ps() -> set[int]:
    """The same where there is no /proc (macOS)."""
    parents: dict[int, int] = {}
    with os.popen("ps -A -o pid=,ppid=") as listed:
        for line in listed:
            pid, parent = line.split()
            parents[int(pid)] = int(parent)
    return _below(os.getpid(), parents)


def _below(top: int, parents: dict[int, int]) -> set[int]:
    found: set[int] = set()
    level = {top}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level} - found
        found |= level
    return found


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _report(record: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # nobody is left to read it
        os.write(1, json.dumps(record).encode() + b"\n")


def _prctl() -> Callable[[int, int], int]:
    """The system call, or nothing where there is none (macOS)."""
    if sys.platform != "linux":
        return lambda *_: 0
    import ctypes

    prctl: Callable[[int, int], int] = ctypes.CDLL(None, use_errno=True).prctl
    return prctl


if __name__ == "__main__":
    os._exit(main())  # nothing is left to write, and whoever ends it waits for its end
