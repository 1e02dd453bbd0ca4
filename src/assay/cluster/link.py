"""What the way between two nodes carries: the ceiling in bytes that no load over it can pass (rule G6)."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

from assay.core.errors import EnvironmentLacks, reason_of

LOOK_S = 0.2
"""For how long a way is written to."""
ANSWER_S = 10.0
"""An agent that has not told of it after so long is lost: what is on a slow way arrives first."""
_CHUNK_BYTES = 1 << 18
_TIMEOUT_S = 3.0


class Sink:
    """Reads what others send, and answers each with how much that was. Ends with the process."""

    def __init__(self) -> None:
        """Listen on a free port of every address."""
        self._listener = socket.create_server(("", 0))
        self.port: int = self._listener.getsockname()[1]
        self.serving = threading.Thread(target=self._serve, name="sink", daemon=True)
        self.serving.start()

    def close(self) -> None:
        """Take no more connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # which wakes whoever waits in `accept`
        self._listener.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=_drain, args=(connection,), daemon=True).start()


def _drain(connection: socket.socket) -> None:
    buffer, count = bytearray(_CHUNK_BYTES), 0
    with connection, contextlib.suppress(OSError):
        connection.settimeout(_TIMEOUT_S)
        while read := connection.recv_into(buffer):
            count += read
        connection.sendall(str(count).encode())


def bytes_per_s(address: str, port: int, seconds: float) -> float:
    """What a sink there took from here in so many seconds. EnvironmentLacks where it cannot be reached."""
    chunk = bytes(_CHUNK_BYTES)
    try:
        with socket.create_connection((address, port), timeout=_TIMEOUT_S) as connection:
            began_s = time.monotonic()
            while time.monotonic() - began_s < seconds:
                connection.sendall(chunk)
            connection.shutdown(socket.SHUT_WR)
            taken = int(connection.recv(32) or b"0")
            return taken / (time.monotonic() - began_s)
    except OSError as error:
        raise EnvironmentLacks(f"{address}:{port} cannot be reached from here: {reason_of(error)}") from None
