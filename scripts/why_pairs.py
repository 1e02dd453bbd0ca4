"""Ask real pairs of servers why one is faster, beside what strace counts: `make why-pairs`, 15 minutes.

Each pair is compared by `assay versus --why`. Beside its sentence stands what `strace -f -c` counts of each
server by hand: system calls of 4,000 requests less those of 2,000, over 2,000. Writes
docs/method/evidence/why.md. A pair whose programs are missing is said in a line. Packages come from npm and
PyPI, into a folder that goes.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSAY = Path(sys.executable).with_name("assay")
PAGE = ROOT / "docs/method/evidence/why.md"
BUDGET = "45s"
LATEST_S = 13 * 60
FEW, MANY = 2_000, 4_000
PATIENCE_S = 60.0

NGINX = """daemon off; worker_processes 1; pid {folder}/{name}-@.pid; error_log /dev/null;
events {{ worker_connections 512; }}
http {{ {more} server {{ listen 127.0.0.1:@; root {folder}/www; }} }}
"""
NODE = {
    "express": "require('express')().get('/', (q, s) => s.send('hello'))"
    ".listen(+process.env.PORT, '127.0.0.1')",
    "fastify": "const f = require('fastify')(); f.get('/', (q, s) => s.send('hello'));"
    "f.listen({port: +process.env.PORT, host: '127.0.0.1'})",
}
ASGI = """async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": b"hello"})
"""
STUDIES = (
    ("Spring MVC against WebFlux", "frameworks", ("hello/spring-undertow", "hello/spring-webflux")),
    ("pools of heroes", "heroes", ("heroes/go-pgx", "heroes/go-gin-bun")),
)


@dataclass(frozen=True)
class Pair:
    """Two servers: names and commands with {port}, and the path that is asked for."""

    title: str
    first: tuple[str, str]
    second: tuple[str, str]
    path: str = "/"


def main() -> int:
    """Ask all of them; 0 where at least one pair could be had."""
    until_s, parts = time.monotonic() + LATEST_S, list[str]()
    with tempfile.TemporaryDirectory(prefix="why-pairs-") as made:
        folder = Path(made)
        for make in (_go, _nginx_sendfile, _nginx_log, _node, _uvicorn):
            title = make.__name__.strip("_")
            parts.append(_tried(title, until_s, lambda make=make: _told(make(folder), folder)))
            _write(parts)
        for title, study, servers in STUDIES:
            parts.append(
                _tried(title, until_s, lambda *, t=title, s=study, of=servers: _study(t, s, of, folder))
            )
            _write(parts)
    return 0 if any("\n    " in part for part in parts) else 1


def _write(parts: list[str]) -> None:
    """All there is so far: whoever ends it early keeps that."""
    PAGE.write_text("\n".join(("# Why: real pairs", "", _machine(), "", *parts)).rstrip() + "\n")


def _tried(title: str, until_s: float, ask) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    sys.stderr.write(f"{title} ...\n")
    if time.monotonic() > until_s:
        return f"- {title}: not asked, the time was over"
    try:
        return str(ask())
    except (OSError, subprocess.SubprocessError, LookupError) as problem:
        line = str(problem).splitlines()[0][:90]
        return f"- {title}: not asked: {line}"


def _machine() -> str:
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return (
        f"{model[1] if model else os.uname().machine}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}."
    )


# --- the pairs ------------------------------------------------------------------------------


def _go(folder: Path) -> Pair:
    program = folder / "quotes"
    _run(["go", "build", "-o", str(program), "."], ROOT / "servers/quotes/go")
    start = f"CONTRACT_DIR={ROOT}/servers/quotes HOST=127.0.0.1 PORT={{port}} {program}"
    return Pair("Go with GOMAXPROCS 1 and 2", ("1", f"GOMAXPROCS=1 {start}"), ("2", f"GOMAXPROCS=2 {start}"),
                "/franklin-says")  # fmt: skip


def _nginx(folder: Path, name: str, more: str) -> tuple[str, str]:
    program = _need("nginx")
    (folder / "www").mkdir(exist_ok=True)
    (folder / "www/index.html").write_text("x" * 16_384)
    folder.chmod(0o755)
    conf = folder / f"{name}.conf"
    conf.write_text(NGINX.format(folder=folder, name=name, more=more))
    port_conf = f"{folder}/{name}-{{port}}.conf"
    return name, f"sed s/@/{{port}}/g {conf} > {port_conf} && exec {program} -c {port_conf}"


def _nginx_sendfile(folder: Path) -> Pair:
    quiet = "access_log off;"
    return Pair("nginx with and without sendfile", _nginx(folder, "sendfile", f"{quiet} sendfile on;"),
                _nginx(folder, "plain", f"{quiet} sendfile off;"))  # fmt: skip


def _nginx_log(folder: Path) -> Pair:
    return Pair("nginx with and without an access log", _nginx(folder, "silent", "access_log off;"),
                _nginx(folder, "logging", f"access_log {folder}/access.log;"))  # fmt: skip


def _node(folder: Path) -> Pair:
    _run([_need("npm"), "install", "--silent", "--no-fund", "--no-audit", *NODE], folder)
    for name, program in NODE.items():
        (folder / f"{name}.js").write_text(program)
    fast, slow = ((name, f"PORT={{port}} node {folder}/{name}.js") for name in ("fastify", "express"))
    return Pair("fastify against express", fast, slow)


def _uvicorn(folder: Path) -> Pair:
    _run([sys.executable, "-m", "venv", str(folder / "venv")], folder)
    python = folder / "venv/bin/python"
    _run([str(python), "-m", "pip", "install", "-q", "uvicorn", "httptools"], folder)
    (folder / "hello.py").write_text(ASGI)
    start = f"cd {folder} && exec {python} -m uvicorn hello:app --port {{port}} --log-level warning --http"
    return Pair(
        "uvicorn with and without httptools", ("httptools", f"{start} httptools"), ("h11", f"{start} h11")
    )


def _need(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise LookupError(f"{program} is missing")
    return found


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise LookupError(f"{command[0]}: {(done.stderr or done.stdout).strip()[:200]}")
    return done.stdout


# --- what is said of them -------------------------------------------------------------------


def _told(pair: Pair, folder: Path) -> str:
    names, commands = zip(pair.first, pair.second, strict=True)
    asked = [str(ASSAY), "versus", *commands, "--why", "--json", "--budget", BUDGET, "--unlike",
             "--no-control", "--url", f"http://127.0.0.1:{{port}}{pair.path}",
             "--results", str(folder / "results")]  # fmt: skip
    for name in names:
        asked += ["--name", name]
    counted = [
        f"{name} {_by_hand(command, pair.path, folder)}" for name, command in (pair.first, pair.second)
    ]
    return _part(
        pair.title, _answer(asked), f"By hand (`strace -f -c`), calls a request: {', '.join(counted)}."
    )


def _study(title: str, study: str, servers: tuple[str, ...], folder: Path) -> str:
    asked = [str(ASSAY), "run", study, "--quick", "--why", "--json", "--results", str(folder / "results")]
    for server in servers:
        asked += ["--server", server]
    return _part(title, _answer(asked), "")


def _answer(asked: list[str]) -> list[str]:
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=400)
    if not done.stdout.startswith("{"):
        raise LookupError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no answer")
    said = json.loads(done.stdout)["answer"]
    return [one for one in said if " CPU a request" in one or "in the counted slices" in one] or said[:1]


def _part(title: str, said: list[str], by_hand: str) -> str:
    quoted = [f"    {line}" for sentence in said for line in _lines(sentence)]
    return "\n".join((f"## {title}", "", *quoted, "", *([*_lines(by_hand), ""] if by_hand else [])))


def _lines(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        lines[-1:] = [f"{lines[-1]} {word}".strip()] if len(lines[-1]) + len(word) < 90 else [lines[-1], word]
    return lines


def _by_hand(command: str, path: str, folder: Path) -> str:
    """System calls a request, as strace counts them."""
    if shutil.which("strace") is None:
        return "unknown (no strace)"
    few, many = (_calls(command, path, number, folder) for number in (FEW, MANY))
    return f"{(many - few) / (MANY - FEW):.2f}"


def _calls(command: str, path: str, requests: int, folder: Path) -> int:
    out = folder / "strace"
    with _started(command, out) as port:
        url = f"http://127.0.0.1:{port}{path}"
        load = [str(ASSAY), "load", url, "-n", str(requests), "-c", "64", "-q", "--json"]
        subprocess.run(load, capture_output=True, check=False, timeout=PATIENCE_S)
    total = re.search(r"^100\.00\s.*?(\d+)(?:\s+\d+)? total$", out.read_text(), re.MULTILINE)
    if total is None:
        raise LookupError("strace counted nothing")
    return int(total[1])


@contextmanager
def _started(command: str, out: Path) -> Iterator[int]:
    """The server below strace; its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    line = command.replace("{port}", str(port))
    traced = ["strace", "-f", "-c", "-o", str(out), "sh", "-c", line]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(traced, stdout=quiet, stderr=quiet, start_new_session=True) as one:
        try:
            until_s = time.monotonic() + PATIENCE_S
            while time.monotonic() < until_s:
                with socket.socket() as asking:
                    if asking.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            else:
                raise LookupError(f"{shlex.split(line)[0]} did not listen")
            yield port
        finally:
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(one.pid, number)
                    one.wait(10)
                except (subprocess.TimeoutExpired, ProcessLookupError):
                    continue
                break


if __name__ == "__main__":
    sys.exit(main())
