"""A network namespace of our own, and TUN devices in it: Linux alone, and with leave to administer networks.

Whose network one sees is a matter of the thread: sockets, threads and processes that it makes are of the
namespace that it is in. A namespace goes when nobody is in it and nobody holds it open, a device when the
last who has it open is gone: so nothing is left behind by whoever is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

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
