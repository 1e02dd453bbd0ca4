"""Network emulation: a link with a delay and loss between servers and their client, on this machine.

Whose network one sees is a matter of the thread: sockets, threads and processes that it makes are of the
namespace that it is in. A namespace goes when nobody is in it and nobody holds it open, a device when the
last who has it open is gone: so nothing is left behind by whoever is killed.

A namespace of its own has a device for each emulated network. Servers listen on the device's address and are
met at its peer's; the program behind it (`assay.servers.link`) keeps each packet for half of the round trip,
loses some, and hands it back as if the peer had sent it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from assay.core.errors import EnvironmentLacks, reason_of
from assay.model.trial import Carried, Emulation, Link

T = TypeVar("T")

DEVICES = Path("/dev/net/tun")
SETTINGS = Path("/proc/sys/net/ipv4")
"""Those of the namespace that one is in."""
_OWN = "/proc/thread-self/ns/net"
_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFDSTADDR = 0x8913, 0x8914, 0x8916, 0x8918
_SIOCSIFTXQLEN = 0x8943
_TUNSETIFF = 0x400454CA
_IFF_UP, _IFF_TUN, _IFF_NO_PI = 0x1, 0x1, 0x1000
_QUEUED = 10_000
"""Packets that the kernel keeps for whoever has the device open: a burst of hundreds of connections."""
_DROPPED_SENDING = 11
"""Its place among the figures of a device in /proc/net/dev."""


class Namespace:
    """A network namespace with nothing but its own loopback. Its methods are for one thread at a time."""

    def __init__(self) -> None:
        """Make it. OSError where that is not allowed, or not to be had."""
        self._fd = _apart(_made)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Be in it, as far as this thread is concerned."""
        back = os.open(_OWN, os.O_RDONLY)
        try:
            _enter(self._fd)
            try:
                yield
            finally:
                _enter(back)
        finally:
            os.close(back)

    def tun(self, name: str, here: str, peer: str) -> int:
        """Make a device with the address `here`, open, behind which `peer` is. OSError as of `__init__`."""
        with self.inside():
            device = os.open(DEVICES, os.O_RDWR | os.O_NONBLOCK)
            try:
                _ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI))
                with _asking() as asked:
                    _ioctl(asked, _SIOCSIFTXQLEN, struct.pack("16si20x", name.encode(), _QUEUED))
                    _ioctl(asked, _SIOCSIFADDR, _address(name, here))
                    _ioctl(asked, _SIOCSIFDSTADDR, _address(name, peer))
                    _up(asked, name)
            except BaseException:
                os.close(device)
                raise
            return device

    def set(self, name: str, value: str) -> None:
        """Give one of the settings of its IPv4 (`tcp_congestion_control`) a value. OSError where it has none
        of that name, or not this one."""
        with self.inside():
            (SETTINGS / name).write_text(value, encoding="ascii")

    def close(self) -> None:
        """Let go of it."""
        os.close(self._fd)


def dropped_by(name: str) -> int:
    """How many packets the device `name` of this thread's namespace had no room for, since it was made."""
    for line in Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines():
        device, colon, figures = line.partition(":")
        if colon and device.strip() == name:
            return int(figures.split()[_DROPPED_SENDING])
    return 0


def _made() -> int:
    """Leave the namespace of all others for a new one, whose loopback is up; it, held open."""
    _called("unshare", _CLONE_NEWNET)
    with _asking() as asked:
        _up(asked, "lo")
    return os.open(_OWN, os.O_RDONLY)


def _enter(namespace: int) -> None:
    _called("setns", namespace, _CLONE_NEWNET)


def _apart(act: Callable[[], T]) -> T:
    """What `act` gives in a thread of its own: what it does to its thread goes with it."""
    with ThreadPoolExecutor(1, thread_name_prefix="namespace") as pool:
        return pool.submit(act).result()


