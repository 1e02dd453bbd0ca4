"""How long the page of a large run takes, and how large it is: a kept record of a thousand trials."""

from __future__ import annotations

import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

from model import Benchmark, Effort, Figure, Outcome, Spread
from msgspec.structs import replace
from programs import ROOT, need_assay

from assay.model.run import TrialDone
from assay.model.trial import Trial
from assay.store.lines import Line, LinePlace, seal
from assay.store.read import read

TRIALS = 1000
_RECORD = ROOT / "tests/golden/records/sample/run.jsonl"
_TITLE = "The report of a thousand trials"


def run(effort: Effort) -> Outcome:
    """Write the page, as a process of its own each time."""
    seconds, size_mb = [], []
    with tempfile.TemporaryDirectory() as made:
        record, page = Path(made) / "run.jsonl", Path(made) / "page.html"
        _repeat(record)
        for _ in range(effort.rounds):
            began = time.monotonic()
            subprocess.run([need_assay(), "report", record, "--html", page], check=True, capture_output=True)
            seconds.append(time.monotonic() - began)
            size_mb.append(page.stat().st_size / 1e6)
    figures = (
        Figure(f"`assay report --html` of {TRIALS:,} trials", Spread.of(seconds), "s", 10),
        Figure("the page", Spread.of(size_mb), "MB", 1),
    )
    how = "A judged record of five trials, repeated; from the start of the process to its end"
    return Outcome("report", _TITLE, how, figures=figures)


def _repeat(path: Path) -> None:
    kept = read(_RECORD).run
    each = len(kept.trials)
    trials = (_apart(kept.trials[number % each], number, number // each) for number in range(TRIALS))
    lines: list[Line] = [kept.header, *(TrialDone(trial=trial) for trial in trials)]
    if kept.judgement is not None:
        lines.append(replace(kept.judgement, trials=TRIALS))
    places = (LinePlace(kept.header.run_id, number) for number in count(1))
    path.write_bytes(b"".join(map(seal, lines, places)))


def _apart(trial: Trial, number: int, block: int) -> Trial:
    """The trial in another block, its histogram another's: each has to be read as if it were its own."""
    made = replace(trial, number=number, block=block)
    if made.measurement is None:
        return made
    times = made.measurement.service_time
    times = replace(times, max_ns=times.max_ns + number)
    return replace(made, measurement=replace(made.measurement, service_time=times))


BENCHMARKS = (Benchmark("report", _TITLE, run),)
