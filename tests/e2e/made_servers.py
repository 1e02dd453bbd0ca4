"""Server folders with a small real server that misbehaves in one way. Not a test itself."""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec.structs import replace

from assay.core.settings import Settings
from assay.servers import Contract, Prepared, Server, prepare, read_contract, read_server

PROGRAM = r"""
import os, signal, socket, sys, threading, time

mode = sys.argv[1] if len(sys.argv) > 1 else "right"
host, port = os.environ["HOST"], int(os.environ["PORT"])
answered = 0
here = threading.local()

def ask_upstream():
    if not hasattr(here, "upstream"):
        name, _, number = os.environ["UPSTREAM_URL"].rpartition("/")[2].partition(":")
        here.upstream = socket.create_connection((name, int(number)))
        here.upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    here.upstream.sendall(b"GET /hello HTTP/1.1\r\nHost: upstream\r\n\r\n")
    read = b""
    while not read.endswith(b"hello\n"):
        read += here.upstream.recv(65536)

def answer():
    global answered
    answered += 1
    if mode == "dies" and answered > 200:
        print("a fatal mistake", flush=True)
        os._exit(3)
    if mode == "killed" and answered > 200:
        os.kill(os.getpid(), signal.SIGKILL)
    status, body = "200 OK", b"hello\n"
    if mode == "hangs" and answered > 200:
        time.sleep(3)
    if mode == "asks upstream":
        ask_upstream()
    if mode == "slow":
        time.sleep(0.002)
    if mode == "takes long":
        time.sleep(0.05)
    if mode == "crawls":
        time.sleep(1)
    if mode == "never warms":
        time.sleep(0.004 if int(time.monotonic() * 4) % 2 else 0.0005)
    if mode == "wrong status":
        status = "500 Internal Server Error"
    if mode == "not found":
        status = "404 Not Found"
    if mode == "wrong body" or (mode == "wrong under load" and 100 < answered < 200):
        body = b"nonsense\n"
    if mode == "wrong after" and answered > 2:
        body = b"hello\n" if answered % 2 else b"HELLO\n"
    if mode == "garbled":
        return b"\x00\x01 not HTTP at all\r\n\r\n"
    if mode == "half":
        return b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\nhel"
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body

def serve(connection):
    with connection:
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
                if mode == "silent":
                    time.sleep(60)
                try:
                    connection.sendall(answer())
                except OSError:
                    return
                if mode in ("garbled", "half") or b"Connection: close" in head:
                    return

def leave_behind(ignore_sigterm):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if ignore_sigterm:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            with open(sys.argv[2], "w") as told:
                told.write(str(os.getpid()))
            time.sleep(600)
        os._exit(0)
    os.wait()

print("mode:", mode, flush=True)
if mode == "exits":
    print("configuration missing", flush=True)
    sys.exit(7)
if mode == "wants a port":
    wanted = int(open(sys.argv[2]).read())
    try:
        socket.create_server(("127.0.0.1", wanted))
    except OSError:
        print(f"Error: listen EADDRINUSE: address already in use :::{wanted}", flush=True)
        print("Emitted 'error' event on Server instance at:", flush=True)
        sys.exit(1)
if mode in ("listens elsewhere", "busy elsewhere"):
    elsewhere = socket.create_server((host, 0))
    while mode == "busy elsewhere":
        pass
    time.sleep(600)
if mode == "never listens":
    time.sleep(600)
if mode == "listens late":
    time.sleep(1)
if mode == "leaves a child":
    leave_behind(ignore_sigterm=True)
if mode == "has a child":
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    with open(sys.argv[2], "w") as told:
        told.write(str(child))
if mode == "ends with another":
    def end(*_):
        open(os.path.join(sys.argv[2], f"end-{os.getpid()}"), "w").close()
        while sum(name.startswith("end-") for name in os.listdir(sys.argv[2])) < 2:
            time.sleep(0.01)
        print("met another at its end", flush=True)
        os._exit(0)
    signal.signal(signal.SIGTERM, end)
if mode == "ignores SIGTERM":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((host, port))
listener.listen(512)
while True:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
"""

CONTRACT = """
format = 1
name = "greeting"
title = "A greeting"
[[routes]]
name = "hello"
target = "/hello"
[routes.answer]
headers = { content-type = "^text/plain" }
body = { equals = "hello\\n" }
"""

MANIFEST = """
format = 1
title = "a small server"
language = "Python"
framework = "none"
[version]
command = ["{python}", "--version"]
[run]
command = ["{python}", "-S", "-E", "{{source}}/server.py", "{mode}", {more}]
ready_timeout_s = {ready_timeout_s}
stop_timeout_s = 1
"""


def settings(folder: Path) -> Settings:
    """Everything below one folder: nothing of the checkout, no lock that a real run may hold."""
    made = Settings.resolve(
        here=folder,
        environ={
            "ASSAY_RESULTS": "results",
            "ASSAY_SERVERS": "servers",
            "ASSAY_STUDIES": "studies",
            "ASSAY_CACHE": "cache",
        },
    )
    return replace(
        made,
        lock=folder / "assay.lock",
        server_folders=(folder / "servers",),
        study_folders=(folder / "studies",),
    )


def write_server(
    folder: Path,
    mode: str = "right",
    name: str = "small",
    more: str = "",
    ready_timeout_s: float = 20,
    contract: str = "greeting",
) -> Path:
    """A server folder below `folder`/servers/`contract`."""
    home = folder / "servers" / contract / name
    home.mkdir(parents=True)
    (home.parent / "contract.toml").write_text(CONTRACT.replace("greeting", contract))
    (home / "server.py").write_text(PROGRAM)
    (home / "server.toml").write_text(
        MANIFEST.format(python=sys.executable, mode=mode, more=more, ready_timeout_s=ready_timeout_s)
    )
    return home


def made(
    folder: Path, mode: str = "right", more: str = "", ready_timeout_s: float = 20
) -> tuple[Prepared, Contract]:
    """A prepared server of that mode, and its contract."""
    home = write_server(folder, mode, more=more, ready_timeout_s=ready_timeout_s)
    server: Server = read_server(home, settings(folder))
    return prepare(server.variant("fair"), settings(folder), cores=1), read_contract(home.parent)
