"""Draws docs/dashboard.svg: the panels of docs/grafana.json, as a Prometheus answers them during a load.

It needs Debian's `prometheus` and the extra `metrics`; Grafana itself is not asked.

PYTHONPATH=scripts .venv/bin/python -m dashboard_picture
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from assay.core import units as fmt
from assay.report import svg
from assay.report.charts.drawings import Curve, Frame, plot
from assay.report.document import Chart, Drawing
from assay.report.picture import to_svg

DOCS = Path(__file__).resolve().parents[1] / "docs"
LOAD_S, STEP_S = 40, 2
MIX = (
    '{"path": "/", "weight": 7, "name": "start page"}\n'
    '{"path": "/cart", "weight": 2, "name": "cart"}\n'
    '{"path": "/gone", "name": "gone", "expect": {"status": 404}}\n'
)
UNITS: dict[str, Callable[[float], str]] = {
    "reqps": fmt.rate,
    "s": lambda seconds: fmt.time(seconds * 1e9, exact=True),
    "percentunit": lambda part: fmt.share(part, exact=True),
    "short": lambda number: f"{number:g}",
    "Bps": lambda size: f"{fmt.size(size)}/s",
}


def main() -> int:
    """Load, scrape, ask for every panel, draw."""
    prometheus = shutil.which("prometheus")
    if prometheus is None:
        sys.stderr.write("dashboard_picture: there is no prometheus on PATH\n")
        return 2
    dashboard = json.loads((DOCS / "grafana.json").read_text(encoding="utf-8"))
    with TemporaryDirectory() as folder, ExitStack() as running:
        ask, began = loaded(Path(folder), prometheus, running)
        panels = [(one, list(curves(one, ask, began))) for one in dashboard["panels"]]
    chart = Chart("dashboard", dashboard["title"], "", lambda width: drawn(panels, width), (), ())
    about = "Drawn from Prometheus's answers to the panels of grafana.json, a load of 40 s at a growing rate."
    (DOCS / "dashboard.svg").write_text(to_svg(chart, about) + "\n", encoding="utf-8")
    sys.stdout.write(f"wrote docs/dashboard.svg: {(DOCS / 'dashboard.svg').stat().st_size} bytes\n")
    return 0


Ask = Callable[..., Any]


def loaded(folder: Path, prometheus: str, running: ExitStack) -> tuple[Ask, float]:
    """A load at its end, scraped once a second: how Prometheus is asked, and when the load began."""
    server, metrics, own = free_port(), free_port(), free_port()
    (folder / "mix.jsonl").write_text(MIX, encoding="utf-8")
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\n"
        f"scrape_configs: [{{job_name: assay, static_configs: [{{targets: ['127.0.0.1:{metrics}']}}]}}]\n"
    )
    begin(running, sys.executable, "-m", "assay.servers.null_server", "--port", str(server))
    store = (f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data")
    begin(running, prometheus, *store, f"--web.listen-address=127.0.0.1:{own}", "--log.level=error")

    def ask(path: str, **words: object) -> Any:  # noqa: ANN401 - it is JSON
        with urlopen(f"http://127.0.0.1:{own}{path}?{urlencode(words)}", timeout=10) as answer:
            return answer.read()

    for url in (f"http://127.0.0.1:{server}/", f"http://127.0.0.1:{own}/-/ready"):
        until_answered(url)
    load = ("load", f"http://127.0.0.1:{server}/", "--requests", "mix.jsonl", "-c", "16", "--quiet")
    shape = ("--stage", f"{LOAD_S}s:500..4000", "--order", "weighted", "--pacer", "sleep")
    command = [sys.executable, "-m", "assay.cli.main", *load, *shape, "--metrics", str(metrics)]
    began = time.time()
    if subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL).returncode == 2:
        raise RuntimeError("the load did not begin")
    return ask, began


def begin(running: ExitStack, *command: str) -> None:
    """Start a program, and end it with the rest."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    running.callback(process.wait)
    running.callback(process.terminate)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def until_answered(url: str) -> None:
    """Wait until something is answered there."""
    for _ in range(300):
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise TimeoutError(url)


def curves(panel: dict[str, Any], ask: Ask, began: float) -> Iterator[Curve]:
    """The lines of a panel, by seconds since the load began."""
    number = 0
    for target in panel["targets"]:
        query = target["expr"].replace("$__rate_interval", "4s").replace("$case", ".*")
        span = {"start": began, "end": began + LOAD_S, "step": STEP_S}
        found = json.loads(ask("/api/v1/query_range", query=query, **span))["data"]["result"]
        for series in found:
            name = target["legendFormat"]
            for label, value in series["metric"].items():
                name = name.replace(f"{{{{{label}}}}}", value)
            points = [(at - began, float(value)) for at, value in series["values"] if value != "NaN"]
            name = "load" if name.startswith("http://") else name
            yield Curve(name or "all", number, tuple(points))
            number += 1


def drawn(panels: list[tuple[dict[str, Any], list[Curve]]], width: float) -> Drawing:
    """Two panels beside each other, as the dashboard has them."""
    room, height = (width - 24) / 2, 210.0
    parts: list[str] = []
    for number, (panel, lines) in enumerate(panels):
        x, y = number % 2 * (room + 24), number // 2 * (height + 50)
        values = [value for line in lines for _, value in line.points]
        write = UNITS[panel["fieldConfig"]["defaults"]["unit"]]
        frame = Frame(
            lambda start, end: svg.linear((LOAD_S / 1.04,), start, end),
            lambda start, end, values=values: svg.linear(values, start, end),  # type: ignore[misc]
            lambda second: f"{second:g}", write, "seconds", "",
        )  # fmt: skip
        inner = "".join(plot(lines, frame, room, height - 24).parts)
        moved = svg.element("g", inner, transform=f"translate({svg.number(x)},{svg.number(y + 20)})")
        parts += [svg.text(x, y + 12, panel["title"]), moved]
    rows = -(-len(panels) // 2)
    return Drawing(width, rows * (height + 50), tuple(parts))


if __name__ == "__main__":
    sys.exit(main())
