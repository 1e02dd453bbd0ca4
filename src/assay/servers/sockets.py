"""Bytes and TCP segments of a server's connections, from the kernel's sock_diag(7): no privilege is needed.

Seen are connections of this network namespace that are open at both ends of a slice. One that was closed in
between takes its figures along: sums are then lower bounds. QUIC is no TCP and has none.
"""

from __future__ import annotations

import socket
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

_SOCK_DIAG_BY_FAMILY = 20
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_ENDS = (2, 3)  # NLMSG_ERROR, NLMSG_DONE
_OPEN_STATES = 1 << 1 | 1 << 8  # established, and closed by the other side
_INET_DIAG_INFO = 2
_MESSAGE = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI")
_HEAD_BYTES = 72  # struct inet_diag_msg
_PORTS = struct.Struct("!HH")
_RETRANSMITTED = struct.Struct("=I")
_AMOUNTS = struct.Struct("=QQII")
_NAMES = ("bytes_out", "bytes_in", "segments_out", "segments_in", "retransmitted")

Amounts = tuple[int, int, int, int, int]


class Traffic:
    """What the connections to `port` carried between `begins` and `ends`, as the server saw it.

    `retransmitted` segments are those of both sides, where the client's sockets are on this machine too.
    """

    def __init__(self, port: int) -> None:
        """Nothing is counted yet."""
        self._port = port
        self._sums: Counter[str] = Counter()
        self._base: dict[bytes, Amounts] = {}
        self._any = self._lower = False

    def begins(self) -> None:
        """Count from here."""
        self._base = dict(self._read())

    def ends(self) -> None:
        """Add what came since then."""
        now = dict(self._read())
        for key, late in now.items():
            early = self._base.get(key, (0,) * len(late))
            self._sums.update({name: max(0, b - a) for name, a, b in zip(_NAMES, early, late, strict=True)})
        self._any |= bool(now)
        self._lower |= bool(self._base.keys() - now.keys())
        self._base = now

    def totals(self) -> dict[str, int]:
        """The sums; nothing where no connection was seen."""
        return {name: self._sums[name] for name in _NAMES} if self._any else {}

    def lower_bounds(self) -> tuple[str, ...]:
        """The names of those that miss what closed connections carried."""
        return _NAMES if self._lower else ()

    def _read(self) -> Iterator[tuple[bytes, Amounts]]:
        with suppress(OSError, AttributeError):  # no Linux, or a kernel without it
            for family in (socket.AF_INET, socket.AF_INET6):
                yield from self._of(family)

    def _of(self, family: int) -> Iterator[tuple[bytes, Amounts]]:
        asked = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), _OPEN_STATES) + bytes(
            48
        )
        head = _MESSAGE.pack(_MESSAGE.size + len(asked), _SOCK_DIAG_BY_FAMILY, _DUMP, 1, 0)
        netlink = socket.AF_NETLINK
        with socket.socket(netlink, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 4) as asking:
            asking.settimeout(1.0)
            asking.send(head + asked)
            while True:
                data = asking.recv(1 << 18)
                for kind, body in _messages(data):
                    if kind in _ENDS:
                        return
                    yield from self._connection(body)

    def _connection(self, body: bytes) -> Iterator[tuple[bytes, Amounts]]:
        source, destination = _PORTS.unpack_from(body, 4)
        if self._port not in (source, destination):
            return
        for kind, info in _attributes(body[_HEAD_BYTES:]):
            if kind == _INET_DIAG_INFO and len(info) >= 144:
                [resent] = _RETRANSMITTED.unpack_from(info, 100)
                ours = _AMOUNTS.unpack_from(info, 120) if source == self._port else (0, 0, 0, 0)
                yield body[44:52], (*ours, resent)


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The netlink messages of a datagram: kind and body."""
    at = 0
    while at + _MESSAGE.size <= len(data):
        length, kind = _MESSAGE.unpack_from(data, at)[:2]
        if length < _MESSAGE.size:
            return
        yield kind, data[at + _MESSAGE.size : at + length]
        at += (length + 3) & ~3


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4:
            return
        yield kind, data[at + 4 : at + length]
        at += (length + 3) & ~3
