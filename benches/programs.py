"""Processes of a benchmark: built, pinned to a core, measured, and stopped by their own id."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
ASSAY = Path(sys.executable).parent / "assay"
READY_S = 20.0
LONGEST_RUN_S = 180.0
ANSWER = "Early to bed and early to rise makes a man healthy and wise.\n"


class Unavailable(Exception):
    """Something that a benchmark needs is not on this machine; one line says what."""


@dataclass(frozen=True)
class Cores:
    """Where client and server run."""

    client: int
    server: int

    @classmethod
    def apart(cls) -> Cores:
        """The first two cores that this process may use."""
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) < 2:
            raise Unavailable("client and server need a core each, and this machine gives one")
        return cls(allowed[0], allowed[1])

    @classmethod
    def together(cls) -> Cores:
        """Both on one core."""
        first = min(os.sched_getaffinity(0))
        return cls(first, first)


@dataclass(frozen=True)
class Finished:
    """A program that ran to its end. `cpu_s` is user + system, `peak_rss_bytes` its largest resident set."""

    stdout: str
    stderr: str
    code: int
    wall_s: float
    cpu_s: float
    peak_rss_bytes: int


def need(command: str, package: str) -> str:
    """The path of a command; Unavailable names the Debian package that has it."""
    path = shutil.which(command)
    if path is None:
        raise Unavailable(f"{command} is missing; apt-get install {package}")
    return path


def need_assay() -> str:
    """The `assay` of this virtual environment."""
    if not ASSAY.exists():
        raise Unavailable("assay is not installed in this virtual environment; run: make setup")
    return str(ASSAY)


@cache
def null_server() -> Path:
    """Build the null server."""
    _cargo("--package", "assay-null-server", "--bin", "null-server")
    return TARGET / "release" / "null-server"


@cache
def record_cost() -> Path:
    """Build the program that times the engine's histograms."""
    _cargo("--package", "assay-engine", "--example", "record_cost")
    return TARGET / "release" / "examples" / "record_cost"


@cache
def bare_http3() -> Path:
    """Build the bare client of HTTP/3: it shares the engine's crates."""
    _cargo("--package", "assay-engine", "--example", "bare_http3")
    return TARGET / "release" / "examples" / "bare_http3"


def _cargo(*what: str) -> None:
    command = ["cargo", "build", "--release", "--locked", *what]
    _build([*command, "--manifest-path", str(ROOT / "Cargo.toml"), "--target-dir", str(TARGET)])


@cache
def bare_client(source: str = "bare_client.c", *, tls: bool = False) -> Path:
    """Build the bare client, or its like for another protocol; the one over TLS alone needs OpenSSL."""
    program = TARGET / (Path(source).stem.replace("_", "-") + ("-tls" if tls else ""))
    program.parent.mkdir(parents=True, exist_ok=True)
    compiler = need("cc", "gcc")
    encryption = _openssl(compiler) if tls else ()
    command = [compiler, "-O2", "-Wall", "-Wextra", "-o", str(program), str(ROOT / "benches" / source)]
    _build([*command, *encryption])
    return program


def _openssl(compiler: str) -> tuple[str, ...]:
    """What a program over TLS is built with; Unavailable where the compiler finds no OpenSSL."""
    header = "openssl/ssl.h"
    found = subprocess.run(
        [compiler, "-E", "-include", header, "-x", "c", os.devnull], capture_output=True, check=False
    )
    if found.returncode:
        raise Unavailable(f"{header} is missing; apt-get install libssl-dev")
    return ("-DTLS", "-lssl", "-lcrypto")


