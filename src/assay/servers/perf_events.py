"""Counters of the kernel's performance events, by perf_event_open(2): system calls and the machine's own.

An event follows a thread, and all threads and processes that it starts (`inherit`). Counting every system
call costs a server some per cent of its throughput, so nothing of this runs in a load that is compared.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import struct
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

_SYSTEM_CALL = {"x86_64": 298, "aarch64": 241}
_CLOSE_ON_EXEC = 8
_INHERIT = 1 << 1
_EXCLUDE_HYPERVISOR = 1 << 6
_SET_OUTPUT, _DISABLE = 0x2405, 0x2401
_SAMPLE_RAW = 1 << 10
_ENABLED_AND_RUNNING = 3
_SAMPLE_RECORD = 9
_PAGES = 32
_MOST_EVENTS = 4_096
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")  # PERF_ATTR_SIZE_VER0

_TRACEFS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_TRACEPOINT = "events/raw_syscalls/sys_enter/id"
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


class Event(NamedTuple):
    """What perf_event_open(2) is asked for."""

    type: int
    config: int


CONTEXT_SWITCHES = Event(1, 3)
HARDWARE = {
    "cycles": Event(0, 0),
    "instructions": Event(0, 1),
    "cache_misses": Event(0, 3),
    "branch_misses": Event(0, 5),
}


class EventRefused(Exception):  # noqa: N818 - it is not an error: the machine does not allow it
    """Why an event cannot be had, and how to allow it."""


def system_calls() -> Event:
    """The tracepoint of every system call's begin. EventRefused where it cannot be found."""
    for folder in _TRACEFS:
        try:
            return Event(2, int((folder / _TRACEPOINT).read_text()))
        except PermissionError:
            raise EventRefused(
                f"{folder} is root's: run Assay as root, or `chmod -R o+rX {folder}`"
            ) from None
        except (OSError, ValueError):
            continue
    raise EventRefused("no tracefs: as root, `mount -t tracefs none /sys/kernel/tracing`")


class CountedEvents:
    """Events of a server's threads, by name, from now on."""

    def __init__(self, events: Mapping[str, Event], threads: Collection[int]) -> None:
        """Begin. EventRefused where the first cannot be had; then nothing is left open."""
        self._files: dict[str, list[int]] = {name: [] for name in events}
        if len(threads) * len(events) > _MOST_EVENTS:
            raise EventRefused(f"its {len(threads)} threads are too many to follow")
        try:
            for name, event in events.items():
                self._files[name] = list(_followed(event, threads))
        except BaseException:
            self.close()
            raise

    def read(self) -> dict[str, int]:
        """The sums so far; where events took turns on the machine's counters, scaled to all of the time."""
        return {name: sum(map(_value, files)) for name, files in self._files.items()}

    def close(self) -> None:
        """End them."""
        for files in self._files.values():
            while files:
                os.close(files.pop())

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()


class CallsByName:
    """Every `period`-th system call of a server's threads, from now on."""

    def __init__(self, threads: Collection[int], cpus: Collection[int], period: int) -> None:
        """Begin. EventRefused where that cannot be had."""
        self._files: list[int] = []
        self._buffers: list[mmap.mmap] = []
        if len(threads) * len(cpus) > _MOST_EVENTS:
            raise EventRefused(f"its {len(threads)} threads are too many to follow on {len(cpus)} cores")
        event = system_calls()
        try:
            for cpu in cpus:
                self._follow(event, threads, cpu, period)
        except BaseException:
            self.close()
            raise

    def _follow(self, event: Event, threads: Collection[int], cpu: int, period: int) -> None:
        first = 0
        for file in _followed(event, threads, cpu=cpu, period=period):
            self._files.append(file)
            if first:
                fcntl.ioctl(file, _SET_OUTPUT, first)
                continue
            first = file
            self._buffers.append(mmap.mmap(file, (1 + _PAGES) * mmap.PAGESIZE))

    def ends(self) -> dict[str, int]:
        """How many calls of each name there were among the samples; nothing is sampled any more."""
        for file in self._files:
            fcntl.ioctl(file, _DISABLE, 0)
        found = Counter(call_name(number) for buffer in self._buffers for number in _sampled(buffer))
        self.close()
        return dict(found)

    def close(self) -> None:
        """End it."""
        while self._buffers:
            self._buffers.pop().close()
        while self._files:
            os.close(self._files.pop())


def _followed(event: Event, threads: Collection[int], cpu: int = -1, period: int = 0) -> Iterator[int]:
    """A file for each thread that still lives. EventRefused where none may be followed."""
    any_followed, problem = False, 0
    for thread in threads:
        file, problem = _opened(event, thread, cpu, period)
        if file >= 0:
            any_followed = True
            yield file
        elif problem != errno.ESRCH:
            break
    if problem not in (0, errno.ESRCH) or not any_followed:
        raise EventRefused(_why(problem))


