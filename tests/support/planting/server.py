"""A small HTTP server that has one flaw, named by its first argument ("right" and "works" have none). Started
by `planting`. One that is named "over HTTP/2: FLAW" is `http2_server`'s; over HTTP/3 it is the null server.

server.py FLAW STATE    STATE is a file in which it counts its starts
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

FLAW = sys.argv[1]
BODY = b"hello\n"
BIG = bytes(16 << 20)
LONG = bytes(random.Random(1).choices(b"xy", k=1 << 17)) + b"x" + 20 * b"y" + b"z"
"""What `[xy]*x[xy]{20}z` takes long to be found in: a state for each of a million histories."""
HANGS_S = 60.0
PAUSE_S = 0.03
"""Longer than any gap between the answers of one slice."""
SILENT_S = (1.5, 5.0)
"""From when after the first request to when: it ends behind the load, where its answers are checked."""
FRESH_SLICES = 3
TIRES_BY_S = 0.0005
"""What each slice after those adds to an answer: as steep however many slices the warm-up took."""


QUERIES = {
    "asks a slow database": b"select 1 from pg_sleep(0.02);\n",
    "asks a busy database": b"select count(*) from generate_series(1, 40000);\n",
}


class Database(threading.local):
    """The real database, by its own client: a session for each thread."""

    psql: subprocess.Popen[bytes] | None = None

    def ask(self, query: bytes) -> None:
        """Wait for the one line that answers it."""
        if self.psql is None:
            words = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]
            self.psql = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self.psql.stdin is not None and self.psql.stdout is not None
        self.psql.stdin.write(query)
        self.psql.stdout.readline()


DATABASE = Database()


def count_starts(state: Path) -> int:
    """How often it was started before."""
    before = int(state.read_text()) if state.exists() else 0
    state.write_text(str(before + 1))
    return before


STARTS = count_starts(Path(sys.argv[2]))
SLOW_START_S = {
    "every other start is slow": 0.02 if STARTS % 2 else 0.002,
    "the first start is fast": 0.02 if STARTS else 0.001,
}


class Server:
    """What all connections share."""

    def __init__(self) -> None:
        self.answered = 0
        self.accepted = 0
        self.began_s: float | None = None
        self.answered_s = 0.0
        self.cold_until_s = 0.0
        self.server_slices = 0
        self.slice_began_s = 0.0
        self.counting = threading.Lock()
        self.last_target = b""
        self.lock = threading.Lock()

    def wait(self, target: bytes) -> None:
        """Take the time that the flaw takes."""
        now = time.monotonic()
        self.began_s = self.began_s or now
        if FLAW in SLOW_START_S:
            time.sleep(SLOW_START_S[FLAW])
        if FLAW == "works":
            sum(range(4000))  # some 50 µs: enough for its core, not the client's, to be the limit
        if FLAW in QUERIES:
            DATABASE.ask(QUERIES[FLAW])
        if FLAW == "waits":
            time.sleep(0.02)
        if FLAW == "one in 300 takes a second" and self.answered % 300 == 299:
            time.sleep(1)
        if FLAW == "serves four clients":
            time.sleep(0.0005)  # so few keep no core busy, however slow it is
        if FLAW == "stops answering in mid-load":
            age_s = now - self.began_s
            time.sleep(max(0.0, SILENT_S[1] - age_s) if age_s > SILENT_S[0] else 0.0)
        if FLAW == "tires":
            self.tire(now)
        if FLAW == "remembers its last answer" and target != self.last_target:
            time.sleep(0.005)
        self.take_slices(now, now - self.began_s)
        self.last_target, self.answered_s = target, time.monotonic()

    def tire(self, now: float) -> None:
        """Be slower from turn to turn, however long the pauses between them are."""
        sum(range(4000))
        with self.counting:
            if min(now - self.answered_s, now - self.slice_began_s) > PAUSE_S:
                self.server_slices, self.slice_began_s = self.server_slices + 1, now
        if self.server_slices > FRESH_SLICES:
            time.sleep(TIRES_BY_S * (self.server_slices - FRESH_SLICES))

    def take_slices(self, now: float, age_s: float) -> None:
        """Do what only shows where servers are interleaved."""
        if FLAW == "slow after a pause":
            if now - self.answered_s > PAUSE_S:
                self.cold_until_s = now + 0.03
            if now < self.cold_until_s:
                time.sleep(0.003)
        if FLAW == "dies in its second block" and STARTS and age_s > 1.2:
            os._exit(3)

    def compute_while_idle(self) -> None:
        """Use half of a core whenever nothing was asked for a moment, once it has been under load."""
        while True:
            began = time.monotonic()
            while self.answered > 50 and began - self.answered_s > 0.01 and time.monotonic() - began < 0.002:
                sum(range(500))
            time.sleep(0.002)

    def work_on(self) -> None:
        """Use all of a core for 90 ms after the last answer before a pause."""
        while True:
            while 0.004 < time.monotonic() - self.answered_s < 0.09:
                sum(range(500))
            time.sleep(0.001)

    def answer(self, target: bytes) -> bytes | None:
        """The bytes to send; None where no answer ever comes."""
        with self.lock:
            self.answered += 1
        self.wait(target)
        status, body, more = b"200 OK", BODY, b""
        if FLAW == "some requests hang" and self.answered % 10 == 0:
            return None
        if FLAW == "one in 30 fails" and self.answered % 30 == 0:
            status = b"503 Service Unavailable"
        if FLAW == "lies under load" and 50 < self.answered < 100:
            body = b"HELLO\n"
        if FLAW == "large headers":
            more = b"X-Padding: " + b"x" * 300 + b"\r\n"
        if FLAW == "sends 16 MB":
            body = BIG
        if FLAW in ("sends 128 kB", "polls"):
            body = LONG
        head = b"HTTP/1.1 %s\r\nContent-Type: text/plain\r\n%sContent-Length: %d\r\n\r\n"
        return head % (status, more, len(body)) + body

    def serve(self, connection: socket.socket) -> None:
        """Answer requests until the client leaves, or the flaw ends it."""
        read, here = b"", 0
        if FLAW == "closes resting connections":
            connection.settimeout(PAUSE_S)
        with connection:
            while True:
                try:
                    more = connection.recv(65536)
                except OSError:
                    return
                if not more:
                    return
                read += more
                while b"\r\n\r\n" in read:
                    head, _, read = read.partition(b"\r\n\r\n")
                    made = self.answer(head.split(b" ", 2)[1])
                    if made is None:
                        time.sleep(HANGS_S)
                        return
                    if FLAW == "closes after five" and here == 4:
                        # Said, so that no request meets the closing: that would be a failure, which is W2's.
                        made = made.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
                    try:
                        connection.sendall(made)
                    except OSError:
                        return
                    here += 1
                    if FLAW == "closes after five" and here == 5:
                        return

    def poll(self, listener: socket.socket) -> None:
        """Ask all sockets in turn whether there is something, and never rest."""
        listener.setblocking(False)
        connections: list[socket.socket] = []
        while True:
            with contextlib.suppress(BlockingIOError):
                connections.append(listener.accept()[0])
            for connection in tuple(connections):
                with contextlib.suppress(BlockingIOError):
                    read = connection.recv(65536, socket.MSG_DONTWAIT)
                    if read:
                        connection.sendall(self.answer(read.split(b" ", 2)[1]) or b"")
                    else:
                        connections.remove(connection)

    def run(self) -> None:
        """Accept for ever."""
        beside = {
            "computes while it rests": self.compute_while_idle,
            "works on after its slice": self.work_on,
        }
        if FLAW in beside:
            threading.Thread(target=beside[FLAW], daemon=True).start()
        with socket.create_server((os.environ["HOST"], int(os.environ["PORT"])), backlog=512) as listener:
            if FLAW == "polls":
                self.poll(listener)
            while True:
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.accepted += 1
                # The first are the readiness probe and the contract's test, each on one of its own.
                if FLAW == "serves four clients" and self.accepted > 6:
                    connection.close()
                    continue
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    protocol, _, flaw_there = FLAW.partition(": ")
    if protocol == "over HTTP/3":
        words = ["--http3", "--http3-streams", "2", "--body", BODY.decode()]
        # A Python of its own: this one was started without its packages.
        os.execv(sys.executable, [sys.executable, "-m", "assay.servers.null_server", *words])
    if protocol == "over HTTP/2":
        import http2_server  # type: ignore[import-not-found]  # where it runs it lies beside this

        two = {"streams": 2, "delay_s": 0.002} if flaw_there == "allows two streams" else {}
        http2_server.run(flaw=flaw_there, **two)
    Server().run()
