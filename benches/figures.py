"""What figures by request and a scraper cost the engine: loads with and without, by turns."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from costs import guarded
from model import Effort, Figure, Spread
from programs import Cores, Server, Unavailable, free_port, need_assay, pinned, serving_null

TEMPLATES = 10
REQUESTS = 4_000_000
"""Of each load of a full run."""
PAIRS = 2
"""Of each round."""
SCRAPED_EVERY_S = 1.0
PATIENCE_S = 60.0


def _loop_us(server: Server, core: int, count: int, *more: str, meanwhile: Callable[[], None]) -> float:
    """CPU time of the engine's loop a request, in µs; `meanwhile` is called every second of the load."""
    words = ["load", server.url(), "--quiet", "--json", "--threads", "1", "--count", str(count), *more]
    with subprocess.Popen(
        pinned([need_assay(), *words], core), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as load:
        over = threading.Event()

        def scrape() -> None:
            while not over.wait(SCRAPED_EVERY_S):
                meanwhile()

        scraper = threading.Thread(target=scrape)
        scraper.start()
        try:
            said, errors = load.communicate(timeout=PATIENCE_S)
        finally:
            over.set()
            scraper.join()
            load.kill()
    if load.returncode not in (0, 1):
        raise Unavailable(f"assay load cannot: {errors.strip().splitlines()[-1]}")
    measured = json.loads(said)["measurement"]
    return float(sum(one["cpu_ns"] for one in measured["workers"]) / measured["completed"] / 1e3)


def _dearer(pairs: int, without: Callable[[], float], with_it: Callable[[], float]) -> Iterator[float]:
    """By how many per cent each load was dearer than the one beside it; the order alternates."""
    without()  # the server warms up
    for pair in range(pairs):
        order = (without, with_it) if pair % 2 else (with_it, without)
        cost = {one: one() for one in order}
        yield (cost[with_it] / cost[without] - 1) * 100


def _figures(effort: Effort) -> tuple[Figure, ...]:
    cores = Cores.apart()
    pairs, count = PAIRS * effort.rounds, effort.requests(REQUESTS)
    with serving_null(cores.server) as server, tempfile.TemporaryDirectory() as folder:

        def idle() -> None: ...

        def mix(name: str) -> Callable[[], float]:
            """Ten paths; `name` is what each is called, with its number where the name has a place for it."""
            lines = [{"path": f"/a{index}", "name": name.format(index)} for index in range(TEMPLATES)]
            path = Path(folder, name)
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            return lambda: _loop_us(server, cores.client, count, "--requests", str(path), meanwhile=idle)

        def scraped() -> float:
            port = free_port()

            def ask() -> None:
                with suppress(OSError):  # it serves nothing before and after its load
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read()  # noqa: S310

            return _loop_us(server, cores.client, count, "--metrics", f"127.0.0.1:{port}", meanwhile=ask)

        one, ten = mix("one name"), mix("name {}")

        def plain() -> float:
            return _loop_us(server, cores.client, count, meanwhile=idle)

        return (
            Figure(
                "CPU a request, ten paths by ten names against one",
                Spread.of(list(_dearer(pairs, one, ten))),
                "%",
                1.0,
            ),
            Figure(
                "CPU a request, scraped once a second",
                Spread.of(list(_dearer(pairs, plain, scraped))),
                "%",
                0.5,
            ),
        )


BENCHMARKS = (
    guarded(
        "figures",
        "what figures by request and a scraper cost",
        "loads of the null server: ten paths by ten names or one, with a scraper or without, by turns",
        _figures,
    ),
)
