"""A wire with a delay: what arrives at one device of this namespace leaves by another a while later.

Kernels without `netem` cannot delay packets, and this program can: it takes whole frames off two devices
and hands each on to the other. `python slow_wire.py ONE OTHER SECONDS` says `ready` and goes on until it is
ended.
"""

from __future__ import annotations

import heapq
import itertools
import select
import socket
import sys
import time

_EVERY_PROTOCOL = 0x0003
_SOL_PACKET, _PACKET_VNET_HDR = 263, 15
_OURS = 4
"""PACKET_OUTGOING: a frame that was sent from here."""
_MOST_BYTES = 1 << 17


def tap(device: str) -> socket.socket:
    """Whole frames of a device, each with what its card was still to do for it (checksums, cutting up)."""
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    opened.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
    opened.bind((device, _EVERY_PROTOCOL))
    opened.setblocking(False)
    return opened


def main(one: str, other: str, delay_s: float) -> None:
    """Hand frames on, either way."""
    ends = (tap(one), tap(other))
    across = dict(zip(ends, reversed(ends), strict=True))
    waiting: list[tuple[float, int, socket.socket, bytes]] = []
    numbers = itertools.count()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        left_s = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for end in select.select(ends, [], [], left_s)[0]:
            frame, sender = end.recvfrom(_MOST_BYTES)
            if sender[2] != _OURS:
                heapq.heappush(waiting, (time.monotonic() + delay_s, next(numbers), across[end], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, way, frame = heapq.heappop(waiting)
            try:
                way.send(frame)
            except OSError:
                continue  # as on any wire: lost


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
