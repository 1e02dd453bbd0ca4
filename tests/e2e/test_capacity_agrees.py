"""Capacities of nine real servers against loads at four and six fifths of them: long, on a quiet machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest
from made_candidates import assay
from test_cli_capacity import stored

from assay.engine import driver
from assay.model.run import Run
from assay.verdict.objective import parse
from assay.verdict.search import answer_of, plan_at, step_of

pytestmark = pytest.mark.skipif(os.environ.get("ASSAY_LONG") != "1", reason="long: ten minutes of load")

OBJECTIVE = "p99<50ms"
MEASURE_NS = 2_000_000_000
ANSWERS, TRIES = 3, 9
"""Of so many loads that answer the most decide, as one of them may meet a hiccup of the machine. Where so
many tries do not give them, as the generator has no time, nothing is contradicted."""

_THREADS = r"""
import socket, sys, threading, time
pool, seconds = threading.Semaphore(int(sys.argv[2])), float(sys.argv[3])

def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        read = b""
        while more := connection.recv(65536):
            read += more
            while b"\r\n\r\n" in read:
                _, _, read = read.partition(b"\r\n\r\n")
                with pool:
                    time.sleep(seconds)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""
_HANDLER = r"""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Hello(BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *given):
        pass
class Server(ThreadingHTTPServer):
    request_queue_size, daemon_threads = 1024, True
Server(("127.0.0.1", int(sys.argv[1])), Hello).serve_forever()
"""
_NODE = r"""
require("http").createServer((asked, answer) => answer.end("ok")).listen(+process.argv[2], "127.0.0.1", 1024)
"""
_GO = r"""
package main
import ("net/http"; "os")
func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok")) })
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
"""
_JAVA = r"""
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
class Hello {
    public static void main(String[] given) throws Exception {
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(given[0]));
        HttpServer server = HttpServer.create(address, 1024);
        server.createContext("/", asked -> {
            asked.sendResponseHeaders(200, 2);
            asked.getResponseBody().write("ok".getBytes());
            asked.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
    }
}
"""
_NGINX = """
worker_processes 1; pid {folder}/pid; daemon off; error_log stderr crit;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000;
server {{ listen 127.0.0.1:{port} backlog=1024; location / {{ return 200 ok; }} }} }}
"""


def _python(program: str, *words: str) -> Callable[[Path, int], list[str]]:
    return lambda folder, port: [sys.executable, "-c", program, str(port), *words]


def _nginx(folder: Path, port: int) -> list[str]:
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, port=port))
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def _node(folder: Path, port: int) -> list[str]:
    (folder / "hello.js").write_text(_NODE)
    return ["node", str(folder / "hello.js"), str(port)]


def _go(folder: Path, port: int) -> list[str]:
    (folder / "hello.go").write_text(_GO)
    program = folder / "hello"
    subprocess.run(["go", "build", "-o", str(program), str(folder / "hello.go")], check=True, cwd=folder)
    return [str(program), str(port)]


def _java(folder: Path, port: int) -> list[str]:
    (folder / "Hello.java").write_text(_JAVA)
    return ["java", str(folder / "Hello.java"), str(port)]


def _null(folder: Path, port: int) -> list[str]:
    return [sys.executable, "-m", "assay.servers.null_server", "--port", str(port)]


SERVERS: dict[str, Callable[[Path, int], list[str]]] = {
    "nginx": _nginx,
    "node": _node,
    "go": _go,
    "java": _java,
    "null server": _null,
    "python threads": _python(_HANDLER),
    "one at a time, 5 ms each": _python(_THREADS, "1", "0.005"),
    "four at a time, 10 ms each": _python(_THREADS, "4", "0.01"),
    "every answer takes 60 ms": _python(_THREADS, "1000", "0.06"),
}


@contextmanager
def served(name: str, folder: Path) -> Iterator[str]:
    """The URL of the server, which ends with the block."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = SERVERS[name](folder, port)
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
        try:
            listening(port, server)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()


def listening(port: int, server: subprocess.Popen[bytes]) -> None:
    """Come back when the server takes a connection."""
    for _ in range(600):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        with suppress(subprocess.TimeoutExpired):
            server.wait(0.05)
            break
    raise AssertionError("the server does not listen")


def holds(run: Run, rate: float) -> bool | None:
    """Whether most of a few loads at that rate hold the objective; None where they do not tell."""
    objective, like = parse(OBJECTIVE), run.trials[0]
    asked = plan_at(like.plan, objective, rate, MEASURE_NS)
    answers: list[bool] = []
    for _ in range(TRIES):
        load = driver.start(asked)
        while not load.wait(1.0):
            pass
        trial = msgspec.structs.replace(like, plan=asked, measurement=load.result(), failure=None)
        told = step_of(trial, objective, run.header.environment)
        print(f"{rate:,.0f}/s: {told.holds} ({told.why})")
        if told.holds is not None:
            answers.append(told.holds)
        if len(answers) == ANSWERS:
            return sum(answers) > ANSWERS / 2
    return None


@pytest.mark.parametrize("name", SERVERS)
def test_no_load_contradicts_what_is_published(tmp_path: Path, name: str) -> None:
    with served(name, tmp_path) as url:
        searching = ("--slo", OBJECTIVE, "-d", "1s", "--warm-up", "300ms", "-t", "1", "--budget", "60s")
        ended = assay(tmp_path, "capacity", url, *searching)
        print(ended.stdout, ended.stderr)
        run = stored(tmp_path)
        answer = answer_of(run)
        found, settled = answer.capacity, answer.state != "searching"
        assert found is not None
        if found.low is not None:
            assert holds(run, 0.8 * (found.value if settled else found.low)) is not False
        if found.high is not None:
            assert holds(run, 1.2 * (found.value if settled else found.high)) is not True
        if name == "every answer takes 60 ms":
            assert found.low is None
