"""What this machine's loopback carries: the ceiling in bytes that no server here can pass (rule G6)."""

from __future__ import annotations

import os
import socket
import threading
import time

from assay.servers.cores import CoreSplit

_SECONDS = 0.1
_TRIES = 3
"""The best of them: what another program took away must not lower the ceiling."""

_CHUNK_BYTES = 1 << 20
_TIMEOUT_S = 10.0


def bytes_per_s(split: CoreSplit) -> float | None:
    """Bytes a second from the servers' cores to the client's, one stream for each pair of cores.

    Large writes and reads and nothing else: what a server with large answers approaches from below. Takes
    a third of a second. None where it cannot be measured.
    """
    measured = [rate for rate in (_once(split) for _ in range(_TRIES)) if rate is not None]
    return max(measured, default=None)


def _once(split: CoreSplit) -> float | None:
    pairs: list[tuple[int | None, int | None]] = [*zip(split.server, split.client, strict=False)]
    pairs = pairs or [(None, None)]
    done_s: list[tuple[int, float]] = []
    try:
        readers = [threading.Thread(target=_stream, args=(pair, done_s), daemon=True) for pair in pairs]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(2 * _TIMEOUT_S)
    except (OSError, RuntimeError):
        return None
    if len(done_s) < len(pairs):
        return None
    return sum(count / seconds for count, seconds in done_s)


def _stream(pair: tuple[int | None, int | None], done_s: list[tuple[int, float]]) -> None:
    """Read on the client's core what a thread on the server's core writes; note bytes and seconds."""
    server_cpu, client_cpu = pair
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(_TIMEOUT_S)
        until_s = time.monotonic() + _SECONDS
        writer = threading.Thread(
            target=_write, args=(listener.getsockname()[1], server_cpu, until_s), daemon=True
        )
        writer.start()
        connection, _ = listener.accept()
    with connection:
        connection.settimeout(_TIMEOUT_S)
        _pin(client_cpu)
        buffer, count, began_s = bytearray(_CHUNK_BYTES), 0, time.monotonic()
        while read := connection.recv_into(buffer):
            count += read
        seconds = time.monotonic() - began_s
    writer.join(_TIMEOUT_S)
    if count and seconds > 0:
        done_s.append((count, seconds))


def _write(port: int, cpu: int | None, until_s: float) -> None:
    _pin(cpu)
    chunk = bytes(_CHUNK_BYTES)
    with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as connection:
        while time.monotonic() < until_s:
            connection.sendall(chunk)


def _pin(cpu: int | None) -> None:
    """This thread alone; it ends with its stream."""
    if cpu is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cpu})
