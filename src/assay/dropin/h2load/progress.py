"""What h2load says while the load goes on: how it is dealt, what was agreed on, how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core import console
from assay.dropin.h2load import values
from assay.dropin.h2load.flags import H2loadFlags

if TYPE_CHECKING:
    from assay.engine.driver import EngineRun
    from assay.model.measurement import Measurement, Snapshot

_GROUPS = {
    "X25519": "X25519 253 bits",
    "secp256r1": "ECDH P-256 256 bits",
    "secp384r1": "ECDH P-384 384 bits",
    "secp521r1": "ECDH P-521 521 bits",
}
_STEPS = 10


class H2loadProgress:
    """The lines of one load, in h2load's order. h2load tells of its first thread alone."""

    def __init__(self, flags: H2loadFlags) -> None:
        """Say nothing yet."""
        self._flags = flags
        self._clients, self._requests = flags.shares()[0]
        self._told = 0
        self._running: EngineRun | None = None
        self._agreed = self._measures = False

    def begin(self, running: EngineRun) -> None:
        """Say that the load begins, and how it is dealt to threads."""
        self._running = running
        flags = self._flags
        console.write("starting benchmark...")
        warmup, main = (f"{ns / values.NS_PER_S:g}s" for ns in (flags.warmup_ns, flags.duration_ns))
        timed = (
            f"Timing-based test with {warmup} of warm-up time and {main} of main duration for measurements."
        )
        for index, (clients, requests) in enumerate(flags.shares()):
            what = timed if flags.duration_ns else f"{requests} total requests"
            console.write(f"spawning thread #{index}: {clients} total client(s). {what}")
        if flags.duration_ns:
            self._each("Warm-up started for thread #{}.")
            step = max(1, self._clients // _STEPS)
            for made in range(step, self._clients + 1, step):
                console.write(f"progress: {made * 100 // self._clients}% of clients started")

    def watch(self, snapshot: Snapshot) -> None:
        """Say how far the load has come."""
        if self._flags.duration_ns:
            if snapshot.phase == "measured" and snapshot.completed:
                self._begin_measuring()
        elif self._flags.requests:
            self._advance(snapshot.completed * self._requests // self._flags.requests)
        if snapshot.completed:
            self._agree()

    def end(self, measured: Measurement) -> None:
        """Say what is left to say."""
        if self._flags.socket and not measured.connections.opened:
            # A unix socket fails at once, and h2load tells of each client.
            for _ in range(self._flags.clients):
                console.note("client could not connect to host")
        if measured.connections.opened:
            if self._flags.duration_ns:
                self._begin_measuring()
            if any(outcome.kind == "wrong_protocol" for outcome in measured.outcomes):
                self._disagree()
            elif measured.handshakes or self._flags.where.spoken == "http":
                self._agree(measured)
        if self._flags.duration_ns:
            self._each(
                "Main benchmark duration is over for thread #{0}. Stopping all clients.",
                "Stopped all clients for thread #{0}",
            )
        else:
            self._advance(measured.completed * self._requests // self._flags.requests)

    def _each(self, *lines: str) -> None:
        for index in range(self._flags.threads):
            for line in lines:
                console.write(line.format(index))

    def _begin_measuring(self) -> None:
        if not self._measures:
            self._measures = True
            if self._flags.warmup_ns:
                self._agree()
            self._each(
                "Warm-up phase is over for thread #{0}.",
                "Main benchmark duration is started for thread #{0}.",
            )

    def _agree(self, measured: Measurement | None = None) -> None:
        """Say what TLS and the protocol are, once known: where TLS chose among several, at the end."""
        protocols = self._flags.protocols
        if self._agreed or (len(protocols) > 1 and measured is None):
            return
        self._agreed = True
        is_two = len(protocols) > 1 and measured is not None and "2" in measured.http_versions
        protocol = "h2" if is_two else protocols[-1]
        self._tell_session()
        console.write(f"Application protocol: {protocol}")

    def _disagree(self) -> None:
        """Say of each client that the server picked none of the protocols."""
        self._agreed = True
        self._tell_session()
        for _ in range(self._flags.clients):
            console.write("No protocol negotiated. Fallback behaviour may be activated")
            console.write("No supported protocol was negotiated. Supported protocols were:")
            console.write("\n".join(self._flags.alpn))

    def _tell_session(self) -> None:
        session = self._running.session() if self._running else None
        if session is not None:
            from assay.dropin.reports import cipher

            version, suite, group, _ = session
            console.write(f"TLS Protocol: {version.replace('TLS ', 'TLSv')}\nCipher: {cipher(suite)}")
            console.write(f"Server Temp Key: {_GROUPS.get(group, group)}")

    def _advance(self, done: int) -> None:
        step = max(1, self._requests // _STEPS)
        if done >= step:
            self._agree()
        if not self._agreed:
            return
        while self._told + step <= done:
            self._told += step
            console.write(f"progress: {self._told * 100 // self._requests}% done")
