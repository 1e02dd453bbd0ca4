"""Is the bottleneck that was made the one that is named, and do figures of a busy machine hold those of a
quiet one?

The stages are the tests' (`planting.bottlenecks`): real servers, neighbours, limits, links and a real
database, through the public runner. The confusion table has a row for who was made the bottleneck and a
column for who was named.

    python benches/bottleneck.py [TIMES] [OUT]      writes the table to docs/method/evidence/bottleneck.md

`--only beside` loads common servers with `assay load`, quiet and beside a program that is busy half of the
time: it has to end with 0, and what it says has to hold the quiet figure.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

from answers import another_program
from burden import SERVERS as FRANKLIN
from burden import Serving, built
from model import Benchmark, Effort, Figure, Outcome, Spread
from programs import ROOT, Cores, Unavailable, need_assay
from render import machine

sys.path.insert(0, str(ROOT / "tests" / "support"))

from planting.bottlenecks import STAGED, named  # noqa: E402 - it lies with the tests, which stage the same

from assay.core.errors import AssayError  # noqa: E402 - as above
from assay.verdict.bottleneck import Who  # noqa: E402 - as above

Names = Counter[tuple[str, str]]
"""How often a stage (by its title) had whom named."""
EVERYBODY: tuple[Who, ...] = get_args(Who)
PAGE = ROOT / "docs" / "method" / "evidence" / "bottleneck.md"


def count(times: int) -> tuple[Names, list[str]]:
    """Stage all so often; and say what could not be staged here."""
    names: Names = Counter()
    missing = []
    for stage, (_, plant) in STAGED.items():
        for _ in range(times):
            try:
                with tempfile.TemporaryDirectory() as folder:
                    found = named(plant, Path(folder))
            except AssayError as problem:
                missing.append(f"{stage}: {problem}")
                break
            names.update((stage, one.who) for one in found)
    return names, missing


def table(names: Names) -> str:
    """Rows: who was made the bottleneck. Columns: who was named."""
    lines = ["| made | " + " | ".join(EVERYBODY) + " |", "|---|" + "---:|" * len(EVERYBODY)]
    for who in EVERYBODY:
        made = [stage for stage, (made, _) in STAGED.items() if made == who]
        counts = [sum(names[stage, one] for stage in made) for one in EVERYBODY]
        if sum(counts):
            lines.append(f"| {who} | " + " | ".join(str(n) if n else "" for n in counts) + " |")
    return "\n".join(lines) + "\n"


def stages(names: Names) -> str:
    """A row a stage."""
    lines = ["| stage | made | named |", "|---|---|---|"]
    for stage, (who, _) in STAGED.items():
        told = ", ".join(f"{one} {names[stage, one]}" for one in EVERYBODY if names[stage, one])
        lines.append(f"| {stage} | {who} | {told} |")
    return "\n".join(lines) + "\n"


def _right(names: Names) -> float:
    return sum(n for (stage, who), n in names.items() if STAGED[stage][0] == who) / max(1, names.total())


def _figures(effort: Effort) -> Outcome:
    names, missing = count(effort.tries or max(1, round(5 * effort.share)))
    right = _right(names)
    shown = [
        Figure(
            f"{stage}: {who} named",
            Spread.of([names[stage, who] / max(1, sum(names[stage, one] for one in EVERYBODY))]),
            "",
        )
        for stage, (who, _) in STAGED.items()
    ]
    whole = Figure(f"right of {names.total()} loads", Spread.of([right]), "", 0.95, at_most=False)
    return Outcome("bottleneck", _TITLE, "loads of 2 s", figures=(whole, *shown), missing=tuple(missing))


_TITLE = "is the bottleneck that was made the one that is named"


@contextmanager
def _server(name: str, serving: Serving) -> Iterator[str]:
    with serving(Cores.apart().server) as url:
        yield url


def _load(url: str) -> tuple[int, dict[str, Any]]:
    """How a load ended, and its document."""
    words = [need_assay(), "load", url, "-q", "--json", "--duration", "3s", "--warm-up", "1s"]
    done = subprocess.run([*words, "--cpus", str(Cores.apart().client)], capture_output=True, text=True)
    if not done.stdout:
        raise Unavailable(done.stderr.strip())
    return done.returncode, json.loads(done.stdout)


COMMON: dict[str, Serving] = FRANKLIN | {
    name: built(name)
    for name in (
        "quotes/reference-rust",
        "quotes/crystal",
        "hello/reference-rust",
        "hello/netty",
        "hello/vertx",
    )
}


def _beside(effort: Effort) -> Outcome:
    """Each server quiet, then beside the program, `tries` times."""
    ended, held, missing = [], [], []
    shown: list[Figure] = []
    for name, serving in COMMON.items():
        try:
            with _server(name, serving) as url:
                _load(url)
                _, quiet = _load(url)
                for _ in range(effort.tries or 2):
                    with another_program():
                        code, busy = _load(url)
                    low, high = (busy["throughput_known"][end] for end in ("low", "high"))
                    truth = quiet["throughput_per_s"]
                    ended.append(code == 0)
                    held.append((low or 0) <= truth * 1.02 and truth * 0.98 <= (high or float("inf")))
                    ratio = busy["throughput_per_s"] / truth
                    told = (
                        f"{name}: of the quiet throughput, ended {code}, {'held' if held[-1] else 'missed'}"
                    )
                    shown.append(Figure(told, Spread.of([ratio]), "×"))
        except (Unavailable, AssayError) as problem:
            missing.append(f"{name}: {problem}")
    if ended:
        for words, right in (("end with 0", ended), ("hold the quiet throughput", held)):
            share = sum(right) / len(right)
            figure = Figure(f"{words}: {sum(right)} of {len(right)}", Spread.of([share]), "", 0.95, False)
            shown.insert(0, figure)
    how = "assay load, 3 s, beside a program that is busy half of the time"
    return Outcome("beside", "loads beside a busy program", how, figures=tuple(shown), missing=tuple(missing))


BENCHMARKS = (
    Benchmark("bottleneck", _TITLE, _figures),
    Benchmark("beside", "loads beside a busy program", _beside),
)


def main() -> None:
    """Write the page."""
    times = int(sys.argv[1]) if sys.argv[1:] else 5
    out = Path(sys.argv[2]) if sys.argv[2:] else PAGE
    names, missing = count(times)
    parts = [
        "# The bottleneck that was made, and the one that was named",
        "Each stage is a real load of 2 s whose bottleneck was made (`python benches/bottleneck.py`).\n"
        f"Machine: {machine()}.",
        f"Right: {_right(names):.1%} of {names.total()} loads.",
        table(names),
        stages(names),
        *(f"Not staged: {reason}." for reason in missing),
        "Two stages were corrected after a first run, as they did not make what they say: 4 connections\n"
        "left a server's core idle, and a search cost the client too little. Nothing else ran here.",
    ]
    out.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    sys.stdout.write(out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
