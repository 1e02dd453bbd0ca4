"""Load generators side by side: how each is called, and where it says how much it did."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from model import Load, Sample
from programs import Finished, Server, Unavailable, answer_bytes, bare_client, need, need_assay, run

PIPELINE_SCRIPT = """
init = function(args)
  local requests = {}
  for i = 1, %d do requests[i] = wrk.format() end
  all = table.concat(requests)
end
request = function() return all end
"""


# The least that a script can do for each request.
TRIVIAL_SCRIPT = """
local request_text
init = function(args) request_text = wrk.format() end
request = function() return request_text end
"""


@dataclass(frozen=True)
class Task:
    """One run: the server, the load, how many requests, and about how long wrk should need for them."""

    server: Server
    load: Load
    requests: int
    likely_s: float


@dataclass(frozen=True)
class Contender:
    """`measure` runs it on a core; Unavailable where it cannot do what the load asks."""

    name: str
    measure: Callable[[Task, int], Sample]


def _assay(task: Task, core: int) -> Sample:
    load = task.load
    command = [need_assay(), "load", task.server.url(load.target), "--quiet", "--json", "--threads", "1"]
    command += ["--connections", str(load.connections), "--count", str(task.requests), "--timeout", "30s"]
    if load.http != "1":
        command += [f"--http{load.http}", "--streams", str(load.streams)]
    if load.pipeline > 1:
        command += ["--pipeline", str(load.pipeline)]
    if not load.keep_alive:
        command += ["--no-keep-alive"]
    if task.server.scheme == "https":
        command += ["--insecure"]
    done = run(command, core)
    # 1 says that its figures are invalid: a client that is meant to be the bottleneck always is.
    if done.code not in (0, 1):
        raise Unavailable(f"assay load cannot: {last_line(done)}")
    measurement = json.loads(done.stdout)["measurement"]
    if measurement["failed"]:
        raise Unavailable(f"assay load counted {measurement['failed']} failed requests")
    loop_cpu_s = sum(worker["cpu_ns"] for worker in measurement["workers"]) / 1e9
    return Sample(measurement["completed"], measurement["measured_ns"] / 1e9, done.cpu_s, loop_cpu_s)


def _wrk(task: Task, core: int) -> Sample:
    return _as_wrk([need("wrk", "wrk")], task, core)


def _wrk_scripted(task: Task, core: int) -> Sample:
    return _as_wrk([need("wrk", "wrk")], task, core, TRIVIAL_SCRIPT)


def _assay_wrk(task: Task, core: int) -> Sample:
    return _as_wrk([need_assay(), "wrk"], task, core)


def _assay_wrk_scripted(task: Task, core: int) -> Sample:
    return _as_wrk([need_assay(), "wrk"], task, core, TRIVIAL_SCRIPT)


def _as_wrk(program: list[str], task: Task, core: int, text: str = "") -> Sample:
    # wrk ends by the clock only: it gets the time that the requests should take.
    load = task.load
    command = [*program, "--threads", "1", "--connections", str(load.connections)]
    command += ["--duration", f"{max(1, round(task.likely_s))}s", "--timeout", "30s"]
    if not load.keep_alive:
        command += ["--header", "Connection: close"]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        if load.pipeline > 1:
            text = PIPELINE_SCRIPT % load.pipeline
        if text:
            script.write(text)
            script.flush()
            command += ["--script", script.name]
        done = run([*command, task.server.url(load.target)], core)
    found = re.search(r"(\d+) requests in ([\d.]+)(s|m)", done.stdout)
    if done.code or found is None:
        raise Unavailable(f"wrk failed: {last_line(done)}")
    if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise Unavailable(f"wrk counted errors: {done.stdout.strip().splitlines()[-3]}")
    elapsed_s = float(found[2]) * (60 if found[3] == "m" else 1)
    return Sample(int(found[1]), elapsed_s, done.cpu_s)


def _bare(task: Task, core: int) -> Sample:
    load, port = task.load, task.server.port
    if load.pipeline > 1 or not load.keep_alive or task.server.scheme != "http":
        raise Unavailable("the bare client only knows plain keep-alive connections")
    size = answer_bytes(task.server, load.target)
    command = [
        str(bare_client()),
        str(port),
        load.target,
        str(load.connections),
        str(task.requests),
        str(size),
    ]
    return counted(run(command, core))


def counted(done: Finished) -> Sample:
    """What a client that only counts has printed: answers, and nanoseconds."""
    if done.code:
        raise Unavailable(last_line(done))
    requests, elapsed_ns = done.stdout.split()
    return Sample(int(requests), int(elapsed_ns) / 1e9, done.cpu_s)


def last_line(done: Finished) -> str:
    """What a program that failed said last."""
    lines = done.stderr.strip().splitlines() or done.stdout.strip().splitlines()
    return lines[-1] if lines else f"exit code {done.code}"


ASSAY = Contender("assay", _assay)
WRK = Contender("wrk", _wrk)
WRK_SCRIPTED = Contender("wrk, script", _wrk_scripted)
ASSAY_WRK = Contender("assay wrk", _assay_wrk)
ASSAY_WRK_SCRIPTED = Contender("assay wrk, script", _assay_wrk_scripted)
BARE = Contender("bare client", _bare)
