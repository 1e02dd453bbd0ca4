"""A small real server whose answers, port and end are chosen on its command line. Not a test itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil

ASSAY = [sys.executable, "-m", "assay.cli.main"]
PATIENCE_S = 240.0
"""For a machine that is busy with other things; nothing here is expected to take so long."""

QUICK = ("-d", "150ms", "--warm-up", "0", "-c", "2", "-t", "1", "--sequential")
PROGRAM = r"""
import argparse, os, signal, socket, subprocess, sys, threading, time

flags = argparse.ArgumentParser()
flags.add_argument("--port", type=int, default=int(os.environ.get("PORT", "0")))
flags.add_argument("--status", default="200 OK")
flags.add_argument("--body-bytes", type=int, default=5)
flags.add_argument("--encoding", default="")
flags.add_argument("--delay-s", type=float, default=0.0)
flags.add_argument("--die-after", type=int, default=0)
flags.add_argument("--fail-after", type=int, default=0)
flags.add_argument("--calls", type=int, default=0)
flags.add_argument("--burn-us", type=int, default=0)
flags.add_argument("--fork", action="store_true")
flags.add_argument("--helper", action="store_true")
flags.add_argument("--meets", default="")
given = flags.parse_args()
answered = 0
if given.helper:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)  # " + __file__])

def end(*_):
    open(os.path.join(given.meets, f"ends-{os.getpid()}"), "w").close()
    ended = lambda: sum(name.startswith("ends-") for name in os.listdir(given.meets))
    wanted = ended() + ended() % 2  # they end in twos
    while ended() < wanted:
        time.sleep(0.01)
    open(os.path.join(given.meets, f"met-{os.getpid()}"), "w").close()
    os._exit(0)

if given.meets:
    signal.signal(signal.SIGTERM, end)

def work():
    for _ in range(given.calls):
        os.getppid()
    until = time.thread_time_ns() + given.burn_us * 1000
    while given.burn_us and time.thread_time_ns() < until:
        pass

def serve(connection):
    global answered
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    read = b""
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
            answered += 1
            if given.die_after and answered > given.die_after:
                print("out of everything", flush=True)
                os._exit(3)
            time.sleep(given.delay_s)
            child = os.fork() if given.fork else None
            if child != 0:
                os.waitpid(child, 0) if child else work()
            else:
                work()
                os._exit(0)
            coding = f"Content-Encoding: {given.encoding}\r\n" if given.encoding else ""
            body = b"x" * given.body_bytes
            failing = given.fail_after and answered > given.fail_after
            status = "503 Service Unavailable" if failing else given.status
            out = f"HTTP/1.1 {status}\r\n{coding}Content-Length: {len(body)}\r\n\r\n".encode() + body
            try:
                connection.sendall(out)
            except OSError:
                return
            if b"Connection: close" in head:
                connection.close()
                return

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", given.port))
listener.listen(512)
print("listening on", listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
"""


def command(folder: Path, *flags: str) -> str:
    """The shell command that starts the server with these flags on the port of its environment."""
    program = folder / "candidate.py"
    program.write_text(PROGRAM)
    return " ".join([sys.executable, str(program), *flags])


def environment(folder: Path) -> dict[str, str]:
    """A lock and a cache of the test's own, so that tests do not wait for each other."""
    return {
        **os.environ,
        "ASSAY_LOCK": str(folder / "lock"),
        "ASSAY_CACHE": str(folder / "cache"),
        "COLUMNS": "80",
    }


def assay(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Assay in the folder; no candidate may be left when it has ended, and no traceback is ever shown."""
    ended = subprocess.run(
        [*ASSAY, *words],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )
    assert "Traceback" not in ended.stderr + ended.stdout, ended.stderr
    assert left_of(folder) == [], ended.stderr
    return ended


def left_of(folder: Path) -> list[str]:
    """The command lines of live processes that were started from this folder's program."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = " ".join(process.info["cmdline"] or ())
        if str(folder / "candidate.py") in words and "assay.cli.main" not in words:
            found.append(words)
    return found


def records(folder: Path) -> list[dict[str, object]]:
    """The lines of the one run that the folder's results hold."""
    [path] = (folder / "results").glob("*/run.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]