def _called(name: str, *words: int) -> None:
    """Make a system call that Python knows from 3.12 on."""
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if call is None:
        raise OSError(0, "this system has no network namespaces")
    if call(*words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


_asking = partial(socket.socket, socket.AF_INET, socket.SOCK_DGRAM)


def _address(name: str, address: str) -> bytes:
    return struct.pack("16sHH4s16x", name.encode(), socket.AF_INET, 0, socket.inet_aton(address))


def _up(asked: socket.socket, name: str) -> None:
    given = _ioctl(asked, _SIOCGIFFLAGS, struct.pack("16sH22x", name.encode(), 0))
    flags: int = struct.unpack_from("16sH", given)[1]
    _ioctl(asked, _SIOCSIFFLAGS, struct.pack("16sH22x", name.encode(), flags | _IFF_UP))


def _ioctl(of: int | socket.socket, what: int, given: bytes) -> bytes:
    import fcntl  # there is none on every system

    return fcntl.ioctl(of, what, given)


HERE, PEER = "10.77.0.1", "10.77.0.2"
"""Where servers listen, and where they are met."""
_DEVICE = "far0"
_CONGESTION = "tcp_congestion_control"
_PATIENCE_S = 20.0
"""For a program that answers within microseconds: on a machine that is very busy."""


class NetworkPath:
    """The way to servers over one emulated network: they listen at `HERE` and are met at `PEER`, in a
    namespace of its own."""

    def __init__(self, emulation: Emulation, seed: int) -> None:
        """Make the device and start its program.

        OSError where that cannot be had, EnvironmentLacks where TCP cannot be as it is asked to be.
        """
        self.emulation, self._space, self._dropped = emulation, Namespace(), 0
        try:
            # No trial is to begin with what TCP has learnt of the way in another one.
            self._space.set("tcp_no_metrics_save", "1")
            _congestion(self._space, emulation.congestion)
            device = self._space.tun(_DEVICE, HERE, PEER)
            self._asked, theirs = socket.socketpair()
            self._asked.settimeout(_PATIENCE_S)
            try:
                self._program = _started(emulation, seed, device, theirs.fileno())
            finally:  # the program alone has them: the device goes with it, and it with this process
                os.close(device)
                theirs.close()
        except BaseException:
            self._space.close()
            raise

    @contextlib.contextmanager
    def entered(self) -> Iterator[Self]:
        """Be there, as far as this thread is concerned."""
        with self._space.inside():
            yield self

    def carried(self) -> Carried:
        """What became of packets since this was asked before; asked from within the namespace.

        EnvironmentLacks where the program has ended, or says nothing: then it is ended.
        """
        said = b""
        with contextlib.suppress(OSError):
            self._asked.sendall(b"?")
            while not said.endswith(b"\n") and (more := self._asked.recv(4096)):
                said += more
        if not said.endswith(b"\n"):
            self._program.kill()  # an answer that comes late would be taken for that to the next question
            self._program.wait()
            raise EnvironmentLacks(
                "the program that carries the packets of the link with a delay is gone, or does not answer",
                "try again; where it ended by itself it said why above",
            )
        seen, dropped = msgspec.json.decode(said, type=Carried), dropped_by(_DEVICE)
        before, self._dropped = self._dropped, dropped
        return msgspec.structs.replace(seen, overflowed=seen.overflowed + dropped - before)

    @property
    def alive(self) -> bool:
        """Whether its program still runs."""
        return self._program.poll() is None

    def link(self, carried: Carried | None) -> Link:
        """What a trial tells of it; asked from within the namespace."""
        congestion = _read(SETTINGS / _CONGESTION)
        return Link(same_machine=True, emulation=self.emulation, carried=carried, congestion=congestion)

    def close(self) -> None:
        """End the program, and the device with it."""
        self._space.close()
        self._asked.close()
        try:
            self._program.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait()


@dataclass
class Ways:
    """The ways of a run, each made when it is first asked for. Left, it ends them all."""

    seed: int = 0
    _by_emulation: dict[Emulation, NetworkPath] = field(default_factory=dict)
    _made: int = 0

    @contextlib.contextmanager
    def to(self, emulation: Emulation | None) -> Iterator[NetworkPath | None]:
        """Be where servers behind that network are: what this thread opens and starts is there, until it is
        left. Without one that is where it was.

        EnvironmentLacks where it cannot be had.
        """
        if emulation is None:
            yield None
            return
        with self._at(emulation).entered() as way:
            yield way

    def _at(self, emulation: Emulation) -> NetworkPath:
        """That way: the one there is, unless its program has ended."""
        way = self._by_emulation.get(emulation)
        if way is not None and way.alive:
            return way
        if way is not None:
            del self._by_emulation[emulation]
            way.close()
        try:
            made = self._by_emulation[emulation] = NetworkPath(emulation, self.seed + self._made)
        except OSError as error:
            raise _lacks(error) from error
        self._made += 1
        return made

    def close(self) -> None:
        """End them all."""
        while self._by_emulation:
            _, way = self._by_emulation.popitem()
            way.close()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End them all."""
        self.close()


def lacking() -> EnvironmentLacks | None:
    """Why servers cannot be had over an emulated network here; None where they can."""
    try:
        with contextlib.closing(Namespace()) as space:
            os.close(space.tun(_DEVICE, HERE, PEER))
    except OSError as error:
        return _lacks(error)
    return None


def _lacks(error: OSError) -> EnvironmentLacks:
    if sys.platform != "linux":
        return EnvironmentLacks("a link with a delay needs Linux's network namespaces and TUN devices")
    where = f" ({error.filename})" if error.filename else ""
    return EnvironmentLacks(
        f"a link with a delay needs a network namespace and {DEVICES}: {reason_of(error)}{where}",
        "run as root; in a container allow NET_ADMIN and SYS_ADMIN, and give it that device",
    )


def _congestion(space: Namespace, name: str) -> None:
    """Have TCP share the way out by that algorithm, if one is named. EnvironmentLacks where there is none."""
    if not name:
        return
    try:
        space.set(_CONGESTION, name)
    except OSError as error:
        allowed = _read(SETTINGS / "tcp_allowed_congestion_control")
        raise EnvironmentLacks(
            f"TCP's congestion control {name!r} cannot be had in a network namespace: {reason_of(error)}",
            f"here there are: {allowed} (net.ipv4.tcp_allowed_congestion_control)",
        ) from error


def _started(emulation: Emulation, seed: int, device: int, told_by: int) -> subprocess.Popen[bytes]:
    """The program that carries the packets of that device, and is asked by that socket."""
    words = ["--round-trip-us", str(max(1, emulation.round_trip_ns // 1000))]
    words += ["--loss", repr(emulation.loss), "--seed", str(seed)]
    program = subprocess.Popen(
        [sys.executable, "-P", "-m", "assay.servers.link", *words],
        stdin=device,
        stdout=told_by,
        start_new_session=True,  # the terminal's Ctrl-C is for the harness alone
    )
    _before_others(program.pid)
    return program


def _before_others(pid: int) -> None:
    """Let the program run as soon as a packet is due, where that is allowed: beside a client that is busy on
    the same core it would else wait for milliseconds, and so would each packet."""
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(1))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