def _opened(event: Event, thread: int, cpu: int, period: int) -> tuple[int, int]:
    """The file, or -1 and the error's number."""
    number = _SYSTEM_CALL.get(platform.machine())
    if number is None or not Path("/proc/self").exists():
        return -1, errno.ENOSYS
    attributes = ctypes.create_string_buffer(
        _ATTRIBUTES.pack(
            event.type,
            _ATTRIBUTES.size,
            event.config,
            period,
            _SAMPLE_RAW if period else 0,
            0 if period else _ENABLED_AND_RUNNING,
            _INHERIT | _EXCLUDE_HYPERVISOR,
            0,
            0,
            0,
        )
    )
    call = ctypes.CDLL(None, use_errno=True).syscall
    file = call(number, attributes, thread, cpu, -1, ctypes.c_ulong(_CLOSE_ON_EXEC))
    return int(file), ctypes.get_errno() if file < 0 else 0


def _why(problem: int) -> str:
    if problem in (errno.EACCES, errno.EPERM):
        level = _PARANOID.read_text().strip() if _PARANOID.exists() else "unknown"
        return (
            f"not allowed (perf_event_paranoid is {level}): run Assay as root, "
            "or `sysctl kernel.perf_event_paranoid=-1`"
        )
    if problem in (errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV):
        return "this machine has none: a virtual machine shows them where its host passes a PMU through"
    if problem == errno.ENOSYS:
        return "this system has no perf_event_open (Linux on x86-64 and ARM64 has)"
    if problem == errno.EMFILE:
        return "too few open files are allowed: `ulimit -n 65536`"
    return os.strerror(problem).lower() if problem else "its threads have ended"


def _value(file: int) -> int:
    value: int
    value, enabled, running = struct.unpack("=QQQ", os.read(file, 24))
    return round(value * enabled / running) if 0 < running < enabled else value


def _sampled(buffer: mmap.mmap) -> Iterator[int]:
    """The numbers of the system calls in a ring buffer that was not read before."""
    data = buffer[mmap.PAGESIZE :]
    [head] = struct.unpack_from("=Q", buffer, 1024)
    at, end = 0, min(head, len(data))
    while at + 24 <= end:
        kind, _, size = struct.unpack_from("=IHH", data, at)
        if size < 8:
            return
        if kind == _SAMPLE_RECORD:  # its raw part: a length, 8 bytes of every tracepoint, the call's number
            [number] = struct.unpack_from("=q", data, at + 20)
            yield number
        at += size


def threads_of(pids: Collection[int]) -> tuple[int, ...]:
    """The threads of these processes."""
    found: list[int] = []
    for pid in pids:
        with suppress(OSError):
            found += [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return tuple(found)


def call_name(number: int) -> str:
    """The name of a system call of this machine that servers use."""
    known = _NAMES.get(platform.machine(), {})
    return known.get(number, f"system call {number}")


def _numbered(*parts: tuple[int, str]) -> dict[int, str]:
    return {first + place: name for first, names in parts for place, name in enumerate(names.split())}


_NAMES = {
    "x86_64": _numbered(
        (0, "read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction"),
        (14, "rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select"),
        (24, "sched_yield mremap msync mincore madvise shmget shmat shmctl dup dup2 pause nanosleep"),
        (39, "getpid sendfile socket connect accept sendto recvfrom sendmsg recvmsg shutdown bind"),
        (50, "listen getsockname getpeername socketpair setsockopt getsockopt clone fork vfork execve"),
        (60, "exit wait4 kill"),
        (72, "fcntl flock fsync fdatasync"),
        (96, "gettimeofday getrlimit getrusage sysinfo times"),
        (186, "gettid"),
        (201, "time futex"),
        (228, "clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill"),
        (257, "openat"),
        (262, "newfstatat"),
        (270, "pselect6 ppoll"),
        (275, "splice tee"),
        (280, "utimensat epoll_pwait"),
        (286, "timerfd_settime timerfd_gettime accept4"),
        (290, "eventfd2 epoll_create1 dup3 pipe2"),
        (299, "recvmmsg"),
        (307, "sendmmsg"),
        (309, "getcpu"),
        (318, "getrandom"),
        (332, "statx"),
        (424, "pidfd_send_signal io_uring_setup io_uring_enter io_uring_register"),
        (435, "clone3"),
        (441, "epoll_pwait2"),
    ),
    "aarch64": _numbered(
        (20, "epoll_create1 epoll_ctl epoll_pwait"),
        (25, "fcntl"),
        (56, "openat close"),
        (62, "lseek read write readv writev pread64 pwrite64"),
        (71, "sendfile pselect6 ppoll"),
        (76, "splice"),
        (79, "newfstatat fstat"),
        (98, "futex"),
        (113, "clock_gettime clock_getres clock_nanosleep"),
        (124, "sched_yield"),
        (178, "gettid"),
        (198, "socket socketpair bind listen accept connect getsockname getpeername sendto recvfrom"),
        (208, "setsockopt getsockopt shutdown sendmsg recvmsg"),
        (214, "brk munmap mremap"),
        (220, "clone execve mmap"),
        (233, "madvise"),
        (242, "accept4"),
        (260, "wait4"),
        (426, "io_uring_enter"),
        (435, "clone3"),
    ),
}