def _build(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{command[0]} failed: {done.stderr.strip().splitlines()[-1]}")


def pinned(command: Sequence[str], core: int) -> list[str]:
    """The command on one core."""
    return [need("taskset", "util-linux"), "-c", str(core), *command]


def run(command: Sequence[str], core: int | None = None) -> Finished:
    """Run a program to its end and account for all of its CPU time, its start and end included."""
    if core is not None:
        command = pinned(command, core)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        usage, status = _reap(process, began)
        wall_s = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        peak_rss_bytes = usage.ru_maxrss * 1024
        cpu_s = usage.ru_utime + usage.ru_stime
        return Finished(out.read(), err.read(), status, wall_s, cpu_s, peak_rss_bytes)


def _reap(process: subprocess.Popen[bytes], began: float) -> tuple[resource.struct_rusage, int]:
    """Wait for the end with the process's usage; a program that outlives its time is killed."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage, process.returncode
        if time.monotonic() - began > LONGEST_RUN_S:
            process.kill()
        time.sleep(0.01)  # wait4 alone gives the usage, and it has no time-out


@dataclass(frozen=True)
class Server:
    """A running server: its port on the loopback interface, and its scheme."""

    port: int
    scheme: str = "http"

    def url(self, target: str = "/") -> str:
        """The address of a target."""
        return f"{self.scheme}://127.0.0.1:{self.port}{target}"


@contextmanager
def serving_null(core: int, *arguments: str) -> Iterator[Server]:
    """The null server with these arguments, on a port of the system's choice; with `--http3` over QUIC."""
    with serving_null_process(core, *arguments) as (server, _):
        yield server


@contextmanager
def serving_null_process(core: int, *arguments: str) -> Iterator[tuple[Server, subprocess.Popen[str]]]:
    """The same with its process."""
    command = pinned([str(null_server()), "--port", "0", *arguments], core)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            server = Server(_port_said(process), "https" if "--http3" in arguments else "http")
            if server.scheme == "https":
                _port_said(process)  # the same one, where it listens for QUIC by now
            yield server, process
        finally:
            process.terminate()


def _port_said(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    found = re.search(r"://\S+:(\d+)/", process.stdout.readline())
    if found is None:
        raise Unavailable("the null server did not start")
    return int(found[1])


@contextmanager
def serving_nginx(core: int, *, tls: bool = False, http2: bool = False) -> Iterator[Server]:
    """A private nginx with one worker, in a folder of its own that goes with it."""
    program = need("nginx", "nginx-light")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        (folder / "nginx.conf").write_text(_nginx_configuration(folder, port, tls=tls, http2=http2))
        command = [program, "-p", name, "-c", str(folder / "nginx.conf"), "-e", "stderr"]
        with _listening(command, core, port, folder):
            yield Server(port, "https" if tls else "http")


@contextmanager
def serving_h2o(core: int) -> Iterator[Server]:
    """A private h2o with one thread, over TLS, in a folder of its own that goes with it."""
    program = need("h2o", "h2o")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        (folder / "h2o.conf").write_text(_h2o_configuration(folder, port))
        with _listening([program, "-c", str(folder / "h2o.conf")], core, port, folder):
            yield Server(port, "https")


@contextmanager
def _listening(command: Sequence[str], core: int, port: int, folder: Path) -> Iterator[None]:
    """A server that keeps nothing outside its folder; where it does not start, what it said last is told."""
    log, name = folder / "log", Path(command[0]).name
    with log.open("wb") as said, subprocess.Popen(pinned(command, core), stdout=said, stderr=said) as process:
        try:
            if not _is_reached(port, process):
                lines = log.read_text(errors="replace").strip().splitlines()
                raise Unavailable(f"{name} did not start: {lines[-1] if lines else 'it says nothing'}")
            yield
        finally:
            process.send_signal(signal.SIGTERM)


def _nginx_configuration(folder: Path, port: int, *, tls: bool, http2: bool) -> str:
    listen = f"{port}{' ssl' if tls else ''}{' http2' if http2 else ''}"
    encryption = ""
    if tls:
        key, certificate = _certificate(folder)
        # Each client would ask for another cipher: the server's choice is the same for all.
        encryption = (
            f"        ssl_certificate {certificate};\n        ssl_certificate_key {key};\n"
            "        ssl_protocols TLSv1.3;\n        ssl_prefer_server_ciphers on;\n"
        )
    temporary = "".join(
        f"    {kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        "daemon off;\nworker_processes 1;\nworker_rlimit_nofile 65536;\n"
        f"pid {folder}/pid;\nevents {{ worker_connections 30000; }}\n"
        f"http {{\n    access_log off;\n    keepalive_requests 1000000000;\n{temporary}"
        f"    server {{\n        listen 127.0.0.1:{listen} backlog=4096;\n{encryption}"
        "        default_type text/plain;\n"
        '        location / { return 200 "Sixty-one bytes, as long as a proverb of Franklin, or so.\\n"; }\n'
        "    }\n}\n"
    )


def _h2o_configuration(folder: Path, port: int) -> str:
    """It tells each client that 100 streams are allowed, and serves as many at once; it does not count the
    requests of a connection."""
    key, certificate = _certificate(folder)
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text(ANSWER)
    # As root it would become nobody, who may not look into the folder.
    user = "user: root\n" if os.geteuid() == 0 else ""
    return (
        f"{user}num-threads: 1\nmax-connections: 30000\nhttp2-max-concurrent-requests-per-connection: 1000\n"
        f"listen:\n  host: 127.0.0.1\n  port: {port}\n  ssl:\n"
        f"    certificate-file: {certificate}\n    key-file: {key}\n"
        # One process, which asks nobody about its certificate, and the same cipher for all clients.
        "    minimum-version: TLSv1.3\n    cipher-preference: server\n"
        "    neverbleed: OFF\n    ocsp-update-interval: 0\n"
        f'hosts:\n  default:\n    paths:\n      "/":\n        file.dir: {folder}/site\n'
    )


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A key of this machine's own, and the certificate that it has signed itself."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    names = ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)]
    _build([need("openssl", "openssl"), *command, *names])
    return key, certificate


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port: int = chosen.getsockname()[1]
        return port


def _is_reached(port: int, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.02)  # that a port listens is told by nothing but trying
    return False


def answer_bytes(server: Server, target: str) -> int:
    """The length of one whole answer, head and body, of a server that keeps its connection open."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=READY_S) as probe:
        probe.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += probe.recv(65536)
        head, _, body = answer.partition(b"\r\n\r\n")
        if b"chunked" in head.lower():
            while not (answer.endswith(b"\r\n0\r\n\r\n")):
                answer += probe.recv(65536)
            return len(answer)
        fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
        return len(answer) - len(body) + int(fields[b"content-length"])
